"""``GenerateRequest``: what rendering gives and an engine takes, written as vLLM's render routes write it.

``sampling_params`` leaves out what is at its default, but not everything: see ``SamplingParams``. Every key of the
``GenerateRequest`` itself is always there.
"""

from __future__ import annotations

__all__ = [
    "GenerateRequest",
    "ParseContext",
    "ReasoningParserKwargs",
    "SamplingParams",
    "encode_generate_request",
    "encode_generate_requests",
]

from array import array
from collections.abc import Iterable
from typing import Any, Literal

import msgspec
from msgspec import UNSET, UnsetType

from typecase.api.chat import RepetitionDetection, StreamOptions
from typecase.api.errors import RequestError
from typecase.api.ids import TokenIds, ids_to_list
from typecase.api.structured import StructuredOutputs
from typecase.api.surrogates import below, find_surrogate
from typecase.api.tools import ToolChoice


class SamplingParams(msgspec.Struct, kw_only=True, omit_defaults=True):
    """How to sample, resolved.

    A field without a default is always written, one with a default only when it has another value: this is what vLLM's
    serialisation comes down to. ``top_p`` and ``min_p`` are written unless sampling is greedy, when they are ``UNSET``
    (and mean 1 and 0). ``max_tokens`` is always written; vLLM leaves out 16, which its own engine then takes for "as
    much as fits".
    """

    n: int = 1
    presence_penalty: float
    frequency_penalty: float
    repetition_penalty: float
    temperature: float
    watermarking: bool | None = None
    top_p: float | UnsetType = UNSET
    top_k: int = 0
    min_p: float | UnsetType = UNSET
    seed: int | None = None
    stop: list[str]
    stop_token_ids: list[int]
    ignore_eos: bool = False
    max_tokens: int
    min_tokens: int = 0
    logprobs: int | None = None
    prompt_logprobs: int | None = None
    logprob_token_ids: list[int] | None = None
    skip_special_tokens: bool = True
    spaces_between_special_tokens: bool = True
    include_stop_str_in_output: bool = False
    output_kind: Literal[0, 1, 2]
    stream_interval: int | None = None
    skip_clone: Literal[True]
    output_text_buffer_length: int = 0
    structured_outputs: StructuredOutputs | None = None
    logit_bias: dict[int, float] | None = None
    allowed_token_ids: list[int] | None = None
    extra_args: dict[str, Any] | None = None
    bad_words: list[str]
    skip_reading_prefix_cache: bool
    thinking_token_budget: int | None = None
    repetition_detection: RepetitionDetection | None = None
    routed_experts_prompt_start: int = 0


class ParseContext(msgspec.Struct, kw_only=True):
    """What is needed of the chat request to make a message of the output."""

    tools: list[dict[str, Any]] | None
    tool_choice: ToolChoice
    parallel_tool_calls: bool | None
    include_reasoning: bool
    chat_template_kwargs: dict[str, Any]
    history_tool_call_cnt: int


class ReasoningParserKwargs(msgspec.Struct, kw_only=True):
    """What an engine's own reasoning parser is built with."""

    chat_template_kwargs: dict[str, Any]


class GenerateRequest(msgspec.Struct, kw_only=True):
    """A rendered request. ``token_offsets`` count code points of the prompt's text."""

    request_id: str
    token_ids: TokenIds
    token_offsets: list[tuple[int, int]] | None = None
    features: Any = None
    content_parts: None = None
    sampling_params: SamplingParams
    model: str | None = None
    reasoning_ended: bool | None = None
    reasoning_parser_kwargs: ReasoningParserKwargs | None = None
    return_token_ids: bool | None = None
    output_mode: Literal["tokens"] = "tokens"
    parse_context: ParseContext | None = None
    stream: bool = False
    stream_options: StreamOptions | None = None
    cache_salt: str | None = None
    priority: int = 0
    kv_transfer_params: dict[str, Any] | None = None
    ec_transfer_params: dict[str, Any] | None = None


def _flat(ids: object) -> list[int]:
    """How the encoder writes what it doesn't know: ids, and nothing else."""
    if not isinstance(ids, array):
        raise NotImplementedError(f"{type(ids).__name__} can't be written as JSON")
    return ids_to_list(ids)


_encoder = msgspec.json.Encoder(enc_hook=_flat)
# Several prompts' answers repeat the request's fields. A thousand prompts of 40,000 ids take half of this.
_LONGEST_ANSWER = 512 << 20


def encode_generate_request(request: GenerateRequest) -> bytes:
    """Compact JSON in UTF-8. Raises ``RequestError`` if some value of the client's can't be written."""
    try:
        return _encoder.encode(request)
    except UnicodeEncodeError:
        path = find_surrogate(msgspec.to_builtins(request, enc_hook=_flat), step=_in_the_clients_words)
        raise RequestError(
            f"{path} holds a lone surrogate, half of a character: it can't be written. Send the text as valid Unicode",
            param=path,
        ) from None
    except RecursionError:
        raise RequestError("The request is nested too deeply to be written as JSON") from None


def encode_generate_requests(requests: Iterable[GenerateRequest]) -> bytes:
    """Several, as a JSON array. Raises ``RequestError``, too, if that gets too long: what is large stands in each."""
    written: list[bytes] = []
    length = 0
    for request in requests:
        written.append(encode_generate_request(request))
        length += len(written[-1])
        if length > _LONGEST_ANSWER:
            raise RequestError(
                f"prompt: the answer would take more than {_LONGEST_ANSWER >> 20} MB; send fewer prompts at a time",
                param="prompt",
            )
    return b"[" + b",".join(written) + b"]"


# What these hold came from fields of the request under other names or none.
_NOT_THE_CLIENTS = frozenset({"sampling_params", "parse_context", "reasoning_parser_kwargs"})


def _in_the_clients_words(path: str, key: object) -> str:
    if path == "body" and key in _NOT_THE_CLIENTS:
        return path
    return below(path, "vllm_xargs" if key == "extra_args" else key)
