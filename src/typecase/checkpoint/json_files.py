"""Reading one small JSON file of a checkpoint.

The files were written for Python's ``json``, so what that accepts is accepted: a byte order mark, NaN and Infinity,
duplicate keys (the last wins). Refused: what isn't UTF-8, lone surrogates (they can't become tokens, and fail far from
here), numbers of thousands of digits, and nesting that no real file has and that would exhaust the stack later.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

import msgspec

from .errors import CheckpointError

__all__ = ["MAX_DEPTH", "read_object", "read_optional_object", "read_text"]

MAX_DEPTH = 100


def read_optional_object(files: Mapping[str, bytes], name: str) -> dict[str, Any] | None:
    """The JSON object in the file ``name``; None when there is no such file."""
    return read_object(name, files[name]) if name in files else None


def read_object(name: str, data: bytes) -> dict[str, Any]:
    """The JSON object that the file ``name`` holds."""
    value = _decode(name, data)
    if not isinstance(value, dict):
        raise CheckpointError(f"{name}: holds {_kind(value)} where a JSON object is wanted")
    _check_depth(name, data, value)
    return value


def read_text(name: str, data: bytes) -> str:
    """A text file as Python's text mode reads it: UTF-8, every kind of line end as a newline."""
    try:
        text = data.decode("utf-8")
    except UnicodeDecodeError as error:
        raise CheckpointError(f"{name}: not UTF-8 text (byte {error.start})") from None
    return text.replace("\r\n", "\n").replace("\r", "\n") if "\r" in text else text


def _decode(name: str, data: bytes) -> Any:
    try:
        return msgspec.json.decode(data)
    except RecursionError:
        raise CheckpointError(f"{name}: nested too deeply") from None
    except (msgspec.DecodeError, UnicodeError):
        pass  # Python's reader accepts more and says better where it stopped
    try:
        value = json.loads(data.removeprefix(b"\xef\xbb\xbf").decode("utf-8"))
    except UnicodeDecodeError as error:
        raise CheckpointError(f"{name}: not UTF-8 text (byte {error.start})") from None
    except json.JSONDecodeError as error:
        raise CheckpointError(
            f"{name}: not valid JSON: {error.msg} at line {error.lineno} column {error.colno}"
        ) from None
    except RecursionError:
        raise CheckpointError(f"{name}: nested too deeply") from None
    except ValueError:
        raise CheckpointError(f"{name}: holds a number of too many digits") from None
    try:
        json.dumps(value, ensure_ascii=False).encode("utf-8")
    except UnicodeEncodeError:
        raise CheckpointError(f"{name}: holds a lone surrogate, which is no text") from None
    except RecursionError:
        raise CheckpointError(f"{name}: nested too deeply") from None
    return value


def _check_depth(name: str, data: bytes, value: Any) -> None:
    if data.count(b"{") + data.count(b"[") <= MAX_DEPTH:
        return
    layer: list[Any] = [value]
    for _ in range(MAX_DEPTH):
        inner: list[Any] = []
        for item in layer:
            inner.extend(item.values() if isinstance(item, dict) else item)
        layer = [item for item in inner if isinstance(item, (dict, list))]
        if not layer:
            return
    raise CheckpointError(f"{name}: nested deeper than {MAX_DEPTH} levels")


def _kind(value: Any) -> str:
    match value:
        case None:
            return "null"
        case bool():
            return "a boolean"
        case int() | float():
            return "a number"
        case str():
            return "a string"
        case _:
            return "a list"
