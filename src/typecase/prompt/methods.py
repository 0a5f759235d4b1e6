"""Methods of strings, numbers, lists and dictionaries, within a budget.

Contract: ``call_method(ops, method, args, kwargs)`` calls a bound method of a built-in type (or of ``Markup``) and
gives what it gives. The table ``_GUARDS`` holds, by name, the methods whose work or result the receiver doesn't bound;
the charge for those comes first. Whatever is not in it makes at most a copy of its receiver, which is charged
afterwards.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

from typecase.prompt.operators import SMALL, Operators

__all__ = [
    "call_method",
    "require_indent",
    "require_join",
    "require_replace",
    "require_split",
    "require_strip",
    "require_striptags",
]

Args = tuple[Any, ...]
Kwargs = dict[str, Any]

# every character that str.split() and str.splitlines() part at
_SPACES = "".join(chr(code) for code in range(0x3001) if chr(code).isspace())
_LINE_ENDS = "\n\r\v\f\x1c\x1d\x1e\x85\u2028\u2029"

# encodings whose work is linear; the rest (punycode, idna) is written in Python with quadratic loops
_LINEAR_CODEC = re.compile(r"(?:utf|latin|ascii|us-ascii|iso-?8859|cp|windows)[-_0-9a-z]*", re.IGNORECASE)

_PIECE = 56  # characters charged for one piece of a split text


def call_method(ops: Operators, method: Any, args: Args, kwargs: Kwargs) -> Any:
    budget = ops.budget
    budget.fuel -= 1
    if budget.fuel < 0:
        budget.refuel()
    guard = _GUARDS.get(method.__name__)
    if guard is not None:
        args = guard(ops, method.__self__, args, kwargs) or args
    result = method(*args, **kwargs)
    if type(result) is str and len(result) < SMALL:
        return result
    return ops.made(result) if method.__name__ in _BUILDERS else ops.grown(result)


def _argument(args: Args, kwargs: Kwargs, index: int, name: str, default: Any = None) -> Any:
    return args[index] if len(args) > index else kwargs.get(name, default)


# Charges shared with the filters of the same purpose -----------------------------------------------------------------


def require_split(ops: Operators, text: str | bytes, separator: Any, at: str = _SPACES) -> None:
    """A piece costs far more memory than the characters in it."""
    if len(text) < SMALL:
        return
    ops.budget.work(len(text))
    if isinstance(text, str):
        pieces = text.count(separator) if isinstance(separator, str) and separator else sum(map(text.count, at))
    else:
        pieces = len(text) >> 1
    ops.budget.grow(len(text) + pieces * _PIECE)


def require_strip(ops: Operators, text: Any, characters: Any) -> None:
    """Each character at the ends is looked up in the set by a linear search."""
    if isinstance(characters, str | bytes) and len(characters) > 64:
        ops.budget.work(len(text) * len(characters))


def require_replace(ops: Operators, text: Any, old: Any, new: Any, count: Any = -1) -> None:
    if not any(all(isinstance(part, kind) for part in (text, old, new)) for kind in (str, bytes)):
        return  # Python refuses
    ops.budget.work(len(text))
    growth = len(new) - len(old)
    if growth <= 0 or len(text) * len(new) < SMALL:
        return
    times = text.count(old)
    if isinstance(count, int) and 0 <= count < times:
        times = count
    ops.budget.require(len(text) + times * growth)


def require_indent(ops: Operators, text: Any, width: Any) -> None:
    size = len(width) if isinstance(width, str) else width
    if isinstance(text, str) and isinstance(size, int) and size > 0:
        ops.budget.require(size)
        ops.budget.require((sum(map(text.count, _LINE_ENDS)) + 2) * size)


def require_join(ops: Operators, separator: Any, parts: Any) -> None:
    ops.budget.work(len(parts) << 4)
    size = sum(len(part) for part in parts if isinstance(part, str | bytes))
    ops.budget.require(size + len(separator) * len(parts))


def require_striptags(ops: Operators, text: Any) -> None:
    """markupsafe copies the text for each tag and each comment."""
    ops.budget.work(len(text) * (text.count("<") + 1))


# Guards, by method name ----------------------------------------------------------------------------------------------


def _scan(ops: Operators, owner: Any, args: Args, kwargs: Kwargs) -> None:
    if isinstance(owner, str | bytes):
        ops.budget.work(len(owner))
    elif isinstance(owner, list | tuple | range):
        ops.budget.work(len(owner) << 4)
        if args and not (type(args[0]) is str and len(args[0]) < SMALL):
            ops.weighed(owner)


def _key(ops: Operators, owner: Any, args: Args, kwargs: Kwargs) -> None:
    if args and type(args[0]) is not str:
        ops.weighed(args[0])


def _split(ops: Operators, owner: Any, args: Args, kwargs: Kwargs) -> None:
    require_split(ops, owner, _argument(args, kwargs, 0, "sep"))


def _splitlines(ops: Operators, owner: Any, args: Args, kwargs: Kwargs) -> None:
    require_split(ops, owner, None, _LINE_ENDS)


def _strip(ops: Operators, owner: Any, args: Args, kwargs: Kwargs) -> None:
    require_strip(ops, owner, _argument(args, kwargs, 0, "chars"))


def _pad(ops: Operators, owner: Any, args: Args, kwargs: Kwargs) -> None:
    for width in (*args[:1], kwargs.get("width", 0), kwargs.get("length", 0)):
        if isinstance(width, int):
            ops.budget.require(width)


def _expand_tabs(ops: Operators, owner: Any, args: Args, kwargs: Kwargs) -> None:
    size = _argument(args, kwargs, 0, "tabsize", 8)
    if isinstance(size, int) and size > 0:
        ops.budget.require(owner.count("\t" if isinstance(owner, str) else b"\t") * size)


def _replace(ops: Operators, owner: Any, args: Args, kwargs: Kwargs) -> None:
    if len(args) >= 2:
        require_replace(ops, owner, args[0], args[1], _argument(args, kwargs, 2, "count", -1))


def _translate(ops: Operators, owner: Any, args: Args, kwargs: Kwargs) -> None:
    if args and isinstance(args[0], dict | list | tuple):
        values = args[0].values() if isinstance(args[0], dict) else args[0]
        longest = max((len(value) for value in values if isinstance(value, str)), default=1)
        ops.budget.require(len(owner) * longest)


def _make_table(ops: Operators, owner: Any, args: Args, kwargs: Kwargs) -> None:
    ops.budget.grow(sum(len(argument) for argument in args if isinstance(argument, str | bytes | dict)) * _PIECE)


def _code(ops: Operators, owner: Any, args: Args, kwargs: Kwargs) -> None:
    """``encode`` and ``decode``"""
    size = len(owner)
    if size < SMALL:
        return
    codec = _argument(args, kwargs, 0, "encoding", "utf-8")
    if not (isinstance(codec, str) and _LINEAR_CODEC.fullmatch(codec)):
        ops.budget.work(size * size)
    if _argument(args, kwargs, 1, "errors") is not None:
        ops.budget.require(size * 100)  # \N{...}


def _to_bytes(ops: Operators, owner: Any, args: Args, kwargs: Kwargs) -> None:
    length = _argument(args, kwargs, 0, "length", 1)
    if isinstance(length, int) and not isinstance(owner, type):
        ops.budget.require(length)


def _hex(ops: Operators, owner: Any, args: Args, kwargs: Kwargs) -> None:
    if isinstance(owner, bytes):
        ops.budget.require(len(owner) * 3)


def _from_keys(ops: Operators, owner: Any, args: Args, kwargs: Kwargs) -> None:
    if args and isinstance(args[0], list | tuple | str | dict | range):
        ops.budget.require(len(args[0]) * _PIECE)


def _markup(ops: Operators, owner: Any, args: Args, kwargs: Kwargs) -> None:
    if isinstance(owner, str):
        require_striptags(ops, owner)


def _join(ops: Operators, owner: Any, args: Args, kwargs: Kwargs) -> Args | None:
    if len(args) != 1 or not isinstance(owner, str | bytes):
        return None
    parts = args[0]
    if not isinstance(parts, list | tuple | dict | str):
        if not hasattr(type(parts), "__iter__"):
            return None
        parts = ops.listed(parts)
    require_join(ops, owner, parts)
    return (parts,)


_Guard = Callable[[Operators, Any, Args, Kwargs], Args | None]

_GUARDS: dict[str, _Guard] = {
    **dict.fromkeys(("find", "rfind", "index", "rindex", "count"), _scan),
    **dict.fromkeys(("lower", "upper", "title", "capitalize", "swapcase", "casefold", "partition"), _scan),
    **dict.fromkeys(("get", "isdisjoint"), _key),
    **dict.fromkeys(("split", "rsplit"), _split),
    "splitlines": _splitlines,
    **dict.fromkeys(("strip", "lstrip", "rstrip"), _strip),
    **dict.fromkeys(("center", "ljust", "rjust", "zfill"), _pad),
    "expandtabs": _expand_tabs,
    "replace": _replace,
    "translate": _translate,
    "maketrans": _make_table,
    **dict.fromkeys(("encode", "decode"), _code),
    "to_bytes": _to_bytes,
    "hex": _hex,
    "fromkeys": _from_keys,
    "join": _join,
    **dict.fromkeys(("striptags", "unescape"), _markup),
}

# methods whose result may hold a value more than once, or texts of its own
_BUILDERS = frozenset(
    {"fromkeys", "partition", "rpartition", "union", "intersection", "difference", "symmetric_difference"}
)
