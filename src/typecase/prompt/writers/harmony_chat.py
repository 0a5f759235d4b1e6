"""Chat messages -> harmony messages, as vLLM 0.33 takes them: unlike for a template, straight from the request.

What of a message's content counts depends on how it was typed (``part_types``): a list of parts that nobody has looked
at gives instructions and tool results no text at all, but is read for the others.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from typecase.api.errors import RequestError
from typecase.prompt.part_types import is_unread, refuse_unread_parts
from typecase.prompt.writers.harmony_messages import ROLES, HarmonyMessage, NoText

__all__ = ["Instructing", "chat_conversation", "leading_instructions"]

Message = Mapping[str, Any]

Instructing = Callable[[str, str], HarmonyMessage]
"""What makes a message of instructions that stand in mid-conversation, given the role that wrote them."""


def leading_instructions(messages: Sequence[Message]) -> tuple[str | None, Sequence[Message]]:
    """The text of a system or developer message at the front (None: there is none, or it has no text), and the rest."""
    if messages and messages[0]["role"] in ("system", "developer"):
        return _flat_text(messages[0], "messages[0]"), messages[1:]
    return None, messages


def chat_conversation(messages: Sequence[Message], instructing: Instructing, *, first: int = 0) -> list[HarmonyMessage]:
    """The messages of a chat.

    Args:
        messages: checked.
        instructing: for system and developer messages.
        first: the place of ``messages[0]`` in the request, for error messages.

    Raises:
        RequestError: a role or part that harmony doesn't have.
    """
    names: dict[Any, Any] = {}
    for i, message in enumerate(messages):
        calls = message.get("tool_calls", ())
        if calls is None and message["role"] != "assistant":
            # A TypeError in vLLM.
            raise RequestError(f"messages[{first + i}].tool_calls can't be null; leave it out")
        for j, call in enumerate(calls or ()):
            # Only an assistant's calls were checked; others are an AttributeError or TypeError in vLLM.
            function = call.get("function", {}) if isinstance(call, Mapping) else None
            if not isinstance(function, Mapping) or isinstance(call.get("id"), list | dict):
                raise RequestError(f"messages[{first + i}].tool_calls[{j}]: expected an id and a function")
            names[call.get("id")] = function.get("name")
    written: list[HarmonyMessage] = []
    for i, message in enumerate(messages):
        _add(written, message, names, instructing, f"messages[{first + i}]")
    return written


def _add(
    written: list[HarmonyMessage],
    message: Message,
    names: Mapping[Any, Any],
    instructing: Instructing,
    where: str,
) -> None:
    role = message["role"]
    match role:
        case "assistant" if message.get("tool_calls"):
            text = _flat_text(message, where)
            if text:
                written.append(HarmonyMessage(role, (text,), channel="commentary"))
            _add_reasoning(written, message, where)
            written.extend(map(_call, message["tool_calls"]))
        case "assistant":
            _add_reasoning(written, message, where)
            texts = _texts(message, where)
            if texts and texts[0]:
                written.append(HarmonyMessage(role, texts, channel="final"))
        case "tool":
            name = f"functions.{names.get(message.get('tool_call_id', ''), '')}"
            result = _flat_text(message, where) or ""
            written.append(HarmonyMessage(role, (result,), channel="commentary", recipient="assistant", name=name))
        case "system" | "developer":
            _texts(message, where)  # for its refusals
            text = _flat_text(message, where)
            if text is not None:
                written.append(instructing(role, text))
        case _:
            texts = _texts(message, where)
            if role not in ROLES:
                raise RequestError(f"{where}.role is {role!r:.80}; gpt-oss knows {', '.join(sorted(ROLES))}")
            written.append(HarmonyMessage(role, texts))


def _add_reasoning(written: list[HarmonyMessage], message: Message, where: str) -> None:
    reasoning = message.get("reasoning")
    if not reasoning:
        return
    if not isinstance(reasoning, str):
        refusal = f"{where}.reasoning must be a string for gpt-oss"
        if not isinstance(reasoning, Mapping):
            raise RequestError(refusal)
        # Embeddings: vLLM fails on them, but not on those that are left out.
        reasoning = NoText(refusal)
    written.append(HarmonyMessage("assistant", (reasoning,), channel="analysis"))


def _call(call: Mapping[str, Any]) -> HarmonyMessage:
    function = call.get("function", {})
    return HarmonyMessage(
        "assistant",
        (function.get("arguments", "") or "",),
        channel="commentary",
        recipient=f"functions.{function.get('name', '')}",
        content_type="json",
    )


def _flat_text(message: Message, where: str) -> str | None:
    """The content's text where its parts aren't told apart; None if there is none."""
    content = message.get("content")
    if content is None or isinstance(content, str):
        return content
    if not isinstance(content, list) or is_unread(dict(message), content):
        return None
    texts = [part if isinstance(part, str) else part.get("text") for part in content]
    found = [_checked(text, f"{where}.content") for text in texts if text is not None]
    return "".join(found) if found else None


def _texts(message: Message, where: str) -> tuple[str, ...]:
    """The text of each part of the content; one without has an empty one, whatever its kind."""
    content = message.get("content")
    if content is None or isinstance(content, str):
        return (content or "",)
    if not content and not is_unread(dict(message), []):
        return ("",)
    parts = list(content)
    refuse_unread_parts(dict(message), parts, f"{where}.content")
    for i, part in enumerate(parts):
        if not isinstance(part, Mapping):
            # An AttributeError, and so a 500, in vLLM.
            raise RequestError(f'{where}.content[{i}]: write it as {{"type": "text", "text": "..."}}')
    return tuple(_checked(part.get("text", ""), f"{where}.content[{i}]") for i, part in enumerate(parts))


def _checked(text: Any, where: str) -> str:
    if not isinstance(text, str):
        # The words are pydantic's in vLLM.
        raise RequestError(f"{where}: the text of a part must be a string, got {type(text).__name__}")
    return text
