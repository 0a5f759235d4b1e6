"""Gemma 4 and FunctionGemma: calls of braces with quoting tokens; Gemma 4 thinks in a channel, if told to."""

from __future__ import annotations

from typecase.formats.call_format import CallFormat
from typecase.formats.reasoning_format import ReasoningFormat, ThinkingSwitch

__all__ = ["CALLS", "REASONING"]

CALLS = (
    CallFormat(names=("gemma4",), style="native", keep_special="always", scalar_kwarg="enable_thinking"),
    CallFormat(names=("functiongemma",), style="json", keep_special="tools"),
)
REASONING = (
    ReasoningFormat(
        names=("gemma4",),
        start="<|channel>",
        end="<channel|>",
        also_ends=("<|tool_call>",),
        turns=("<|turn>", "<|tool_response>"),
        switch=ThinkingSwitch(keys=("enable_thinking",), default=False, null_is_off=True),
        reopens_when_off=True,
        keep_special=True,
        scalar_kwarg="enable_thinking",
    ),
)
