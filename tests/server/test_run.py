"""Starting and stopping: what is said, what is refused, and that requests under way are answered."""

from __future__ import annotations

import json
import logging
import os
import signal
import socket
import subprocess
import sys
import textwrap
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from tests.server.serving import CHAT, TIMEOUT, Obedient, eventually, read_all, running, statuses

from typecase.server.run import Server, bind, serve
from typecase.server.settings import ServerSettings, SettingsError

HEAD = f"POST {CHAT} HTTP/1.1\r\nHost: h\r\nContent-Type: application/json\r\n"
ROOT = Path(__file__).resolve().parents[2]


def request(**body: object) -> bytes:
    data = json.dumps(body).encode()
    return f"{HEAD}Content-Length: {len(data)}\r\n\r\n".encode() + data


# In this process


def test_models_are_warm_before_anybody_asks() -> None:
    model = Obedient()
    with running(model) as server:
        assert model.warmed == 1
        assert server.ask("GET", "/health").status == 200
        assert model.warmed == 1


def test_requests_in_threads_are_finished() -> None:
    model = Obedient()
    with running(model, renderer_num_workers=2) as server:
        connections = [server.connect() for _ in range(2)]
        for connection in connections:
            connection.sendall(request(do="wait", text="x" * 20_000))
        idle = server.connect()
        eventually(lambda: model.calls == 2)
        server.server.should_exit = True
        assert read_all(idle) == b"", "an idle connection is closed"
        with pytest.raises(OSError):
            server.connect()
        model.release.set()
        for connection in connections:
            answer = read_all(connection)
            assert statuses(answer) == [200]
    assert '"POST' in server.log.getvalue(), "the access log is written to its end"


def test_a_body_that_is_still_coming_is_read() -> None:
    with running() as server, server.connect() as connection:
        data = request(text="x" * 50_000)
        connection.sendall(data[:1000])
        eventually(lambda: server.app.in_flight.used)
        server.server.should_exit = True
        connection.sendall(data[1000:])
        assert statuses(read_all(connection)) == [200]


def test_but_not_waited_for_without_end(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("typecase.server.protocol._STOPPING_SECONDS", 0.3)
    with running() as server, server.connect() as connection:
        connection.sendall(request(text="x" * 50_000)[:1000])
        eventually(lambda: server.app.in_flight.used)
        server.server.should_exit = True
        assert statuses(read_all(connection)) == [408]


def test_the_second_signal_stops_at_once() -> None:
    model = Obedient()
    with running(model) as server:
        connection = server.connect()
        connection.sendall(request(do="wait", text="x" * 20_000))
        eventually(lambda: model.calls)
        server.server.handle_exit(signal.SIGTERM, None)
        server.server.handle_exit(signal.SIGTERM, None)
        assert _gone(connection)
    model.release.set()


def test_what_is_exposed_is_said(caplog: pytest.LogCaptureFixture) -> None:
    def said(**settings: Any) -> str:
        caplog.clear()
        wanted = ServerSettings(host="127.0.0.1", port=0, **settings)
        sock = bind(wanted)
        with caplog.at_level(logging.INFO, "typecase.server"), pytest.MonkeyPatch.context() as patch:
            patch.setattr(Server, "run", lambda self, sockets: None)
            serve([Obedient("tiny", "small")], wanted, sock=sock)
        return caplog.text

    text = said(api_keys=("secret",), allowed_origins=("http://a.example",))
    assert "Serving tiny, small on http://127.0.0.1:" in text
    assert f"Route: {CHAT}, Methods: POST" in text
    assert "needed for paths that start with /v1, /v2, /inference, /cohere; open to everybody: /detokenize" in text
    assert "http://a.example" in text
    assert "secret" not in text
    assert "No --api-key is set" in said()
    assert "content of requests goes to the log" in said(enable_log_requests=True)


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"port": 70000}, "--port must be between 0 and 65535, got 70000"),
        ({"ssl_keyfile": "k"}, "--ssl-keyfile needs --ssl-certfile"),
        ({"ssl_certfile": "c"}, "--ssl-certfile needs --ssl-keyfile"),
        ({"ssl_cert_reqs": 3}, "--ssl-cert-reqs must be 0"),
        ({"uvicorn_log_level": "loud"}, "--uvicorn-log-level must be one of"),
        ({"renderer_num_workers": 0}, "--renderer-num-workers must be at least 1"),
        ({"max_body_bytes": 0}, "--max-body-mb must be at least 1"),
        ({"api_keys": ("\ud800",)}, "--api-key"),
        ({"ssl_keyfile": "/none/k", "ssl_certfile": "/none/c"}, "TLS can't be set up from /none/c /none/k"),
        ({"host": "256.0.0.1.invalid"}, "can't listen on 256.0.0.1.invalid:"),
        ({"host": "a" * 300}, "can't listen on"),
        ({"uds": "/none/s"}, "can't listen on --uds /none/s"),
    ],
)
def test_what_cannot_work_is_one_line(settings: dict[str, Any], message: str) -> None:
    with pytest.raises(SettingsError) as raised:
        serve([Obedient()], ServerSettings(**{"host": "127.0.0.1", "port": 0, **settings}))
    assert message in str(raised.value)
    assert "\n" not in str(raised.value)


