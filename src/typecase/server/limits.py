"""Bounds on request bodies: one body, and all bodies held at a time.

Bytes count when they have arrived, not when a header promises them: a client can't reserve room by talking. When there
is no room the request is refused with 503 and ``Retry-After``; waiting for room could end with every client waiting.
"""

from __future__ import annotations

__all__ = ["ClientGone", "InFlight", "read_body"]

from collections.abc import Awaitable, Callable, MutableMapping
from typing import Any

from typecase.server.errors import BodyTooLarge, Busy

Message = MutableMapping[str, Any]


class ClientGone(Exception):
    """The client closed the connection before the request was complete: there is nobody to answer."""


class InFlight:
    """How many bytes of requests are held right now, and how many may be."""

    __slots__ = ("limit", "used")

    def __init__(self, limit: int):
        self.limit = limit
        self.used = 0

    def take(self, count: int) -> bool:
        """Count ``count`` more bytes, unless that is too many."""
        if self.used + count > self.limit:
            return False
        self.used += count
        return True

    def give(self, count: int) -> None:
        """``count`` bytes are gone."""
        self.used -= count


async def read_body(
    first: Message, receive: Callable[[], Awaitable[Message]], *, limit: int, in_flight: InFlight
) -> bytes:
    """The whole body, ``first`` being the message that was received already.

    The body's bytes are counted in ``in_flight`` while it arrives and stay counted when it is returned: the caller
    gives them back. When this raises, nothing stays counted.
    """
    chunks: list[bytes] = []
    held = 0
    message = first
    try:
        while True:
            if message["type"] != "http.request":
                raise ClientGone
            chunk: bytes = message.get("body", b"")
            if held + len(chunk) > limit:
                raise BodyTooLarge(limit)
            if not in_flight.take(len(chunk)):
                raise Busy
            held += len(chunk)
            chunks.append(chunk)
            if not message.get("more_body", False):
                break
            message = await receive()
    except BaseException:
        in_flight.give(held)
        raise
    return chunks[0] if len(chunks) == 1 else b"".join(chunks)
