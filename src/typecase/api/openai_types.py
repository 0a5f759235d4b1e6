"""Readers for the ``openai`` package's own types, of which ``openai_shapes`` holds the shapes.

vLLM hands a Responses request's items and tools to pydantic with these types, so what passes and what becomes of it is
pydantic's doing: of several shapes that fit, the one with most fields given wins. An item read as ``dict`` stays an
ordinary dict, unknown keys included; one read as a ``model`` becomes a ``Model``, which later steps treat otherwise; a
list marked ``<...>`` is only looked at when it is used, until then it is ``Unread``.
"""

from __future__ import annotations

__all__ = ["Misfit", "Model", "Unread", "root_reader", "shape_reader", "shapes_by_type"]

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from typing import Any, Final, TypeAlias

from typecase.api.errors import RequestError
from typecase.api.faults import Loc, Problem
from typecase.api.lax import LAX
from typecase.api.openai_shapes import ROOTS, SHAPES
from typecase.api.reading import (
    REFUSED,
    Reader,
    Reading,
    add_fields,
    dict_reader,
    list_reader,
    literal_reader,
    nullable_reader,
    reader_for,
    union_reader,
)


class Model(dict[str, Any]):
    """What an SDK model object holds: all its fields, null where not given, then what else came."""


class Unread(list[Any]):
    """A list that is checked when it is used, item by item.

    It is made of a list, a mapping's keys or a text's characters, as Python iterates over them.
    """

    def __init__(self, values: Any, item: Reader):
        super().__init__(values)
        self._item = item

    def read(self) -> list[Any]:
        """The values as they are meant, up to the first that is none; for that, a ``Misfit``."""
        read: list[Any] = []
        for value in self:
            reading = Reading()
            meant = self._item(value, (), reading)
            if meant is REFUSED:
                return [*read, Misfit(reading.problems[0])]
            read.append(meant)
        return read

    def check(self) -> list[Any]:
        """``read``, raising ``RequestError`` for a ``Misfit``. Like vLLM's, it names no ``param``."""
        read = self.read()
        if read and isinstance(read[-1], Misfit):
            raise RequestError(f"{len(read) - 1}.{read[-1]}")
        return read


@dataclass(frozen=True, slots=True)
class Misfit:
    """Stands for a value that none of the shapes fits. Whoever uses it refuses it in these words."""

    problem: Problem

    def __str__(self) -> str:
        where = ".".join(map(str, self.problem.at))
        return f"{where}: {self.problem.text}" if where else self.problem.text


_SCALARS: dict[str, Any] = {"str": str, "int": int, "float": float, "bool": bool, "any": Any}
_TOKEN = re.compile(r'\s*("[^"]*"|[A-Za-z_]\w*|[][(){}<>|?:;])')


@cache
def root_reader(name: str) -> Reader:
    """The reader of ``input`` (a list of items), ``tools`` or ``tool_choice``."""
    for line in ROOTS.strip().splitlines():
        field, _, form = line.partition(" ")
        if field == name:
            return _Types(iter(_TOKEN.findall(form))).read()
    raise KeyError(name)


@cache
def shape_reader(name: str) -> Reader:
    """The reader of one shape. It is made when it is first called, because shapes may hold themselves."""
    made: list[Reader] = []

    def read(value: object, loc: Loc, reading: Reading) -> object:
        if not made:
            made.append(_shape_reader(_shapes()[name]))
        return made[0](value, loc, reading)

    return read


@cache
def shapes_by_type() -> Mapping[str, tuple[str, ...]]:
    """The ``dict`` shapes of items by the ``type`` they have, in the order in which they are tried."""
    found: dict[str, tuple[str, ...]] = {}
    items = next(line for line in ROOTS.strip().splitlines() if line.startswith("input "))
    for name in re.findall(r"\w+", items.removeprefix("input ")):
        kind, fields = _shapes()[name]
        for word in re.findall(r'(?:^|; )type\?? "(\w+)"', fields) if kind == "dict" else ():
            found[word] = (*found.get(word, ()), name)
    return found


@cache
def _shapes() -> Mapping[str, tuple[str, str]]:
    """Kind and fields by name."""
    shapes = {}
    for line in SHAPES.replace("\n  ", " ").strip().splitlines():
        head, _, fields = line.partition(":")
        kind, name = head.split()
        shapes[name] = kind, fields.strip()
    return shapes


@dataclass(frozen=True, slots=True)
class _Field:
    name: str
    required: bool
    read: Reader


