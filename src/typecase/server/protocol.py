"""uvicorn's HTTP protocol with bounds on what a connection may cost.

uvicorn itself takes request heads of any length and waits for slow clients for ever. Here a head is bounded in bytes
and fields (``--h11-max-incomplete-event-size``, ``--h11-max-header-count``), the requests that a client may send ahead
are bounded in number, and a sweep, once a second, ends connections whose client is too slow: with its head, with its
body, in taking its answer, or with the rest of a body that was refused early.

A request that has arrived whole is begun where it arrived, without a task of its own: most are answered before anything
has to be waited for. The steps are those of the same coroutine that a task would run.

The class builds on the callbacks that httptools defines and on a few methods of uvicorn's class; ``test_protocol.py``
fails when a new uvicorn changes one of them.
"""

from __future__ import annotations

__all__ = ["BoundedHttp", "bounded_protocol"]

import enum
import types
from collections.abc import Coroutine, Generator
from functools import partial
from typing import TYPE_CHECKING, Any, ClassVar, cast

import httptools
from uvicorn.protocols.http.httptools_impl import STATUS_LINE, HttpToolsProtocol, RequestResponseCycle

from typecase.server.accepting import Acceptor
from typecase.server.answers import WHOLE_ANSWER, Answer, Header
from typecase.server.errors import Busy, answer_to, error_answer
from typecase.server.limits import InFlight
from typecase.server.settings import ServerSettings

if TYPE_CHECKING:
    from uvicorn._types import ASGI3Application

# How long input is thrown away that comes after an early answer: the rest of a refused body, or of a refused head.
# Closing at once would reset the connection, and the client would never see the answer.
_LINGER_SECONDS = 10.0
# Bytes of a head that need no room in the account of all bytes held.
_FREE_BYTES = 64 * 1024
# A body that is copied behind its head rather than written beside it.
_SMALL_BODY = 64 * 1024
# Time that clients in the middle of a body get to finish once the server stops.
_STOPPING_SECONDS = 5.0


class _Phase(enum.Enum):
    """What the server waits for from the client."""

    HEAD = enum.auto()
    BODY = enum.auto()
    NOTHING = enum.auto()  # the answer is being made, or the connection is idle
    LEAVING = enum.auto()  # that it closes the connection: the last word has been sent


class _Stop(Exception):
    """Raised inside a parser callback: nothing more is read from this connection."""


