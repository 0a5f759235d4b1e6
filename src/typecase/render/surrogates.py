"""A lone surrogate in text that is to be encoded becomes a 400 that names its field. The one place that does so."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from typecase.api.errors import RequestError
from typecase.api.surrogates import find_surrogate

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
    found = find_surrogate(fields)
    code = f"U+{ord(error.object[error.start]):04X}"
    if found is None:
        return RequestError(f"the chat template wrote the lone surrogate {code}, which no token can represent")
    return RequestError(
        f"{found} holds the lone surrogate {code}, half of a character: no token can represent it. "
        "Send the text as valid Unicode",
        param=found,
    )
