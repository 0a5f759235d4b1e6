"""JSON schemas that constrain tool calls, for formats without a structural tag.

Two shapes: what vLLM calls guided calls (an array of names and ``parameters``, or the named tool's arguments alone),
and the array that Mistral's models before v11 write (``json_array``).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from typecase.api.errors import InvalidParameter, RequestError

__all__ = ["array_of_calls", "mistral_array", "named_arguments", "without_definitions"]

Tool = Mapping[str, Any]


def named_arguments(tools: Iterable[Tool], name: str) -> dict[str, Any]:
    """The schema of the named tool's arguments: all that is to be written. Of two of that name the last counts."""
    found = None
    for tool in tools:
        if tool["function"]["name"] == name:
            found = tool["function"]
    if found is None:
        raise RequestError(f"Tool '{name}' has not been passed in `tools`.")
    return _parameters(found)


def array_of_calls(tools: Sequence[Tool], *, single: bool) -> dict[str, Any]:
    """An array of calls to any of the tools. What they define under ``$defs`` moves up to where references look for it.

    Raises:
        InvalidParameter: definitions of one name differ, or ``$defs`` is no object.
    """
    definitions = _definitions(tools)
    calls = [
        {
            "properties": {
                "name": {"type": "string", "enum": [tool["function"]["name"]]},
                "parameters": _without(_parameters(tool["function"])),
            },
            "required": ["name", "parameters"],
        }
        for tool in tools
    ]
    schema: dict[str, Any] = {"type": "array", "minItems": 1, "items": {"type": "object", "anyOf": calls}}
    if single:
        schema["maxItems"] = 1
    if definitions:
        schema["$defs"] = definitions
    return schema


def without_definitions(tools: Sequence[dict[str, Any]]) -> list[dict[str, Any]]:
    """The tools as ``array_of_calls`` leaves them in vLLM, which a derender server is then told of."""
    written = []
    for tool in tools:
        function = tool["function"]
        if "$defs" in (function.get("parameters") or ()):
            tool = {**tool, "function": {**function, "parameters": _without(function["parameters"])}}
        written.append(tool)
    return written


def mistral_array(tools: Sequence[Tool], name: str | None) -> dict[str, Any] | None:
    """Mistral's array of calls: to any tool, or one to the named. None: there is no tool of that name."""
    if name is not None:
        tools = [tool for tool in tools if tool["function"]["name"] == name]
        if not tools:
            return None
    calls = [
        {
            "type": "object",
            "properties": {
                "name": {"type": "string", "enum": [tool["function"]["name"]]},
                "arguments": tool["function"].get("parameters") or {"type": "object"},
            },
            "required": ["name", "arguments"],
        }
        for tool in tools
    ]
    most = {} if name is None else {"maxItems": 1}
    return {"type": "array", "minItems": 1, **most, "items": {"type": "object", "anyOf": calls}}


def _parameters(function: Mapping[str, Any]) -> dict[str, Any]:
    return function.get("parameters") or {"type": "object", "properties": {}}


def _without(parameters: dict[str, Any]) -> dict[str, Any]:
    return {k: v for k, v in parameters.items() if k != "$defs"} if "$defs" in parameters else parameters


def _definitions(tools: Iterable[Tool]) -> dict[str, Any]:
    definitions: dict[str, Any] = {}
    for tool in tools:
        function = tool["function"]
        own = (function.get("parameters") or {}).get("$defs", {})
        if not isinstance(own, dict):
            raise InvalidParameter(
                f"`$defs` in the parameters of tool '{function['name']}' must be an object, got {type(own).__name__}.",
                "tools",
            )
        for name, schema in own.items():
            if name in definitions and definitions[name] != schema:
                raise InvalidParameter(
                    f"Tool definition '{name}' has multiple schemas, which is not supported.", "tools"
                )
            definitions[name] = schema
    return definitions
