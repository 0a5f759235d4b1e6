"""Chats and Responses for gpt-oss: the request's messages -> prompt ids, past templates and their checks.

vLLM 0.33 goes its own way here: the request's messages become harmony messages as they are, after a preamble of a
system message and, if there are instructions or tools, a developer message. Of the prompt's length a chat's limits
know nothing.
"""

from __future__ import annotations

from array import array
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from typecase.api.errors import InvalidParameter
from typecase.api.responses import ResponsesRequest
from typecase.front import Front
from typecase.prompt.writers.harmony_chat import chat_conversation, leading_instructions
from typecase.prompt.writers.harmony_messages import Developer, HarmonyMessage, System
from typecase.prompt.writers.harmony_tools import HarmonyTool
from typecase.render.harmony_items import item_conversation, item_instructions, previous_conversation

__all__ = ["harmony_chat_ids", "harmony_conversation", "harmony_ids"]

_EFFORTS = ("high", "medium", "low")
_BUILT_IN = frozenset({"web_search_preview", "code_interpreter", "container"})


def harmony_chat_ids(
    front: Front,
    messages: Sequence[Mapping[str, Any]],
    *,
    tools: Sequence[Mapping[str, Any]] | None,
    effort: str | None,
    now: Callable[[], datetime],
) -> array[int]:
    """The prompt of a chat.

    Args:
        front: a gpt-oss model.
        messages: checked messages of a chat request.
        tools: the definitions to show; None for none.
        effort: the request's reasoning effort.
        now: the clock, for the day in the prompt.

    Raises:
        RequestError: harmony can't hold the conversation, or has no such effort.
    """
    instructions, rest = leading_instructions(messages)
    if _mapped(front, effort) == "none":
        raise InvalidParameter("Harmony does not support reasoning_effort='none'", "reasoning_effort")
    preamble = _Preamble(front, now)
    functions = [_function(tool["function"]) for tool in tools or ()]
    conversation = preamble.messages(instructions, functions, _checked(front, effort))
    conversation += chat_conversation(rest, preamble.instructing, first=len(messages) - len(rest))
    return harmony_ids(front, conversation)


def harmony_conversation(
    front: Front, request: ResponsesRequest, *, now: Callable[[], datetime]
) -> list[HarmonyMessage]:
    """The conversation of a Responses request. Raises ``RequestError`` for what harmony can't hold."""
    instructions = request.instructions
    given: str | Sequence[Mapping[str, Any]] = request.input
    if instructions is None and not isinstance(given, str):
        instructions, given = item_instructions(given)
    preamble = _Preamble(front, now)
    effort = _checked(front, request.reasoning.get("effort") if request.reasoning else None)
    conversation = preamble.messages(instructions, _response_functions(request.tools), effort)
    conversation += previous_conversation(request.previous_input_messages or ())
    if not isinstance(given, str):
        conversation += item_conversation(given, preamble.instructing)
    elif given or not request.previous_input_messages:
        conversation.append(HarmonyMessage("user", (given,)))
    return conversation


def harmony_ids(front: Front, conversation: Sequence[HarmonyMessage]) -> array[int]:
    """The ids of a conversation, whatever their number. Raises ``RequestError`` if it can't be written."""
    assert front.harmony is not None
    return front.harmony.write(conversation)


@dataclass(frozen=True, slots=True)
class _Preamble:
    """What a conversation begins with, by the operator's settings."""

    front: Front
    now: Callable[[], datetime]

    def messages(self, instructions: str | None, functions: Sequence[HarmonyTool], effort: str) -> list[HarmonyMessage]:
        in_system = self.front.options.harmony_system_instructions
        system = self._system(instructions if in_system else None, effort)
        instructions = None if in_system else instructions
        if not instructions and not functions:
            return [system]
        return [system, HarmonyMessage("developer", (Developer(instructions=instructions, tools=functions),))]

    def instructing(self, role: str, text: str) -> HarmonyMessage:
        """A message of instructions in mid-conversation."""
        in_system = self.front.options.harmony_system_instructions
        if in_system and role == "system":
            return self._system(text, "medium")
        return HarmonyMessage("developer", (Developer(instructions=None if in_system else text),))

    def _system(self, instructions: str | None, effort: str) -> HarmonyMessage:
        date = self.front.options.system_start_date or self.now().strftime("%Y-%m-%d")
        return HarmonyMessage("system", (System(date=date, effort=effort, instructions=instructions),))


def _response_functions(tools: Sequence[Mapping[str, Any]]) -> Sequence[HarmonyTool]:
    """The functions among a Responses request's tools. The built-in ones need servers, which don't exist here.

    Tools of another type are refused, unless all are built in or MCP servers: then nobody looks.
    """
    # Labels of MCP servers that vLLM can be told to let in are those of the built-in tools.
    if all(tool["type"] in _BUILT_IN or tool["type"] == "mcp" for tool in tools):
        return ()
    functions = []
    for tool in tools:
        if tool["type"] == "function":
            functions.append(_function(tool))
        elif tool["type"] not in _BUILT_IN:
            raise InvalidParameter(f"tool type {tool['type']!r} is not supported.", "tools")
    return functions


def _function(tool: Mapping[str, Any]) -> HarmonyTool:
    return HarmonyTool(tool["name"], tool.get("description") or "", tool.get("parameters"))


def _mapped(front: Front, effort: str | None) -> str | None:
    return None if effort is None else front.options.reasoning_effort_map.get(effort, effort)


def _checked(front: Front, effort: str | None) -> str:
    mapped = _mapped(front, effort)
    if mapped is not None and mapped not in _EFFORTS:
        raise InvalidParameter(
            f"reasoning_effort={mapped!r} is not supported by Harmony. Supported values are: {', '.join(_EFFORTS)}.",
            "reasoning_effort",
        )
    return mapped or "medium"
