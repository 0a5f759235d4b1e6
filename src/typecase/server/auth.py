"""API keys: which paths they guard, and whether a request has one.

The rules are vLLM's (``docs/api-keys.md`` lists what stays open): plain string prefixes, ``Authorization: Bearer KEY``
split at the first space, OPTIONS free, checked before routing.
"""

from __future__ import annotations

__all__ = ["GUARDED_PREFIXES", "UNAUTHORIZED", "KeyGuard"]

import hashlib
from collections.abc import Iterable
from hmac import compare_digest

from typecase.server.answers import json_answer

GUARDED_PREFIXES = ("/v1", "/v2", "/inference", "/cohere")

UNAUTHORIZED = json_answer(401, {"error": "Unauthorized"})


class KeyGuard:
    """Knows the hashes of the keys, not the keys. Without keys it admits everybody."""

    __slots__ = ("_hashes",)

    def __init__(self, keys: Iterable[str]):
        self._hashes = tuple(hashlib.sha256(key.encode()).digest() for key in keys if key)

    def __bool__(self) -> bool:
        return bool(self._hashes)

    def __len__(self) -> int:
        return len(self._hashes)

    def admits(self, authorization: bytes | None) -> bool:
        """Whether the header's value names one of the keys. Takes the same time for every key and every guess."""
        if not self._hashes:
            return True
        scheme, _, key = (authorization or b"").partition(b" ")
        if scheme.lower() != b"bearer":
            return False
        found = self._knows(hashlib.sha256(key).digest())
        if not key.isascii():
            # vLLM knows such a key only when it is sent as Latin-1; most clients send UTF-8, which was tried above.
            found |= self._knows(hashlib.sha256(key.decode("latin-1").encode()).digest())
        return found

    def _knows(self, presented: bytes) -> bool:
        found = False
        for known in self._hashes:
            found |= compare_digest(presented, known)
        return found
