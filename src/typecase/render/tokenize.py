"""``/tokenize`` and ``/detokenize``: ids of a text or a chat, and back. No length limit applies to either."""

from __future__ import annotations

from array import array
from collections.abc import Callable
from datetime import datetime
from typing import Any

from typecase.api.errors import RequestError
from typecase.api.ids import ids_to_list
from typecase.api.tokenize import (
    DetokenizeRequest,
    DetokenizeResponse,
    TokenizeChat,
    TokenizeRequest,
    TokenizeResponse,
)
from typecase.front import Front
from typecase.prompt.budget import Budget
from typecase.prompt.part_types import is_unread
from typecase.render.harmony import harmony_chat_ids
from typecase.render.length import Tokenization
from typecase.render.prompt import check_template_trust, encode_conversation, merge_kwargs
from typecase.render.requests import check_media_kwargs, check_model
from typecase.render.surrogates import refusing_surrogates

__all__ = ["detokenize", "tokenize"]

_LARGEST_ID = 2**32 - 1


def tokenize(
    front: Front, request: TokenizeRequest, *, now: Callable[[], datetime], budget: Budget | None = None
) -> TokenizeResponse:
    """The ids of a text or of a conversation's prompt.

    Tools need no parser here and are shown whatever the choice. Raises ``RequestError``.
    """
    check_model(front, request.model)
    if isinstance(request, TokenizeChat) and not front.is_harmony:
        check_template_trust(front, request.chat_template, request.chat_template_kwargs)
        check_media_kwargs(front, request.media_io_kwargs, request.mm_processor_kwargs)
    tokenization = Tokenization(max_model_len=None, add_special_tokens=request.add_special_tokens)
    if isinstance(request, TokenizeChat):
        with refusing_surrogates(
            messages=request.messages,
            tools=request.tools,
            chat_template_kwargs=request.chat_template_kwargs,
            chat_template=request.chat_template,
        ):
            ids = _chat_ids(front, request, tokenization, now, budget)
    else:
        with refusing_surrogates(prompt=request.prompt):
            ids = tokenization.encode(front.tokenizer, request.prompt).ids
    tokens = ids_to_list(ids)
    spelled = [front.tokenizer.token(i) or "" for i in tokens] if request.return_token_strs else None
    return TokenizeResponse(count=len(tokens), max_model_len=front.max_model_len, tokens=tokens, token_strs=spelled)


def detokenize(front: Front, request: DetokenizeRequest) -> DetokenizeResponse:
    """The text of some ids, special tokens written out. Ids outside the vocabulary give nothing."""
    check_model(front, request.model)
    for i, token_id in enumerate(request.tokens):
        if token_id > _LARGEST_ID:
            raise RequestError(f"tokens[{i}] is {token_id}: a token id is at most {_LARGEST_ID}")
    return DetokenizeResponse(prompt=front.tokenizer.decode(request.tokens))


def _chat_ids(
    front: Front,
    request: TokenizeChat,
    tokenization: Tokenization,
    now: Callable[[], datetime],
    budget: Budget | None,
) -> array[int]:
    if front.is_harmony:
        return harmony_chat_ids(front, _chat_messages(request), tools=request.tools, effort=None, now=now)
    kwargs = merge_kwargs(front.template_kwargs, request.chat_template_kwargs or {})
    kwargs["add_generation_prompt"] = request.add_generation_prompt
    kwargs["continue_final_message"] = request.continue_final_message
    return encode_conversation(
        front,
        tokenization,
        request.messages,
        tools=request.tools,
        template=request.chat_template,
        kwargs=kwargs,
        now=now,
        budget=budget,
    ).ids


def _chat_messages(request: TokenizeChat) -> list[dict[str, Any]]:
    """The messages as vLLM writes them into a chat request: without nulls, and without parts that nobody has looked at;
    reasoning has its newer name."""
    messages = []
    for given in request.messages:
        message = {key: value for key, value in given.items() if value is not None}
        reasoning = message.pop("reasoning_content", None)
        if reasoning is not None:
            message.setdefault("reasoning", reasoning)
        content = message.get("content")
        if isinstance(content, dict) or (isinstance(content, list) and is_unread(given, content)):
            message["content"] = []
        messages.append(message)
    return messages
