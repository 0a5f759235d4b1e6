"""Several processes on one socket: they serve together, are replaced one by one and stop together."""

from __future__ import annotations

import http.client
import json
import os
import re
import signal
import socket
import ssl
import subprocess
import sys
import textwrap
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from tests.server.serving import CHAT, TIMEOUT, Answer, eventually, read_all, statuses
from tests.server.test_run import request
from tests.support.servers import render_server

ROOT = Path(__file__).resolve().parents[2]
CERTIFICATES = Path(__file__).parent / "certificates"

SCRIPT = """
    import json, logging, os, sys, time
    sys.path.insert(0, {root!r})
    from tests.server.serving import Obedient
    from typecase.server.run import bind, serve
    from typecase.server.settings import ServerSettings, SettingsError

    class Told(Obedient):
        def warm_up(self):
            if os.path.exists("broken"):
                raise LookupError("it can't be warmed up")
        def render_chat_bytes(self, body, /, *, request_id=None, budget=None):
            asked = json.loads(body)
            if asked.get("do") == "wait":
                time.sleep(asked["seconds"])
            return json.dumps({{"pid": os.getpid()}}).encode()

    logging.basicConfig(level="INFO", stream=sys.stderr, format="%(message)s")
    settings = ServerSettings(**{settings!r})
    sock = bind(settings)
    if settings.uds is None:
        print("port", sock.getsockname()[1], flush=True)
    try:
        serve([Told()], settings, sock=sock)
    except SettingsError as error:
        print("refused:", error)
        sys.exit(3)
    print("ended in order")
"""


@dataclass
class Group:
    """A parent and its workers, on a Unix socket or a port."""

    parent: subprocess.Popen[str]
    folder: Path
    port: int | None

    @property
    def workers(self) -> list[int]:
        pid = self.parent.pid
        return sorted(map(int, Path(f"/proc/{pid}/task/{pid}/children").read_text().split()))

    @property
    def log(self) -> str:
        return (self.folder / "log").read_text()

    def plain(self) -> socket.socket:
        if self.port is not None:
            return socket.create_connection(("127.0.0.1", self.port), timeout=TIMEOUT)
        connection = socket.socket(socket.AF_UNIX)
        connection.settimeout(TIMEOUT)
        connection.connect(str(self.folder / "socket"))
        return connection

    def client(self) -> http.client.HTTPConnection:
        """A connection that stays open."""
        client = http.client.HTTPConnection("h")
        client.sock = self.plain()
        return client

    def client_of(self, worker: int) -> http.client.HTTPConnection:
        """A connection to this worker."""
        for _ in range(500):
            client = self.client()
            if pid(client) == worker:
                return client
            client.close()
        raise AssertionError("the worker takes no connections")

    def metrics(self) -> Mapping[str, float]:
        client = self.client()
        text = ask(client, "GET", "/metrics").body.decode()
        client.close()
        rows = [line.rpartition(" ") for line in text.splitlines() if not line.startswith("#")]
        return {name: float(value) for name, _, value in rows}

    def answered(self) -> float:
        """Chats that the metrics know of."""
        return self.metrics().get(f'http_requests_total{{handler="{CHAT}",method="POST",status="2xx"}}', 0)

    def ended(self) -> str:
        """Wait for the end; what was printed."""
        out, _ = self.parent.communicate(timeout=TIMEOUT)
        return out


def ask(client: http.client.HTTPConnection, method: str, path: str, body: object = None) -> Answer:
    headers = {} if body is None else {"Content-Type": "application/json"}
    client.request(method, path, None if body is None else json.dumps(body).encode(), headers)
    answer = client.getresponse()
    return Answer(answer.status, dict(answer.getheaders()), answer.read())


def pid(client: http.client.HTTPConnection, **body: object) -> int:
    """Ask for a chat; who answered."""
    number: int = ask(client, "POST", CHAT, body).json["pid"]
    return number


def alive(number: int) -> bool:
    try:
        return Path(f"/proc/{number}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False


@contextmanager
def group(folder: Path, *, ready: bool = True, tcp: bool = False, **settings: Any) -> Iterator[Group]:
    wanted: dict[str, Any] = {"api_server_count": 2, "host": "127.0.0.1", "port": 0, **settings}
    if not tcp:
        wanted["uds"] = str(folder / "socket")
    script = textwrap.dedent(SCRIPT).format(root=str(ROOT), settings=wanted)
    with (folder / "log").open("wb") as log:
        parent = subprocess.Popen(
            [sys.executable, "-c", script],
            stdout=subprocess.PIPE,
            stderr=log,
            text=True,
            cwd=folder,
            env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)},
            start_new_session=True,
        )
    assert parent.stdout is not None
    port = int(parent.stdout.readline().split()[1]) if tcp else None
    started = Group(parent, folder, port)
    try:
        if ready:
            eventually(lambda: "startup complete" in started.log or parent.poll() is not None)
            assert parent.poll() is None, started.log
        yield started
    finally:
        with suppress(ProcessLookupError):
            os.killpg(parent.pid, signal.SIGKILL)
        parent.wait()
        parent.stdout.close()


