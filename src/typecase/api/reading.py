"""The slow reader: JSON values read by a struct's annotations the way pydantic's lax mode reads them.

msgspec reads nearly every request. What it refuses comes here, and is either read after all (``"2"`` for an int) or
refused with every fault found, in the order vLLM finds them. The same annotations drive both: a field is written down
once. A *reader* is ``(value, loc, reading) -> value``; it notes what is wrong in ``reading`` and returns ``REFUSED``.

Unions are pydantic's "smart" ones: a branch that fits exactly wins at once; else the one with most fields set, then the
one that had to be coerced least, then the first. The fault that vLLM names first is the first of the first branch; the
text shown is that of the branch that came closest.
"""

from __future__ import annotations

__all__ = [
    "REFUSED",
    "OpenRecord",
    "Reader",
    "Reading",
    "add_fields",
    "dict_reader",
    "list_reader",
    "literal_reader",
    "nullable_reader",
    "reader_for",
    "union_reader",
]

import types
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import cache
from typing import Annotated, Any, Literal, TypeAlias, Union, get_args, get_origin

import msgspec
from msgspec import NODEFAULT, Meta

from typecase.api.errors import RequestError
from typecase.api.faults import Loc, Problem, shown
from typecase.api.lax import EXACT, LAX, REFUSED, lax_bool, lax_float, lax_int
from typecase.api.limits import DEFAULT_LIMITS, Limits
from typecase.api.surrogates import find_surrogate

Reader: TypeAlias = "Callable[[object, Loc, Reading], Any]"

# Faults kept of one body; a list of a million wrong items is told in as few words as a short one.
_MOST_PROBLEMS = 100


class OpenRecord(msgspec.Struct):
    """An object that keeps its unknown fields: read into a dict of the known ones in order, then the rest."""


@dataclass(slots=True)
class Reading:
    """What is known so far about the value being read.

    ``exactness`` and ``fields`` are what unions compare; ``fields`` is None while no object was read. ``later`` holds
    faults that vLLM finds only when all else is right.
    """

    limits: Limits = DEFAULT_LIMITS
    problems: list[Problem] = field(default_factory=list)
    exactness: int = EXACT
    fields: int | None = None
    later: list[RequestError] = field(default_factory=list)

    def refuse(self, loc: Loc, expected: str, value: object) -> object:
        """Note that ``value`` isn't what ``loc`` takes."""
        return self.fault(loc, f"expected {expected}, got {shown(value)}", expected)

    def fault(self, loc: Loc, text: str, expected: str | None = None) -> object:
        """Note a fault in words of its own."""
        if len(self.problems) < _MOST_PROBLEMS:
            self.problems.append(Problem(loc, loc, text, expected))
        return REFUSED

    @property
    def is_hopeless(self) -> bool:
        """Whether enough is wrong already: what else a long list holds need not be looked at."""
        return len(self.problems) >= _MOST_PROBLEMS

    def coerced(self, exactness: int) -> None:
        """Note how well a value fitted."""
        self.exactness = min(self.exactness, exactness)


def add_fields(reading: Reading, count: int) -> None:
    """Note that an object with ``count`` fields was read."""
    reading.fields = (reading.fields or 0) + count


def reader_for(annotation: Any) -> Reader:
    """The reader for a type: scalars, ``Literal``, unions, ``list``, ``dict``, structs, ``msgspec.Meta`` bounds."""
    origin = get_origin(annotation)
    arguments = get_args(annotation)
    if annotation in _SCALARS:
        return _SCALARS[annotation]
    if origin is Annotated:
        reader = reader_for(arguments[0])
        for meta in arguments[1:]:
            reader = _bounded(reader, meta)
        return reader
    if origin is Literal:
        return literal_reader(arguments)
    if origin in (Union, types.UnionType):
        branches = tuple(reader_for(a) for a in arguments if a is not types.NoneType)
        reader = branches[0] if len(branches) == 1 else union_reader(branches)
        return nullable_reader(reader) if types.NoneType in arguments else reader
    if origin is list:
        return list_reader(reader_for(arguments[0]))
    if origin is dict:
        return dict_reader(reader_for(arguments[1]))
    if isinstance(annotation, type) and issubclass(annotation, msgspec.Struct):
        return _struct_reader(annotation)
    raise TypeError(f"no reader for {annotation!r}")


