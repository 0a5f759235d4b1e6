"""Sampling parameters: what the request asks for, what the generation config says, and vLLM's defaults and bounds.

Two steps, because vLLM refuses at two points: ``check_requested_tokens`` before the prompt is rendered,
``resolve_sampling`` when its length is known. Texts and the order of checks are vLLM's.
"""

from __future__ import annotations

__all__ = [
    "check_requested_tokens",
    "resolve_sampling",
    "resolved_max_tokens",
]

import math
from collections.abc import Mapping
from typing import Any, Literal, Protocol, TypeAlias

from msgspec import UNSET

from typecase.api.chat import ChatRequest, thinking_budget
from typecase.api.completions import CompletionRequest
from typecase.api.errors import InvalidParameter, RequestError
from typecase.api.generate import SamplingParams
from typecase.api.limits import DEFAULT_LIMITS, Limits
from typecase.api.responses import ResponsesRequest
from typecase.checkpoint.sampling_defaults import SamplingDefaults
from typecase.render.constraints import chat_constraint, responses_constraint

_GREEDY_BELOW = 1e-5
_LEAST_TEMPERATURE = 1e-2
_DELTA: Literal[1] = 1
_FINAL_ONLY: Literal[2] = 2
_TRANSFER = ("kv_transfer_params", "ec_transfer_params")

_Request: TypeAlias = ChatRequest | CompletionRequest | ResponsesRequest


def check_requested_tokens(request: _Request, max_model_len: int) -> None:
    """Refuse to give more tokens than the context has, before anything is rendered."""
    if isinstance(request, ResponsesRequest):
        name, asked = "max_output_tokens", request.max_output_tokens
    elif isinstance(request, ChatRequest) and request.max_completion_tokens is not None:
        name, asked = "max_completion_tokens", request.max_completion_tokens
    else:
        name, asked = "max_tokens", request.max_tokens
    if asked is not None and asked > max_model_len:
        raise InvalidParameter(
            f"{name}={asked} cannot be greater than max_model_len={max_model_len}. Please request fewer output tokens.",
            name,
            value=asked,
        )


def resolved_max_tokens(
    asked: int | None, *, defaults: SamplingDefaults, max_model_len: int, prompt_len: int, truncate: int | None = None
) -> int:
    """How many tokens may be generated: what was asked for or is the default, within the cap and the context."""
    if truncate is not None:
        prompt_len = min(prompt_len, max_model_len if truncate == -1 else truncate)
    if prompt_len > max_model_len:
        raise RequestError(f"Input length ({prompt_len}) exceeds model's maximum context length ({max_model_len}).")
    wanted = asked if asked is not None else defaults.max_tokens
    left = max_model_len - prompt_len
    if wanted is not None and wanted < left:
        left = wanted
    cap = defaults.max_tokens_cap
    return left if cap is None or left < cap else cap


def resolve_sampling(
    request: _Request,
    *,
    defaults: SamplingDefaults,
    max_model_len: int,
    prompt_len: int,
    limits: Limits = DEFAULT_LIMITS,
) -> SamplingParams:
    """The sampling parameters of a request whose prompt has ``prompt_len`` tokens.

    ``kv_transfer_params`` and ``ec_transfer_params`` are checked with the extra arguments but aren't among them: they
    stand in the ``GenerateRequest`` itself.
    """
    if isinstance(request, ResponsesRequest):
        params = _responses_params(request, defaults, max_model_len, prompt_len)
    elif isinstance(request, CompletionRequest):
        params = _completion_params(request, defaults, max_model_len, prompt_len)
    else:
        params = _chat_params(request, defaults, max_model_len, prompt_len)
    _check(params, request, limits)
    if params.temperature < _GREEDY_BELOW:
        params.top_p = params.min_p = UNSET
        params.top_k = 0
        if params.n > 1:
            raise RequestError(f"n must be 1 when using greedy sampling, got {params.n}.")
    for name in _TRANSFER:
        if request.vllm_xargs and name in request.vllm_xargs and not getattr(request, name):
            # vLLM takes them for the field of that name, and then finds that they are no object.
            raise RequestError(f"vllm_xargs can't hold {name}: send them as a field of the request")
    return params


def _chat_params(
    request: ChatRequest, defaults: SamplingDefaults, max_model_len: int, prompt_len: int
) -> SamplingParams:
    asked = request.max_completion_tokens if request.max_completion_tokens is not None else request.max_tokens
    max_tokens = resolved_max_tokens(
        asked,
        defaults=defaults,
        max_model_len=max_model_len,
        prompt_len=prompt_len,
        truncate=request.truncate_prompt_tokens,
    )
    return _prompted_params(
        request,
        defaults,
        max_tokens=max_tokens,
        logprobs=request.top_logprobs if request.logprobs else None,
        echoed_logprobs=request.top_logprobs,
    )