def test_all_serve_and_the_metrics_add_up(tmp_path: Path) -> None:
    with group(tmp_path, tcp=True) as served:
        first, second = served.workers
        clients = [served.client_of(first), served.client_of(second)]
        asked = served.answered()
        for client in clients:
            for _ in range(10):
                pid(client)
        for client in clients:
            text = ask(client, "GET", "/metrics").body.decode()
            assert f'http_requests_total{{handler="{CHAT}",method="POST",status="2xx"}} {asked + 20}' in text
        found = served.metrics()
        assert found["http_request_duration_highr_seconds_count"] == asked + 20
        assert found[f'http_request_size_bytes_count{{handler="{CHAT}"}}'] == asked + 20
        assert found['http_request_duration_highr_seconds_bucket{le="+Inf"}'] == asked + 20
        assert found["process_resident_memory_bytes"] > 1e6
        assert found["typecase_bytes_in_flight"] == 0
        assert {"python_gc_collections_total", "process_cpu_seconds_total"} <= {name.split("{")[0] for name in found}
        assert served.log.count("Application startup complete.") == 1


def test_connections_are_shared_out(tmp_path: Path) -> None:
    with group(tmp_path) as served:
        clients: list[http.client.HTTPConnection] = []

        def all_serve() -> bool:
            clients.append(served.client())
            return {pid(client) for client in clients} == set(served.workers)

        eventually(all_serve)


def test_a_worker_that_dies_is_replaced(tmp_path: Path) -> None:
    with group(tmp_path) as served:
        doomed, other = served.workers
        staying, lost = served.client_of(other), served.client_of(doomed)
        for _ in range(5):
            pid(lost)
        answered, used = served.answered(), served.metrics()["process_cpu_seconds_total"]
        os.kill(doomed, signal.SIGKILL)
        assert pid(staying) == other, "requests on the others go on"
        eventually(lambda: len(served.workers) == 2 and doomed not in served.workers)
        (fresh,) = set(served.workers) - {other}
        eventually(lambda: _is_served_by(served, fresh))
        after = served.answered()
        assert after > answered
        pid(served.client_of(fresh))
        assert served.answered() > after, "a new worker goes on counting where the old one stopped"
        assert served.metrics()["process_cpu_seconds_total"] >= used
        lines = [line for line in served.log.splitlines() if "another one starts" in line]
        assert lines == [f"A server process (process {doomed}) ended: SIGKILL; another one starts in 0.1 s"]


def _is_served_by(served: Group, worker: int) -> bool:
    client = served.client()
    try:
        return pid(client) == worker
    finally:
        client.close()


def test_a_worker_that_is_told_to_stop_finishes_and_is_replaced(tmp_path: Path) -> None:
    with group(tmp_path) as served:
        worker = served.workers[0]
        client = served.client_of(worker)
        answers: list[int] = []
        asking = threading.Thread(target=lambda: answers.append(pid(client, do="wait", seconds=0.5)))
        asking.start()
        threading.Event().wait(0.2)
        os.kill(worker, signal.SIGTERM)
        asking.join(TIMEOUT)
        assert answers == [worker]
        eventually(lambda: len(served.workers) == 2 and worker not in served.workers)


@pytest.mark.parametrize(
    ("number", "everybody"),
    [(signal.SIGTERM, False), (signal.SIGTERM, True), (signal.SIGINT, True)],
    ids=["TERM to the parent", "TERM to all, as systemd sends it", "INT to all, as a terminal sends it"],
)
def test_a_signal_ends_all_in_order(tmp_path: Path, number: signal.Signals, everybody: bool) -> None:
    with group(tmp_path) as served:
        workers = served.workers
        with served.plain() as connection:
            connection.sendall(request(do="wait", seconds=1.0))
            threading.Event().wait(0.3)
            if everybody:
                os.killpg(served.parent.pid, number)
            else:
                os.kill(served.parent.pid, number)
            assert statuses(read_all(connection)) == [200]
        out = served.ended()
        assert served.parent.returncode == 0, served.log
        assert f'"POST {CHAT} HTTP/1.1" 200 OK' in out, "the access log is written to its end"
        assert out.splitlines()[-1] == "ended in order"
        assert out.count("ended in order") == 1
        assert not any(map(alive, workers))
        assert not (tmp_path / "socket").exists()
        assert "Traceback" not in served.log


