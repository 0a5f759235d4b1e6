"""Responses items and ``previous_input_messages`` -> harmony messages, as vLLM 0.33 takes them for gpt-oss."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from typecase.api.errors import InvalidInput, InvalidParameter, RequestError
from typecase.api.faults import shown
from typecase.api.openai_types import Model, Unread
from typecase.prompt.writers.harmony_chat import Instructing
from typecase.prompt.writers.harmony_messages import ROLES, HarmonyMessage, NoText

__all__ = ["item_conversation", "item_instructions", "previous_conversation"]

Item = Mapping[str, Any]

_INSTRUCTING_ROLES = ("system", "developer")


def item_instructions(items: Sequence[Item]) -> tuple[str | None, Sequence[Item]]:
    """The text of a system or developer item at the front (None: there is none, or it has no text), and the rest."""
    if items and items[0].get("role") in _INSTRUCTING_ROLES:
        return _joined(items[0].get("content")), items[1:]
    return None, items


def item_conversation(items: Sequence[Item], instructing: Instructing) -> list[HarmonyMessage]:
    """The messages of input items. Raises ``RequestError`` for an item that harmony can't hold."""
    written: list[HarmonyMessage] = []
    names: dict[str, str] = {}
    for item in items:
        kind = item.get("type", "message")
        message: HarmonyMessage | None
        match kind:
            case "message":
                message = _message(item, instructing)
            case "function_call":
                message = _call(item["name"], item["arguments"])
                if isinstance(item, Model):
                    names[item["call_id"]] = item["name"]
            case "function_call_output":
                message = _output(item, names)
            case "reasoning":
                message = _reasoning(item)
            case _:
                raise InvalidInput(f"Unknown input type: {kind}", "input")
        if message is not None:
            written.append(message)
    return written


def previous_conversation(messages: Sequence[Item]) -> list[HarmonyMessage]:
    """The messages of ``previous_input_messages``, given as chat messages or in harmony's own form.

    System and developer messages are left out: instructions are always those of the request itself.
    """
    written: list[HarmonyMessage] = []
    for i, message in enumerate(messages):
        where = f"previous_input_messages[{i}]"
        own = message.get("author")
        made = [_own_form(message, own, where)] if isinstance(own, Mapping) else _chat_form(message, where)
        written.extend(m for m in made if m.role not in _INSTRUCTING_ROLES)
    return written


def _message(item: Item, instructing: Instructing) -> HarmonyMessage | None:
    role = item.get("role")
    if not isinstance(role, str):
        # A KeyError, and so a 500, in vLLM.
        raise InvalidInput("An item needs a type, or a role and content", "input")
    content = item["content"]
    if role in _INSTRUCTING_ROLES:
        text = _joined(content)
        return instructing(role, text) if text else None
    if isinstance(content, Unread):
        content = content.check()
    texts = (content,) if isinstance(content, str) else tuple(part.get("text", "") for part in content)
    return HarmonyMessage(role, texts, channel="final" if role == "assistant" else None)


def _call(name: str, arguments: str) -> HarmonyMessage:
    return HarmonyMessage(
        "assistant", (arguments,), channel="commentary", recipient=f"functions.{name}", content_type="json"
    )


def _output(item: Item, names: Mapping[str, str]) -> HarmonyMessage:
    call_id = item.get("call_id")
    name = names.get(call_id) if isinstance(call_id, str) else None
    if name is None:
        raise InvalidInput(f"No call message found for {call_id}", "input")
    output = item["output"]
    if not isinstance(output, str):
        raise InvalidInput("The output of a function call must be a string for gpt-oss", "input")
    return _result(f"functions.{name}", output)


def _result(name: str | None, text: str) -> HarmonyMessage:
    return HarmonyMessage("tool", (text,), channel="commentary", recipient="assistant", name=name)


