"""Which content lists vLLM refuses unread.

vLLM 0.33 validates a message against a union of OpenAI's types and a catch-all of its own. pydantic takes the type of
which most fields are given, OpenAI's in a draw. The catch-all looks at a list of parts at once and lets almost
anything through; each part is then taken by its ``type``. OpenAI's types look at the parts only when the template
needs them, and fail on the first that is none. Both outcomes are reproduced, with a message of ours that names the
part.
"""

from __future__ import annotations

from typing import Any, NoReturn

from typecase.api.chat_messages import fits_catch_all
from typecase.api.errors import RequestError

__all__ = ["is_unread", "refuse_unread_parts"]

_OPENAI_ROLES = frozenset({"user", "system", "assistant", "tool", "developer"})
_CATCH_ALL_TEXTS = ("tool_call_id", "reasoning", "task")
_CATCH_ALL_LISTS = ("tool_calls", "tools")


def refuse_unread_parts(message: dict[str, Any], parts: list[Any], where: str) -> None:
    """Refuse ``parts`` if OpenAI's type wins for the message and can't read them. ``where`` is their path."""
    if not parts or not is_unread(message, parts):
        return
    role = message["role"]
    for i, part in enumerate(parts):
        if not _openai_reads(part, role):
            _refuse(part, f"{where}[{i}]")


def is_unread(message: dict[str, Any], parts: list[Any]) -> bool:
    """Whether OpenAI's type wins for the message, so that nobody has looked at its ``parts`` yet."""
    role = message["role"]
    if role not in _OPENAI_ROLES or not _fits_openai(message, role):
        return False
    if not _fits_catch_all(message, parts):
        return True
    if any(isinstance(part, dict) and _has_known_field(part) for part in parts):
        return False
    return _catch_all_fields(message, role) <= _openai_fields(message, role)


def _fits_catch_all(message: dict[str, Any], parts: list[Any]) -> bool:
    return all(isinstance(part, dict | str) for part in parts) and fits_catch_all(message)


def _openai_reads(part: Any, role: str) -> bool:
    """Whether OpenAI's type for messages of this role knows such a part."""
    if not isinstance(part, dict):
        return False
    match part.get("type"):
        case "text":
            return isinstance(part.get("text"), str)
        case "refusal":
            return role == "assistant" and isinstance(part.get("refusal"), str)
        case "image_url":
            return role == "user" and _is_image_url(part.get("image_url"))
        case "input_audio" | "file" as kind:
            return role == "user" and isinstance(part.get(kind), dict)
    return False


def _fits_openai(message: dict[str, Any], role: str) -> bool:
    """Whether OpenAI's type of this role takes the message, its parts and tool calls unread."""
    if role != "tool" and not isinstance(message.get("name", ""), str):
        return False
    if role == "tool":
        return isinstance(message.get("tool_call_id"), str)
    if role == "assistant":
        return isinstance(message.get("refusal"), str | None) and isinstance(message.get("tool_calls", []), list)
    return True


def _catch_all_fields(message: dict[str, Any], role: str) -> int:
    """How many fields only the catch-all knows (those inside tool calls count, too)."""
    texts = sum(isinstance(message.get(key), str | None) for key in _CATCH_ALL_TEXTS if key in message)
    lists = sum(isinstance(message.get(key), list | None) for key in _CATCH_ALL_LISTS if key in message)
    if role == "tool":
        texts -= 1  # the call's id, which OpenAI's type knows as well
        texts += "name" in message
    if role == "assistant" and "tool_calls" in message and not message["tool_calls"]:
        lists -= 1
    return texts + lists


def _openai_fields(message: dict[str, Any], role: str) -> int:
    """How many fields only OpenAI's type knows."""
    return sum(key in message for key in ("audio", "function_call", "refusal")) if role == "assistant" else 0


def _refuse(part: Any, where: str) -> NoReturn:
    shown = f"an object of type {part.get('type')!r}" if isinstance(part, dict) else repr(part)
    raise RequestError(f'{where} is {shown[:200]}, not a content part; write it as {{"type": "text", "text": "..."}}')


def _has_known_field(part: dict[str, Any]) -> bool:
    """Whether some part type of vLLM accepts this object for one of its fields."""
    match part.get("type"):
        case "text":
            if isinstance(part.get("text"), str):
                return True
        case "refusal":
            if isinstance(part.get("refusal"), str):
                return True
        case "thinking":
            if isinstance(part.get("thinking"), str):
                return True
        case "image_url":
            if _is_image_url(part.get("image_url")):
                return True
        case "audio_url" | "video_url" as kind:
            url = part.get(kind)
            if isinstance(url, dict) and isinstance(url.get("url"), str):
                return True
        case "input_audio" | "file" as kind:
            if isinstance(part.get(kind), dict):
                return True
        case "prompt_embeds":
            if isinstance(part.get("data"), str):
                return True
        case "image_embeds" | "audio_embeds" | "video_embeds" | "tool_reference":
            return True
    if any(
        key in part and isinstance(part[key], str | None) for key in ("image_url", "audio_url", "video_url", "uuid")
    ):
        return True
    return isinstance(part.get("name"), str) or ("image_pil" in part and part["image_pil"] is None)


def _is_image_url(value: Any) -> bool:
    return (
        isinstance(value, dict)
        and isinstance(value.get("url"), str)
        and value.get("detail", "auto") in ("auto", "low", "high")
    )