def test_two_signals_end_all_at_once(tmp_path: Path) -> None:
    with group(tmp_path) as served, served.plain() as connection:
        workers = served.workers
        connection.sendall(request(do="wait", seconds=600, text="x" * 20_000))
        threading.Event().wait(0.3)
        served.parent.terminate()
        threading.Event().wait(0.3)
        assert served.parent.poll() is None
        served.parent.terminate()
        served.ended()
        assert not any(map(alive, workers))


def test_a_stop_takes_no_longer_than_it_may(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with group(tmp_path, graceful_timeout=0.5) as served, served.plain() as connection:
        connection.sendall(request(do="wait", seconds=600, text="x" * 20_000))
        threading.Event().wait(0.3)
        served.parent.terminate()
        assert "ended in order" in served.ended()


def test_workers_do_not_outlive_their_parent(tmp_path: Path) -> None:
    with group(tmp_path) as served:
        workers = served.workers
        served.parent.kill()
        eventually(lambda: not any(map(alive, workers)))


def test_a_start_that_fails_is_one_line(tmp_path: Path) -> None:
    (tmp_path / "broken").touch()
    with group(tmp_path, ready=False) as served:
        out = served.ended()
        assert out == "refused: a server process ended at its start (exit status 1); its words are above\n"
        assert served.parent.returncode == 3
        assert "it can't be warmed up" in served.log


def test_a_worker_that_dies_again_and_again_is_waited_for_longer(tmp_path: Path) -> None:
    with group(tmp_path) as served:
        (tmp_path / "broken").touch()
        os.kill(served.workers[0], signal.SIGKILL)
        eventually(lambda: served.log.count("another one starts") >= 4)
        waits = re.findall(r"another one starts in (\S+) s", served.log)
        assert waits[:4] == ["0.1", "0.2", "0.4", "0.8"]
        (tmp_path / "broken").unlink()
        eventually(lambda: len(served.workers) == 2)
        served.parent.terminate()
        assert "ended in order" in served.ended()


def test_https(tmp_path: Path) -> None:
    """A worker that replaces another has the certificate of now, not that of the parent's start."""
    for name in ("pem", "key"):
        (tmp_path / f"tls.{name}").write_bytes((CERTIFICATES / f"first.{name}").read_bytes())
    tls = {"ssl_certfile": str(tmp_path / "tls.pem"), "ssl_keyfile": str(tmp_path / "tls.key")}
    with group(tmp_path, tcp=True, enable_ssl_refresh=True, **tls) as served:

        def presents(name: str) -> bool:
            context = ssl.create_default_context(cafile=str(CERTIFICATES / f"{name}.pem"))
            try:
                with context.wrap_socket(served.plain(), server_hostname="localhost") as connection:
                    connection.sendall(request())
                    return b" 200 " in connection.recv(4096)
            except ssl.SSLError:
                return False

        assert presents("first")
        assert not presents("second")
        for name in ("key", "pem"):
            (tmp_path / f"new.{name}").write_bytes((CERTIFICATES / f"second.{name}").read_bytes())
            os.replace(tmp_path / f"new.{name}", tmp_path / f"tls.{name}")
        before = served.workers
        for worker in before:
            os.kill(worker, signal.SIGKILL)
        eventually(lambda: len(served.workers) == 2 and not set(before) & set(served.workers))
        assert presents("second")
        assert not presents("first")


def test_processes_need_a_count_above_zero() -> None:
    from typecase.server.settings import ServerSettings, SettingsError

    with pytest.raises(SettingsError, match="--api-server-count must be at least 1, got 0"):
        ServerSettings(api_server_count=0).check()


def check_real(checkpoint: Path, log: Path) -> None:
    """No threads before the fork, and answers of all workers alike."""
    command = [str(checkpoint), "--served-model-name", "m", "--api-server-count", "2"]
    with render_server(command, log) as server:
        parent = Path(f"/proc/{server.process.pid}/task")
        assert len(list(parent.iterdir())) == 1
        workers = (parent / str(server.process.pid) / "children").read_text().split()
        assert len(workers) == 2
        text = "Zwölf große Boxkämpfer, 12345 漢字 \n\n x " * 4000
        answers = []
        for prompt in ("short", text) * 4:
            status, answer, _ = server.ask("POST", "/tokenize", {"prompt": prompt})
            assert status == 200, answer
            answers.append(answer["tokens"])
        assert all(answer == answers[number % 2] for number, answer in enumerate(answers))
        assert "startup complete" in log.read_text()


def test_a_checkpoint(tiny: Path, tmp_path: Path) -> None:
    check_real(tiny, tmp_path / "log")


@pytest.mark.network
@pytest.mark.parametrize("name", ["qwen3", "llama2", "gemma3"])
def test_a_real_checkpoint(models: Path, tmp_path: Path, name: str) -> None:
    check_real(models / name, tmp_path / "log")
