"""What is written about requests."""

from __future__ import annotations

import asyncio
import io
import logging
import os
import re
from typing import Any

import pytest
from tests.server.serving import CHAT, Running, eventually, running

from typecase.server.logs import AccessLog, OneAtATime


def test_lines_look_like_uvicorns(served: Running) -> None:
    served.ask("GET", "/health?a=b%20c")
    served.ask("POST", "/v1/models/%0a")
    served.ask("GET", "/v1/models/")
    lines = served.lines()[-3:]
    assert re.fullmatch(r'INFO:     127\.0\.0\.1:\d+ - "GET /health\?a=b%20c HTTP/1\.1" 200 OK', lines[0])
    assert lines[1].endswith('"POST /v1/models/%0a HTTP/1.1" 404 Not Found')
    assert lines[2].endswith('"GET /v1/models/ HTTP/1.1" 307 Temporary Redirect')


def test_every_kind_of_answer_has_a_line(guarded: Running) -> None:
    before = len(guarded.lines())
    guarded.ask("GET", "/v1/models")
    guarded.ask("GET", "/health", headers={"Origin": "http://ok.example"})
    guarded.ask("OPTIONS", CHAT, headers={"Origin": "http://no.example", "Access-Control-Request-Method": "POST"})
    guarded.ask("POST", "/tokenize", {"do": "break"})
    assert [line.partition('" ')[2] for line in guarded.lines()[before:]] == [
        "401 Unauthorized", "200 OK", "400 Bad Request", "500 Internal Server Error",
    ]  # fmt: skip


def test_paths_that_are_left_out() -> None:
    with running(access_log_excluded=frozenset({"/health", "/metrics"})) as server:
        for path in ("/health", "/health?x=1", "/metrics", "/healthy", "/ping"):
            server.ask("GET", path)
        assert [line.split('"')[1].split()[1] for line in server.lines()] == ["/healthy", "/ping"]


def test_lines_are_written_without_being_asked_for(served: Running) -> None:
    served.ask("GET", "/ping?me=1")
    eventually(lambda: "/ping?me=1" in served.log.getvalue())


@pytest.mark.parametrize(
    ("sent", "shown"),
    [
        ("\x1b[2J", None),  # uvicorn's parser takes no control characters in a target
        ("\x9b2J", None),
        ("%1b[31m", "%1b[31m"),
        ('"x" 200 OK', None),
        ("%0d%0aINFO:", "%0d%0aINFO:"),
        ("?q=%1b", "?q=%1b"),
    ],
)
def test_no_byte_of_a_client_moves_the_cursor(served: Running, sent: str, shown: str | None) -> None:
    served.raw(f"GET /{sent} HTTP/1.1\r\nHost: h\r\nConnection: close\r\n\r\n".encode("latin-1"))
    text = "\n".join(served.lines())
    assert text.replace("\n", "").isprintable()
    if shown is not None:
        assert f'"GET /{shown} HTTP/1.1" 404 Not Found' in text


async def note(log: AccessLog, scope: dict[str, Any]) -> None:
    log.note(scope, 200)
    log.note({**scope, "client": None, "query_string": b"", "raw_path": None}, 999)
    log.flush()


def test_other_servers_are_less_strict_with_targets() -> None:
    stream = io.StringIO()
    scope = {
        "method": "GET\n",
        "path": "/\u65e5",
        "raw_path": b"/\x1b\xff\x9b\xad",
        "query_string": b"q=\r\xe9",
        "http_version": "2",
        "client": ("::1", 80),
    }
    asyncio.run(note(AccessLog(stream), scope))
    first, second = stream.getvalue().splitlines()
    assert first == 'INFO:     ::1:80 - "GET\\n /\\x1b\xff\\x9b\\xad?q=\\r\xe9 HTTP/2" 200 OK'
    assert second.startswith('INFO:      - "GET\\n /')
    assert second.endswith("999")


def test_a_log_that_nobody_reads_any_more_stops_nothing() -> None:
    stream = io.StringIO()
    with running() as server:
        server.app.access_log._stream = stream  # type: ignore[union-attr]
        stream.close()
        for _ in range(3):
            assert server.ask("GET", "/ping").status == 200
            server.app.access_log.flush()  # type: ignore[union-attr]


def test_the_forwarded_client_of_a_trusted_proxy() -> None:
    with running() as server:
        server.ask("GET", "/ping", headers={"X-Forwarded-For": "203.0.113.9"})
        server.ask("GET", "/ping", headers={"X-Forwarded-For": "\x9b2J\xff\xad", "X-Forwarded-Proto": "https"})
        slash = server.ask("GET", "/ping/", headers={"X-Forwarded-Proto": "https"})
        assert slash.headers["location"].startswith("https://")
        first, second, _ = server.lines()
        assert " 203.0.113.9:" in first
        assert " \\x9b2J\xff\\xad:" in second
        assert second.isprintable()


def test_bodies_stay_out_of_the_log(served: Running, caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.DEBUG):
        served.chat(secret="hunter2")
        served.chat(do="refuse", value="hunter2")
        served.ask("POST", CHAT, b"hunter2")
    assert "hunter2" not in caplog.text
    assert "hunter2" not in "\n".join(served.lines())


def test_unless_asked_for(caplog: pytest.LogCaptureFixture) -> None:
    with running(enable_log_requests=True, max_log_len=20) as server, caplog.at_level(logging.INFO, "typecase"):
        server.ask("POST", "/tokenize", b'{"p": "\x1b[2J\n\xff"}' + b" " * 50, {"X-Request-Id": "a\x9bb"})
        server.ask("POST", "/tokenize", b'{"p": 1}')
    first, second = (record.getMessage() for record in caplog.records if record.name == "typecase.requests")
    assert first == 'Request a\\x9bb to /tokenize: 65 bytes: {"p": "\\x1b[2J\\n\\xff...'
    assert second == 'Request - to /tokenize: 8 bytes: {"p": 1}'


def test_lines_of_several_processes_stay_whole() -> None:
    """A pipe takes a short line at once, but a long one in pieces."""
    read, write = os.pipe()
    pipe_in = os.fdopen(write, "w")
    stream = OneAtATime(pipe_in)
    writers = []
    for letter in "abc":
        pid = os.fork()
        if not pid:
            try:
                for _ in range(20):
                    stream.write(f"{letter * 20_000}\n")
            finally:
                os._exit(0)
        writers.append(pid)
    pipe_in.close()
    with os.fdopen(read, "rb") as pipe:
        lines = pipe.read().decode().splitlines()
    for pid in writers:
        assert os.waitpid(pid, 0)[1] == 0
    assert sorted(lines) == sorted(letter * 20_000 for letter in "abc" for _ in range(20))
