"""What the server writes about requests: one line each, and their bodies if that was asked for.

uvicorn's access log costs as much as rendering a short chat, so the lines, which look the same, are collected and
written together, a few times a second. Whatever came from a client is escaped: a log line is one line, and no byte of
it moves a terminal's cursor.
"""

from __future__ import annotations

__all__ = ["AccessLog", "LineStream", "OneAtATime", "RequestLog"]

import asyncio
import logging
import tempfile
from collections.abc import Mapping, MutableMapping
from http import HTTPStatus
from typing import Any, Protocol, TextIO

from typecase.api.printable import printable

_PHRASES: Mapping[int, str] = {int(status): f"{int(status)} {status.phrase}" for status in HTTPStatus}

# Long enough to write many lines at once under load, short enough that somebody who watches sees no delay.
_FLUSH_SECONDS = 0.25
_FLUSH_LINES = 512


class LineStream(Protocol):
    """Where whole lines are written to."""

    def write(self, lines: str, /) -> object: ...
    def flush(self) -> object: ...


class OneAtATime:
    """A stream that several processes write whole lines to: none begins before another has ended.

    Made before the fork. The system gives the lock back when its holder dies; the file that carries it has no name.
    """

    def __init__(self, stream: TextIO):
        self._stream = stream
        self._lock = tempfile.TemporaryFile()  # noqa: SIM115  # open as long as the server lives

    def write(self, lines: str, /) -> None:
        from fcntl import LOCK_EX, LOCK_UN, lockf

        lockf(self._lock, LOCK_EX)
        try:
            self._stream.write(lines)
            self._stream.flush()
        finally:
            lockf(self._lock, LOCK_UN)

    def flush(self) -> None:
        """Nothing is held back."""


class AccessLog:
    """``INFO:     CLIENT - "METHOD PATH HTTP/VERSION" STATUS PHRASE``, as uvicorn writes it."""

    def __init__(self, stream: LineStream, *, excluded: frozenset[str] = frozenset()):
        self._stream = stream
        self._excluded = excluded
        self._lines: list[str] = []
        self._timer: asyncio.TimerHandle | None = None

    def note(self, scope: MutableMapping[str, Any], status: int) -> None:
        """Remember a line for this request."""
        if scope["path"] in self._excluded:
            return
        target = (scope.get("raw_path") or scope["path"].encode()).decode("latin-1")
        if query := scope["query_string"]:
            target = f"{target}?{query.decode('latin-1')}"
        client = scope.get("client")
        address = f"{client[0]}:{client[1]}" if client else ""
        line = f'{address} - "{scope["method"]} {target} HTTP/{scope["http_version"]}" {_PHRASES.get(status, status)}'
        self._lines.append(f"INFO:     {printable(line)}\n")
        if len(self._lines) >= _FLUSH_LINES:
            self.flush()
        elif self._timer is None:
            self._timer = asyncio.get_running_loop().call_later(_FLUSH_SECONDS, self.flush)

    def flush(self) -> None:
        """Write what was remembered."""
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
        if not self._lines:
            return
        lines, self._lines = self._lines, []
        try:
            self._stream.write("".join(lines))
            self._stream.flush()
        except (OSError, ValueError):
            # Nobody reads the log any more (a closed pipe, a full disk): requests go on without it.
            return


class RequestLog:
    """Bodies in the log, for ``--enable-log-requests``: escaped, cut at ``--max-log-len`` characters."""

    def __init__(self, limit: int | None):
        self._limit = limit
        self._log = logging.getLogger("typecase.requests")

    def note(self, path: str, request_id: str | None, body: bytes) -> None:
        """Log one request as it came."""
        # A character takes up to four bytes, so no more is decoded than can be shown.
        head = body if self._limit is None else body[: 4 * self._limit]
        text = printable(head.decode("utf-8", "backslashreplace"))
        cut = self._limit is not None and (len(text) > self._limit or len(head) < len(body))
        shown = f"{text[: self._limit]}..." if cut else text
        self._log.info("Request %s to %s: %d bytes: %s", printable(request_id or "-"), path, len(body), shown)
