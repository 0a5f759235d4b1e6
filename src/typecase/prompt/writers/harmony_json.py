"""JSON values as harmony's library writes them: the way of Rust's ``serde_json``, not Python's.

Values come to it as JSON text, so what counts is what ``serde_json`` reads there: integers beyond 64 bits become
floats, and floats are put together from their decimal digits with two roundings instead of one.
"""

from __future__ import annotations

import json
from typing import Any

__all__ = ["written_value"]

_LARGEST = 2**64 - 1
_SMALLEST = -(2**63)


def written_value(value: Any) -> str:
    """``value`` as compact JSON.

    >>> written_value({"a": [1.0, 1e-5, None], "b": 2**64})
    '{"a":[1.0,0.00001,null],"b":1.8446744073709552e+19}'
    """
    match value:
        case str():
            return json.dumps(value, ensure_ascii=False)
        case None:
            return "null"
        case bool():
            return "true" if value else "false"
        case int():
            return str(value) if _SMALLEST <= value <= _LARGEST else _written_float(_wide(value))
        case float():
            return _written_float(_reread(value))
        case dict():
            return "{" + ",".join(f"{written_value(key)}:{written_value(item)}" for key, item in value.items()) + "}"
    return "[" + ",".join(map(written_value, value)) + "]"


def _wide(value: int) -> float:
    """An integer that doesn't fit: its first digits, as many as do, and a power of ten."""
    digits = str(abs(value))
    kept = 19 if int(digits[:20]) > _LARGEST else 20
    read = float(int(digits[:kept])) * float(f"1e{max(0, len(digits) - kept)}")
    return -read if value < 0 else read


def _reread(value: float) -> float:
    mantissa, _, exponent = repr(abs(value)).partition("e")
    whole, _, fraction = mantissa.partition(".")
    power = int(exponent or 0) - len(fraction)
    read = float(int(whole + fraction))
    if power >= 0:
        read *= float(f"1e{power}")
    else:
        if power < -308:
            read /= 1e308
            power += 308
        read /= float(f"1e{-power}")
    return -read if repr(value).startswith("-") else read


def _written_float(value: float) -> str:
    """Shortest digits, plain from 1e-5 up to below 1e16, else with an exponent that has its sign and no zeros."""
    mantissa, mark, exponent = repr(value).partition("e")
    if not mark:
        return mantissa
    power = int(exponent)
    if power == -5:
        sign = "-" if mantissa.startswith("-") else ""
        return f"{sign}0.0000{mantissa.lstrip('-').replace('.', '')}"
    return f"{mantissa}e{power:+}"
