"""The ASGI application: who may ask, which route answers, and what is noted about it.

One hand-written dispatcher instead of a stack of middleware: rendering a short chat takes less time than a few layers
of ``async`` wrappers would. The order of the checks is that of vLLM's middleware: X-Request-Id around everything, then
API keys, then CORS, then the counting of requests, then routing. Requests with an ``Origin`` header go through
Starlette's ``CORSMiddleware``, those with forwarding headers through uvicorn's; all others take the short way.
"""

from __future__ import annotations

__all__ = ["App", "create_app"]

import asyncio
import os
import time
import uuid
from collections.abc import Awaitable, Callable, Coroutine, MutableMapping, Sequence
from functools import partial
from importlib.metadata import version as installed_version
from typing import TYPE_CHECKING, Any, cast
from urllib.parse import quote

from starlette.datastructures import URL
from starlette.middleware.cors import CORSMiddleware
from starlette.types import ASGIApp
from uvicorn.middleware.proxy_headers import ProxyHeadersMiddleware

from typecase.server.answers import JSON_TYPE, NOT_FOUND, VARY_ORIGIN, WHOLE_ANSWER, Answer, Header
from typecase.server.auth import GUARDED_PREFIXES, UNAUTHORIZED, KeyGuard
from typecase.server.errors import UNSUPPORTED_MEDIA_TYPE, BodyTooLarge, answer_to, as_anthropic
from typecase.server.limits import ClientGone, InFlight, read_body
from typecase.server.logs import AccessLog, LineStream, RequestLog
from typecase.server.memory import settle
from typecase.server.metrics import UNROUTED, Counts, Gauge, HttpCounts, is_counted
from typecase.server.rendering import Renderer
from typecase.server.routes.docs import docs_routes
from typecase.server.routes.metrics import METRICS_PREFIX, MetricsPages
from typecase.server.routes.render import render_routes
from typecase.server.routes.route import Asked, Page, Resource, Route, Work, resources
from typecase.server.routes.service import VLLM_VERSION, service_routes
from typecase.server.served import ServedModel
from typecase.server.settings import ServerSettings

if TYPE_CHECKING:
    from typecase.server.openapi.document import Described
    from typecase.server.shared_counts import SharedCounts

Scope = MutableMapping[str, Any]
Message = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[Message]]
Send = Callable[[Message], Awaitable[None]]

RequestHeaders = dict[bytes, bytes]

_JSON = b"application/json"
_LONGEST_ID = 128
_NOTHING_MORE: tuple[Header, ...] = ()


def create_app(
    models: Sequence[ServedModel],
    settings: ServerSettings,
    *,
    log_to: LineStream | None = None,
    counts: SharedCounts | None = None,
) -> App:
    """The application that serves ``models``. The access log goes to ``log_to``; without it there is none.

    ``counts``: where requests are counted, when several processes run this application.
    """
    return App(models, settings, log_to=log_to, counts=counts)


