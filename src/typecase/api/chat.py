"""The body of ``/v1/chat/completions`` and its render route: every field with vLLM's default, type and bounds."""

from __future__ import annotations

__all__ = ["ChatRequest", "ReasoningEffort", "RepetitionDetection", "StreamOptions"]

from typing import Annotated, Any, Literal, TypeAlias

import msgspec
from msgspec import Meta

from typecase.api.chat_checks import check_chat_body
from typecase.api.chat_messages import Message, read_chat_messages
from typecase.api.errors import InvalidParameter, RequestError
from typecase.api.faults import quoted
from typecase.api.limits import Limits
from typecase.api.reading import OpenRecord, reader_for
from typecase.api.structured import ResponseFormat, StructuredOutputs, read_response_format
from typecase.api.tools import ToolChoice, fast_tools, read_tool_choice, read_tools

Int64: TypeAlias = Annotated[int, Meta(ge=-(2**63), le=2**63 - 1)]
ReasoningEffort: TypeAlias = Literal["none", "minimal", "low", "medium", "high", "xhigh", "max"]
StreamOptions: TypeAlias = dict[str, Any]
ExtraArgs: TypeAlias = dict[str, str | int | float | list[str | int | float]]
Stop: TypeAlias = str | Annotated[list[str], Meta(extra={"longest": "max_stop_strings"})] | None
CacheSalt: TypeAlias = Annotated[str, Meta(min_length=1, max_length=1024)] | None


class _StreamOptions(OpenRecord):
    include_usage: bool | None = False
    continuous_usage_stats: bool | None = False


read_stream_options = reader_for(_StreamOptions | None)


class RepetitionDetection(msgspec.Struct, kw_only=True):
    """When to stop an output that repeats itself."""

    max_pattern_size: int = 0
    min_pattern_size: int = 0
    min_count: int = 0

    def __post_init__(self) -> None:
        if not 0 <= self.min_pattern_size <= self.max_pattern_size:
            raise RequestError(
                "max_pattern_size, min_pattern_size must be >=0, with min_pattern_size <= max_pattern_size. "
                "Set both to 0 to disable repetitive pattern detection."
            )
        if self.max_pattern_size > 0 and self.min_count < 2:
            raise RequestError(
                "min_count must be >= 2 to detect repetitive patterns in engine output. If you do not wish to detect "
                "repetitive patterns, set max_pattern_size to 0."
            )


def thinking_budget(value: Any) -> Any:
    """A thinking budget, -1 being none. No coercion here, unlike everywhere else."""
    if value is None or (value == -1 and type(value) is int):
        return None
    if type(value) is not int or value < 0:
        raise InvalidParameter(
            "`thinking_token_budget` must be a non-negative integer or -1 for unlimited.",
            "thinking_token_budget",
            value=quoted(value),
        )
    return value


def _zero_for_null(value: Any) -> Any:
    return 0 if value is None else value


TopLogprobs: TypeAlias = Annotated[int, Meta(extra={"before": _zero_for_null})]


class ChatRequest(msgspec.Struct, kw_only=True):
    """A chat completion request.

    Messages, tools and the objects typed as dicts are checked when a body is decoded (``typecase.api.decode``) and then
    hold plain JSON values; an instance made in Python is taken as it is. The order of the fields is vLLM's: it is
    the order in which faults are reported.
    """

    messages: Annotated[list[Message], Meta(extra={"reader": read_chat_messages})]
    model: str | None = None
    frequency_penalty: float | None = None
    logit_bias: dict[str, float] | None = None
    logprobs: bool | None = False
    top_logprobs: TopLogprobs = 0
    max_tokens: int | None = None
    max_completion_tokens: int | None = None
    n: int | None = 1
    presence_penalty: float | None = None
    response_format: Annotated[ResponseFormat | None, Meta(extra={"reader": read_response_format})] = None
    seed: Int64 | None = None
    stop: Stop = msgspec.field(default_factory=list)
    stream: bool | None = False
    stream_options: Annotated[StreamOptions | None, Meta(extra={"reader": read_stream_options})] = None
    temperature: float | None = None
    top_p: float | None = None
    tools: Annotated[list[dict[str, Any]] | None, Meta(extra={"reader": read_tools, "fast": fast_tools})] = None
    tool_choice: Annotated[ToolChoice, Meta(extra={"reader": read_tool_choice})] = "none"
    reasoning_effort: ReasoningEffort | None = None
    thinking_token_budget: Annotated[int | None, Meta(extra={"before": thinking_budget})] = None
    include_reasoning: bool = True
    parallel_tool_calls: bool | None = True
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
    prompt_logprobs: int | None = None
    logprob_token_ids: list[int] | None = None
    allowed_token_ids: list[int] | None = None
    bad_words: list[str] = msgspec.field(default_factory=list)
    echo: bool = False
    add_generation_prompt: bool = True
    continue_final_message: bool = False
    add_special_tokens: bool = False
    documents: list[dict[str, str]] | None = None
    chat_template: str | None = None
    chat_template_kwargs: dict[str, Any] | None = None
    media_io_kwargs: dict[str, dict[str, Any]] | None = None
    mm_processor_kwargs: dict[str, Any] | None = None
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
    return_prompt_text: bool | None = None
    mm_payload: Literal["tensors", "none"] = "tensors"
    return_mm_kwargs: bool | None = None
    cache_salt: CacheSalt = None
    kv_transfer_params: dict[str, Any] | None = None
    ec_transfer_params: dict[str, Any] | None = None
    vllm_xargs: ExtraArgs | None = None
    repetition_detection: RepetitionDetection | None = None
    stream_interval: Annotated[int, Meta(ge=1)] | None = None

    @classmethod
    def check_body(cls, body: dict[str, Any]) -> dict[str, Any]:
        """vLLM's checks of the body as a whole, before its fields are read."""
        return check_chat_body(body)

    def is_final(self, limits: Limits) -> bool:
        """Whether an instance that msgspec read needs no second look: what types and bounds can't say holds, too."""
        return (
            fits_stop(self.stop, limits)
            and (self.thinking_token_budget is None or self.thinking_token_budget >= 0)
            and (self.cache_salt is None or self.cache_salt.isascii())
        )


def fits_stop(stop: str | list[str] | None, limits: Limits) -> bool:
    """Whether there are few enough stop strings."""
    return type(stop) is not list or len(stop) <= limits.max_stop_strings
