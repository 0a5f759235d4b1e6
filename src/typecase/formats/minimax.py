"""MiniMax M2 and M3: XML-like invocations. M2's reasoning is always open at the start of an answer."""

from __future__ import annotations

from typecase.formats.call_format import Block, Call, CallFormat, ToolTag
from typecase.formats.reasoning_format import ReasoningFormat
from typecase.formats.think_tags import NO_THINK_MARKERS, THINK_END, THINK_MARKERS, THINK_START

__all__ = ["CALLS", "REASONING"]

_BLOCK = "<minimax:tool_call>"
_M3_MARKERS = ("<mm:think>", "</mm:think>")

CALLS = (
    CallFormat(
        names=("minimax_m2",),
        style="json",
        tag=ToolTag(
            calls=(Call(before='<invoke name="', after='">\n', end="</invoke>\n"),),
            style="minimax_xml",
            trigger=_BLOCK,
            excludes=THINK_MARKERS,
            block=Block(open=f"{_BLOCK}\n", close=("</minimax:tool_call>",), lead="\n", as_tag=False),
            listed=True,
        ),
        keep_special="always",
    ),
    CallFormat(names=("minimax_m3",), style="native", keep_special="never"),
)
REASONING = (
    ReasoningFormat(names=("minimax_m2",), start=THINK_START, end=THINK_END, also_ends=(_BLOCK,), keep_special=True),
    ReasoningFormat(
        names=("minimax_m3",),
        start=_M3_MARKERS[0],
        end=_M3_MARKERS[1],
        needed=_M3_MARKERS,
        lacking=f"MiniMaxM3ReasoningParser reasoning parser {NO_THINK_MARKERS}",
    ),
    # It shows the start marker, but a prompt is judged by the same tokens.
    ReasoningFormat(names=("minimax_m2_append_think",), start=THINK_START, end=THINK_END),
)
