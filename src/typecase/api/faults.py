"""What is wrong with a body, and how it is told: in vLLM's layout and with its ``param``, in our words."""

from __future__ import annotations

__all__ = ["Loc", "Problem", "body_error", "param_of", "quoted", "shown"]

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TypeAlias

from typecase.api.errors import BodyError

Loc: TypeAlias = tuple[str | int, ...]

_LONGEST_SHOWN = 80
_LONGEST_QUOTED = 1000
_MOST_TOLD = 10


@dataclass(slots=True)
class Problem:
    """One fault: where it is, where vLLM would say it is, and what to say."""

    at: Loc
    first: Loc
    text: str
    expected: str | None = None


def body_error(problems: list[Problem]) -> BodyError:
    """All faults of a body as one error, laid out as vLLM's."""
    count = len(problems)
    lines = [f"  {_at(p.at)}: {p.text}" for p in problems[:_MOST_TOLD]]
    if count > _MOST_TOLD:
        lines.append(f"  ...and {count - _MOST_TOLD} more errors")
    head = f"{count} validation error{'' if count == 1 else 's'}:"
    return BodyError("\n".join([head, *lines]), param=param_of(problems[0].first))


def _at(loc: Loc) -> str:
    """A location for people; the client's own keys stand in it, so it may be very long."""
    path = ".".join(map(str, loc)) or "body"
    return path if len(path) <= _LONGEST_QUOTED else path[:_LONGEST_QUOTED] + "..."


_BRACKETS = re.compile(r"[\[\]{}()]")
# Segments that vLLM takes for pydantic's own and leaves out of ``param``, even where they are fields of the request.
_INTERNAL = frozenset(
    {
        "function-wrap", "function-after", "function-before", "function-plain", "json-or-python", "lax-or-strict",
        "chain", "default", "nullable", "tagged-union", "union", "call", "arguments", "is-instance", "is-subclass",
        "callable", "str", "int", "float", "bool", "bytes", "bytearray", "list", "tuple", "dict", "set", "frozenset",
        "complex", "none", "nonetype",
    }
)  # fmt: skip


def param_of(loc: Loc) -> str:
    """A location as vLLM's ``param``.

    >>> param_of(("messages", 0, "content")), param_of((0, "function", "arguments"))
    ('body.messages.0.content', 'body.0.function')
    """
    kept = (str(part) for part in loc)
    return ".".join(["body", *(p for p in kept if p.lower() not in _INTERNAL and not _BRACKETS.search(p))])


def shown(value: object) -> str:
    """A value as an error message may quote it: short, whatever it is.

    >>> shown({"a": 1}), shown(None), shown("x" * 500)[-6:]
    ('an object with 1 key', 'null', 'xxx...')
    """
    if value is None:
        return "null"
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, Mapping):
        return f"an object with {len(value)} key{'' if len(value) == 1 else 's'}"
    if isinstance(value, list | tuple):
        return f"a list of {len(value)} item{'' if len(value) == 1 else 's'}"
    if isinstance(value, str) and len(value) > _LONGEST_SHOWN:
        return repr(value[:_LONGEST_SHOWN])[:-1] + "..."
    try:
        text = repr(value)
    except ValueError:  # an int too long to print
        return "a very large number"
    return text if len(text) <= _LONGEST_SHOWN + 2 else text[:_LONGEST_SHOWN] + "..."


def quoted(value: object) -> str:
    """A value as Python prints it, which is what vLLM's own texts hold, but never a megabyte of it."""
    try:
        text = str(value)
    except ValueError:  # an int too long to print
        return shown(value)
    return text if len(text) <= _LONGEST_QUOTED else text[:_LONGEST_QUOTED] + "..."
