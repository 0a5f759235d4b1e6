"""``/v1/chat/completions/render``: a chat request -> the ``GenerateRequest`` that an engine takes.

The order of the steps is vLLM's, because it decides which of several faults is told.
"""

from __future__ import annotations

from array import array
from collections.abc import Callable
from datetime import datetime
from typing import Any

from typecase.api.chat import ChatRequest
from typecase.api.errors import RequestError
from typecase.api.generate import GenerateRequest, ParseContext
from typecase.front import Front
from typecase.prompt.budget import Budget
from typecase.render.adjustment import adjusted
from typecase.render.harmony import harmony_chat_ids
from typecase.render.length import Encoded, Tokenization
from typecase.render.mistral import mistral_request
from typecase.render.prompt import check_template_trust, effort_kwargs, encode_conversation, merge_kwargs
from typecase.render.reasoning import reasoning_ended, reasoning_parser_kwargs
from typecase.render.requests import check_media_kwargs, check_model, reused_prompt_ids
from typecase.render.sampling import check_requested_tokens, resolve_sampling
from typecase.render.surrogates import refusing_surrogates

__all__ = ["chat_prompt", "render_chat"]


def render_chat(
    front: Front,
    request: ChatRequest,
    *,
    request_id: str,
    now: Callable[[], datetime],
    budget: Budget | None = None,
) -> GenerateRequest:
    """Render one chat request.

    Args:
        front: the model.
        request: decoded and checked.
        request_id: the id without its prefix; the answer's is ``chatcmpl-`` + this.
        now: the clock that templates see.
        budget: bounds on the template's work.

    Raises:
        RequestError: whatever vLLM's route refuses, with its status, type and param.

    Source: vLLM 0.33, ``POST /v1/chat/completions/render``.
    """
    request, kwargs, transfer, encoded = _prepared(front, request, now, budget)
    if not encoded.ids:
        raise RequestError("No token_ids rendered")
    sampling = resolve_sampling(
        request,
        defaults=front.sampling_defaults,
        max_model_len=front.max_model_len,
        prompt_len=len(encoded.ids),
        limits=front.options.limits,
    )
    return GenerateRequest(
        request_id=f"chatcmpl-{request_id}",
        token_ids=encoded.ids,
        token_offsets=encoded.offsets,
        sampling_params=sampling,
        model=request.model,
        reasoning_ended=reasoning_ended(front, request, encoded.ids, kwargs),
        reasoning_parser_kwargs=reasoning_parser_kwargs(front, kwargs, judged=True),
        return_token_ids=request.return_token_ids,
        parse_context=_parse_context(request, {} if front.is_harmony else kwargs),
        stream=bool(request.stream),
        stream_options=request.stream_options if request.stream else None,
        cache_salt=request.cache_salt,
        priority=request.priority,
        kv_transfer_params=transfer or None,
        ec_transfer_params=request.ec_transfer_params or None,
    )


def chat_prompt(
    front: Front, request: ChatRequest, *, now: Callable[[], datetime], budget: Budget | None = None
) -> Encoded:
    """The prompt of a chat request, for those who only count its tokens: sampling parameters are neither checked nor
    needed, and the prompt may fill the whole context."""
    return _prepared(front, request, now, budget)[-1]


def _prepared(
    front: Front, request: ChatRequest, now: Callable[[], datetime], budget: Budget | None
) -> tuple[ChatRequest, dict[str, Any], dict[str, Any] | None, Encoded]:
    """All but the sampling parameters: the request with what the model's formats add, the effective template kwargs,
    the transfer parameters that are left, and the prompt."""
    check_model(front, request.model)
    if request.use_beam_search:
        raise RequestError("Beam search is not supported by the render endpoint")
    if front.tokenizer.mistral is not None:
        request = mistral_request(request)
    kwargs = _template_kwargs(front, request)
    if front.is_harmony:
        # No template, hence none of its checks; and no limit on the prompt's length.
        request = adjusted(front, request, kwargs)
        transfer, ids = reused_prompt_ids(front, request.kv_transfer_params, ignored=request.echo, messages=())
        encoded = Encoded(ids if ids is not None else _harmony_ids(front, request, now))
    else:
        if front.tokenizer.mistral is None:
            _check_tool_parser(front, request)
        check_template_trust(front, request.chat_template, request.chat_template_kwargs)
        check_media_kwargs(front, request.media_io_kwargs, request.mm_processor_kwargs)
        tokenization = _tokenization(front, request)
        transfer, ids = reused_prompt_ids(
            front, request.kv_transfer_params, ignored=request.echo, messages=request.messages
        )
        encoded = Encoded(ids) if ids is not None else _encode(front, request, tokenization, kwargs, now, budget)
        request = adjusted(front, request, kwargs)
    return request, kwargs, transfer, encoded


