"""Which tools of a request the model may call, and whether it must: one form for chat and Responses."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from typecase.api.chat import ChatRequest
from typecase.api.errors import InvalidParameter, RequestError
from typecase.api.responses import ResponsesRequest
from typecase.formats.call_format import StrictLevel
from typecase.render.response_items import chat_tools
from typecase.render.tag_formats import quoted
from typecase.render.tagged_tools import Choice, TaggedTool, tagged_tools

__all__ = ["ToolsToTag", "WantedCalls", "function_tools", "tools_to_tag", "wanted_calls"]


@dataclass(frozen=True, slots=True)
class WantedCalls:
    """A ``tool_choice`` that has to do with calls; ``name`` is that of the one tool to call."""

    choice: Choice
    name: str | None = None


def wanted_calls(request: ChatRequest | ResponsesRequest) -> WantedCalls | None:
    """What ``tool_choice`` asks for.

    None: nothing, or something that no constraint is made for (allowed tools, tools of the provider).
    """
    choice = request.tool_choice
    if choice == "auto":
        return WantedCalls("auto")
    if choice == "required":
        return WantedCalls("required")
    if not isinstance(choice, dict):
        return None
    if isinstance(request, ChatRequest):
        return WantedCalls("forced", choice["function"]["name"])
    return WantedCalls("forced", choice["name"]) if choice.get("type") in ("function", "custom") else None


def function_tools(request: ChatRequest | ResponsesRequest, *, needed: bool) -> list[dict[str, Any]]:
    """The request's tools that are functions, as chat has them.

    Raises:
        InvalidParameter: there is none, and one is ``needed``.
    """
    tools = request.tools or []
    found = chat_tools(tools) if isinstance(request, ResponsesRequest) else tools
    if needed and not found:
        raise InvalidParameter(
            "tool_choice requires a function call, but tools contains no function tool the model can call.",
            "tool_choice",
        )
    return found


@dataclass(frozen=True, slots=True)
class ToolsToTag:
    """Tools for a structural tag. ``hosted``: there are others beside functions."""

    tools: Sequence[TaggedTool]
    hosted: bool = False

    def __bool__(self) -> bool:
        return bool(self.tools) or self.hosted

    def named(self, name: str) -> ToolsToTag:
        """Only the tool of that name. Raises ``RequestError`` if there isn't exactly one."""
        found = [tool for tool in self.tools if tool.name == name]
        if not found:
            raise RequestError(f"The tool with name '{name}' is not found in the tools list.")
        if len(found) > 1:
            raise RequestError("Forced tool choice must resolve to exactly one tool.")
        return ToolsToTag(found)


def tools_to_tag(
    request: ChatRequest | ResponsesRequest, wanted: WantedCalls, level: StrictLevel, *, hosted_too: bool
) -> ToolsToTag | None:
    """The tools that a tag is to be made for. None: the model may call them unconstrained.

    ``hosted_too``: the format writes calls of other tools than functions as well.
    """
    may_be_free = wanted.choice == "auto" and level == StrictLevel.AUTO
    if hosted_too and isinstance(request, ResponsesRequest):
        return _with_hosted(request, level, may_be_free=may_be_free)
    tools = function_tools(request, needed=wanted.choice != "auto" and not hosted_too)
    if may_be_free and not any(tool["function"].get("strict") is True for tool in tools):
        return None
    return ToolsToTag(tagged_tools(tools, level, finite=isinstance(request, ChatRequest)))


def _with_hosted(request: ResponsesRequest, level: StrictLevel, *, may_be_free: bool) -> ToolsToTag | None:
    kinds = [tool.get("type") for tool in request.tools]
    functions = [tool for tool, kind in zip(request.tools, kinds, strict=True) if kind in ("function", "custom")]
    if may_be_free and not any(tool.get("strict") is True for tool in functions if tool["type"] == "function"):
        return None
    tagged = []
    for tool, shown in zip(functions, chat_tools(functions), strict=True):
        [one] = tagged_tools([shown], level)
        if tool["type"] == "custom":  # its one parameter is known, strict or not
            one = TaggedTool(one.name, one.parameters, True, quoted(one.parameters))
        tagged.append(one)
    return ToolsToTag(tagged, hosted=len(functions) < len(kinds))
