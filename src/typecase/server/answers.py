"""What a route says, before it becomes ASGI messages.

An ``Answer`` holds its finished header list (with the length), so that constant answers are built once at import and
the request path only appends ``vary`` and ``x-request-id``. Header order and the compact, unescaped JSON are vLLM's.
"""

from __future__ import annotations

__all__ = [
    "JSON_TYPE",
    "NOT_FOUND",
    "VARY_ORIGIN",
    "WHOLE_ANSWER",
    "Answer",
    "Header",
    "detail",
    "json_answer",
    "method_not_allowed",
]

import msgspec

Header = tuple[bytes, bytes]

JSON_TYPE = (b"content-type", b"application/json")
VARY_ORIGIN = (b"vary", b"Origin")

WHOLE_ANSWER = "typecase.whole_answer"
"""Key of an ASGI scope: how the protocol takes a whole answer at once (``BoundedHttp.answer``), where it does."""

_encode = msgspec.json.Encoder().encode


class Answer:
    """Status, headers and body of one response. ``headers`` may be shared: copy before changing."""

    __slots__ = ("body", "headers", "status")

    def __init__(self, status: int, body: bytes = b"", *extra: Header):
        self.status = status
        self.body = body
        self.headers: list[Header] = [(b"content-length", b"%d" % len(body)), *extra]


def json_answer(status: int, value: object, *extra: Header) -> Answer:
    """``value`` as JSON."""
    return Answer(status, _encode(value), JSON_TYPE, *extra)


def detail(status: int, text: str, *extra: Header) -> Answer:
    """The error shape of FastAPI itself: routing errors and unreadable bodies have it."""
    return json_answer(status, {"detail": text}, *extra)


NOT_FOUND = detail(404, "Not Found")


def method_not_allowed(allow: bytes) -> Answer:
    """405 with the methods that the path does have."""
    answer = detail(405, "Method Not Allowed")
    answer.headers.insert(0, (b"allow", allow))
    return answer
