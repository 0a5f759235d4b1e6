"""HTTP as an attacker writes it, against a real server on a real port.

Each test ends by asking the server something ordinary: whatever happened, it goes on.
"""

from __future__ import annotations

import json
import socket
import threading
import time
from collections.abc import Iterator

import pytest
from tests.server.serving import CHAT, Obedient, Running, eventually, read_all, running, statuses

LINE = f"POST {CHAT} HTTP/1.1\r\nHost: h\r\n"
JSON = f"{LINE}Content-Type: application/json\r\n"
PING = b"GET /ping HTTP/1.1\r\nHost: h\r\n\r\n"
LAST = b"GET /ping HTTP/1.1\r\nHost: h\r\nConnection: close\r\n\r\n"


@pytest.fixture(scope="module")
def small() -> Iterator[Running]:
    """A server with small bounds."""
    with running(max_header_bytes=20_000, max_header_count=50, max_pipelined=8, max_body_bytes=1_000_000) as server:
        yield server
        assert server.chat().status == 200
        assert server.app.in_flight.used == 0


@pytest.fixture
def hasty() -> Iterator[Running]:
    """A server without patience."""
    with running(
        header_timeout=0.4, body_timeout=0.4, min_body_rate=1_000_000, write_timeout=0.4, keep_alive=0.4
    ) as server:
        yield server
        assert server.chat().status == 200
        assert server.app.in_flight.used == 0


# Heads


def test_a_long_head(small: Running) -> None:
    answer = small.raw(f"{JSON}A: {'x' * 30_000}\r\n".encode() + b"B: " + b"y" * 100_000)
    assert statuses(answer) == [431]
    assert b"--h11-max-incomplete-event-size" in answer


def test_a_long_target(small: Running) -> None:
    assert statuses(small.raw(b"GET /" + b"x" * 50_000)) == [431]


