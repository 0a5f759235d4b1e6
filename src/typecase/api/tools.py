"""Tools and ``tool_choice`` of chat, checked and put into the one form that templates and ``parse_context`` see.

That form is what vLLM re-serialises: ``type``, ``function`` with name, description and parameters (null when absent),
``strict`` and ``defer_loading`` only when given, no unknown keys.
"""

from __future__ import annotations

__all__ = ["ToolChoice", "fast_tools", "read_tool_choice", "read_tools"]

from typing import Any, Literal, TypeAlias

from typecase.api.faults import Loc
from typecase.api.reading import REFUSED, OpenRecord, Reading, reader_for

ToolChoice: TypeAlias = str | dict[str, Any] | None
"""``none``, ``auto``, ``required``, or ``{"function": {"name": ...}, "type": "function"}``."""


class _Function(OpenRecord):
    name: str
    description: str | None = None
    parameters: dict[str, Any] | None = None
    strict: bool | None = None
    defer_loading: bool | None = None


class _Tool(OpenRecord, kw_only=True):
    type: Literal["function"] = "function"
    function: _Function
    defer_loading: bool | None = None


class _NamedFunction(OpenRecord):
    name: str


class _NamedChoice(OpenRecord):
    function: _NamedFunction
    type: Literal["function"] = "function"


_TOOL_KEYS = ("type", "function")
_FUNCTION_KEYS = ("name", "description", "parameters")

_read_records = reader_for(list[_Tool] | None)
read_tool_choice = reader_for(Literal["none"] | Literal["auto"] | Literal["required"] | _NamedChoice | None)


def fast_tools(tools: object) -> Any:
    """``read_tools`` for tools that need no coercion; of others, ``REFUSED`` says only that they are others."""
    if tools is None:
        return None
    if type(tools) is not list:
        return REFUSED
    written: list[dict[str, Any] | None] = []
    for tool in tools:
        if type(tool) is dict and tuple(tool) == _TOOL_KEYS and _is_usual(tool["function"]):
            if tool["type"] != "function":
                return REFUSED
            written.append(tool)
            continue
        if type(tool) is not dict or tool.get("type", "function") != "function":
            return REFUSED
        function = tool.get("function")
        if type(function) is not dict:
            return REFUSED
        description, parameters = function.get("description"), function.get("parameters")
        if not (
            type(function.get("name")) is str
            and (description is None or type(description) is str)
            and (parameters is None or type(parameters) is dict)
        ):
            return REFUSED
        written.append(_written(tool, function))
        if written[-1] is None:
            return REFUSED
    return written


def _is_usual(function: Any) -> bool:
    """Whether a function has the very form that is wanted."""
    if type(function) is not dict or tuple(function) != _FUNCTION_KEYS:
        return False
    description, parameters = function["description"], function["parameters"]
    return (
        type(function["name"]) is str
        and (type(description) is str or description is None)
        and (type(parameters) is dict or parameters is None)
    )


def read_tools(value: object, loc: Loc, reading: Reading) -> Any:
    """The reader of ``tools``."""
    tools = _read_records(value, loc, reading)
    if tools is REFUSED or tools is None:
        return tools
    return [_written(tool, tool["function"]) for tool in tools]


def _written(tool: dict[str, Any], function: dict[str, Any]) -> dict[str, Any] | None:
    """The tool in its one form; None if a flag is no bool."""
    inner = {
        "name": function["name"],
        "description": function.get("description"),
        "parameters": function.get("parameters"),
    }
    strict, inner_defers, defers = function.get("strict"), function.get("defer_loading"), tool.get("defer_loading")
    if strict is None and inner_defers is None and defers is None:
        return {"type": "function", "function": inner}
    if not all(flag is None or type(flag) is bool for flag in (strict, inner_defers, defers)):
        return None
    if strict is not None:
        inner["strict"] = strict
    if inner_defers is None:
        inner_defers = defers
    if inner_defers is not None:
        inner["defer_loading"] = inner_defers
    written = {"type": "function", "function": inner}
    if defers is not None:
        written["defer_loading"] = defers
    return written
