"""Scalars as pydantic's lax mode reads them; clients of vLLM rely on it: ``"0.5"`` for a number, ``"yes"`` for true.

A reader takes a JSON value and returns what it means, or ``REFUSED``. It also says how far the value was from the type
asked for: a union takes the branch that fits best (``typecase.api.reading``).
"""

from __future__ import annotations

__all__ = ["EXACT", "LAX", "REFUSED", "STRICT", "lax_bool", "lax_float", "lax_int"]

import math
import re
from typing import Final

LAX, STRICT, EXACT = 0, 1, 2
"""How well a value fitted: coerced; of a kind that needs no thought (an int for a float); of the very type."""

REFUSED: Final = object()
"""Stands for "can't be read as that type"; None is a value."""

_TRUE = frozenset({"1", "on", "t", "true", "y", "yes"})
_FALSE = frozenset({"0", "off", "f", "false", "n", "no"})
_INT = re.compile(r"[+-]?[0-9]+(?:_[0-9]+)*(?:\.0+)?")
# A number of more digits than this costs quadratic time to read; pydantic has the same bound.
_MAX_DIGITS = 4300


def lax_int(value: object) -> tuple[object, int]:
    """An int from an int, a bool, a whole float, or a string of digits.

    >>> lax_int(" 5_0.0 "), lax_int(True), lax_int(5.0)
    ((50, 0), (1, 0), (5, 0))
    """
    kind = type(value)
    if kind is int:
        return value, EXACT
    if kind is bool:
        return int(value), LAX  # type: ignore[call-overload]
    if isinstance(value, float):
        # Like pydantic, only floats that surely are 64-bit integers.
        if math.isfinite(value) and value.is_integer() and -(2**63) < value < 2**63:
            return int(value), LAX
        return REFUSED, LAX
    if isinstance(value, str):
        text = value.strip()
        if len(text) <= _MAX_DIGITS and _INT.fullmatch(text):
            return int(text.partition(".")[0]), LAX
    return REFUSED, LAX


def lax_float(value: object) -> tuple[object, int]:
    """A float from a number, a bool, or a string that Python reads as a float (ASCII digits only).

    >>> lax_float("1e-3"), lax_float(2)
    ((0.001, 0), (2.0, 1))
    """
    kind = type(value)
    if kind is float:
        return value, EXACT
    try:
        if kind is bool:
            return float(value), LAX  # type: ignore[arg-type]
        if kind is int:
            return float(value), STRICT  # type: ignore[arg-type]
        if isinstance(value, str) and value.strip().isascii():
            return float(value), LAX
    except (ValueError, OverflowError):
        pass
    return REFUSED, LAX


def lax_bool(value: object) -> tuple[object, int]:
    """A bool from a bool, 0 or 1, or one of the usual words in any case.

    >>> lax_bool("ON"), lax_bool(0), lax_bool(2) == (REFUSED, LAX)
    ((True, 0), (False, 0), True)
    """
    if type(value) is bool:
        return value, EXACT
    if isinstance(value, str):
        word = value.lower()
        if word in _TRUE:
            return True, LAX
        if word in _FALSE:
            return False, LAX
    elif isinstance(value, int | float) and value in (0, 1):
        return bool(value), LAX
    return REFUSED, LAX
