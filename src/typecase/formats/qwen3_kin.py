"""Families that write reasoning as Qwen3 does, under names of their own; MiMo's calls have no line breaks."""

from __future__ import annotations

from dataclasses import replace

from typecase.formats.call_format import Call, CallFormat, ToolTag
from typecase.formats.qwen3 import QWEN_REASONING
from typecase.formats.think_tags import THINK_MARKERS

__all__ = ["CALLS", "MIMO_TAG", "REASONING"]

MIMO_TAG = ToolTag(
    calls=(Call(before="<tool_call><function=", after=">", end="</function></tool_call>"),),
    style="qwen_xml",
    trigger="<tool_call>",
    excludes=(*THINK_MARKERS, "</tool_call>", "<function="),
)

CALLS = (
    CallFormat(names=("mimo",), style="json", tag=MIMO_TAG, keep_special="always", scalar_kwarg="enable_thinking"),
)
REASONING = (
    replace(QWEN_REASONING, names=("mimo",)),
    replace(QWEN_REASONING, names=("nemotron_v3",)),
    replace(QWEN_REASONING, names=("granite_thinking_parser",)),
    replace(QWEN_REASONING, names=("minicpmv",), turns=(), reopens_when_off=True),
)
