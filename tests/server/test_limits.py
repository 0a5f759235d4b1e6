"""Bounds on bodies."""

from __future__ import annotations

import json

import pytest
from tests.server.serving import CHAT, Obedient, Running, eventually, read_all, running, statuses

HEAD = f"POST {CHAT} HTTP/1.1\r\nHost: h\r\nContent-Type: application/json\r\n"


def test_a_promised_body_that_is_too_long_is_not_read() -> None:
    with running(max_body_bytes=1000) as server, server.connect() as connection:
        connection.sendall(f"{HEAD}Expect: 100-continue\r\nContent-Length: 1001\r\n\r\n".encode())
        answer = connection.recv(1 << 16)
        assert statuses(answer) == [413], "not 100"
        error = json.loads(answer.partition(b"\r\n\r\n")[2])["error"]
        assert (error["code"], error["param"]) == (413, None)
        assert "1000 bytes" in error["message"]
        assert "--max-body-mb" in error["message"]


def test_the_limit_itself_is_allowed() -> None:
    with running(max_body_bytes=1000) as server:
        body = json.dumps({"t": "x" * 991}).encode()
        assert len(body) == 1000
        assert server.ask("POST", CHAT, body).status == 200
        assert server.ask("POST", CHAT, body + b" ").status == 413


def test_a_body_without_a_length_is_counted_while_it_arrives() -> None:
    model = Obedient()
    with running(model, max_body_bytes=100_000) as server, server.connect() as connection:
        connection.sendall(f"{HEAD}Transfer-Encoding: chunked\r\n\r\n".encode())
        chunk = b"2710\r\n" + b" " * 10_000 + b"\r\n"
        for _ in range(11):
            connection.sendall(chunk)
        answer = connection.recv(1 << 16)
        assert statuses(answer) == [413]
        # The rest is thrown away and the connection goes on.
        connection.sendall(chunk * 3 + b"0\r\n\r\n" + b"GET /ping HTTP/1.1\r\nHost: h\r\nConnection: close\r\n\r\n")
        assert statuses(read_all(connection)) == [200]
        assert model.calls == 0
        assert server.app.in_flight.used == 0


def test_the_client_sees_the_refusal_of_a_long_body() -> None:
    """Though it sends all of it before it reads."""
    with running(max_body_bytes=1000) as server:
        assert server.ask("POST", CHAT, b" " * 20_000_000).status == 413


def test_all_bodies_together() -> None:
    model = Obedient()
    with running(model, max_body_bytes=60_000, max_bytes_in_flight=100_000) as server, server.connect() as first:
        body = json.dumps({"do": "wait", "t": "x" * 50_000}).encode()
        first.sendall(f"{HEAD}Content-Length: {len(body)}\r\n\r\n".encode() + body)
        eventually(lambda: model.calls)
        assert server.app.in_flight.used == len(body)
        refused = server.chat(t="x" * 50_000)
        assert refused.status == 503
        assert refused.headers["retry-after"] == "1"
        assert refused.json["error"]["type"] == "ServiceUnavailableError"
        assert server.chat().status == 200, "there is room for a short one"
        model.release.set()
        assert statuses(first.recv(1 << 16)) == [200]
        eventually(lambda: server.app.in_flight.used == 0)
        assert server.chat(t="x" * 50_000).status == 200


def test_a_promise_reserves_nothing() -> None:
    with running(max_body_bytes=50_000, max_bytes_in_flight=50_000) as server:
        talkers = [server.connect() for _ in range(5)]
        for talker in talkers:
            talker.sendall(f"{HEAD}Content-Length: 50000\r\n\r\n{{".encode())
        eventually(lambda: server.app.in_flight.used == 5)
        assert server.chat(t="x" * 40_000).status == 200
        for talker in talkers:
            talker.close()
        eventually(lambda: server.app.in_flight.used == 0)


@pytest.mark.parametrize("length", ["-1", "1_0", "0x10", "\xb2", "9" * 400, ""])
def test_lengths_that_are_none(served: Running, length: str) -> None:
    answer = served.raw(f"{HEAD}Content-Length: {length}\r\n\r\n{{}}".encode("latin-1"))
    assert statuses(answer) == [400]
