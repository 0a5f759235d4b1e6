"""Qwen3: ``<think>`` reasoning that a call ends as well; calls with XML parameters (Qwen3-Coder and later)."""

from __future__ import annotations

from typecase.formats.call_format import Call, CallFormat, ToolTag
from typecase.formats.reasoning_format import ReasoningFormat, ThinkingSwitch
from typecase.formats.think_tags import THINK_END, THINK_MARKERS, THINK_START

__all__ = ["CALLS", "CHATML_TURNS", "QWEN_REASONING", "QWEN_SWITCH", "QWEN_TAG", "REASONING"]

CHATML_TURNS = ("<|im_start|>", "<|im_end|>")
QWEN_SWITCH = ThinkingSwitch(keys=("enable_thinking",), null_is_off=True)
QWEN_TAG = ToolTag(
    calls=(Call(before="<tool_call>\n<function=", after=">\n", end="\n</function>\n</tool_call>"),),
    style="qwen_xml",
    trigger="<tool_call>\n<function=",
    excludes=THINK_MARKERS,
)

CALLS = (
    CallFormat(
        names=("qwen3_coder", "qwen3_xml"),
        style="json",
        tag=QWEN_TAG,
        keep_special="always",
        scalar_kwarg="enable_thinking",
    ),
)
QWEN_REASONING = ReasoningFormat(
    names=("qwen3",),
    start=THINK_START,
    end=THINK_END,
    also_ends=("<tool_call>",),
    turns=CHATML_TURNS,
    switch=QWEN_SWITCH,
    keep_special=True,
    scalar_kwarg="enable_thinking",
)
REASONING = (QWEN_REASONING,)
