"""The tools that a structural tag lets the model call, and how a request wants them called."""

from __future__ import annotations

import json
import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Literal, TypeAlias

from typecase.formats.call_format import StrictLevel
from typecase.render.tag_formats import quoted

__all__ = ["Choice", "TaggedTool", "tagged_tools"]

Choice: TypeAlias = Literal["auto", "required", "forced"]
"""The model may call tools, must call some, or must call the one that is left."""


@dataclass(frozen=True, slots=True)
class TaggedTool:
    """One tool. ``schema`` is JSON text that its arguments must fit; ``true`` where they are free."""

    name: str
    parameters: dict[str, Any] | None
    strict: bool
    schema: str


_quoted_finite = json.JSONEncoder(allow_nan=False).encode


def tagged_tools(tools: Iterable[Mapping[str, Any]], level: StrictLevel, *, finite: bool = False) -> list[TaggedTool]:
    """Chat tools as tags take them. Only a strict tool's arguments must fit its schema; a level may make all strict.

    ``finite``: a number in a schema that is none (``NaN``) or infinite becomes null, as vLLM makes it in chat.
    """
    every = level >= StrictLevel.PARAMETER
    tagged = []
    for tool in tools:
        function = tool["function"]
        parameters = function.get("parameters")
        strict = every or function.get("strict") is True
        schema = "true"
        if strict and parameters is not None:
            schema = _finite_schema(parameters) if finite else quoted(parameters)
        tagged.append(TaggedTool(function["name"], parameters, strict, schema))
    return tagged


def _finite_schema(schema: dict[str, Any]) -> str:
    try:
        return _quoted_finite(schema)
    except ValueError:
        return quoted(_finite(schema))


def _finite(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _finite(inner) for key, inner in value.items()}
    if isinstance(value, list):
        return [_finite(inner) for inner in value]
    return None if isinstance(value, float) and not math.isfinite(value) else value
