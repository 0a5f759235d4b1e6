"""DeepSeek V3.2 and V4: DSML, XML-like calls with typed parameters in a block."""

from __future__ import annotations

from typecase.formats.call_format import ArgumentStyle, Block, Call, CallFormat, ToolTag
from typecase.formats.reasoning_format import ReasoningFormat, ThinkingSwitch
from typecase.formats.think_tags import THINK_END, THINK_MARKERS, THINK_START

__all__ = ["CALLS", "REASONING"]

_DSML = "｜DSML｜"


def _tag(calls: str, invoke: str, *, style: ArgumentStyle = "deepseek_xml") -> ToolTag:
    return ToolTag(
        calls=(Call(before=f'<{_DSML}{invoke} name="', after='">\n', end=f"</{_DSML}{invoke}>\n"),),
        style=style,
        trigger=f"<{_DSML}{calls}>",
        excludes=THINK_MARKERS,
        block=Block(open=f"<{_DSML}{calls}>\n", close=(f"</{_DSML}{calls}>",), lead="\n\n", as_tag=False),
    )


def _reasoning(name: str, block: str) -> ReasoningFormat:
    return ReasoningFormat(
        names=(name,),
        start=THINK_START,
        end=THINK_END,
        also_ends=(f"<{_DSML}{block}>",),
        switch=ThinkingSwitch(keys=("thinking", "enable_thinking"), null_is_off=True, off_effort="none"),
        reopens_when_off=True,
        keep_special=True,
    )


CALLS = (
    CallFormat(names=("deepseek_v32",), style="json", tag=_tag("function_calls", "invoke"), keep_special="always"),
    CallFormat(names=("deepseek_v4",), style="json", tag=_tag("tool_calls", "invoke"), keep_special="always"),
    CallFormat(
        names=("deepseek_v41",),
        style="json",
        tag=_tag(" calls", " invoke", style="deepseek_v4_1_xml"),
        keep_special="always",
    ),
)
REASONING = (_reasoning("deepseek_v4", "tool_calls"), _reasoning("deepseek_v41", " calls"))
