"""The body of ``/v1/completions`` and its render route: every field with vLLM's default, type and bounds."""

from __future__ import annotations

__all__ = ["CompletionRequest", "Prompt", "decode_completion"]

from collections.abc import Mapping
from typing import Annotated, Any, Literal, TypeAlias

import msgspec
from msgspec import Meta

from typecase.api.chat import (
    CacheSalt,
    ExtraArgs,
    Int64,
    RepetitionDetection,
    Stop,
    StreamOptions,
    fits_stop,
    read_stream_options,
    thinking_budget,
)
from typecase.api.completion_checks import check_completion_body, check_prompt_count
from typecase.api.decode import as_object, decode_request
from typecase.api.faults import Loc
from typecase.api.limits import DEFAULT_LIMITS, Limits
from typecase.api.reading import Reading, reader_for
from typecase.api.structured import ResponseFormat, StructuredOutputs, read_response_format
from typecase.api.surrogates import find_surrogate

Prompt: TypeAlias = str | list[str] | list[int] | list[list[int]]
"""One text, several, the ids of one prompt, or those of several."""

_PromptId: TypeAlias = Annotated[int, Meta(ge=0)]
_read_any_prompt = reader_for(list[_PromptId] | list[list[_PromptId]] | str | list[str] | None)
_read_embeds = reader_for(str | list[str] | None)
# What msgspec reads of a list whose first item is of a type; it knows no union of lists.
_LISTS: dict[type, Any] = {str: list[str], int: list[_PromptId], list: list[list[_PromptId]]}


def _read_prompt(value: object, loc: Loc, reading: Reading) -> object:
    if isinstance(value, list) and value:
        kind = _LISTS.get(type(value[0]))
        if kind is not None:
            try:
                return msgspec.convert(value, kind)
            except (msgspec.ValidationError, UnicodeEncodeError):
                pass  # not all of one kind, or lone surrogates
    return _read_any_prompt(value, loc, reading)


def _read_prompt_embeds(value: object, loc: Loc, reading: Reading) -> object:
    """Base64 here, bytes in vLLM, which is why a lone surrogate is refused at once."""
    meant = _read_embeds(value, loc, reading)
    if isinstance(meant, str | list) and find_surrogate(meant) is not None:
        return reading.refuse(loc, "base64", value)
    return meant


class CompletionRequest(msgspec.Struct, kw_only=True):
    """A completion request.

    Bodies are checked when they are decoded; an instance made in Python is taken as it is. The order of the fields is
    vLLM's: it is the order in which faults are reported.
    """

    model: str | None = None
    prompt: Annotated[str | list[Any] | None, Meta(extra={"reader": _read_prompt})] = None
    echo: bool | None = False
    frequency_penalty: float | None = None
    logit_bias: dict[str, float] | None = None
    logprobs: int | None = None
    max_tokens: int | None = 16
    n: int = 1
    presence_penalty: float | None = None
    seed: Int64 | None = None
    stop: Stop = msgspec.field(default_factory=list)
    stream: bool | None = False
    stream_options: Annotated[StreamOptions | None, Meta(extra={"reader": read_stream_options})] = None
    suffix: str | None = None
    temperature: float | None = None
    top_p: float | None = None
    user: str | None = None
    use_beam_search: bool = False
    top_k: int | None = None
    min_p: float | None = None
    repetition_penalty: float | None = None
    watermarking: bool | None = None
    length_penalty: float = 1.0
    stop_token_ids: list[int] | None = msgspec.field(default_factory=list)
    include_stop_str_in_output: bool = False
    ignore_eos: bool = False
    min_tokens: int = 0
    skip_special_tokens: bool | None = None
    spaces_between_special_tokens: bool = True
    truncate_prompt_tokens: Annotated[int, Meta(ge=-1, le=2**63 - 1)] | None = None
    truncation_side: Literal["left", "right"] | None = None
    allowed_token_ids: list[int] | None = None
    prompt_logprobs: int | None = None
    logprob_token_ids: list[int] | None = None
    bad_words: list[str] = msgspec.field(default_factory=list)
    prompt_embeds: Annotated[str | list[str] | None, Meta(extra={"reader": _read_prompt_embeds})] = None
    add_special_tokens: bool = True
    response_format: Annotated[ResponseFormat | None, Meta(extra={"reader": read_response_format})] = None
    structured_outputs: StructuredOutputs | None = None
    priority: Int64 = 0
    # Absent or a string: null is refused.
    request_id: Annotated[str | None, Meta(extra={"reader": reader_for(str)})] = None
    session_id: str | None = None
    return_tokens_as_token_ids: bool | None = None
    return_token_ids: bool | None = None
    return_weight_versions: bool = False
    routed_experts_prompt_start: Annotated[int, Meta(ge=0)] = 0
    return_token_offsets: bool | None = False
    mm_payload: Literal["tensors", "none"] = "tensors"
    return_mm_kwargs: bool | None = None
    cache_salt: CacheSalt = None
    kv_transfer_params: dict[str, Any] | None = None
    ec_transfer_params: dict[str, Any] | None = None
    vllm_xargs: ExtraArgs | None = None
    repetition_detection: RepetitionDetection | None = None
    thinking_token_budget: Annotated[int | None, Meta(extra={"before": thinking_budget})] = None
    stream_interval: Annotated[int, Meta(ge=1)] | None = None
    # No fields of a completion in vLLM, which looks at them all the same, whatever they hold.
    media_io_kwargs: Any = None
    mm_processor_kwargs: Any = None

    @classmethod
    def check_body(cls, body: dict[str, Any]) -> dict[str, Any]:
        """vLLM's checks of the body as a whole, before its fields are read."""
        return check_completion_body(body)

    def is_final(self, limits: Limits) -> bool:
        """Whether an instance that msgspec read needs no second look."""
        return (
            fits_stop(self.stop, limits)
            and (self.thinking_token_budget is None or self.thinking_token_budget >= 0)
            and (self.cache_salt is None or self.cache_salt.isascii())
        )


def decode_completion(
    body: bytes | bytearray | memoryview | Mapping[str, Any], *, limits: Limits = DEFAULT_LIMITS
) -> CompletionRequest:
    """Read a body. Raises as ``decode_request`` does, and ``RequestError`` for more prompts than ``limits`` allow."""
    raw = as_object(body)
    check_prompt_count(raw, limits)
    return decode_request(CompletionRequest, raw, limits=limits)