class BoundedHttp(HttpToolsProtocol):
    """One connection."""

    settings: ClassVar[ServerSettings]
    in_flight: ClassVar[InFlight]
    quiet_bytes: ClassVar[int]  # so many loose bytes are never worth a look
    stopping: ClassVar[bool]
    acceptor: ClassVar[Acceptor | None]  # to be told when a connection ends

    def __init__(self, *args: Any, **kwargs: Any):
        super().__init__(*args, **kwargs)
        self._phase = _Phase.HEAD
        self._since = self.loop.time()
        self._begun = False  # the first byte of a request is here
        self._loose = 0  # bytes received that are neither a head nor a body yet
        self._body_bytes = 0
        self._held = 0
        self._deaf = False
        self._refusal = _BAD_REQUEST
        self._unsent = 0
        self._unsent_since = 0.0
        self._feeding = False
        self._arrived: tuple[RequestResponseCycle, ASGI3Application] | None = None

    # What comes in

    def data_received(self, data: bytes) -> None:
        if self._deaf:
            return
        self._unset_keepalive_if_required()
        if self._phase is _Phase.NOTHING:
            self._expect_head()
        self._loose += len(data)
        self._feeding = True
        try:
            self.parser.feed_data(data)
        except httptools.HttpParserUpgrade:
            # We speak nothing but HTTP/1: the request is answered as it is. The parser can't go on after it.
            self._deaf = True
        except httptools.HttpParserError:
            self._refuse(self._refusal)
        else:
            if self._loose > self.quiet_bytes:
                self._check_loose(len(data))
        self._feeding = False
        if self._arrived is not None:
            self._begin(*self._arrived)

    def _check_loose(self, new: int) -> None:
        """A long head (or trailers, or chunk extensions) is under way: may it grow further?"""
        if self._loose > self.settings.max_header_bytes:
            self._refuse(_head_too_large(self.settings))
        elif self._loose > _FREE_BYTES:
            if self.in_flight.take(new):
                self._held += new
            else:
                self._refuse(answer_to(Busy()))

    def on_message_begin(self) -> None:
        super().on_message_begin()
        self._begun = True
        self._expect_head()

    def _expect_head(self) -> None:
        self._phase = _Phase.HEAD
        self._since = self.loop.time()

    def on_header(self, name: bytes, value: bytes) -> None:
        if len(self.headers) >= self.settings.max_header_count:
            self._refusal = _too_many_fields(self.settings)
            raise _Stop
        # uvicorn's method, written out: a call for each header is a fair part of a short request's time.
        name = name.lower()
        if name == b"expect" and value.lower() == b"100-continue":
            self.expect_100_continue = True
        self.headers.append((name, value))

    def on_headers_complete(self) -> None:
        if len(self.pipeline) >= self.settings.max_pipelined:
            raise _Stop
        self._settle()
        self._phase = _Phase.BODY
        self._since = self.loop.time()
        self._body_bytes = 0
        super().on_headers_complete()
        if self.parser.should_upgrade():
            self.cycle.keep_alive = False
        cast(dict[str, Any], self.scope)[WHOLE_ANSWER] = partial(self.answer, self.cycle)

    def _start_asgi_task(self, cycle: RequestResponseCycle, app: ASGI3Application) -> None:
        if self._feeding:
            self._arrived = (cycle, app)
        else:
            super()._start_asgi_task(cycle, app)

    def _begin(self, cycle: RequestResponseCycle, app: ASGI3Application) -> None:
        """Start on the request that the parser has found."""
        self._arrived = None
        if cycle.more_body:
            super()._start_asgi_task(cycle, app)
            return
        work = cycle.run_asgi(app)
        try:
            awaited = work.send(None)
        except StopIteration:
            return
        task = self.loop.create_task(_resumed(work, awaited))
        task.add_done_callback(self.tasks.discard)
        self.tasks.add(task)

    def on_body(self, body: bytes) -> None:
        self._settle()
        self._body_bytes += len(body)
        super().on_body(body)

    def on_message_complete(self) -> None:
        self._settle()
        self._begun = False
        self._phase = _Phase.NOTHING
        super().on_message_complete()

    def on_response_complete(self) -> None:
        if self._phase is _Phase.BODY:
            self._since = self.loop.time()  # from here on the body is only thrown away
        super().on_response_complete()

    def connection_lost(self, exc: Exception | None) -> None:
        self._deaf = True
        self._settle()
        super().connection_lost(exc)
        if self.acceptor is not None:
            self.acceptor.note()

    def _settle(self) -> None:
        """What was received has become part of a request, or is gone."""
        self._loose = 0
        if self._held:
            self.in_flight.give(self._held)
            self._held = 0

    # What goes out

    def answer(self, cycle: RequestResponseCycle, status: int, headers: list[Header], body: bytes) -> bool:
        """Send a whole answer in one write; ``content-length`` must be among its headers.

        The same as the two ASGI messages, which cost a system call each and a close look at every header. False: the
        connection is to be closed after this one, or the client can't take more now; send the messages.
        """
        if self.flow.write_paused or not cycle.keep_alive or cycle.response_started or cycle.disconnected:
            return False
        cycle.response_started = cycle.response_complete = True
        cycle.waiting_for_100_continue = False
        lines = [b"%b: %b\r\n" % header for header in (*self.server_state.default_headers, *headers)]
        head = b"".join((STATUS_LINE[status], *lines, b"\r\n"))
        if len(body) < _SMALL_BODY:
            self.transport.write(head + body)
        else:
            self.transport.writelines((head, body))
        cycle.message_event.set()
        cycle.on_response()
        return True

    # Ends

    def _should_upgrade_to_ws(self) -> bool:
        return False

    def _refuse(self, answer: Answer) -> None:
        """Read no more. Answer the request that is at fault and end the connection.

        An answer goes out only when it can't be taken for that of an earlier request, which may still be running:
        then the connection ends after that one.
        """
        self._deaf = True
        self._settle()
        if self.transport.is_closing():
            return
        running = self.cycle is not None and not self.cycle.response_complete
        if self._phase is not _Phase.BODY and running:
            self.cycle.keep_alive = False  # the newest request that was taken
        elif self._phase is _Phase.BODY and (not running or self.pipeline or self.cycle.response_started):
            self.transport.close()
        else:
            head = [STATUS_LINE[answer.status]]
            for name, value in [*self.server_state.default_headers, *answer.headers, (b"connection", b"close")]:
                head += (name, b": ", value, b"\r\n")
            self.transport.write(b"".join([*head, b"\r\n", answer.body]))
            self._leave()

    def _leave(self) -> None:
        """Close, but let the client read what was sent: closing with input unread would reset the connection."""
        if self.transport.can_write_eof():
            self.transport.write_eof()
            self._phase = _Phase.LEAVING
            self._since = self.loop.time()
        else:
            self.transport.close()

    # Slow clients

    def sweep(self, now: float) -> None:
        """Called once a second."""
        if self.transport is None or self.transport.is_closing():
            return
        self._sweep_answer(now)
        if self.flow.read_paused:  # the client may not send, so it isn't slow
            self._since = now
        elif self._phase is _Phase.HEAD:
            self._sweep_head(now)
        elif self._phase is _Phase.BODY:
            self._sweep_body(now)
        elif self._phase is _Phase.LEAVING and now - self._since > _LINGER_SECONDS:
            self.transport.abort()

    def _sweep_head(self, now: float) -> None:
        limit = self.settings.header_timeout
        if not limit or now - self._since <= limit:
            return
        if self._begun:
            self._refuse(_TOO_SLOW)
        else:
            self.transport.close()

    def _sweep_body(self, now: float) -> None:
        if self.cycle is None or self.cycle.response_complete:
            if now - self._since > _LINGER_SECONDS:
                self.transport.abort()
            return
        limit = self.settings.body_timeout
        if self.stopping:
            limit = min(limit or _STOPPING_SECONDS, _STOPPING_SECONDS)
        elif limit and self.settings.min_body_rate:
            limit += self._body_bytes / self.settings.min_body_rate
        if limit and now - self._since > limit:
            self._refuse(_TOO_SLOW)

    def _sweep_answer(self, now: float) -> None:
        unsent = self.transport.get_write_buffer_size()
        if not unsent or unsent != self._unsent:
            self._unsent = unsent
            self._unsent_since = now
        elif self.settings.write_timeout and now - self._unsent_since > self.settings.write_timeout:
            self.transport.abort()