def _shape_reader(shape: tuple[str, str]) -> Reader:
    kind, text = shape
    fields = tuple(_fields(text))
    names = frozenset(field.name for field in fields)
    is_model = kind == "model"

    def read(value: object, loc: Loc, reading: Reading) -> object:
        if not isinstance(value, Mapping):
            return reading.refuse(loc, "an object", value)
        given: dict[str, Any] = Model() if is_model else {}
        refused, count = False, 0
        for field in fields:
            if field.name in value:
                given[field.name] = field.read(value[field.name], (*loc, field.name), reading)
                refused = refused or given[field.name] is REFUSED
                count += 1
            elif field.required:
                reading.fault((*loc, field.name), "is missing")
                refused = True
            elif is_model:
                given[field.name] = None
        if refused:
            return REFUSED
        others = {key: other for key, other in value.items() if key not in names}
        add_fields(reading, count)  # unknown keys don't count
        if is_model:
            reading.coerced(LAX)  # an object had to be made
        given.update(others)
        return given

    return read


def _fields(text: str) -> Iterator[_Field]:
    tokens = iter(_TOKEN.findall(text))
    for name in tokens:
        types = _Types(tokens)
        required = types.token != "?"
        if not required:
            types.take()
        yield _Field(name, required, types.read())


_ABSENT: Final = object()
"""Stands for a ``type`` that isn't given."""

_Tags: TypeAlias = frozenset[object]
"""The values of ``type`` that a shape takes."""


@dataclass(frozen=True, slots=True)
class _Alternative:
    """One of several types; if it is a shape, its tags; if it is itself made of shapes, these."""

    read: Reader
    tags: _Tags | None = None
    shapes: tuple[_Alternative, ...] = ()


class _Types:
    """A recursive descent over a type's tokens."""

    def __init__(self, tokens: Iterator[str]):
        self._tokens = tokens
        self.token = next(tokens, ";")

    def take(self) -> str:
        taken = self.token
        self.token = next(self._tokens, ";")
        return taken

    def read(self) -> Reader:
        """The reader of alternatives, up to a closing bracket or the end of the field, whose ``;`` is taken."""
        return self._any_of().read

    def _any_of(self) -> _Alternative:
        found: list[_Alternative] = []
        words: list[str] = []
        is_nullable = False
        while True:
            token = self.take()
            if token.startswith('"'):
                words.append(token[1:-1])
            else:
                _add_words(found, words)
                if token == "null":
                    is_nullable = True
                else:
                    found.append(self._one(token))
            if self.token != "|":
                break
            self.take()
        _add_words(found, words)
        one = found[0] if len(found) == 1 else _union(found)
        return _Alternative(nullable_reader(one.read)) if is_nullable else one

    def _one(self, token: str) -> _Alternative:
        if token in _SCALARS:
            return _Alternative(reader_for(_SCALARS[token]))
        if token in "[{<(":
            inner = self._any_of()
            self.take()
            match token:
                case "[":
                    return _Alternative(list_reader(inner.read))
                case "{":
                    return _Alternative(dict_reader(inner.read))
                case "<":
                    return _Alternative(_lazy_reader(inner.read))
                case _:
                    return inner
        return _Alternative(shape_reader(token), _tags(token))


def _add_words(found: list[_Alternative], words: list[str]) -> None:
    """Make neighbouring words one alternative."""
    if words:
        found.append(_Alternative(literal_reader(tuple(words))))
        words.clear()


def _tags(name: str) -> _Tags | None:
    field = re.search(r"(?:^|; )type(\??) ([^;]*)", _shapes()[name][1])
    if field is None:
        return None
    words: set[object] = set(re.findall(r'"([^"]*)"', field[2]))
    if field[1]:
        words.add(_ABSENT)
    if field[2].endswith("null"):
        words.add(None)
    return frozenset(words)


def _union(found: list[_Alternative]) -> _Alternative:
    whole = union_reader(tuple(one.read for one in found))
    shapes = tuple(shape for one in found for shape in (one.shapes or (one,)))
    if not all(shape.tags for shape in shapes):
        return _Alternative(whole)
    return _Alternative(_tagged_reader(shapes, whole), shapes=shapes)


def _tagged_reader(shapes: tuple[_Alternative, ...], whole: Reader) -> Reader:
    """A union's reader that tries only the shapes of the value's ``type``: no other can fit.

    A value that none of them fits goes through ``whole``, which knows what to say about it.
    """
    readers: dict[object, Reader] = {}
    for tag in frozenset().union(*(shape.tags or () for shape in shapes)):
        readers[tag] = union_reader(tuple(shape.read for shape in shapes if shape.tags and tag in shape.tags))

    def read(value: object, loc: Loc, reading: Reading) -> object:
        if isinstance(value, Mapping):
            tag = value.get("type", _ABSENT)
            few = readers.get(tag) if tag is _ABSENT or isinstance(tag, str | None) else None
            if few is not None:
                before = len(reading.problems)
                meant = few(value, loc, reading)
                if meant is not REFUSED:
                    return meant
                del reading.problems[before:]
        return whole(value, loc, reading)

    return read


def _lazy_reader(item: Reader) -> Reader:
    def read(value: object, loc: Loc, reading: Reading) -> object:
        if not isinstance(value, list | tuple | str | Mapping):
            return reading.refuse(loc, "a list", value)
        return Unread(value, item)

    return read