def _read_any(value: object, loc: Loc, reading: Reading) -> object:
    reading.coerced(LAX)
    return value


def _read_str(value: object, loc: Loc, reading: Reading) -> object:
    return value if isinstance(value, str) else reading.refuse(loc, "a string", value)


def _coercing(lax: Callable[[object], tuple[object, int]], expected: str) -> Reader:
    def read(value: object, loc: Loc, reading: Reading) -> object:
        meant, exactness = lax(value)
        if meant is REFUSED:
            return reading.refuse(loc, expected, value)
        reading.coerced(exactness)
        return meant

    return read


_SCALARS: dict[Any, Reader] = {
    Any: _read_any,
    object: _read_any,
    str: _read_str,
    int: _coercing(lax_int, "an integer"),
    float: _coercing(lax_float, "a number"),
    bool: _coercing(lax_bool, "true or false"),
}


def literal_reader(words: tuple[Any, ...]) -> Reader:
    """The reader of one of some words."""

    known = frozenset(words)
    expected = " or ".join(filter(None, (", ".join(map(repr, words[:-1])), repr(words[-1]))))

    def read(value: object, loc: Loc, reading: Reading) -> object:
        return value if isinstance(value, str) and value in known else reading.refuse(loc, expected, value)

    return read


def nullable_reader(reader: Reader) -> Reader:
    """A reader that takes null, too."""

    def read(value: object, loc: Loc, reading: Reading) -> object:
        return None if value is None else reader(value, loc, reading)

    return read


def list_reader(item: Reader) -> Reader:
    """The reader of a list."""

    def read(value: object, loc: Loc, reading: Reading) -> object:
        if not isinstance(value, list):
            if not isinstance(value, tuple):
                return reading.refuse(loc, "a list", value)
            reading.coerced(LAX)
        items = []
        for i, one in enumerate(value):
            items.append(item(one, (*loc, i), reading))
            if reading.is_hopeless:
                return REFUSED
        return REFUSED if any(one is REFUSED for one in items) else items

    return read


def dict_reader(item: Reader) -> Reader:
    """The reader of an object that is a mapping."""

    def read(value: object, loc: Loc, reading: Reading) -> object:
        if not isinstance(value, Mapping):
            return reading.refuse(loc, "an object", value)
        if item is _read_any:
            reading.coerced(LAX)
            return dict(value)
        items = {}
        for key, one in value.items():
            items[key] = item(one, (*loc, key), reading)
            if reading.is_hopeless:
                return REFUSED
        return REFUSED if any(one is REFUSED for one in items.values()) else items

    return read


@cache
def _struct_reader(struct: type[msgspec.Struct]) -> Reader:
    fields = tuple((f, reader_for(f.type)) for f in msgspec.structs.fields(struct))
    names = frozenset(f.encode_name for f, _ in fields)
    is_open = issubclass(struct, OpenRecord)

    def read(value: object, loc: Loc, reading: Reading) -> object:
        if not isinstance(value, Mapping):
            return reading.refuse(loc, "an object", value)
        given: dict[str, Any] = {}
        refused, count = False, 0
        for f, reader in fields:
            name = f.encode_name
            if name in value:
                read_value = reader(value[name], (*loc, name), reading)
                refused = refused or read_value is REFUSED
                given[name if is_open else f.name] = read_value
                count += 1
            elif f.required:
                reading.fault((*loc, name), "is missing")
                refused = True
            elif is_open:
                given[name] = f.default if f.default is not NODEFAULT else f.default_factory()
        if refused:
            return REFUSED
        others = {k: v for k, v in value.items() if k not in names}
        add_fields(reading, count + len(others))
        return {**given, **others} if is_open else struct(**given)

    return read