def bounded_protocol(settings: ServerSettings, in_flight: InFlight) -> type[BoundedHttp]:
    """The protocol class for one server: uvicorn makes the connections, so what they share sits on their class."""
    shared = {
        "settings": settings,
        "in_flight": in_flight,
        "quiet_bytes": min(settings.max_header_bytes, _FREE_BYTES),
        "stopping": False,
        "acceptor": None,
    }
    return type("ServedHttp", (BoundedHttp,), shared)


@types.coroutine
def _resumed(work: Coroutine[Any, Any, None], awaited: Any) -> Generator[Any, Any, None]:
    """The rest of a coroutine that has been begun and waits for ``awaited``, as a task can run it."""
    try:
        while True:
            try:
                sent = yield awaited
            except BaseException as error:
                awaited = work.throw(error)
            else:
                awaited = work.send(sent)
    except StopIteration:
        return


def _too_large(message: str) -> Answer:
    return error_answer(431, message, "Request Header Fields Too Large")


def _head_too_large(settings: ServerSettings) -> Answer:
    return _too_large(
        f"The request's headers are larger than {settings.max_header_bytes} bytes "
        "(--h11-max-incomplete-event-size on this server)."
    )


def _too_many_fields(settings: ServerSettings) -> Answer:
    return _too_large(
        f"The request has more than {settings.max_header_count} headers (--h11-max-header-count on this server)."
    )


# uvicorn's words: they are what clients of vLLM see.
_BAD_REQUEST = Answer(400, b"Invalid HTTP request received.", (b"content-type", b"text/plain; charset=utf-8"))
_TOO_SLOW = error_answer(408, "The request did not arrive in time.", "Request Timeout")