def test_a_head_that_never_ends_is_ended(small: Running, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("typecase.server.protocol._LINGER_SECONDS", 0.2)
    with small.connect() as connection:
        connection.sendall(JSON.encode())
        with pytest.raises(OSError):  # noqa: PT012
            for number in range(1_000_000):
                connection.sendall(b"Header-%d: x\r\n" % number)
                time.sleep(0.0001)


def test_many_headers(small: Running) -> None:
    many = "".join(f"H{number}: x\r\n" for number in range(49))
    assert statuses(small.raw(f"GET /ping HTTP/1.1\r\nConnection: close\r\n{many}\r\n".encode())) == [200]
    answer = small.raw(f"GET /ping HTTP/1.1\r\nConnection: close\r\n{many}One: more\r\n\r\n".encode())
    assert statuses(answer) == [431]
    assert b"--h11-max-header-count" in answer


def test_endless_trailers(small: Running) -> None:
    with small.connect() as connection:
        connection.sendall(f"{JSON}Transfer-Encoding: chunked\r\n\r\n0\r\nTrailer: ".encode())
        connection.sendall(b"x" * 1_000_000)
        assert statuses(read_all(connection)) == [431]


def test_endless_chunk_extension(small: Running) -> None:
    assert statuses(small.raw(f"{JSON}Transfer-Encoding: chunked\r\n\r\n1;".encode() + b"x" * 1_000_000)) == [431]


def test_many_long_heads_share_the_room_of_all_requests() -> None:
    with running(max_bytes_in_flight=300_000, max_body_bytes=300_000) as server:
        talkers = [server.connect() for _ in range(4)]
        for talker in talkers[:3]:
            talker.sendall(f"{JSON}A: ".encode() + b"x" * 90_000)
        eventually(lambda: server.app.in_flight.used > 200_000)
        talkers[3].sendall(f"{JSON}A: ".encode() + b"x" * 90_000)
        assert statuses(read_all(talkers[3])) == [503]
        for talker in talkers:
            talker.close()
        eventually(lambda: server.app.in_flight.used == 0)
        assert server.ask("GET", "/ping", headers={"A": "x" * 90_000}).status == 200


# What isn't HTTP


@pytest.mark.parametrize(
    "data",
    [
        b"\r\n\r\n\x00",
        b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03",  # TLS to a plain port
        b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n",
        b"BLAH\r\n\r\n",
        b"GET /ping HTTP/9.9\r\n\r\n",
        b"GET /\x00 HTTP/1.1\r\nHost: h\r\n\r\n",
        b"GET /\xc3\xa9 HTTP/1.1\r\nHost: h\r\n\r\n",
        b"GET /ping HTTP/1.1\r\nHost : h\r\n\r\n",
        b"GET /ping HTTP/1.1\r\nA: a\x00b\r\n\r\n",
        b"GET /ping HTTP/1.1\r\nA: a\r\n folded\r\n\r\n",
        b"GET /ping HTTP/1.1\r\n\r\r\n\r\n\x00",
        f"{JSON}Content-Length: 2\r\nContent-Length: 3\r\n\r\n{{}}x".encode(),
        f"{JSON}Content-Length: 2\r\nTransfer-Encoding: chunked\r\n\r\n2\r\n{{}}\r\n0\r\n\r\n".encode(),
        f"{JSON}Content-Length: -2\r\n\r\n".encode(),
        f"{JSON}Content-Length: 99999999999999999999999\r\n\r\n".encode(),
        f"{JSON}Transfer-Encoding: chunked\r\n\r\n-1\r\n".encode(),
        f"{JSON}Transfer-Encoding: chunked\r\n\r\nfffffffffffffffff\r\n".encode(),
        f"{JSON}Transfer-Encoding: chunked\r\n\r\n2\r\n{{}}0\r\n\r\n".encode(),
        f"{JSON}Transfer-Encoding: chunked, identity\r\n\r\n{{}}".encode(),
    ],
)
def test_no_http(small: Running, data: bytes) -> None:
    answers = small.raw(data)
    assert statuses(answers) == [400]
    assert b"\r\nconnection: close\r\n" in answers


def test_a_second_request_hidden_in_a_body(small: Running) -> None:
    hidden = b"GET /v1/models HTTP/1.1\r\nHost: h\r\n\r\n"
    length = f"Content-Length: {len(hidden)}\r\n"
    answers = small.raw(f"GET /ping HTTP/1.1\r\nHost: h\r\n{length}\r\n".encode() + hidden + LAST)
    assert statuses(answers) == [200, 200]
    assert b"object" not in answers


def test_garbage_after_a_request_gets_no_answer_of_its_own() -> None:
    """Its answer could be taken for that of the request before, which is still running."""
    model = Obedient()
    with running(model) as server, server.connect() as connection:
        body = json.dumps({"do": "wait", "t": "x" * 20_000}).encode()
        connection.sendall(f"{JSON}Content-Length: {len(body)}\r\n\r\n".encode() + body)
        eventually(lambda: model.calls)
        connection.sendall(b"\x00garbage\r\n\r\n")
        model.release.set()
        assert statuses(read_all(connection)) == [200]


# Pipelines


def test_requests_sent_ahead_are_answered_in_order(small: Running) -> None:
    order = [b"/ping", b"/version", b"/none", b"/load"]
    answers = small.raw(b"".join(b"GET %s HTTP/1.1\r\nHost: h\r\n\r\n" % path for path in order) + LAST)
    assert statuses(answers) == [200, 200, 404, 200, 200]
    assert answers.index(b"0.33.0") < answers.index(b"Not Found") < answers.index(b"server_load")


def test_bodies_sent_ahead(small: Running) -> None:
    bodies = [json.dumps({"number": number}).encode() for number in range(5)]
    requests = [f"{JSON}Content-Length: {len(body)}\r\n\r\n".encode() + body for body in bodies]
    assert statuses(small.raw(b"".join(requests) + LAST)) == [200] * 6


def test_a_flood_of_requests_sent_ahead_is_cut(small: Running) -> None:
    """Those taken are answered, then the connection ends; nobody parses the rest."""
    answers = small.raw(PING * 5000)
    assert statuses(answers) == [200] * 9
    assert b"\r\nconnection: close\r\n" in answers.rpartition(b"HTTP/1.1")[2]


# Slow clients


def test_a_client_that_says_nothing(hasty: Running) -> None:
    assert hasty.raw(b"") == b""


def test_a_slow_head(hasty: Running) -> None:
    with hasty.connect() as connection:
        for byte in b"GET /ping HTTP/1.1\r\nHost:":
            connection.sendall(bytes([byte]))
        assert statuses(read_all(connection)) == [408]


def test_a_dripping_head(hasty: Running) -> None:
    with hasty.connect() as connection:
        stop = threading.Event()

        def drip() -> None:
            try:
                connection.sendall(b"GET /ping HTTP/1.1\r\nA: ")
                while not stop.wait(0.02):
                    connection.sendall(b"x")
            except OSError:
                return

        thread = threading.Thread(target=drip)
        thread.start()
        try:
            assert connection.recv(1 << 16).startswith(b"HTTP/1.1 408 ")
        finally:
            stop.set()
            thread.join()


def test_a_dripping_head_on_a_connection_that_was_good(hasty: Running) -> None:
    with hasty.connect() as connection:
        connection.sendall(PING)
        assert statuses(connection.recv(1 << 16)) == [200]
        connection.sendall(b"G")
        assert statuses(read_all(connection)) == [408]


@pytest.mark.parametrize("framing", ["Content-Length: 1000", "Transfer-Encoding: chunked"])
def test_a_slow_body(hasty: Running, framing: str) -> None:
    answer = hasty.raw(f"{JSON}{framing}\r\n\r\n3\r\n".encode())
    assert statuses(answer) == [408]
    assert json.loads(answer.partition(b"\r\n\r\n")[2])["error"]["code"] == 408


def test_a_body_at_the_asked_rate_may_take_longer() -> None:
    with running(body_timeout=0.2, min_body_rate=1000) as server, server.connect() as connection:
        connection.sendall(f"{JSON}Content-Length: 2002\r\n\r\n{{".encode() + b" " * 1000)
        time.sleep(0.7)
        connection.sendall(b" " * 1000 + b"}")
        assert statuses(connection.recv(1 << 16)) == [200]


def test_the_rest_of_a_refused_body_that_never_comes(monkeypatch: pytest.MonkeyPatch, hasty: Running) -> None:
    monkeypatch.setattr("typecase.server.protocol._LINGER_SECONDS", 0.2)
    with hasty.connect() as connection:
        connection.sendall(b"POST /none HTTP/1.1\r\nHost: h\r\nContent-Length: 1000\r\n\r\n")
        assert statuses(connection.recv(1 << 16)) == [404]
        with pytest.raises(ConnectionError):  # noqa: PT012
            while True:
                connection.sendall(b"x")
                time.sleep(0.02)


def test_an_idle_connection_is_closed(hasty: Running) -> None:
    assert statuses(hasty.raw(PING)) == [200]


def test_a_client_that_never_reads() -> None:
    with running(write_timeout=0.4) as server, socket.socket() as connection:
        connection.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
        connection.connect(("127.0.0.1", server.port))
        body = b'{"do": "answer", "size": 30000000}'
        connection.sendall(f"{JSON}Content-Length: {len(body)}\r\n\r\n".encode() + body)
        eventually(lambda: server.server.server_state.connections)
        eventually(lambda: not server.server.server_state.connections)
        assert server.chat().status == 200


def test_hundreds_of_slow_clients_keep_nobody_from_being_served() -> None:
    with running(header_timeout=30) as server:
        talkers = [server.connect() for _ in range(300)]
        for talker in talkers:
            talker.sendall(b"GET /ping HT")
        for _ in range(20):
            assert server.chat().status == 200
        for talker in talkers:
            talker.close()


# Bodies


def test_deep_nesting(small: Running) -> None:
    for body in (b"[" * 300_000, b"[" * 300_000 + b"]" * 300_000, b'{"a":' * 100_000):
        assert small.ask("POST", "/invocations", body).status == 400


def test_upgrades_are_answered_as_plain_requests(small: Running) -> None:
    for kind in ("websocket", "h2c", "\xff"):
        head = f"GET /ping HTTP/1.1\r\nHost: h\r\nConnection: Upgrade\r\nUpgrade: {kind}\r\n\r\n"
        assert statuses(small.raw(head.encode("latin-1") + b"\x81\x05hello" * 1000)) == [200]


def test_a_client_that_leaves_in_the_middle(small: Running) -> None:
    for part in (JSON, f"{JSON}Content-Length: 100\r\n\r\n{{", f"{JSON}Transfer-Encoding: chunked\r\n\r\n5\r\n"):
        with small.connect() as connection:
            connection.sendall(part.encode())
    eventually(lambda: small.app.in_flight.used == 0)
    assert small.chat().status == 200
