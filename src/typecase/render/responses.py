"""``/v1/responses/render``: a Responses request, stateless, over the same path as chat.

It becomes chat messages (``instructions`` first, then the input) and goes through template and tokenizer as a chat
does. Two things differ from chat, as in vLLM 0.33: the tokenizer's special tokens stand around the prompt, and
``truncation`` other than ``disabled`` keeps the last tokens that fit.
"""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime
from typing import Any

from msgspec.structs import replace

from typecase.api.errors import InvalidHistory, RequestError
from typecase.api.generate import GenerateRequest
from typecase.api.responses import ResponsesRequest
from typecase.front import Front
from typecase.prompt.budget import Budget
from typecase.render.adjustment import adjusted
from typecase.render.harmony import harmony_conversation, harmony_ids
from typecase.render.length import Encoded, Tokenization
from typecase.render.prompt import check_template_trust, effort_kwargs, encode_conversation, merge_kwargs
from typecase.render.reasoning import reasoning_parser_kwargs
from typecase.render.requests import check_media_kwargs, check_model, reused_prompt_ids
from typecase.render.response_items import chat_messages, chat_tools, continues_last_item, read_contents
from typecase.render.sampling import check_requested_tokens, resolve_sampling
from typecase.render.surrogates import refusing_surrogates

__all__ = ["render_responses"]


def render_responses(
    front: Front,
    request: ResponsesRequest,
    *,
    request_id: str,
    now: Callable[[], datetime],
    budget: Budget | None = None,
) -> GenerateRequest:
    """Render one Responses request.

    Args:
        front: the model.
        request: decoded and checked.
        request_id: the answer's id, whole.
        now: the clock that templates see.
        budget: bounds on the template's work.

    Raises:
        RequestError: whatever vLLM's route refuses, with its status, type and param.

    Source: vLLM 0.33, ``POST /v1/responses/render``.
    """
    check_model(front, request.model)
    if request.previous_response_id is not None:
        raise InvalidHistory(
            "previous_response_id is not supported by the stateless render endpoint.", param="previous_response_id"
        )
    check_template_trust(front, None, request.chat_template_kwargs)
    kwargs = _template_kwargs(front, request)
    if front.is_harmony:
        request = adjusted(front, request, kwargs)
        transfer, encoded = request.kv_transfer_params, _harmony_encode(front, request, now)
    else:
        tools = _tools(front, request)
        messages = chat_messages(request.instructions, request.input)
        check_media_kwargs(front, request.media_io_kwargs, request.mm_processor_kwargs)
        check_requested_tokens(request, front.max_model_len)
        transfer, ids = reused_prompt_ids(front, request.kv_transfer_params, ignored=False, messages=messages)
        request = replace(request, kv_transfer_params=transfer)
        encoded = Encoded(ids) if ids is not None else _encode(front, request, messages, tools, kwargs, now, budget)
        request = adjusted(front, request, kwargs)
    if not encoded.ids:
        raise RequestError("No token_ids rendered")
    return GenerateRequest(
        request_id=request_id,
        token_ids=encoded.ids,
        sampling_params=resolve_sampling(
            request,
            defaults=front.sampling_defaults,
            max_model_len=front.max_model_len,
            prompt_len=len(encoded.ids),
            limits=front.options.limits,
        ),
        model=request.model,
        reasoning_parser_kwargs=reasoning_parser_kwargs(front, kwargs, judged=False),
        stream=bool(request.stream),
        cache_salt=request.cache_salt,
        priority=request.priority,
        kv_transfer_params=request.kv_transfer_params or None,
        ec_transfer_params=request.ec_transfer_params or None,
    )


def _encode(
    front: Front,
    request: ResponsesRequest,
    messages: list[dict[str, Any]],
    tools: list[dict[str, Any]] | None,
    kwargs: dict[str, Any],
    now: Callable[[], datetime],
    budget: Budget | None,
) -> Encoded:
    tokenization = _tokenization(front, request)
    with refusing_surrogates(
        input=request.input,
        instructions=request.instructions,
        tools=request.tools,
        chat_template_kwargs=request.chat_template_kwargs,
    ):
        read_contents(messages)
        return encode_conversation(
            front,
            tokenization,
            messages,
            tools=tools,
            template=None,
            kwargs=kwargs,
            now=now,
            budget=budget,
            typed_parts=False,
        )


def _harmony_encode(front: Front, request: ResponsesRequest, now: Callable[[], datetime]) -> Encoded:
    conversation = harmony_conversation(front, request, now=now)
    check_requested_tokens(request, front.max_model_len)
    return Encoded(_tokenization(front, request).fit_ids(harmony_ids(front, conversation)))


def _tokenization(front: Front, request: ResponsesRequest) -> Tokenization:
    return Tokenization(
        max_model_len=front.max_model_len,
        truncate=None if request.truncation == "disabled" else -1,
        add_special_tokens=True,
    )


def _tools(front: Front, request: ResponsesRequest) -> list[dict[str, Any]] | None:
    hidden = request.tool_choice == "none" and front.options.exclude_tools_when_tool_choice_none
    return None if hidden or not request.tools else chat_tools(request.tools)


def _template_kwargs(front: Front, request: ResponsesRequest) -> dict[str, Any]:
    own = request.chat_template_kwargs or {}
    goes_on = continues_last_item(request.input)
    effort = request.reasoning.get("effort") if request.reasoning else None
    return {
        **merge_kwargs(front.template_kwargs, own),
        "add_generation_prompt": not goes_on,
        "continue_final_message": goes_on,
        **effort_kwargs(front, effort, own),
    }
