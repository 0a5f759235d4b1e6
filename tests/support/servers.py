"""Start ``typecase launch render`` as a process of its own, on a free port, and stop it."""

from __future__ import annotations

import http.client
import json
import os
import socket
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

__all__ = ["Running", "render_server"]

_START_SECONDS = 120


@dataclass
class Running:
    """A server that answers ``/health``."""

    port: int
    process: subprocess.Popen[bytes]
    log: Path

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    def ask(
        self, method: str, path: str, body: Any = None, headers: dict[str, str] | None = None
    ) -> tuple[int, Any, dict[str, str]]:
        """Status, body (decoded when it is JSON) and headers of one request; ``body`` may be raw bytes."""
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=120)
        payload = body if isinstance(body, bytes) or body is None else json.dumps(body).encode()
        sent = {"Content-Type": "application/json"} if body is not None else {}
        connection.request(method, path, payload, {**sent, **(headers or {})})
        answer = connection.getresponse()
        raw = answer.read()
        connection.close()
        kind = answer.getheader("content-type") or ""
        return answer.status, json.loads(raw) if "json" in kind and raw else raw, dict(answer.getheaders())


@contextmanager
def render_server(
    arguments: Sequence[str], log: Path, *, folder: Path | None = None, environ: dict[str, str] | None = None
) -> Iterator[Running]:
    """Run the server with ``arguments`` in ``folder`` until the block ends; its output goes to ``log``."""
    port = _free_port()
    command = [sys.executable, "-m", "typecase.cli.main", "launch", "render", *arguments]
    command += ["--host", "127.0.0.1", "--port", str(port)]
    with log.open("wb") as output:
        process = subprocess.Popen(
            command, cwd=folder, stdout=output, stderr=subprocess.STDOUT, env={**os.environ, **(environ or {})}
        )
    running = Running(port, process, log)
    try:
        _wait_ready(running)
        yield running
    finally:
        process.terminate()
        try:
            process.wait(20)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def _wait_ready(running: Running) -> None:
    for _ in range(_START_SECONDS * 20):
        if running.process.poll() is not None:
            raise RuntimeError(f"the server stopped at start: {running.log.read_text()[-2000:]}")
        try:
            if running.ask("GET", "/health")[0] == 200:
                return
        except OSError:
            pass
        time.sleep(0.05)
    raise RuntimeError(f"not ready within {_START_SECONDS} s: {running.log.read_text()[-2000:]}")