def _completion_params(
    request: CompletionRequest, defaults: SamplingDefaults, max_model_len: int, prompt_len: int
) -> SamplingParams:
    max_tokens = resolved_max_tokens(
        request.max_tokens,
        defaults=defaults,
        max_model_len=max_model_len,
        prompt_len=prompt_len,
        truncate=request.truncate_prompt_tokens,
    )
    if request.echo and request.max_tokens == 0:
        # Only the prompt is wanted; an engine can't make less than one token.
        max_tokens = 1
    return _prompted_params(
        request, defaults, max_tokens=max_tokens, logprobs=request.logprobs, echoed_logprobs=request.logprobs
    )


def _prompted_params(
    request: ChatRequest | CompletionRequest,
    defaults: SamplingDefaults,
    *,
    max_tokens: int,
    logprobs: int | None,
    echoed_logprobs: int | None,
) -> SamplingParams:
    """What chats and completions have in common. ``echoed_logprobs``: the prompt's, when it is echoed."""
    prompt_logprobs = request.prompt_logprobs
    if prompt_logprobs is None and request.echo:
        prompt_logprobs = echoed_logprobs
    logprob_token_ids = request.logprob_token_ids or None
    return _params(
        request,
        defaults,
        structured_outputs=chat_constraint(request),
        n=1 if request.n is None else request.n,
        max_tokens=max_tokens,
        min_tokens=request.min_tokens,
        logprobs=logprobs if logprob_token_ids is None else None,
        prompt_logprobs=prompt_logprobs,
        logprob_token_ids=logprob_token_ids,
        stop=_stop_list(request.stop),
        bad_words=list(dict.fromkeys(request.bad_words)),
        stream_interval=request.stream_interval,
        allowed_token_ids=request.allowed_token_ids,
        extra_args=_extra_args(request),
        skip_reading_prefix_cache=prompt_logprobs is not None,
        thinking_token_budget=thinking_budget(request.thinking_token_budget),
        repetition_detection=request.repetition_detection,
        routed_experts_prompt_start=request.routed_experts_prompt_start,
    )


def _responses_params(
    request: ResponsesRequest, defaults: SamplingDefaults, max_model_len: int, prompt_len: int
) -> SamplingParams:
    max_tokens = resolved_max_tokens(
        request.max_output_tokens,
        defaults=defaults,
        max_model_len=max_model_len,
        prompt_len=prompt_len,
        truncate=None if request.truncation == "disabled" else -1,
    )
    extra_args = _extra_args(request)
    if extra_args is None and not (request.kv_transfer_params or request.ec_transfer_params):
        # vLLM starts with {} here and only looks for emptiness when it has taken transfer parameters out.
        extra_args = {}
    return _params(
        request,
        defaults,
        structured_outputs=responses_constraint(request),
        max_tokens=max_tokens,
        logprobs=request.top_logprobs if request.wants_logprobs else None,
        stop=_stop_list(request.stop or []),
        bad_words=[],
        extra_args=extra_args,
        skip_reading_prefix_cache=False,
    )


def _params(request: _Request, defaults: SamplingDefaults, **own: Any) -> SamplingParams:
    """The parameters, with those that all kinds of request have under one name added to ``own``."""
    temperature = defaults.temperature if request.temperature is None else request.temperature
    if 0 < temperature < _LEAST_TEMPERATURE:
        temperature = _LEAST_TEMPERATURE
    stop, shows_stop = own["stop"], request.include_stop_str_in_output
    return SamplingParams(
        presence_penalty=_or(request.presence_penalty, defaults.presence_penalty),
        frequency_penalty=_or(request.frequency_penalty, defaults.frequency_penalty),
        repetition_penalty=_or(request.repetition_penalty, defaults.repetition_penalty),
        temperature=temperature,
        watermarking=request.watermarking,
        top_p=_or(request.top_p, defaults.top_p),
        top_k=defaults.top_k if request.top_k is None else request.top_k,
        min_p=_or(request.min_p, defaults.min_p),
        seed=None if request.seed == -1 else request.seed,
        stop_token_ids=list(dict.fromkeys(request.stop_token_ids)) if request.stop_token_ids else [],
        ignore_eos=request.ignore_eos,
        skip_special_tokens=(
            defaults.skip_special_tokens if request.skip_special_tokens is None else request.skip_special_tokens
        ),
        spaces_between_special_tokens=request.spaces_between_special_tokens,
        include_stop_str_in_output=shows_stop,
        output_kind=_DELTA if request.stream else _FINAL_ONLY,
        skip_clone=True,
        # How much text is held back until it is sure not to be the start of a stop string.
        output_text_buffer_length=max(map(len, stop)) - 1 if stop and not shows_stop else 0,
        logit_bias=None if request.logit_bias is None else _clamped_bias(request.logit_bias),
        **own,
    )


