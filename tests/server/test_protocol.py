"""What the protocol takes over from uvicorn, and that uvicorn still has it.

The bounds themselves are tested with the other hostile requests, in ``tests/hostile/test_http.py``.
"""

from __future__ import annotations

import asyncio
import json
from typing import Any

import uvicorn
from tests.server.serving import CHAT, TIMEOUT, Obedient, Running, read_all, running, statuses
from uvicorn.protocols.http.flow_control import FlowControl
from uvicorn.protocols.http.httptools_impl import STATUS_LINE, HttpToolsProtocol, RequestResponseCycle
from uvicorn.server import ServerState

from typecase.server.app import create_app
from typecase.server.limits import InFlight
from typecase.server.protocol import BoundedHttp, bounded_protocol
from typecase.server.run import Server
from typecase.server.settings import ServerSettings

PING = b"GET /ping HTTP/1.1\r\nHost: h\r\n\r\n"


class Wire(asyncio.Transport):
    """A transport that goes nowhere."""

    def __init__(self) -> None:
        super().__init__()
        self.sent = b""
        self.closed = False

    def get_extra_info(self, name: str, default: Any = None) -> Any:
        return default

    def write(self, data: Any) -> None:
        self.sent += bytes(data)

    def close(self) -> None:
        self.closed = True

    def is_closing(self) -> bool:
        return self.closed

    def can_write_eof(self) -> bool:
        return False

    def pause_reading(self) -> None: ...

    def resume_reading(self) -> None: ...


def test_uvicorn_still_calls_things_so() -> None:
    """If one of these fails with a new uvicorn, read its ``httptools_impl.py`` and go through ``protocol.py`` again."""

    async def look() -> None:
        config = uvicorn.Config(lambda: None, log_config=None)
        config.load()
        protocol = HttpToolsProtocol(config, ServerState(), {})
        protocol.connection_made(Wire())
        assert protocol.cycle is None
        assert protocol.headers is None
        assert len(protocol.pipeline) == 0
        protocol.on_message_begin()
        assert protocol.headers == []
        assert protocol.expect_100_continue is False
        protocol.on_header(b"Name", b"Value")
        assert protocol.headers == [(b"name", b"Value")]
        assert isinstance(protocol.flow, FlowControl)
        assert protocol.flow.read_paused is False
        assert protocol in protocol.server_state.connections
        protocol._unset_keepalive_if_required()

    asyncio.run(look())
    assert STATUS_LINE[431].startswith(b"HTTP/1.1 431 ")
    cycle = RequestResponseCycle.__init__.__code__.co_names
    assert {"keep_alive", "response_complete", "response_started", "disconnected"} <= set(cycle)
    for name in ("on_headers_complete", "on_body", "on_message_complete", "on_response_complete", "connection_lost"):
        assert name in vars(HttpToolsProtocol)
        assert name in vars(BoundedHttp)


def test_every_server_has_its_own_bounds() -> None:
    one = bounded_protocol(ServerSettings(max_header_count=1), InFlight(1))
    two = bounded_protocol(ServerSettings(max_header_count=2), InFlight(2))
    one.stopping = True
    assert (two.stopping, two.settings.max_header_count, two.in_flight.limit) == (False, 2, 2)


def test_one_connection_for_many_requests(served: Running) -> None:
    with served.connect() as connection:
        for _ in range(50):
            connection.sendall(PING)
            assert statuses(connection.recv(1 << 16)) == [200]
        connection.sendall(PING.replace(b"\r\n\r\n", b"\r\nConnection: close\r\n\r\n"))
        assert statuses(read_all(connection)) == [200]


def test_http_1_0_ends_with_the_answer(served: Running) -> None:
    assert statuses(served.raw(b"GET /ping HTTP/1.0\r\n\r\n")) == [200]