def _reasoning(item: Item) -> HarmonyMessage | None:
    parts = item.get("content")
    if isinstance(parts, Unread):
        # An item that is no reasoning item of the SDK's. The words are Python's in vLLM.
        raise RequestError("object of type 'pydantic_core._pydantic_core.ValidatorIterator' has no len()")
    if not parts:
        return None
    return HarmonyMessage("assistant", ("\n".join(part["text"] for part in parts),), channel="analysis")


def _own_form(message: Item, author: Item, where: str) -> HarmonyMessage:
    role = author.get("role")
    if not isinstance(role, str) or role not in ROLES:
        raise RequestError(f"Unknown role: {role!r}")
    content = message.get("content", "")
    texts = _raw_texts(content, f"{where}.content") if isinstance(content, str | list) else ("",)
    name = author.get("name") or None
    if not isinstance(name, str | None):
        raise RequestError(f"{where}.author.name must be a string, got {shown(name)}")
    optional = {key: message.get(key) or None for key in ("channel", "recipient", "content_type")}
    for key, value in optional.items():
        if not isinstance(value, str | None):
            # vLLM notices when the conversation is written.
            return HarmonyMessage(role, (NoText(f"{where}.{key} must be a string, got {shown(value)}"),))
    return HarmonyMessage(role, texts, **optional, name=name)


def _chat_form(message: Item, where: str) -> list[HarmonyMessage]:
    role = message.get("role")
    if role is None:
        raise InvalidParameter(f"Message has no 'role' key: {message}", "input")
    calls = message.get("tool_calls")
    if role == "assistant" and calls:
        return [_raw_call(call, where) for call in _listed(calls, f"{where}.tool_calls")]
    if role == "tool":
        name = message.get("name", "")
        if not isinstance(name, str | None):
            raise RequestError(f"{where}: name must be a string, got {shown(name)}")
        if name and not name.startswith("functions."):
            name = f"functions.{name}"
        return [_result(name, _joined_raw(message.get("content"), f"{where}.content"))]
    if role in _INSTRUCTING_ROLES:
        return []
    texts = _raw_texts(message.get("content", ""), f"{where}.content")
    if not isinstance(role, str) or role not in ROLES:
        raise RequestError(f"{where}.role is {shown(role)}; gpt-oss knows {', '.join(sorted(ROLES))}")
    return [HarmonyMessage(role, texts)]


def _raw_call(call: Any, where: str) -> HarmonyMessage:
    function = call.get("function", {}) if isinstance(call, Mapping) else None
    if not isinstance(function, Mapping):
        raise RequestError(f"{where}: expected a tool call with a function, got {shown(call)}")
    arguments = function.get("arguments", "") or ""
    if not isinstance(arguments, str):
        raise RequestError(f"{where}: the arguments of a tool call must be a string, got {shown(arguments)}")
    return _call(function.get("name", ""), arguments)


def _raw_texts(content: Any, where: str) -> tuple[str, ...]:
    """The text of each part; one without a text has an empty one."""
    if isinstance(content, str):
        return (content,)
    texts = [part.get("text", "") if isinstance(part, Mapping) else None for part in _listed(content, where)]
    return tuple(_text(text, where) for text in texts)


def _joined_raw(content: Any, where: str) -> str:
    if not isinstance(content, list):
        return content if isinstance(content, str) else ""
    texts = [part if isinstance(part, str) else part.get("text") for part in content if isinstance(part, str | Mapping)]
    return "".join(_text(text, where) for text in texts if text is not None)


def _listed(value: Any, where: str) -> list[Any]:
    if not isinstance(value, list):
        raise RequestError(f"{where}: expected a list, got {shown(value)}")
    return value


def _text(value: Any, where: str) -> str:
    if not isinstance(value, str):
        raise RequestError(f"{where}: expected parts with a text, got {shown(value)}")
    return value


def _joined(content: Any) -> str | None:
    """The texts of a content, put together; None if there are none."""
    if content is None or isinstance(content, str):
        return content
    if not isinstance(content, list) or isinstance(content, Unread):
        return None
    texts = [part if isinstance(part, str) else part.get("text") for part in content]
    found = [text for text in texts if text is not None]
    return "".join(found) if found else None
