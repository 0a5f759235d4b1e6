"""The bounds that an operator can move (vLLM's ``VLLM_MAX_*`` variables), with vLLM's defaults."""

from __future__ import annotations

__all__ = ["DEFAULT_LIMITS", "Limits"]

from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class Limits:
    """How much one request may ask for.

    Args:
        max_n: ``VLLM_MAX_N_SEQUENCES``: the largest ``n``.
        max_stop_strings: ``VLLM_MAX_STOP_STRINGS``: the longest ``stop`` list.
        max_completion_prompts: ``VLLM_MAX_COMPLETION_PROMPTS``: the longest ``prompt`` list.
    """

    max_n: int = 16384
    max_stop_strings: int = 4
    max_completion_prompts: int = 1024


DEFAULT_LIMITS = Limits()
