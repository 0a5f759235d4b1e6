"""The items, tools and tool choices of a Responses request as JSON schemas: ``openai_shapes`` read once more.

Shapes of which the SDK has a second reading (``FunctionToolCall2``) are shown once. A list that is only looked at when
it is used is shown as what it is then.
"""

from __future__ import annotations

__all__ = ["ResponsesShapes"]

import re
from collections.abc import Iterator
from typing import Any

from typecase.api.openai_shapes import ROOTS, SHAPES

Schema = dict[str, Any]

_TOKEN = re.compile(r'\s*("[^"]*"|[A-Za-z_]\w*|[][(){}<>|?:;])')
_SECOND_READINGS = re.compile(r"\|\([^)]*\)")
_SCALARS: dict[str, Schema] = {
    "str": {"type": "string"},
    "int": {"type": "integer"},
    "float": {"type": "number"},
    "bool": {"type": "boolean"},
    "null": {"type": "null"},
    "any": {},
}
_PREFIX = "Responses"
_NUMBER = re.compile(r"(?<=[a-zA-Z])\d+\b(?!\")")


# What the SDK requires, but is filled in before it looks (``api/response_items.py``).
_FILLED_IN = frozenset(
    {
        (f"{_PREFIX}OutputMessage", "id"),
        (f"{_PREFIX}OutputMessage", "status"),
        (f"{_PREFIX}OutputText", "annotations"),
        (f"{_PREFIX}ReasoningItem", "id"),
        (f"{_PREFIX}InputImage", "detail"),
    }
)


class ResponsesShapes:
    """Schemas of the roots; ``components`` grows with the shapes that they refer to."""

    def __init__(self, ref: str):
        self._ref = ref
        self._fields: dict[str, str] = {}
        for line in SHAPES.replace("\n  ", " ").strip().splitlines():
            head, _, fields = line.partition(":")
            self._fields[head.split()[1]] = fields
        self.components: dict[str, Schema] = {}

    def root(self, name: str) -> Schema:
        """The schema of ``input`` (as a list of items), ``tools`` or ``tool_choice``."""
        line = next(line for line in ROOTS.strip().splitlines() if line.startswith(f"{name} "))
        form = _SECOND_READINGS.sub("", line.removeprefix(name))
        return _Form(_TOKEN.findall(form), self).any_of()

    def shape(self, name: str) -> Schema:
        """A reference to a shape, which becomes a component."""
        first = _NUMBER.sub("", name)
        if first in self._fields and _NUMBER.sub("", self._fields[first]) == _NUMBER.sub("", self._fields[name]):
            name = first  # the SDK has one type for what is sent and one for what is received
        title = _PREFIX + name
        if title not in self.components:
            self.components[title] = {}  # shapes may hold themselves
            self.components[title] = self._object(title, self._fields[name])
        return {"$ref": self._ref.format(name=title)}

    def _object(self, title: str, fields: str) -> Schema:
        properties: dict[str, Schema] = {}
        required: list[str] = []
        for field in fields.split(";"):
            name, *tokens = _TOKEN.findall(field)
            if tokens[0] == "?":
                del tokens[0]
            elif (title, name) not in _FILLED_IN:
                required.append(name)
            properties[name] = _Form(tokens, self).any_of()
        return {"title": title, "type": "object", "properties": properties, "required": required}


class _Form:
    """A type's tokens, read from the left."""

    def __init__(self, tokens: list[str], shapes: ResponsesShapes):
        self._tokens: Iterator[str] = iter([*tokens, ";"])
        self._token = next(self._tokens)
        self._shapes = shapes

    def any_of(self) -> Schema:
        """Alternatives, up to a closing bracket or the end."""
        words: list[str] = []
        others: list[Schema] = []
        while True:
            token = self._take()
            if token.startswith('"'):
                words.append(token[1:-1])
            else:
                others.append(self._one(token))
            if self._token != "|":
                break
            self._take()
        if words:
            others.insert(0, {"type": "string", "enum": words} if len(words) > 1 else {"const": words[0]})
        return others[0] if len(others) == 1 else {"anyOf": others}

    def _one(self, token: str) -> Schema:
        if token in _SCALARS:
            return _SCALARS[token]
        if token not in "[{<(":
            return self._shapes.shape(token)
        inner = self.any_of()
        self._take()
        match token:
            case "[" | "<":
                return {"type": "array", "items": inner}
            case "{":
                return {"type": "object", "additionalProperties": inner}
        return inner

    def _take(self) -> str:
        taken, self._token = self._token, next(self._tokens, ";")
        return taken