def test_100_continue_comes_when_the_body_is_wanted(served: Running) -> None:
    head = f"POST {CHAT} HTTP/1.1\r\nHost: h\r\nExpect: 100-Continue\r\nContent-Length: 2\r\nContent-Type: "
    with served.connect() as connection:
        connection.sendall(f"{head}application/json\r\n\r\n".encode())
        assert connection.recv(1 << 16) == b"HTTP/1.1 100 Continue\r\n\r\n"
        connection.sendall(b"{}")
        assert statuses(connection.recv(1 << 16)) == [200]
    with served.connect() as connection:
        connection.sendall(f"{head}text/plain\r\n\r\n".encode())
        assert statuses(connection.recv(1 << 16)) == [400], "nobody asked for the body"


def test_a_body_that_nobody_wanted_is_skipped(served: Running) -> None:
    body = b"GET /none HTTP/1.1\r\n\r\n" * 10_000
    request = b"POST /ping HTTP/1.1\r\nHost: h\r\nContent-Length: %d\r\n\r\n" % len(body)
    last = PING.replace(b"\r\n\r\n", b"\r\nConnection: close\r\n\r\n")
    assert statuses(served.raw(request + body + last)) == [200, 200]


def test_a_long_body_in_many_pieces() -> None:
    model = Obedient()
    with running(model) as server, server.connect() as connection:
        body = b'{"t": "' + b"x" * 3_000_000 + b'"}'
        request = (
            f"POST {CHAT} HTTP/1.1\r\nHost: h\r\nContent-Type: application/json\r\nContent-Length: {len(body)}\r\n\r\n"
        )
        data = request.encode() + body
        for at in range(0, len(data), 100_000):
            connection.sendall(data[at : at + 100_000])
        answer = connection.recv(1 << 16)
        assert statuses(answer) == [200]
        assert b'"bytes": %d' % len(body) in answer


def whole(**body: object) -> bytes:
    data = json.dumps(body).encode()
    head = f"POST {CHAT} HTTP/1.1\r\nHost: h\r\nContent-Type: application/json\r\nContent-Length: {len(data)}\r\n\r\n"
    return head.encode() + data


def test_a_request_that_is_all_there_is_answered_at_once() -> None:
    """Without a turn of the event loop, unless there is something to wait for."""

    async def feed() -> None:
        app = create_app([Obedient()], ServerSettings())
        server = Server(app, ServerSettings())
        tasks = server.server_state.tasks

        def connect() -> tuple[BoundedHttp, Wire]:
            protocol = server._protocol(server.config, server.server_state, {}, asyncio.get_running_loop())
            wire = Wire()
            protocol.connection_made(wire)
            return protocol, wire

        async def answered(wire: Wire, *expected: int) -> None:
            while statuses(wire.sent) != [*expected]:
                await asyncio.sleep(0.001)
            assert not tasks

        protocol, wire = connect()
        for number in range(1, 4):
            protocol.data_received(whole())
            assert statuses(wire.sent) == [200] * number
            assert not tasks

        protocol, wire = connect()
        request = whole()
        protocol.data_received(request[:-1])
        assert (wire.sent, len(tasks)) == (b"", 1)
        protocol.data_received(request[-1:])
        await answered(wire, 200)

        protocol, wire = connect()
        protocol.data_received(whole(text="x" * 20_000))  # for a thread
        assert (wire.sent, len(tasks)) == (b"", 1)
        await answered(wire, 200)

        protocol, wire = connect()
        protocol.data_received(whole(text="x" * 20_000) + whole(do="unknown model") + PING + b"\0")
        await answered(wire, 200, 404, 200)
        app.close()

    asyncio.run(asyncio.wait_for(feed(), TIMEOUT))


def test_a_client_that_leaves_a_request_that_waits() -> None:
    async def feed() -> None:
        model = Obedient()
        app = create_app([model], ServerSettings())
        server = Server(app, ServerSettings())
        protocol = server._protocol(server.config, server.server_state, {}, asyncio.get_running_loop())
        wire = Wire()
        protocol.connection_made(wire)
        protocol.data_received(whole(do="run away", text="x" * 20_000))
        while not model.calls:
            await asyncio.sleep(0.001)
        protocol.connection_lost(None)
        while server.server_state.tasks or not model.stopped.is_set():
            await asyncio.sleep(0.001)
        assert wire.sent == b""
        assert app.in_flight.used == 0
        app.close()

    asyncio.run(asyncio.wait_for(feed(), TIMEOUT))
