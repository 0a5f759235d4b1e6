"""Kimi K2: a section of calls, each headed by ``functions.NAME:NUMBER``."""

from __future__ import annotations

from typecase.formats.call_format import Block, Call, CallFormat, ToolTag
from typecase.formats.reasoning_format import ReasoningFormat, ThinkingSwitch
from typecase.formats.think_tags import THINK_END, THINK_MARKERS, THINK_START

__all__ = ["CALLS", "REASONING"]

_SECTION = "<|tool_calls_section_begin|>"
_CALL = "<|tool_call_begin|>"

CALLS = (
    CallFormat(
        names=("kimi_k2",),
        style="json",
        tag=ToolTag(
            calls=(Call(before=f"{_CALL}functions.", after=":", end="<|tool_call_end|>"),),
            number="<|tool_call_argument_begin|>",
            trigger=_SECTION,
            excludes=(*THINK_MARKERS, _CALL),
            block=Block(open=_SECTION, close=("<|tool_calls_section_end|>",), as_tag=False),
        ),
        keep_special="tools",
        quirks=frozenset({"no_schema"}),
    ),
)
REASONING = (
    ReasoningFormat(
        names=("kimi_k2",),
        start=THINK_START,
        end=THINK_END,
        also_ends=(_SECTION,),
        switch=ThinkingSwitch(keys=("thinking", "enable_thinking")),
        keep_special=True,
    ),
)
