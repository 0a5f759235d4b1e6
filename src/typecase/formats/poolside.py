"""Laguna (Poolside): GLM's key and value tags; reasoning off by default, judged by the last assistant turn."""

from __future__ import annotations

from typecase.formats.call_format import CallFormat
from typecase.formats.reasoning_format import ReasoningFormat, ThinkingSwitch
from typecase.formats.think_tags import THINK_END, THINK_MARKERS, THINK_START

__all__ = ["CALLS", "REASONING"]

_ASSISTANT = "<assistant>"

CALLS = (CallFormat(names=("poolside_v1",), style="native", keep_special="tools"),)
REASONING = (
    ReasoningFormat(
        names=("poolside_v1",),
        start=THINK_START,
        end=THINK_END,
        turns=(_ASSISTANT,),
        switch=ThinkingSwitch(keys=("thinking", "enable_thinking"), default=False),
        needed=(_ASSISTANT,),
        needed_when_on=THINK_MARKERS,
        lacking=f"Tokenizer must contain {_ASSISTANT!r} token",
    ),
)
