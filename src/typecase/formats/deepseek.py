"""DeepSeek R1, V3 and V3.1: JSON arguments between tokens, the name before them. V3's reasoning is off by default."""

from __future__ import annotations

from typecase.formats.call_format import Block, Call, CallFormat, ToolTag
from typecase.formats.reasoning_format import ReasoningFormat, ThinkingSwitch
from typecase.formats.think_tags import NO_THINK_MARKERS, THINK_END, THINK_MARKERS, THINK_START

__all__ = ["CALLS", "REASONING"]

_CALLS_BEGIN, _CALLS_END = "<｜tool▁calls▁begin｜>", "<｜tool▁calls▁end｜>"
_CALL_BEGIN, _CALL_END = "<｜tool▁call▁begin｜>", "<｜tool▁call▁end｜>"
_SEP = "<｜tool▁sep｜>"


def _tag(call: Call, *, separator: str) -> ToolTag:
    return ToolTag(
        calls=(call,),
        trigger=_CALLS_BEGIN,
        excludes=THINK_MARKERS,
        block=Block(open=_CALLS_BEGIN, close=(_CALLS_END,), separator=separator, as_tag=True),
    )


CALLS = (
    CallFormat(
        names=("deepseek_v3",),
        style="json",
        tag=_tag(
            Call(before=f"{_CALL_BEGIN}function{_SEP}", after="\n```json\n", end=f"\n```{_CALL_END}"), separator="\n"
        ),
        keep_special="never",
        needed=(_CALLS_BEGIN, _CALLS_END),
        lacking="DeepSeek-V3 Tool parser could not locate tool call start/end tokens in the tokenizer!",
    ),
    CallFormat(
        names=("deepseek_v31",),
        style="json",
        tag=_tag(Call(before=_CALL_BEGIN, after=_SEP, end=_CALL_END), separator=""),
        keep_special="never",
        needed=(_CALLS_BEGIN, _CALLS_END),
        lacking="DeepSeek-V3.1 Tool parser could not locate tool call start/end tokens in the tokenizer!",
    ),
)
_NO_MARKERS = f"DeepSeekR1ReasoningParser reasoning parser {NO_THINK_MARKERS}"
REASONING = (
    ReasoningFormat(
        names=("deepseek_r1", "step5"), start=THINK_START, end=THINK_END, needed=THINK_MARKERS, lacking=_NO_MARKERS
    ),
    ReasoningFormat(
        names=("deepseek_v3",),
        start=THINK_START,
        end=THINK_END,
        switch=ThinkingSwitch(keys=("thinking", "enable_thinking"), default=False),
        needed_when_on=THINK_MARKERS,
    ),
    # Holo2 is V3 with the other default.
    ReasoningFormat(
        names=("holo2",),
        start=THINK_START,
        end=THINK_END,
        switch=ThinkingSwitch(keys=("thinking", "enable_thinking")),
        needed=THINK_MARKERS,
        lacking=_NO_MARKERS,
        quirks=frozenset({"kwargs_shown"}),
    ),
)
