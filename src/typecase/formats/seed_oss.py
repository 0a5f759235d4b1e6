"""Seed-OSS: Qwen3-Coder's calls and Qwen3's reasoning, in markers of its own."""

from __future__ import annotations

from dataclasses import replace

from typecase.formats.call_format import CallFormat
from typecase.formats.qwen3 import QWEN_REASONING

__all__ = ["CALLS", "REASONING"]

CALLS = (CallFormat(names=("seed_oss",), style="json", keep_special="always", scalar_kwarg="enable_thinking"),)
REASONING = (
    replace(
        QWEN_REASONING,
        names=("seed_oss",),
        start="<seed:think>",
        end="</seed:think>",
        also_ends=("<seed:tool_call>",),
        turns=("<seed:bos>", "<seed:eos>"),
    ),
)