def _check_tool_parser(front: Front, request: ChatRequest) -> None:
    """A choice that makes the model call tools needs a parser for what it will write."""
    choice = request.tool_choice
    options = front.options
    if choice is None or choice == "none" or options.has_tool_parser:
        return
    if choice == "auto":
        if not options.enable_auto_tool_choice:
            raise RequestError('"auto" tool choice requires --enable-auto-tool-choice and --tool-call-parser to be set')
        return
    wanted = f'"{choice}"' if isinstance(choice, str) else f'function "{choice["function"]["name"]}"'
    raise RequestError(f"tool_choice={wanted} requires --tool-call-parser to be set")


def _tokenization(front: Front, request: ChatRequest) -> Tokenization:
    """The request's token limits, checked before anything is rendered."""
    check_requested_tokens(request, front.max_model_len)
    tokenization = Tokenization(
        max_model_len=front.max_model_len,
        truncate=request.truncate_prompt_tokens,
        side=request.truncation_side,
        add_special_tokens=request.add_special_tokens,
        offsets=front.has_offsets and bool(request.return_token_offsets),
    )
    tokenization.check()
    return tokenization


def _template_kwargs(front: Front, request: ChatRequest) -> dict[str, Any]:
    """The effective template kwargs: the server's, the request's own, and those that its fields stand for."""
    own = request.chat_template_kwargs or {}
    kwargs = merge_kwargs(front.template_kwargs, own)
    kwargs["add_generation_prompt"] = request.add_generation_prompt
    kwargs["continue_final_message"] = request.continue_final_message
    if request.documents is not None:
        kwargs["documents"] = request.documents
    if request.reasoning_effort is not None:
        kwargs |= effort_kwargs(front, request.reasoning_effort, own)
    return kwargs


def _encode(
    front: Front,
    request: ChatRequest,
    tokenization: Tokenization,
    kwargs: dict[str, Any],
    now: Callable[[], datetime],
    budget: Budget | None,
) -> Encoded:
    tools = _shown_tools(front, request)
    with refusing_surrogates(
        messages=request.messages,
        tools=tools,
        documents=request.documents,
        chat_template_kwargs=request.chat_template_kwargs,
        chat_template=request.chat_template,
    ):
        return encode_conversation(
            front,
            tokenization,
            request.messages,
            tools=tools,
            template=request.chat_template,
            kwargs=kwargs,
            now=now,
            budget=budget,
        )


def _harmony_ids(front: Front, request: ChatRequest, now: Callable[[], datetime]) -> array[int]:
    tools = _shown_tools(front, request)
    return harmony_chat_ids(front, request.messages, tools=tools, effort=request.reasoning_effort, now=now)


def _shown_tools(front: Front, request: ChatRequest) -> list[dict[str, Any]] | None:
    hidden = request.tool_choice == "none" and front.options.exclude_tools_when_tool_choice_none
    return None if hidden else request.tools


def _parse_context(request: ChatRequest, kwargs: dict[str, Any]) -> ParseContext:
    """What a derender server needs to know of the request."""
    calls = (m.get("tool_calls") for m in request.messages if m["role"] == "assistant")
    return ParseContext(
        tools=request.tools,
        tool_choice=request.tool_choice,
        parallel_tool_calls=request.parallel_tool_calls,
        include_reasoning=request.include_reasoning,
        chat_template_kwargs=kwargs,
        history_tool_call_cnt=sum(len(c) if isinstance(c, list) else 1 for c in calls if c),
    )
