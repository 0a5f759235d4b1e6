"""``/tokenize`` and ``/detokenize``."""

from __future__ import annotations

__all__ = [
    "DetokenizeRequest",
    "DetokenizeResponse",
    "TokenizeChat",
    "TokenizePrompt",
    "TokenizeRequest",
    "TokenizeResponse",
    "decode_tokenize",
]

from collections.abc import Mapping
from typing import Annotated, Any, TypeAlias

import msgspec
from msgspec import Meta

from typecase.api.chat_checks import check_generation_prompt
from typecase.api.chat_messages import Message, read_messages
from typecase.api.decode import as_object, read_fast
from typecase.api.errors import RequestError
from typecase.api.faults import body_error
from typecase.api.limits import DEFAULT_LIMITS, Limits
from typecase.api.reading import Reading, reader_for
from typecase.api.tools import fast_tools, read_tools

TokenId: TypeAlias = Annotated[int, Meta(ge=0, le=2**63 - 1)]


class TokenizePrompt(msgspec.Struct, kw_only=True):
    """The ids of a text."""

    model: str | None = None
    prompt: str
    add_special_tokens: bool = True
    return_token_strs: bool | None = False

    @classmethod
    def check_body(cls, body: dict[str, Any]) -> dict[str, Any]:
        return body

    def is_final(self, limits: Limits) -> bool:
        return True


class TokenizeChat(msgspec.Struct, kw_only=True):
    """The ids of a conversation's prompt."""

    model: str | None = None
    messages: Annotated[list[Message], Meta(extra={"reader": read_messages})]
    add_generation_prompt: bool = True
    return_token_strs: bool | None = False
    continue_final_message: bool = False
    add_special_tokens: bool = False
    chat_template: str | None = None
    chat_template_kwargs: dict[str, Any] | None = None
    media_io_kwargs: dict[str, dict[str, Any]] | None = None
    mm_processor_kwargs: dict[str, Any] | None = None
    tools: Annotated[list[dict[str, Any]] | None, Meta(extra={"reader": read_tools, "fast": fast_tools})] = None

    @classmethod
    def check_body(cls, body: dict[str, Any]) -> dict[str, Any]:
        check_generation_prompt(body)
        return body

    def is_final(self, limits: Limits) -> bool:
        return True


TokenizeRequest: TypeAlias = TokenizePrompt | TokenizeChat

_read_either = reader_for(TokenizePrompt | TokenizeChat)


def decode_tokenize(body: bytes | bytearray | memoryview | Mapping[str, Any]) -> TokenizeRequest:
    """Read a body of either form. Raises as ``decode_request`` does.

    A body with both ``prompt`` and ``messages`` is a chat, unless its messages say nothing (an empty list) or are no
    messages at all: vLLM takes the form with more known fields.
    """
    raw = as_object(body)
    check_generation_prompt(raw)
    request: TokenizeRequest | None = None
    if "messages" not in raw:
        request = read_fast(TokenizePrompt, raw, DEFAULT_LIMITS)
    elif "prompt" not in raw:
        request = read_fast(TokenizeChat, raw, DEFAULT_LIMITS)
    if request is not None:
        return request
    reading = Reading()
    read: TokenizeRequest = _read_either(raw, (), reading)
    if reading.problems:
        raise body_error(reading.problems)
    if reading.later and isinstance(read, TokenizeChat):
        # Nothing looks at tool calls here until the template is rendered, so vLLM can't say where they are.
        raise RequestError(reading.later[0].message)
    return read


class TokenizeResponse(msgspec.Struct, kw_only=True):
    """``tokens`` are the ids; ``token_strs`` their entries in the vocabulary."""

    count: int
    max_model_len: int
    tokens: list[int]
    token_strs: list[str] | None = None


class DetokenizeRequest(msgspec.Struct, kw_only=True):
    """The text of some ids."""

    model: str | None = None
    tokens: list[TokenId]

    @classmethod
    def check_body(cls, body: dict[str, Any]) -> dict[str, Any]:
        return body

    def is_final(self, limits: Limits) -> bool:
        return True


class DetokenizeResponse(msgspec.Struct, kw_only=True):
    """The text."""

    prompt: str