def _or(value: float | None, default: float) -> float:
    return default if value is None else value


def _stop_list(stop: str | list[str] | None) -> list[str]:
    if stop is None:
        return []
    return [stop] if isinstance(stop, str) else stop


def _extra_args(request: _Request) -> dict[str, Any] | None:
    """The client's arguments for extensions; None for none."""
    if not request.vllm_xargs:
        return None
    return {k: v for k, v in request.vllm_xargs.items() if k not in _TRANSFER} or None


def _clamped_bias(bias: Mapping[str, float]) -> dict[int, float]:
    wrong = []
    clamped = {}
    for token, value in bias.items():
        try:
            clamped[int(token)] = min(100.0, max(-100.0, value))
        except ValueError:
            wrong.append(token)
    if wrong:
        raise InvalidParameter(
            f"logit_bias contains key(s) that cannot be converted to integer token IDs: {wrong!r}",
            "logit_bias",
            value=wrong,
        )
    return clamped


class _HasTransferParams(Protocol):
    vllm_xargs: Any
    kv_transfer_params: dict[str, Any] | None
    ec_transfer_params: dict[str, Any] | None


def _check(params: SamplingParams, request: _HasTransferParams, limits: Limits) -> None:
    """vLLM's checks, in its order."""
    if params.n < 1:
        raise RequestError(f"n must be at least 1, got {params.n}.")
    if params.n > limits.max_n:
        raise RequestError(
            f"n must be at most {limits.max_n}, got {params.n}. "
            "To increase this limit, set the VLLM_MAX_N_SEQUENCES environment variable."
        )
    if request.vllm_xargs or request.kv_transfer_params or request.ec_transfer_params:
        _check_sizes([request.vllm_xargs, request.kv_transfer_params, request.ec_transfer_params])
    if not -2.0 <= params.presence_penalty <= 2.0:
        raise RequestError(f"presence_penalty must be in [-2, 2], got {params.presence_penalty}.")
    if not -2.0 <= params.frequency_penalty <= 2.0:
        raise RequestError(f"frequency_penalty must be in [-2, 2], got {params.frequency_penalty}.")
    if not math.isfinite(params.repetition_penalty):
        raise RequestError(f"repetition_penalty must be a finite number, got {params.repetition_penalty}.")
    if params.repetition_penalty <= 0.0:
        raise RequestError(f"repetition_penalty must be greater than zero, got {params.repetition_penalty}.")
    if not 0.0 <= params.temperature <= 2.0:
        raise _bad_temperature(params.temperature)
    if not 0.0 < params.top_p <= 1.0:  # type: ignore[operator]
        raise InvalidParameter(f"top_p must be in (0, 1], got {params.top_p}.", "top_p", value=params.top_p)
    if params.top_k < -1:
        raise RequestError(f"top_k must be 0 (disable), or at least 1, got {params.top_k}.")
    if not 0.0 <= params.min_p <= 1.0:  # type: ignore[operator]
        raise RequestError(f"min_p must be in [0, 1], got {params.min_p}.")
    if params.max_tokens < 1:
        raise InvalidParameter(
            f"max_tokens must be at least 1, got {params.max_tokens}.", "max_tokens", value=params.max_tokens
        )
    if params.min_tokens < 0:
        raise RequestError(f"min_tokens must be greater than or equal to 0, got {params.min_tokens}.")
    if params.min_tokens > params.max_tokens:
        raise RequestError(
            f"min_tokens must be less than or equal to max_tokens={params.max_tokens}, got {params.min_tokens}."
        )
    for name in ("logprobs", "prompt_logprobs"):
        count = getattr(params, name)
        if count is not None and count < -1:
            raise InvalidParameter(f"{name} must be non-negative or -1, got {count}.", name, value=count)
    if not all(params.stop):
        raise RequestError("stop cannot contain an empty string.")
    if not all(params.bad_words):
        raise RequestError(f"bad_words cannot contain an empty string. Got bad_words={params.bad_words}")


def _bad_temperature(temperature: float) -> InvalidParameter:
    if not math.isfinite(temperature):
        text = f"temperature must be a finite number, got {temperature}."
    elif temperature < 0.0:
        text = f"temperature must be non-negative, got {temperature}."
    else:
        text = f"temperature must be in [0, 2], got {temperature}."
    return InvalidParameter(text, "temperature", value=temperature)


def _check_sizes(pending: list[Any]) -> None:
    """Refuse integers that the engine's wire format can't carry."""
    while pending:
        value = pending.pop()
        if isinstance(value, int):
            if not -(2**63) <= value < 2**64:
                raise InvalidParameter("extra_args integers must be between -2**63 and 2**64 - 1.", "extra_args")
        elif isinstance(value, dict):
            pending.extend(value.values())
        elif isinstance(value, list):
            pending.extend(value)
