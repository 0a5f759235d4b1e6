"""What vLLM 0.33 does to a chat request for one of Mistral's own tokenizers before it looks at anything else."""

from __future__ import annotations

from typing import Any

from msgspec.structs import replace

from typecase.api.chat import ChatRequest
from typecase.api.errors import InvalidParameter

__all__ = ["mistral_request"]

_LONGEST_CALL_ID = 9


def mistral_request(request: ChatRequest) -> ChatRequest:
    """The request with ids of tool calls cut to the last nine characters and ``tool_calls`` in every answer.

    Raises:
        InvalidParameter: it brings a chat template or template kwargs, which such a tokenizer doesn't use.
    """
    messages = [_with_short_ids(message) for message in request.messages]
    if request.chat_template is not None or request.chat_template_kwargs is not None:
        raise InvalidParameter("chat_template is not supported for Mistral tokenizers.", "chat_template")
    return replace(request, messages=messages)


def _with_short_ids(message: dict[str, Any]) -> dict[str, Any]:
    match message["role"]:
        case "assistant":
            return {**message, "tool_calls": [_short(call, "id") for call in message.get("tool_calls") or ()]}
        case "tool" | "tool_results":
            shortened: dict[str, Any] = _short(message, "tool_call_id")
            return shortened
    return message


def _short(record: Any, key: str) -> Any:
    value = record.get(key) if isinstance(record, dict) else None
    if isinstance(value, str) and len(value) > _LONGEST_CALL_ID:
        return {**record, key: value[-_LONGEST_CALL_ID:]}
    return record
