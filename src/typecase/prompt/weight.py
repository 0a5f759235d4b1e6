"""How large a value is when it is written out.

Contract: ``weigh(value, limit)`` counts the characters of all strings below a value plus a little for each element,
every time it is reached: a list that holds the same list twice weighs twice as much, as it would when printed,
compared, hashed or dumped. It gives this weight and the number of elements looked at. Counting stops soon after
``limit``; the weight is then larger than ``limit``.

Nesting is bounded too: CPython hashes nested tuples by C recursion without a check, so that some hundred thousand
levels end the process.
"""

from __future__ import annotations

from collections.abc import ItemsView, KeysView, Mapping, Set, ValuesView
from typing import Any

from jinja2.runtime import Undefined
from markupsafe import Markup

__all__ = ["MAX_NESTING", "weigh", "written_size"]

MAX_NESTING = 1000

_LEAVES = frozenset({type(None), bool, float, Undefined})


def weigh(value: Any, limit: int) -> tuple[int, int]:
    total = count = 0
    level = [value]
    for _ in range(MAX_NESTING):
        count += len(level)
        deeper: list[Any] = []
        for item in level:
            kind = type(item)
            if kind is str:
                total += len(item) + 1
            elif kind in _LEAVES:
                total += 1
            elif kind is dict:
                total += 2 * len(item) + 1
                if total > limit:
                    return total, count
                deeper += item
                deeper += item.values()
            elif kind is list or kind is tuple:
                total += len(item) + 1
                if total > limit:
                    return total, count
                deeper += item
            elif kind is int:
                total += (item.bit_length() >> 2) + 1
            else:
                total += _weigh_rare(item, limit - total, deeper)
        if total > limit or not deeper:
            return total, count
        level = deeper
    return limit + 1, count


def _weigh_rare(item: Any, limit: int, deeper: list[Any]) -> int:
    """The weight of the item alone; what it holds is appended to ``deeper`` unless that is too much already."""
    if isinstance(item, str | bytes | bytearray | Markup):
        return len(item) + 1
    if isinstance(item, Mapping):
        item = item.items()
    if isinstance(item, list | tuple | Set | ItemsView | KeysView | ValuesView):
        count = len(item) + 1
        if count <= limit:
            deeper += item
        return count
    return 16


def written_size(value: Any, indent: Any, separators: Any, limit: int) -> int:
    """About the characters that ``json.dumps`` will add by indentation and separators."""
    width = len(indent) if isinstance(indent, str) else max(indent, 0) if isinstance(indent, int) else 0
    between = 4
    if isinstance(separators, list | tuple):
        between += sum(len(text) for text in separators if isinstance(text, str))
    total = 0
    level = [value]
    for depth in range(MAX_NESTING):
        total += len(level) * (between + width * (depth + 1))
        if total > limit:
            break
        deeper: list[Any] = []
        for item in level:
            if isinstance(item, dict):
                deeper += item.values()
            elif isinstance(item, list | tuple):
                deeper += item
        if not deeper:
            break
        level = deeper
    return total
