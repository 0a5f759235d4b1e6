"""Taking connections from a socket that several processes listen on.

An event loop by itself takes all connections that wait at once, so the process that happens to wake first may get
every connection of a client's pool, and the others serve nothing as long as those live. Here a process takes one at a
time, and only while it has no more than the others; a process with more holds back for some milliseconds, so that one
with fewer can come. If none does it takes one all the same, then two, and so on: a process that hangs holds up few
connections, and those shortly.
"""

from __future__ import annotations

__all__ = ["Acceptor", "ConnectionCounts"]

import asyncio
import logging
import select
import socket
import ssl
from collections.abc import Callable
from typing import Protocol

_log = logging.getLogger("typecase.server")

# For a process that is rendering a few short requests to come back to its loop.
_PATIENCE_SECONDS = 0.010
_STEP_SECONDS = 0.001
# Connections that follow so soon belong to the same burst.
_BURST_SECONDS = 0.002
_AT_ONCE = 64
# After the system has refused a connection for want of files or memory.
_PAUSE_SECONDS = 1.0


class ConnectionCounts(Protocol):
    """How many connections each process has."""

    def set_connections(self, count: int | None) -> None:
        """This process has ``count`` of them; None: it takes none."""

    def fewest_connections(self) -> int | None:
        """Of any other process that takes connections."""


class Acceptor:
    """Takes connections for one process. ``connected()`` tells how many live at the moment."""

    def __init__(
        self,
        sock: socket.socket,
        make_protocol: Callable[[], asyncio.Protocol],
        *,
        tls: ssl.SSLContext | None,
        backlog: int,
        counts: ConnectionCounts,
        connected: Callable[[], int],
    ):
        self._loop = asyncio.get_running_loop()
        self._sock = sock
        self._make_protocol = make_protocol
        self._tls = tls
        self._counts = counts
        self._connected = connected
        self._starting: set[asyncio.Task[None]] = set()
        self._timer: asyncio.TimerHandle | None = None
        self._held_back_since: float | None = None
        self._in_vain = 1  # connections to take when the next wait has been in vain
        self._taken_at = 0.0
        self._stopped = False
        sock.setblocking(False)
        sock.listen(backlog)
        self._waiting = select.poll()
        self._waiting.register(sock, select.POLLIN)
        self.note()
        self._loop.add_reader(sock, self._take)

    def note(self) -> None:
        """Tell the others how many connections there are here. Called when one has ended."""
        if not self._stopped:
            self._counts.set_connections(self._here)

    def stop(self) -> None:
        """Take no more, and close this process's hold on the socket."""
        self._stopped = True
        if self._timer is not None:
            self._timer.cancel()
        self._loop.remove_reader(self._sock)
        self._sock.close()
        self._counts.set_connections(None)

    @property
    def _here(self) -> int:
        return self._connected() + len(self._starting)

    def _others_come_first(self) -> bool:
        """Whether another process has fewer, or soon will: one that is busy has not yet noticed who has left."""
        fewest = self._counts.fewest_connections()
        here = self._here
        if fewest is None or here == 0:
            return False
        return fewest < here or (fewest == here and self._loop.time() - self._taken_at < _BURST_SECONDS)

    def _take(self) -> None:
        """A connection waits."""
        if not self._others_come_first():
            self._forget_waiting()
            self._accept(_AT_ONCE)
            return
        now = self._loop.time()
        if self._held_back_since is None:
            self._held_back_since = now
        if now - self._held_back_since < _PATIENCE_SECONDS:
            self._pause(_STEP_SECONDS)
        else:
            self._held_back_since = now
            self._accept(self._in_vain, even_if_others_have_fewer=True)
            self._in_vain = min(2 * self._in_vain, _AT_ONCE)

    def _forget_waiting(self) -> None:
        self._held_back_since = None
        self._in_vain = 1

    def _accept(self, most: int, *, even_if_others_have_fewer: bool = False) -> None:
        for _ in range(most):
            try:
                connection, _ = self._sock.accept()
            except (BlockingIOError, InterruptedError, ConnectionAbortedError):
                return
            except OSError as error:
                _log.warning("A connection can't be taken: %s", error.strerror or error)
                self._pause(_PAUSE_SECONDS)
                return
            connection.setblocking(False)
            self._taken_at = self._loop.time()
            task = self._loop.create_task(self._connect(connection))
            self._starting.add(task)
            task.add_done_callback(self._has_started)
            self.note()
            if not even_if_others_have_fewer and self._others_come_first():
                return

    async def _connect(self, connection: socket.socket) -> None:
        try:
            await self._loop.connect_accepted_socket(self._make_protocol, connection, ssl=self._tls)
        except (OSError, ssl.SSLError):  # gone already, or no TLS that we understand
            connection.close()

    def _has_started(self, task: asyncio.Task[None]) -> None:
        self._starting.discard(task)
        if not task.cancelled() and (error := task.exception()) is not None:
            _log.error("A connection can't be served", exc_info=error)
        self.note()

    def _pause(self, seconds: float) -> None:
        self._loop.remove_reader(self._sock)
        self._timer = self._loop.call_later(seconds, self._resume)

    def _resume(self) -> None:
        self._timer = None
        if not self._waiting.poll(0):
            self._forget_waiting()  # another process has taken it
        self._loop.add_reader(self._sock, self._take)
