"""A real server on a real port, in a thread, over a model that does what the request says."""

from __future__ import annotations

import http.client
import io
import json
import socket
import threading
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

from typecase.api.errors import InvalidParameter, JsonError, RequestError, TemplateError, UnknownModel, UnreadableBody
from typecase.prompt.budget import Budget
from typecase.server import run
from typecase.server.app import App, create_app
from typecase.server.run import Server, bind
from typecase.server.served import ServedModel
from typecase.server.settings import ServerSettings

CHAT = "/v1/chat/completions/render"
TIMEOUT = 20  # of a test's client: what a test waits for when the server is broken


class Obedient:
    """A model whose answers tell how it was called, and that fails as asked."""

    def __init__(self, *names: str):
        self.names: Sequence[str] = names or ("tiny",)
        self.root = "models/tiny"
        self.max_model_len = 512
        self.warmed = 0
        self.calls = 0
        self.release = threading.Event()
        self.stopped = threading.Event()

    def warm_up(self) -> None:
        self.warmed += 1

    def tokenizer_info(self) -> Mapping[str, Any]:
        return {"tokenizer_class": "Obedient"}

    def render_chat_bytes(
        self, body: bytes, /, *, request_id: str | None = None, budget: Budget | None = None
    ) -> bytes:
        self.calls += 1
        try:
            asked: dict[str, Any] = json.loads(body)
        except UnicodeDecodeError:
            raise UnreadableBody from None
        except ValueError:
            raise JsonError("The body is no JSON", param="body.0") from None
        match asked.get("do"):
            case "run away":
                self._run_away(budget)
            case "wait":
                assert self.release.wait(TIMEOUT)
            case "answer":
                return b"x" * int(asked["size"])
            case "refuse":
                raise InvalidParameter("temperature must be positive.", "temperature", value=asked["value"])
            case "raise in template":
                raise TemplateError(asked["message"])
            case "unknown model":
                raise UnknownModel("The model `x` does not exist.", param="model")
            case "break":
                raise LookupError(f"secret: {body!r}")
        on = threading.current_thread().name
        return json.dumps({"by": self.names[0], "request_id": request_id, "bytes": len(body), "thread": on}).encode()

    render_completions_bytes = render_messages_bytes = render_responses_bytes = render_chat_bytes
    tokenize_bytes = detokenize_bytes = count_tokens_bytes = render_chat_bytes

    def _run_away(self, budget: Budget | None) -> None:
        assert budget is not None
        try:
            while True:
                budget.step()
        except RequestError:
            self.stopped.set()
            raise


@dataclass
class Answer:
    status: int
    headers: dict[str, str]
    body: bytes

    @property
    def json(self) -> Any:
        return json.loads(self.body)


@dataclass
class Running:
    """A server that runs in a thread."""

    port: int
    app: App
    server: Server
    log: io.StringIO

    def ask(self, method: str, path: str, body: object = None, headers: Mapping[str, str] | None = None) -> Answer:
        """One request on a connection of its own. ``body`` becomes JSON unless it is bytes."""
        sent = dict(headers or {})
        if body is not None and not isinstance(body, bytes):
            body = json.dumps(body).encode()
        if body is not None and not any(name.lower() == "content-type" for name in sent):
            sent["Content-Type"] = "application/json"
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=TIMEOUT)
        try:
            connection.request(method, path, body, sent)
            answer = connection.getresponse()
            return Answer(answer.status, {k.lower(): v for k, v in answer.getheaders()}, answer.read())
        finally:
            connection.close()

    def chat(self, headers: Mapping[str, str] | None = None, **body: object) -> Answer:
        return self.ask("POST", CHAT, body, headers)

    def connect(self) -> socket.socket:
        connection = socket.create_connection(("127.0.0.1", self.port), timeout=TIMEOUT)
        connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        return connection

    def raw(self, data: bytes) -> bytes:
        """Send bytes, then read until the server closes."""
        with self.connect() as connection:
            connection.sendall(data)
            return read_all(connection)

    def lines(self) -> list[str]:
        """The access log."""
        self.app.access_log.flush()  # type: ignore[union-attr]
        return self.log.getvalue().splitlines()


def read_all(connection: socket.socket) -> bytes:
    """What comes until the other side closes."""
    parts = []
    while part := connection.recv(1 << 16):
        parts.append(part)
    return b"".join(parts)


def statuses(answers: bytes) -> list[int]:
    """The status codes in raw answers."""
    return [int(part[:3]) for part in answers.split(b"HTTP/1.1 ")[1:]]


def eventually(condition: Any) -> None:
    """Wait until the condition holds."""
    until = time.monotonic() + TIMEOUT
    while not condition():
        assert time.monotonic() < until, "it never came true"
        time.sleep(0.01)


@contextmanager
def running(*models: ServedModel, sweep_seconds: float = 0.05, **settings: Any) -> Iterator[Running]:
    """Serve until the block ends. Slow clients are looked for more often than in real life."""
    wanted = ServerSettings(**{"host": "127.0.0.1", "port": 0, **settings})
    sock = bind(wanted)
    log = io.StringIO()
    app = create_app(models or (Obedient(),), wanted, log_to=log)
    app.warm_up()
    watched, run.WATCH_SECONDS = run.WATCH_SECONDS, sweep_seconds
    server = Server(app, wanted)
    thread = threading.Thread(target=server.run, kwargs={"sockets": [sock]}, daemon=True)
    thread.start()
    try:
        eventually(lambda: server.started or not thread.is_alive())
        assert server.started
        yield Running(sock.getsockname()[1] if wanted.uds is None else 0, app, server, log)
    finally:
        server.should_exit = True
        thread.join(TIMEOUT)
        app.close()
        run.WATCH_SECONDS = watched
        assert not thread.is_alive(), "the server doesn't stop"
