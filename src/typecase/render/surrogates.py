"""Lone surrogates: JSON can spell them, UTF-8 and hence tokenizers can't. The one place that refuses them.

Texts are not searched beforehand: encoding fails on a surrogate by itself, and only then is the request walked to name
the field it came from.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from typecase.api.errors import RequestError

__all__ = ["refusing_surrogates"]


class refusing_surrogates:
    """Turn a failure to encode text into a 400 that names the field. ``fields``: the request's, in search order."""

    __slots__ = ("_fields",)

    def __init__(self, **fields: Any):
        self._fields = fields

    def __enter__(self) -> None:
        return None

    def __exit__(self, _kind: object, error: BaseException | None, _trace: object) -> None:
        if isinstance(error, UnicodeEncodeError):
            raise _refusal(self._fields, error) from error


def _refusal(fields: Mapping[str, Any], error: UnicodeEncodeError) -> RequestError:
    found = _find(fields, "body")
    code = f"U+{ord(error.object[error.start]):04X}"
    if found is None:
        return RequestError(f"the chat template wrote the lone surrogate {code}, which no token can represent")
    return RequestError(
        f"{found} holds the lone surrogate {code}, half of a character: no token can represent it. "
        "Send the text as valid Unicode",
        param=found,
    )


def _find(value: Any, path: str) -> str | None:
    if isinstance(value, str):
        return None if value.isascii() or _is_encodable(value) else path
    items: Any = ()
    if isinstance(value, Mapping):
        items = value.items()
        if any(isinstance(key, str) and not _is_encodable(key) for key in value):
            return path
    elif isinstance(value, list | tuple):
        items = enumerate(value)
    for key, item in items:
        found = _find(item, f"{path}.{key}")
        if found is not None:
            return found
    return None


def _is_encodable(text: str) -> bool:
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True
