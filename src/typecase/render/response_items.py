"""Responses input and tools -> chat messages and chat tools.

One chat message may come from several items: reasoning, calls and text of an assistant turn are put together as long
as the message before is the assistant's and the place is free. The rules are vLLM 0.33's, odd ones included (only the
first part of an assistant's content counts). Which item is what depends on how it was read: a ``Model``, or a dict that
the SDK takes as it is (``typecase.api.openai_types``).
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from typecase.api.errors import InvalidParameter, RequestError
from typecase.api.faults import shown
from typecase.api.openai_types import Model, Unread

__all__ = ["chat_messages", "chat_tools", "continues_last_item", "read_contents"]

Item = Mapping[str, Any]
Message = dict[str, Any]

_UNFINISHED = ("in_progress", "incomplete")
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
    """The tools a template can show; built-in ones are left out, so the list may be empty.

    Raises ``RequestError`` for a namespace's function whose parameters are no schema.
    """
    shown_tools = []
    for tool in tools:
        match tool["type"]:
            case "function":
                shown_tools.append(_function(tool, tool["name"]))
            case "namespace":
                members = (member for member in tool["tools"] if member["type"] == "function")
                shown_tools.extend(_function(member, f"{tool['name']}__{member['name']}") for member in members)
            case "custom":
                inner = {"name": tool["name"], "description": tool.get("description"), "parameters": _CUSTOM_PARAMETERS}
                shown_tools.append({"type": "function", "function": inner})
    return shown_tools


def read_contents(messages: Iterable[Message]) -> None:
    """Read, in place, contents that nobody has looked at yet. What doesn't fit stays for whoever uses the parts."""
    for message in messages:
        content = message.get("content")
        if isinstance(content, Unread):
            message["content"] = content.read()


def continues_last_item(given: str | Sequence[Item]) -> bool:
    """Whether the last item is an unfinished turn, which the model shall go on with.

    Read as a model, it is an assistant's message or its reasoning. Of a dict, vLLM looks at type and status alone, so
    an unfinished user message counts, too.
    """
    if isinstance(given, str) or not given:
        return False
    last = given[-1]
    return last.get("type", "message") in ("message", "reasoning") and last.get("status") in _UNFINISHED


def _function(tool: Item, name: str) -> dict[str, Any]:
    parameters = tool.get("parameters")
    if not isinstance(parameters, dict | None):
        raise RequestError(f"tools: the parameters of {name!r:.80} must be a JSON schema, got {shown(parameters)}")
    inner = {"name": name, "description": tool.get("description"), "parameters": parameters}
    for flag in ("strict", "defer_loading"):
        if tool.get(flag) is not None:
            inner[flag] = tool[flag]
    return {"type": "function", "function": inner}


def _add(item: Item, messages: list[Message], start: int) -> None:
    """Append an item's message, or complete the assistant message before it."""
    before = messages[-1] if len(messages) > start and messages[-1]["role"] == "assistant" else None
    kind = item.get("type")
    if isinstance(item, Model):
        match kind:
            case "function_call":
                name = item["name"] if not item.get("namespace") else f"{item['namespace']}__{item['name']}"
                return _add_call(item["call_id"], name, item["arguments"], before, messages)
            case "reasoning":
                return _set("reasoning", _reasoning(item), before, messages)
            case "message":
                return _set("content", _answer(item), before, messages)
    match kind:
        case "custom_tool_call":
            arguments = json.dumps({"input": item.get("input") or ""}, ensure_ascii=False)
            return _add_call(item["call_id"], item["name"], arguments, before, messages)
        case "function_call_output" | "custom_tool_call_output":
            messages.append({"role": "tool", "content": item.get("output"), "tool_call_id": item.get("call_id")})
            return None
    if "role" not in item or isinstance(item, Model):
        raise InvalidParameter(f"Unsupported input item type: {kind}", "input")
    if item["role"] == "assistant":
        text = _first_text(item.get("content"))
        if text is not None:
            return _set("content", text, before, messages)
    message = dict(item)
    if type(message.get("tool_calls")) is list:
        message["tool_calls"] = message["tool_calls"].copy()  # calls that follow are added to it
    messages.append(message)
    return None


def _set(key: str, value: Any, before: Message | None, messages: list[Message]) -> None:
    if before is not None and before.get(key) is None:
        before[key] = value
    else:
        messages.append({"role": "assistant", key: value})


def _add_call(call_id: str, name: str, arguments: str, before: Message | None, messages: list[Message]) -> None:
    call = {"id": call_id, "function": {"name": name, "arguments": arguments}, "type": "function"}
    calls = before.get("tool_calls") if before is not None else call
    if before is not None and isinstance(calls, list | None):
        if type(calls) is list:
            calls.append(call)
        else:
            before["tool_calls"] = [*(calls or ()), call]
    else:
        messages.append({"role": "assistant", "tool_calls": [call]})


def _reasoning(item: Item) -> str:
    if item.get("encrypted_content"):
        raise InvalidParameter("Encrypted content is not supported.", "input")
    for parts in (item.get("content"), item["summary"]):
        if parts:
            text: str = parts[0]["text"]
            return text
    return ""


def _answer(item: Item) -> str:
    """The text of an assistant's message. vLLM crashes where the first part has none."""
    first = item["content"][0] if item["content"] else {}
    if first.get("type") != "output_text":
        raise InvalidParameter(
            f"An assistant message must begin with an output_text part, got {first.get('type') or 'none'}.", "input"
        )
    text: str = first["text"]
    return text


def _first_text(content: Any) -> Any:
    """What an assistant's content says in its first part; None if that has no text. vLLM crashes on what is no part."""
    if isinstance(content, str):
        return content
    if not isinstance(content, list) or not content or isinstance(content, Unread):
        return None
    if not isinstance(content[0], dict):
        raise InvalidParameter(
            f"An assistant's content must be text or content parts, got {shown(content[0])}", "input"
        )
    return content[0].get("text")
