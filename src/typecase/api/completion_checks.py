"""vLLM's own checks of a completion body, on the body as it came and in vLLM's order, before any field is read.

The texts are vLLM's to the letter. Where it would crash, the words are ours.
"""

from __future__ import annotations

__all__ = ["check_completion_body", "check_prompt_count"]

from typing import Any, TypeAlias

from typecase.api.chat_checks import (
    check_cache_salt,
    check_logprob_counts,
    check_response_format,
    check_stream_options,
    constraint_of,
    kinds_of,
    without_mm_kwargs_alias,
)
from typecase.api.errors import InvalidParameter
from typecase.api.limits import Limits
from typecase.api.structural_tags import check_structural_tag

Body: TypeAlias = dict[str, Any]

_USUAL_MAX_TOKENS = 16


def check_prompt_count(body: Body, limits: Limits) -> None:
    """Refuse more prompts than the operator allows. A list that begins with an id is one prompt of any length."""
    most = limits.max_completion_prompts
    prompt = body.get("prompt")
    if isinstance(prompt, list) and len(prompt) > most and not isinstance(prompt[0], int):
        raise _too_many("prompt", len(prompt), most)
    embeds = body.get("prompt_embeds")
    if isinstance(embeds, list) and len(embeds) > most:
        raise _too_many("prompt_embeds", len(embeds), most)


def check_completion_body(body: Body) -> Body:
    """The body, checked and prepared for reading; ``body`` itself may be changed, what it holds is not."""
    _check_prompt(body)
    check_stream_options(body)
    _check_logprobs(body)
    _check_structured_outputs(body)
    check_response_format(body)
    if body.get("max_tokens") is None:
        body["max_tokens"] = _USUAL_MAX_TOKENS
    check_cache_salt(body)
    return without_mm_kwargs_alias(body)


def _too_many(name: str, count: int, most: int) -> InvalidParameter:
    return InvalidParameter(
        f"{name} list length {count} exceeds the maximum allowed count of {most}. "
        "To increase this limit, set the VLLM_MAX_COMPLETION_PROMPTS environment variable.",
        name,
    )


def _check_prompt(body: Body) -> None:
    prompt, embeds = body.get("prompt"), body.get("prompt_embeds")
    if (prompt is None or prompt == "") and (embeds is None or embeds == []):
        raise InvalidParameter("Either prompt or prompt_embeds must be provided and non-empty.", "prompt")


def _check_logprobs(body: Body) -> None:
    wants_ids, echo = body.get("logprob_token_ids"), body.get("echo")
    if wants_ids and body.get("use_beam_search"):
        raise InvalidParameter("`logprob_token_ids` is not supported with beam search.", "logprob_token_ids")
    if body.get("use_beam_search") and echo and body.get("logprobs") is not None:
        raise InvalidParameter(
            "`echo` with `logprobs` is not supported with beam search because beam search does not compute prompt "
            "logprobs.",
            "echo",
        )
    if wants_ids and echo and body.get("max_tokens") == 0:
        raise InvalidParameter(
            "`logprob_token_ids` is not supported when `echo=True` and `max_tokens=0` because no output tokens are "
            "generated.",
            "logprob_token_ids",
        )
    if wants_ids and body.get("logprobs") is None:
        raise InvalidParameter("when using `logprob_token_ids`, `logprobs` must be set.", "logprob_token_ids")
    check_logprob_counts(body, "logprobs")


def _check_structured_outputs(body: Body) -> None:
    constraint = constraint_of(body)
    if constraint is None:
        return
    if kinds_of(constraint) > 1:
        raise InvalidParameter(
            "You can only use one kind of constraints for structured outputs ('json', 'regex' or 'choice').",
            "structured_outputs",
        )
    tag = constraint.get("structural_tag")
    if tag is not None:
        check_structural_tag(tag, "structured_outputs")
