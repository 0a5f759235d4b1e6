"""Messages API -> chat: system prompt, turns and their content blocks, as vLLM 0.33 turns them over.

Calls and reasoning of a turn become fields of its chat message; results become messages of role ``tool`` that stand
before the turn they came in. What has no place in a chat (redacted thinking, signatures, cache marks) is left out.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from datetime import datetime
from typing import Any

from typecase.api.errors import RequestError
from typecase.api.faults import shown
from typecase.api.message_blocks import ContentBlock, Message

__all__ = ["chat_messages"]

Part = dict[str, Any]

# A line that Claude Code puts before its system prompt. It changes with every request, so nothing behind it could be
# found in a prefix cache (vllm#44283).
_BILLING = "x-anthropic-billing-header"


def chat_messages(
    system: str | list[ContentBlock] | None,
    messages: Sequence[Message],
    *,
    merge_system: bool,
    now: Callable[[], datetime],
) -> list[dict[str, Any]]:
    """The chat messages of a conversation.

    Args:
        system: the request's ``system``.
        messages: its turns.
        merge_system: whether system messages from among the turns go to the system prompt, for templates that take
            none elsewhere.
        now: the clock, for calls without an id.

    Raises:
        RequestError: a tool result that can't be read; vLLM answers with Python's words here, or crashes.
    """
    texts = [system] if isinstance(system, str) else _system_texts(system or ())
    if merge_system:
        texts += [_remark(message) for message in messages if message.role == "system"]
    prompt = "".join(texts)
    chat: list[dict[str, Any]] = [{"role": "system", "content": prompt}] if prompt else []
    for i, message in enumerate(messages):
        if message.role == "system":
            text = "" if merge_system else _remark(message)
            if text:
                chat.append({"role": "system", "content": text})
        elif isinstance(message.content, str):
            chat.append({"role": message.role, "content": message.content})
        else:
            _add_turn(message.role, message.content, chat, f"messages[{i}].content", now)
    return chat


def _remark(message: Message) -> str:
    """The text of a system message."""
    if isinstance(message.content, str):
        return "" if message.content.startswith(_BILLING) else message.content
    return "".join(_system_texts(message.content))


def _system_texts(blocks: Sequence[ContentBlock]) -> list[str]:
    return [b.text for b in blocks if b.type == "text" and b.text and not b.text.startswith(_BILLING)]


def _add_turn(
    role: str, blocks: Sequence[ContentBlock], chat: list[dict[str, Any]], where: str, now: Callable[[], datetime]
) -> None:
    """Append a turn's results, then the turn itself unless it is a user's and nothing of it is left."""
    parts: list[Part] = []
    calls: list[dict[str, Any]] = []
    thoughts: list[str] = []
    for i, block in enumerate(blocks):
        match block.type:
            case "text" if block.text:
                parts.append(_text(block.text))
            case "image" if block.source:
                parts.append(_image(_image_url(block.source)))
            case "thinking" if block.thinking is not None:
                thoughts.append(block.thinking)
            case "tool_use":
                calls.append(_call(block, now))
            case "tool_result" if role == "user":
                _add_result(block, chat, f"{where}[{i}]")
            case "tool_result":
                parts.append(_text(f"Tool result: {block.content or ''}"))
    turn: dict[str, Any] = {"role": role}
    if thoughts:
        turn["reasoning"] = "".join(thoughts)
    if calls:
        turn["tool_calls"] = calls
    if len(parts) == 1 and parts[0]["type"] == "text":
        turn["content"] = parts[0]["text"]
    elif parts:
        turn["content"] = parts
    if role != "user" or parts:
        chat.append(turn)


def _call(block: ContentBlock, now: Callable[[], datetime]) -> dict[str, Any]:
    # Templates may print a call as it is: the order of the keys is that of vLLM's chat types.
    return {
        "id": block.id or f"call_{int(now().timestamp())}",
        "function": {"arguments": json.dumps(block.input or {}), "name": block.name or ""},
        "type": "function",
    }


def _add_result(block: ContentBlock, chat: list[dict[str, Any]], where: str) -> None:
    """Append a tool's result: its texts, then its images as a user's turn, then the tools it refers to."""
    texts: list[str] = []
    urls: list[Any] = []
    references: list[Part] = []
    for i, item in enumerate(block.content if isinstance(block.content, list) else ()):
        match item.get("type"):
            case "text":
                text = item.get("text", "")
                if not isinstance(text, str):
                    raise RequestError(f"{where}.content[{i}].text: expected a string, got {shown(text)}")
                texts.append(text)
            case "image":
                source = item.get("source", {})
                if not isinstance(source, dict):
                    raise RequestError(f"{where}.content[{i}].source: expected an object, got {shown(source)}")
                if url := _image_url(source):
                    urls.append(url)
            case "tool_reference":
                if name := item.get("tool_name") or item.get("name"):
                    references.append({"type": "tool_reference", "name": name})
    text = block.content if isinstance(block.content, str) else "\n".join(texts)
    result = {"role": "tool", "tool_call_id": block.tool_use_id or ""}
    chat.append({**result, "content": text})
    if urls:
        chat.append({"role": "user", "content": [_image(url) for url in urls]})
    if references:
        chat.append({**result, "content": references})


def _text(text: str) -> Part:
    return {"type": "text", "text": text}


def _image(url: Any) -> Part:
    return {"type": "image_url", "image_url": {"url": url}}


def _image_url(source: dict[str, Any]) -> Any:
    """The source's own URL, whatever it is; of any other source, what it holds as a ``data:`` URL."""
    if source.get("type") == "url":
        return source.get("url", "")
    return f"data:{source.get('media_type', 'image/jpeg')};base64,{source.get('data', '')}"