def test_a_port_in_use() -> None:
    with socket.socket() as other:
        other.bind(("127.0.0.1", 0))
        other.listen()
        port = other.getsockname()[1]
        with pytest.raises(SettingsError, match=f"can't listen on 127.0.0.1:{port}: Address already in use"):
            bind(ServerSettings(host="127.0.0.1", port=port))


def _gone(connection: socket.socket) -> bool:
    """Whether the other side ends the connection without another word."""
    try:
        return read_all(connection) == b""
    except ConnectionError:
        return True


# As a process

SCRIPT = """
    import sys
    sys.path.insert(0, {root!r})
    from tests.server.serving import Obedient
    from typecase.server.run import serve
    from typecase.server.settings import ServerSettings, TemplateBudget
    model = Obedient()
    model.release.wait = lambda seconds: __import__("time").sleep(1) or True
    serve([model], ServerSettings(host="127.0.0.1", uds={uds!r}, full_budget=TemplateBudget(1 << 60, 1 << 60)))
    print("ended in order")
"""


@contextmanager
def process(folder: Path) -> Iterator[tuple[subprocess.Popen[str], str]]:
    """The server as a program, listening on a Unix socket."""
    uds = str(folder / "socket")
    script = textwrap.dedent(SCRIPT).format(root=str(ROOT), uds=uds)
    started = subprocess.Popen(
        [sys.executable, "-c", script], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, cwd=ROOT
    )
    try:
        eventually(lambda: _answers(uds) or started.poll() is not None)
        assert started.poll() is None, started.communicate()
        yield started, uds
    finally:
        started.kill()
        started.wait()


def _connect(uds: str) -> socket.socket:
    connection = socket.socket(socket.AF_UNIX)
    connection.settimeout(TIMEOUT)
    connection.connect(uds)
    return connection


def _answers(uds: str) -> bool:
    try:
        with _connect(uds) as connection:
            connection.sendall(b"GET /health HTTP/1.1\r\nHost: h\r\nConnection: close\r\n\r\n")
            return statuses(read_all(connection)) == [200]
    except OSError:
        return False


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_a_signal_ends_it_in_order(tmp_path: Path, number: signal.Signals) -> None:
    with process(tmp_path) as (started, uds):
        with _connect(uds) as connection:
            connection.sendall(request(do="wait", text="x" * 20_000))
            threading.Event().wait(0.3)
            started.send_signal(number)
            assert statuses(read_all(connection)) == [200]
        out, err = started.communicate(timeout=TIMEOUT)
        assert started.returncode == 0, err
        assert f'INFO:      - "POST {CHAT} HTTP/1.1" 200 OK' in out.splitlines()
        assert out.splitlines()[-1] == "ended in order"
        assert "Traceback" not in err
        assert not os.path.exists(uds), "the socket's file is removed"


def test_two_signals_end_it_at_once(tmp_path: Path) -> None:
    with process(tmp_path) as (started, uds), _connect(uds) as connection:
        connection.sendall(request(do="run away", chat_template="x"))
        threading.Event().wait(0.3)
        started.send_signal(signal.SIGTERM)
        threading.Event().wait(0.3)
        assert started.poll() is None
        started.send_signal(signal.SIGTERM)
        _, err = started.communicate(timeout=TIMEOUT)
        assert started.returncode is not None
        assert "Traceback" not in err, err


def test_a_socket_file_left_over_is_replaced_one_in_use_is_not(tmp_path: Path) -> None:
    path = str(tmp_path / "socket")
    first = bind(ServerSettings(uds=path))
    first.close()
    assert os.path.exists(path)
    second = bind(ServerSettings(uds=path))
    second.listen()
    with pytest.raises(SettingsError, match="Address already in use"):
        bind(ServerSettings(uds=path))
    second.close()
    (tmp_path / "file").write_text("precious")
    with pytest.raises(SettingsError):
        bind(ServerSettings(uds=str(tmp_path / "file")))
    assert (tmp_path / "file").read_text() == "precious"


def test_an_ipv6_host() -> None:
    try:
        sock = bind(ServerSettings(host="::1", port=0))
    except SettingsError as error:
        pytest.skip(f"this machine has no IPv6: {error}")
    assert sock.family == socket.AF_INET6
    sock.close()
