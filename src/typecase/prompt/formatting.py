"""How long the outcome of a format string can be, told before it is made.

Contract: ``percent_length`` for ``template % arguments`` and ``spec_length`` for ``format(value, spec)``. Both give an
upper bound from widths, precisions and the values' own weight; neither formats anything and neither raises for a format
string that Python will refuse.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from typecase.prompt.weight import weigh

__all__ = ["percent_length", "spec_length"]

_NUMBER = re.compile(r"[0-9]+")  # what % takes
_ANY_NUMBER = re.compile(r"\d+")  # what format() takes: decimal digits of every script
_FLAGS = frozenset("-+ #0")
_NUMERIC = 350  # a float without a width: at most 1.8e308 with six decimals


def spec_length(spec: str, value: Any, limit: int) -> int:
    """Bound for ``format(value, spec)``."""
    return sum(_int(number) for number in _ANY_NUMBER.findall(spec)) + _size(value, limit)


def percent_length(template: str | bytes, arguments: Any, limit: int) -> int:
    """Bound for ``template % arguments``, read the way CPython reads the template."""
    text = template if isinstance(template, str) else template.decode("latin-1")
    positional = iter(arguments if isinstance(arguments, tuple) else (arguments,))
    mapping = arguments if isinstance(arguments, Mapping) else {}
    total = len(text)
    at = text.find("%")
    while at >= 0 and total <= limit:
        at += 1
        key, at = _read_key(text, at)
        while text[at : at + 1] in _FLAGS:
            at += 1
        width, at = _read_size(text, at, positional)
        precision = 0
        if text[at : at + 1] == ".":
            precision, at = _read_size(text, at + 1, positional)
        while text[at : at + 1] in ("h", "l", "L"):
            at += 1
        if text[at : at + 1] != "%":
            try:
                value = next(positional, None) if key is None else mapping.get(key)
            except TypeError:  # an unhashable key can't occur, a mapping of the caller's may still refuse
                value = None
            total += _size(value, limit)
        total += width + precision
        at = text.find("%", at + 1)
    return total


def _read_key(text: str, at: int) -> tuple[str | None, int]:
    if text[at : at + 1] != "(":
        return None, at
    depth = 1
    start = at = at + 1
    while at < len(text) and depth:
        depth += (text[at] == "(") - (text[at] == ")")
        at += 1
    return text[start : at - 1], at


def _read_size(text: str, at: int, positional: Any) -> tuple[int, int]:
    if text[at : at + 1] == "*":
        value = next(positional, 0)
        return (abs(value) if isinstance(value, int) else 0), at + 1
    match = _NUMBER.match(text, at)
    return (_int(match[0]), match.end()) if match else (0, at)


def _size(value: Any, limit: int) -> int:
    if type(value) is str:
        return len(value)
    if isinstance(value, int):
        return value.bit_length() + 8
    return _NUMERIC + 2 * weigh(value, limit)[0]


def _int(digits: str) -> int:
    # more digits than this is more characters than there is memory; int() itself refuses above 4300
    return int(digits) if len(digits) < 20 else 10**20
