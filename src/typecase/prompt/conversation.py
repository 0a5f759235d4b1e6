"""Request messages -> the conversation that a template or writer sees, as vLLM 0.33 normalises it.

Only the keys listed in ``_message`` reach the template. Content is flattened to text or kept as parts, whichever the
template reads (``content_format``); the arguments of tool calls in the history become mappings; ``reasoning`` is given
under both of its names. Nothing of the request is changed in place.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from typecase.api.errors import InvalidParameter, RequestError
from typecase.prompt.part_types import refuse_unread_parts
from typecase.prompt.parts import ContentFormat, MediaRefusal, checked_text, parts_content

__all__ = ["Message", "fold_developer_messages", "knows_developer_role", "normalise_messages"]

Message = dict[str, Any]

# Claude Code's first system line changes with every request. Kept in the prompt it would spoil every prefix cache, so
# vLLM takes it out, and so do we.
_BILLING_HEADER = "x-anthropic-billing-header"


def normalise_messages(
    messages: Sequence[Message],
    *,
    content_format: ContentFormat,
    media_refusal: MediaRefusal,
    typed_parts: bool = True,
) -> list[Message]:
    """The conversation for a template.

    Args:
        messages: checked messages of a request, as the client wrote them but for ``reasoning_content``, which is
        ``reasoning``.
        content_format: what the template reads as ``content``: ``string`` or ``openai`` (a list of parts).
        media_refusal: the message of the 400 that answers a media part.
        typed_parts: whether lists of parts were typed as chat's are; False for messages made of another API's items.

    Raises:
        RequestError: a part or tool call that can't be rendered.
    """
    reading = _Reading(content_format, media_refusal, typed_parts)
    conversation = [_message(message, i, reading) for i, message in enumerate(messages)]
    # After all contents, as in vLLM: it decides which of two faults is told.
    for message in conversation:
        if "tool_calls" in message:
            message["tool_calls"] = [_tool_call(call) for call in message["tool_calls"]]
    return conversation


def knows_developer_role(template: str) -> bool:
    """Whether a template's text handles the developer role, by vLLM's test: its name stands in quotes."""
    return '"developer"' in template or "'developer'" in template


def fold_developer_messages(conversation: list[Message]) -> list[Message]:
    """Turn developer messages into system ones, for a template that doesn't know the role.

    All system messages are then merged into one at the front, a blank line between them, unless the only one is there
    already. A conversation without developer messages is left as it is.
    """
    if not any(m["role"] == "developer" for m in conversation):
        return conversation
    converted = [
        {k: v for k, v in m.items() if k != "tools"} | {"role": "system"} if m["role"] == "developer" else m
        for m in conversation
    ]
    system = [m for m in converted if m["role"] == "system"]
    if len(system) == 1 and converted[0]["role"] == "system":
        return converted
    texts = [_joined_text(m.get("content", "")) for m in system]
    merged = {"role": "system", "content": "\n\n".join(text for text in texts if text)}
    return [merged, *(m for m in converted if m["role"] != "system")]


@dataclass(frozen=True, slots=True)
class _Reading:
    content_format: ContentFormat
    media_refusal: MediaRefusal
    typed_parts: bool


def _message(message: Message, index: int, reading: _Reading) -> Message:
    role = message["role"]
    content = message.get("content")
    # Text for a template that reads text is by far the most common: it needs no detour over parts.
    if type(content) is str and reading.content_format == "string":
        if role == "system" and content.startswith(_BILLING_HEADER):
            content = content.partition("\n")[2]
    else:
        content = _content(message, role, content, f"messages[{index}].content", reading)
    given: Message = {"role": role, "content": content}
    if len(message) == 2 and "content" in message and role != "tool":
        if role == "developer":
            given["tools"] = None
        return given

    reasoning = message.get("reasoning")
    if isinstance(reasoning, dict):
        raise InvalidParameter("You must set `--enable-prompt-embeds` to input `prompt_embeds`", "prompt_embeds")
    if role == "assistant":
        calls = message.get("tool_calls")
        if calls:
            given["tool_calls"] = calls
        if reasoning is not None:
            given["reasoning"] = given["reasoning_content"] = reasoning
    elif role == "tool":
        if "tool_call_id" in message:
            given["tool_call_id"] = message["tool_call_id"]
        if isinstance(content, list) and all(part["type"] == "text" for part in content):
            texts = (checked_text(p["text"], f"messages[{index}].content[{i}]") for i, p in enumerate(content))
            given["content"] = "\n".join(texts)
    for key in ("name", "task"):
        if isinstance(message.get(key), str):
            given[key] = message[key]
    if role == "developer":
        given["tools"] = message.get("tools")
    return given


def _content(message: Message, role: str, content: Any, where: str, reading: _Reading) -> str | list[Message]:
    """What a template gets as content for anything but text that it reads as text."""
    parts: list[Any]
    if content is None:
        parts = []
    elif isinstance(content, str):
        parts = [{"type": "text", "text": content}]
    elif isinstance(content, list | dict):
        parts = list(content)
    else:
        raise RequestError(f"{where}: expected text or a list of parts, got {type(content).__name__}")
    if reading.typed_parts:
        refuse_unread_parts(message, parts, where)
    if role == "system":
        parts = _without_billing_header(parts)
    return parts_content(parts, where, reading.content_format, reading.media_refusal)


def _tool_call(call: Any) -> Message:
    """A tool call of the history with its arguments as a mapping.

    What is no JSON object becomes ``{}``: the string lies in the client's history, and a refusal would end the
    conversation (vllm#43995).
    """
    if not isinstance(call, dict):
        raise InvalidParameter("assistant tool_calls entries must be objects.", "tool_calls")
    function = call.get("function")
    if call.get("type", "function") != "function" or not isinstance(function, dict):
        raise InvalidParameter("chat completions only support assistant tool_calls of type 'function'.", "tool_calls")
    arguments = function.get("arguments")
    if isinstance(arguments, str):
        try:
            arguments = json.loads(arguments)
        except (ValueError, RecursionError):
            arguments = None
    # In place in the function, so that its keys keep the client's order.
    return call | {"function": function | {"arguments": arguments if isinstance(arguments, dict) else {}}}


def _without_billing_header(parts: list[Any]) -> list[Any]:
    kept = []
    for part in parts:
        text = part if isinstance(part, str) else part.get("text") if isinstance(part, dict) else None
        is_text = isinstance(part, str) or (isinstance(part, dict) and part.get("type") == "text")
        if not (is_text and isinstance(text, str) and text.startswith(_BILLING_HEADER)):
            kept.append(part)
            continue
        rest = text.partition("\n")[2]
        if rest:
            kept.append(rest if isinstance(part, str) else {**part, "text": rest})
    return kept


def _joined_text(content: Any) -> Any:
    if not isinstance(content, list):
        return content
    return "\n".join(part["text"] for part in content if "text" in part)
