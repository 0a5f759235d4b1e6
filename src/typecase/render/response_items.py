"""Responses input and tools -> chat messages and chat tools.

One chat message may come from several items: reasoning, calls and text of an assistant turn are put together as long
as the message before is the assistant's and the place is free. The rules are vLLM 0.33's, odd ones included (only the
first part of an assistant's content counts).
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

from typecase.api.errors import InvalidParameter

__all__ = ["chat_messages", "chat_tools", "continues_last_item"]

Item = Mapping[str, Any]
Message = dict[str, Any]

# The parameters of a custom tool, which takes one text.
_CUSTOM_PARAMETERS = {
    "type": "object",
    "properties": {"input": {"type": "string", "description": "The freeform text payload for this tool."}},
    "required": ["input"],
    "additionalProperties": False,
}


def chat_messages(instructions: str | None, given: str | Sequence[Item]) -> list[Message]:
    """The conversation of a Responses request. Raises ``InvalidParameter`` for items that chat can't hold."""
    messages: list[Message] = [{"role": "system", "content": instructions}] if instructions else []
    if isinstance(given, str):
        messages.append({"role": "user", "content": given})
        return messages
    start = len(messages)
    for item in given:
        _add(item, messages, start)
    return messages


def chat_tools(tools: Sequence[Item]) -> list[dict[str, Any]]:
    """The tools a template can show; built-in ones are left out, so the list may be empty."""
    shown = []
    for tool in tools:
        match tool.get("type"):
            case "function":
                shown.append(_function(tool, tool["name"]))
            case "namespace":
                members = tool.get("tools") or ()
                shown.extend(
                    _function(member, f"{tool['name']}__{member['name']}")
                    for member in members
                    if member.get("type") == "function"
                )
            case "custom":
                inner = {"name": tool["name"], "description": tool.get("description"), "parameters": _CUSTOM_PARAMETERS}
                shown.append({"type": "function", "function": inner})
    return shown


def continues_last_item(given: str | Sequence[Item]) -> bool:
    """Whether the last item is an unfinished assistant turn, which the model shall go on with."""
    if isinstance(given, str) or not given:
        return False
    last = given[-1]
    is_turn = last.get("role") == "assistant" or last.get("type") == "reasoning"
    return is_turn and last.get("status") in ("in_progress", "incomplete")


def _function(tool: Item, name: str) -> dict[str, Any]:
    inner = {"name": name, "description": tool.get("description"), "parameters": tool.get("parameters")}
    written: dict[str, Any] = {"type": "function", "function": inner}
    if tool.get("strict") is not None:
        inner["strict"] = tool["strict"]
    if tool.get("defer_loading") is not None:
        inner["defer_loading"] = written["defer_loading"] = tool["defer_loading"]
    return written


def _add(item: Item, messages: list[Message], start: int) -> None:
    """Append an item's message, or complete the assistant message before it."""
    before = messages[-1] if len(messages) > start and messages[-1]["role"] == "assistant" else None
    match item.get("type"):
        case "function_call":
            name = item["name"] if not item.get("namespace") else f"{item['namespace']}__{item['name']}"
            _add_call(item["call_id"], name, item["arguments"], before, messages)
        case "custom_tool_call":
            arguments = json.dumps({"input": item.get("input") or ""}, ensure_ascii=False)
            _add_call(item["call_id"], item["name"], arguments, before, messages)
        case "reasoning":
            _set("reasoning", _reasoning(item), before, messages)
        case "function_call_output" | "custom_tool_call_output":
            messages.append({"role": "tool", "content": item.get("output"), "tool_call_id": item.get("call_id")})
        case _ if item.get("role") == "assistant":
            text = _first_text(item.get("content"))
            if text is None:
                messages.append(dict(item))
            else:
                _set("content", text, before, messages)
        case _ if "role" in item:
            messages.append(dict(item))
        case kind:
            raise InvalidParameter(f"Unsupported input item type: {kind or 'item_reference'}", "input")


def _set(key: str, value: str, before: Message | None, messages: list[Message]) -> None:
    if before is not None and before.get(key) is None:
        before[key] = value
    else:
        messages.append({"role": "assistant", key: value})


def _add_call(call_id: str, name: str, arguments: str, before: Message | None, messages: list[Message]) -> None:
    call = {"id": call_id, "function": {"name": name, "arguments": arguments}, "type": "function"}
    if before is None:
        messages.append({"role": "assistant", "tool_calls": [call]})
    else:
        before["tool_calls"] = [*(before.get("tool_calls") or ()), call]


def _reasoning(item: Item) -> str:
    if item.get("encrypted_content"):
        raise InvalidParameter("Encrypted content is not supported.", "input")
    for parts in (item.get("content"), item.get("summary")):
        if isinstance(parts, list) and parts:
            text = parts[0].get("text") if isinstance(parts[0], dict) else None
            if not isinstance(text, str):
                raise InvalidParameter(
                    "A reasoning item's content and summary must be lists of parts with a text.", "input"
                )
            return text
    return ""


def _first_text(content: Any) -> str | None:
    if isinstance(content, str):
        return content
    if not content:
        return None
    first = content[0]
    if "refusal" in first:
        raise InvalidParameter("An assistant message whose first part is a refusal can't be rendered.", "input")
    text = first.get("text")
    return text if isinstance(text, str) else None