class App:
    """An ASGI application. All state is its own; it belongs to one event loop."""

    def __init__(
        self,
        models: Sequence[ServedModel],
        settings: ServerSettings,
        *,
        log_to: LineStream | None = None,
        counts: SharedCounts | None = None,
    ):
        if not models:
            raise ValueError("there is no model to serve")
        self.settings = settings
        self.models = tuple(models)
        self.in_flight = InFlight(max(settings.max_bytes_in_flight, settings.max_body_bytes))
        self.guard = KeyGuard(settings.api_keys)
        self._shared_counts = counts
        self.counts: Counts = HttpCounts() if counts is None else counts
        self.renderer = Renderer(settings)
        self._gauges = (
            Gauge("typecase_bytes_in_flight", "Bytes of request bodies held.", lambda: self.in_flight.used),
            Gauge("typecase_requests_waiting", "Requests that wait for a thread.", lambda: self.renderer.waiting),
        )
        self.access_log = AccessLog(log_to, excluded=settings.access_log_excluded) if log_to is not None else None
        self._request_log = RequestLog(settings.max_log_len) if settings.enable_log_requests else None
        self._prefix = settings.prefix
        self._request_id_headers = settings.enable_request_id_headers
        self._warm = False

        self._metrics = MetricsPages(self._registry, prepare=self.publish if counts is not None else None)
        self.routes = self._all_routes()
        self._resources = resources(self.routes)
        self._cors = CORSMiddleware(
            self._behind_cors,
            allow_origins=settings.allowed_origins,
            allow_methods=settings.allowed_methods,
            allow_headers=settings.allowed_headers,
            allow_credentials=settings.allow_credentials,
        )
        trusted = os.environ.get("FORWARDED_ALLOW_IPS", "127.0.0.1,::1")
        self._behind_proxy = cast(ASGIApp, ProxyHeadersMiddleware(cast(Any, self._http), trusted_hosts=trusted))

    def _all_routes(self) -> list[Route]:
        settings = self.settings
        routes = [
            *service_routes(
                self.models,
                tokenizer_info=settings.enable_tokenizer_info_endpoint,
                checked_json_bytes=settings.inline_body_bytes,
            ),
            self._metrics.route(),
            *render_routes(self.models),
        ]
        if not settings.disable_fastapi_docs:
            routes += docs_routes(tuple(routes), self._described, offline_only=settings.enable_offline_docs)
        return routes

    def _described(self) -> Described:
        from typecase.server.openapi.document import Described

        return Described(
            version=installed_version("typecase"),
            vllm_version=VLLM_VERSION,
            prefix=self._prefix,
            model=self.models[0].names[0],
            has_keys=bool(self.guard),
            answers_with_ids=self._request_id_headers,
        )

    def _registry(self) -> Any:
        from typecase.server.exposition import make_registry

        version = installed_version("typecase")
        shared = self._shared_counts
        if shared is None:
            return make_registry(self.counts, self._gauges, version=version)
        from typecase.server.process_metrics import process_collectors

        sums = [
            Gauge(gauge.name, gauge.meaning, partial(shared.gauge, number)) for number, gauge in enumerate(self._gauges)
        ]
        return make_registry(self.counts, sums, version=version, own=process_collectors(shared))

    def publish(self) -> None:
        """Tell the other processes how this one is doing."""
        if self._shared_counts is not None:
            self._shared_counts.publish([gauge.read() for gauge in self._gauges])

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        kind = scope["type"]
        if kind == "http":
            await self._http(scope, receive, send)
        elif kind == "lifespan":
            await self._lifespan(receive, send)
        elif kind == "websocket":
            await self._websocket(scope, send)

    async def _http(self, scope: Scope, receive: Receive, send: Send) -> None:
        started = time.perf_counter()
        # Of a repeated header the first one counts, as in Starlette.
        headers: RequestHeaders = dict(reversed(scope["headers"]))
        if (b"x-forwarded-for" in headers or b"x-forwarded-proto" in headers) and "typecase.client" not in scope:
            await self._behind_proxy({**scope, "typecase.client": True}, receive, send)
            return
        path = self._path(scope)
        extra = _NOTHING_MORE
        if self._request_id_headers:
            extra = ((b"x-request-id", _answered_id(headers.get(b"x-request-id"))),)

        answer: Answer | None
        if not self._admits(scope["method"], path, headers):
            answer = UNAUTHORIZED
        elif b"origin" in headers:
            scope["typecase.request"] = (started, path, headers)
            await self._cors(scope, receive, self._noting(scope, send, extra))
            return
        else:
            answer = await self._counted(started, path, headers, scope, receive)
            extra = (VARY_ORIGIN, *extra)
        if answer is None:
            return
        if self.access_log is not None:
            self.access_log.note(scope, answer.status)
        lines = [*answer.headers, *extra]
        whole = scope.get(WHOLE_ANSWER)
        if whole is None or scope["method"] == "HEAD" or not whole(answer.status, lines, answer.body):
            await send({"type": "http.response.start", "status": answer.status, "headers": lines})
            await send({"type": "http.response.body", "body": answer.body})

    def _path(self, scope: Scope) -> str:
        """The path as the routes have it: without what a proxy (``--root-path``) or a mount put before it."""
        path: str = scope["path"]
        prefix: str = self._prefix or scope.get("root_path", "").rstrip("/")
        if prefix and path.startswith(prefix) and path[len(prefix) : len(prefix) + 1] in ("/", ""):
            return path[len(prefix) :] or "/"
        return path

    def _admits(self, method: str, path: str, headers: RequestHeaders) -> bool:
        if not self.guard or method == "OPTIONS" or not path.startswith(GUARDED_PREFIXES):
            return True
        return self.guard.admits(headers.get(b"authorization"))

    async def _behind_cors(self, scope: Scope, receive: Receive, send: Send) -> None:
        """What Starlette's middleware passes on. It adds ``vary`` and the rest itself."""
        started, path, headers = scope["typecase.request"]
        answer = await self._counted(started, path, headers, scope, receive)
        if answer is not None:
            await send({"type": "http.response.start", "status": answer.status, "headers": [*answer.headers]})
            await send({"type": "http.response.body", "body": answer.body})

    def _noting(self, scope: Scope, send: Send, extra: tuple[Header, ...]) -> Send:
        """``send``, with our headers and a line in the access log."""

        async def noting(message: Message) -> None:
            if message["type"] == "http.response.start":
                message["headers"] = [*message["headers"], *extra]
                if self.access_log is not None:
                    self.access_log.note(scope, message["status"])
            await send(message)

        return noting

    async def _counted(
        self, started: float, path: str, headers: RequestHeaders, scope: Scope, receive: Receive
    ) -> Answer | None:
        """Find the route, let it answer, count the request. None: the client has gone."""
        method: str = scope["method"]
        resource = self._resources.get(path)
        handler = resource.handlers.get(method) if resource is not None else None
        label = UNROUTED
        try:
            if resource is None or handler is None:
                label, answer = self._unrouted(resource, path, headers, scope)
            elif isinstance(handler, Page) and not handler.json_body:
                label = path
                answer = handler.answer(Asked(scope, headers))
            else:
                label = path
                answer = await self._posted(handler, path, headers, scope, receive)
        except ClientGone:
            return None
        except Exception as error:  # the one place: whatever a route raises becomes an answer
            answer = answer_to(error)
        if answer.status >= 400 and isinstance(handler, Work) and handler.anthropic:
            answer = as_anthropic(answer)
        if resource.counted if resource is not None else is_counted(path):
            length, size, seconds = _length(headers), len(answer.body), time.perf_counter() - started
            self.counts.count(label, method, answer.status, bytes_in=length, bytes_out=size, seconds=seconds)
        return answer

    def _unrouted(
        self, resource: Resource | None, path: str, headers: RequestHeaders, scope: Scope
    ) -> tuple[str, Answer]:
        """405, the paths behind ``/metrics``, a redirect from or to a trailing slash, 404; with the path to count."""
        if path.startswith(METRICS_PREFIX):
            return UNROUTED, self._metrics.tail(Asked(scope, headers))
        if resource is not None:
            return UNROUTED, resource.not_allowed
        if path.endswith("/") and (other := self._resources.get(path.rstrip("/"))) is not None:
            url = URL(scope={**scope, "path": scope["path"].rstrip("/")})
            location = quote(str(url), safe=":/%#?=@[]!$&'()*+,;").encode()
            return path if scope["method"] in other.handlers else UNROUTED, Answer(307, b"", (b"location", location))
        return UNROUTED, NOT_FOUND

    async def _posted(
        self, handler: Work | Page, path: str, headers: RequestHeaders, scope: Scope, receive: Receive
    ) -> Answer:
        """Read a JSON body and answer it."""
        kind = headers.get(b"content-type", b"")
        if kind != _JSON and kind.lower().partition(b";")[0] != _JSON:
            return UNSUPPORTED_MEDIA_TYPE
        limit = self.settings.max_body_bytes
        if _length(headers) > limit:
            raise BodyTooLarge(limit)
        first = await receive()
        body = await read_body(first, receive, limit=limit, in_flight=self.in_flight)
        try:
            if isinstance(handler, Page):
                return handler.answer(Asked(scope, headers, body))
            name = headers.get(b"x-request-id")
            request_id = None if name is None else name.decode("latin-1")
            if self._request_log is not None:
                self._request_log.note(path, request_id, body)
            done = self.renderer.inline(handler, body, request_id)
            if done is None:
                done = await _unless_gone(self.renderer.threaded(handler, body, request_id), receive)
            return Answer(200, done, JSON_TYPE)
        finally:
            self.in_flight.give(len(body))

    async def _lifespan(self, receive: Receive, send: Send) -> None:
        while True:
            message = await receive()
            if message["type"] == "lifespan.startup":
                self.warm_up()
                await send({"type": "lifespan.startup.complete"})
            else:
                self.close()
                await send({"type": "lifespan.shutdown.complete"})
                return

    async def _websocket(self, scope: Scope, send: Send) -> None:
        """There are no WebSocket routes; without a key even that is not told."""
        headers = dict(reversed(scope["headers"]))
        if not self._admits("GET", self._path(scope), headers) and "websocket.http.response" in scope.get(
            "extensions", ()
        ):
            start = {"type": "websocket.http.response.start", "status": 401, "headers": [*UNAUTHORIZED.headers]}
            await send(start)
            await send({"type": "websocket.http.response.body", "body": UNAUTHORIZED.body})
        else:
            await send({"type": "websocket.close", "code": 1000})

    def warm_up(self) -> None:
        """Let every model build what it builds at its first request. Once."""
        if not self._warm:
            self._warm = True
            for model in self.models:
                model.warm_up()
            settle()

    def close(self) -> None:
        """Let the threads end and write what the access log holds."""
        self.renderer.stop()
        if self.access_log is not None:
            self.access_log.flush()


async def _unless_gone(work: Coroutine[Any, Any, bytes], receive: Receive) -> bytes:
    """The result of ``work``, unless the client closes the connection first: then the work is given up."""
    working = asyncio.ensure_future(work)
    leaving = asyncio.ensure_future(receive())
    try:
        await asyncio.wait((working, leaving), return_when=asyncio.FIRST_COMPLETED)
        if working.done():
            return working.result()
        raise ClientGone
    finally:
        working.cancel()
        leaving.cancel()


def _length(headers: RequestHeaders) -> int:
    """The body's length as the client promised it; 0 when it didn't. The server has checked that it is a number."""
    return int(headers.get(b"content-length", 0))


def _answered_id(sent: bytes | None) -> bytes:
    """The id for ``X-Request-Id``: the client's own if it can stand in a header safely, else a new one."""
    if sent and len(sent) <= _LONGEST_ID and sent.isascii() and sent.decode().isprintable():
        return sent
    return uuid.uuid4().hex.encode()