def union_reader(branches: tuple[Reader, ...]) -> Reader:
    """The reader of alternatives: see the head of this module."""

    def read(value: object, loc: Loc, reading: Reading) -> object:
        outside = reading.exactness, reading.fields, reading.problems
        best: tuple[int, int | None, object] | None = None
        failed: list[list[Problem]] = []
        for branch in branches:
            reading.exactness, reading.fields, reading.problems = EXACT, None, []
            meant = branch(value, loc, reading)
            if meant is REFUSED:
                failed.append(reading.problems)
            elif best is None or _fits_better(reading, best):
                best = reading.exactness, reading.fields, meant
                if best[:2] == (EXACT, None):
                    break
        reading.exactness, reading.fields, reading.problems = outside
        if best is None:
            reading.problems += _told_together(failed, loc)
            return REFUSED
        reading.coerced(best[0])
        if best[1] is not None:
            add_fields(reading, best[1])
        return best[2]

    return read


def _fits_better(reading: Reading, best: tuple[int, int | None, object]) -> bool:
    exactness, fields, _ = best
    if fields is not None and reading.fields is not None and fields != reading.fields:
        return reading.fields > fields
    return reading.exactness > exactness


def _told_together(failed: list[list[Problem]], loc: Loc) -> list[Problem]:
    """A union's faults as one would tell them: all at once if they are alike, else those of the closest branch."""
    first = failed[0][0]
    if all(len(problems) == 1 and problems[0].at == loc and problems[0].expected for problems in failed):
        choices = list(dict.fromkeys(problems[0].expected or "" for problems in failed))
        got = first.text.partition(", got ")[2]
        expected = " or ".join(choices)
        return [Problem(loc, first.first, f"expected {expected}, got {got}", expected)]
    # A branch of the right kind of value came closer than one of another.
    closest = min(
        failed, key=lambda problems: (problems[0].at == loc and problems[0].expected is not None, len(problems))
    )
    closest[0].first = first.first
    return closest


def _bounded(reader: Reader, meta: Meta) -> Reader:
    """``reader`` with the bounds of a ``msgspec.Meta``. In ``extra``, ``reader`` replaces the reader altogether,
    ``before`` is applied first, and ``longest`` names the limit of a list's length."""
    extra = meta.extra or {}
    if "reader" in extra:
        replacement: Reader = extra["reader"]
        return replacement
    before = extra.get("before")
    longest = extra.get("longest")

    def read(value: object, loc: Loc, reading: Reading) -> object:
        if longest is not None and isinstance(value, list) and len(value) > getattr(reading.limits, longest):
            # Told before what is wrong with the items.
            return reading.fault(loc, f"takes at most {getattr(reading.limits, longest)} items, got {shown(value)}")
        meant = reader(before(value) if before else value, loc, reading)
        if meant is REFUSED or meant is None:
            return meant
        if meta.le is not None and not meant <= meta.le:  # nor is NaN within bounds
            return reading.fault(loc, f"must be at most {meta.le}, got {shown(meant)}")
        if meta.ge is not None and not meant >= meta.ge:
            return reading.fault(loc, f"must be at least {meta.ge}, got {shown(meant)}")
        if meta.max_length is not None and isinstance(meant, str) and find_surrogate(meant):
            return reading.fault(loc, f"holds a lone surrogate, which is no character: {shown(meant)}")
        if meta.min_length is not None and len(meant) < meta.min_length:
            return reading.fault(loc, f"must be {meta.min_length} or longer, got {shown(meant)}")
        if meta.max_length is not None and len(meant) > meta.max_length:
            return reading.fault(loc, f"must be {meta.max_length} or shorter, got {shown(meant)}")
        return meant

    return read
