"""What a flag's value may be: text in, value out.

One function per kind of value that ``flags.json`` names; ``KINDS`` maps the names. A value that can't be read raises
``ArgumentTypeError`` with a sentence that follows ``argument --x: ``. Accepted and refused are the same values as in
vLLM 0.33, but for the objects of its engine's settings (``config``): there any JSON object will do, since nothing
here depends on their keys.
"""

from __future__ import annotations

__all__ = ["KINDS", "optional", "read_json", "read_size"]

import json
import re
from argparse import ArgumentTypeError
from collections.abc import Callable
from typing import Any

_SIZE = re.compile(r"(\d+(?:\.\d+)?)([kKmMgGtT])")
_BARE_SIZE = re.compile(r"\b\d+(?:\.\d+)?[kKmMgGtT]\b")
_JSON_STRING = re.compile(r'("(?:[^"\\]|\\.)*")')
_POWERS = "kmgt"
_LORA_FIELDS = {"name", "path", "base_model_name", "is_3d_lora_weight"}


def read_size(text: str) -> int:
    """A whole number, or one with a suffix: ``2k`` is 2000, ``2K`` is 2048, ``1.5k`` is 1500. Raises ValueError."""
    text = text.strip()
    match = _SIZE.fullmatch(text)
    if match is None:
        return int(text)
    number, suffix = match.groups()
    power = _POWERS.index(suffix.lower()) + 1
    if suffix.islower():
        try:
            return int(float(number) * 1000**power)
        except OverflowError:
            raise ValueError(f"{text} is too large") from None
    if "." in number:
        raise ArgumentTypeError(
            f"Decimals are not allowed with binary suffixes like {suffix}. "
            f"Did you mean to use {number}{suffix.lower()} instead?"
        )
    return int(number) << 10 * power


def _size(text: str) -> int:
    try:
        return read_size(text)
    except ValueError:
        raise ArgumentTypeError(f"invalid human_readable_int value: {text!r}") from None


def _size_or_auto(text: str) -> int:
    """As a size, but ``auto`` and -1 mean: as the checkpoint says."""
    if text.strip() == "-1" or text.strip().lower() == "auto":
        return -1
    try:
        return read_size(text)
    except ValueError:
        raise ArgumentTypeError(f"invalid human_readable_int_or_auto value: {text!r}") from None


def _int(text: str) -> int:
    try:
        return int(text)
    except ValueError:
        raise ArgumentTypeError(f"invalid int value: {text!r}") from None


def _float(text: str) -> float:
    try:
        return float(text)
    except ValueError:
        raise ArgumentTypeError(f"invalid float value: {text!r}") from None


def read_json(text: str) -> Any:
    """JSON as Python reads it (NaN and Infinity too). Raises ValueError, also when nested too deeply."""
    try:
        return json.loads(text)
    except RecursionError:
        raise ValueError("nested too deeply") from None


def _json(text: str) -> Any:
    try:
        return read_json(text)
    except ValueError:
        raise ArgumentTypeError(f"invalid loads value: {text!r} (it must be JSON)") from None


def _json_or_string(text: str) -> Any:
    """JSON if it stands in braces; anything else is the text itself."""
    stripped = text.strip()
    return _json(text) if len(stripped) > 1 and stripped[0] == "{" and stripped[-1] == "}" else text


def _config(text: str) -> dict[str, Any]:
    """A JSON object in which bare sizes (``80m``) stand for numbers."""
    pieces = _JSON_STRING.split(text)  # strings stand at the odd places
    pieces[::2] = [_BARE_SIZE.sub(lambda match: str(_size(match.group())), piece) for piece in pieces[::2]]
    value = _json("".join(pieces))
    if not isinstance(value, dict):
        raise ArgumentTypeError(f"a JSON object is wanted, got {text!r}")
    return value


def _backend(text: str) -> str:
    return text.lower().replace("-", "_")


def _devices(text: str) -> list[int | str]:
    return [int(part) if part.isdigit() else part for part in (part.strip() for part in text.split(","))]


def _reasoning_parser(text: str) -> str:
    """A name; ``none`` in any case is no parser."""
    return "" if text.lower() == "none" else text


def _lora_module(text: str) -> dict[str, Any]:
    """``name=path``, or a JSON object of name and path."""
    if "=" in text and "," not in text:
        name, _, path = text.partition("=")
        return {"name": name, "path": path}
    try:
        module = read_json(text)
    except ValueError:
        raise ArgumentTypeError(f"Invalid JSON format for --lora-modules: {text}") from None
    if not isinstance(module, dict) or not {"name", "path"} <= module.keys() <= _LORA_FIELDS:
        raise ArgumentTypeError(f"Invalid fields for --lora-modules: {text} (name and path are wanted)")
    return module


def optional(read: Callable[[str], Any]) -> Callable[[str], Any]:
    """The same kind of value, for which an empty text and the word ``None`` mean: not given."""

    def read_optional(text: str) -> Any:
        return None if text in ("", "None") else read(text)

    return read_optional


KINDS: dict[str, Callable[[str], Any]] = {
    "str": str,
    "int": _int,
    "float": _float,
    "size": _size,
    "size-or-auto": _size_or_auto,
    "json": _json,
    "json-or-string": _json_or_string,
    "config": _config,
    "backend": _backend,
    "devices": _devices,
    "reasoning-parser": _reasoning_parser,
    "lora-module": _lora_module,
}
