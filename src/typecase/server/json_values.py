"""Bodies that would become very many Python objects.

A body of three bytes per value (``[],[],``) takes twenty times its size once decoded. So the values of a long body are
counted before it is decoded; one too short to hold too many costs nothing.
"""

from __future__ import annotations

__all__ = ["TooManyValues", "check_values"]

import re

from typecase.api.errors import RequestError

# A string, also one that the body's end cuts off: every quote is looked at once.
_STRING = re.compile(rb'"(?:[^"\\]++|\\.?)*+(?:"|\Z)', re.DOTALL)
_FEWEST_BYTES = 2  # of a value with its comma


class TooManyValues(RequestError):
    """The body holds more JSON values than the server takes."""

    def __init__(self, limit: int):
        super().__init__(
            f"The request body holds more than {limit} JSON values, the most this server takes. "
            "Send less, or have the operator raise --max-json-nodes.",
            param="body",
        )


def check_values(body: bytes, limit: int) -> None:
    """Raise ``TooManyValues`` for a body of more than ``limit`` values.

    A value is counted at the comma or bracket before it, so an empty list or object counts as two.
    """
    if len(body) <= limit * _FEWEST_BYTES or _openings(body) < limit:
        return
    count, at = 1, 0
    for string in _STRING.finditer(body):
        count += _openings(body[at : string.start()])
        if count > limit:
            raise TooManyValues(limit)
        at = string.end()
    if count + _openings(body[at:]) > limit:
        raise TooManyValues(limit)


def _openings(text: bytes) -> int:
    return text.count(b",") + text.count(b"[") + text.count(b"{")
