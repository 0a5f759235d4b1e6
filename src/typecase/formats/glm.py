"""GLM-4.5 to GLM-5 and Ling 3: calls of key and value tags; their frame is constrained for every request with tools."""

from __future__ import annotations

from typecase.formats.call_format import CallFormat, StrictLevel
from typecase.formats.reasoning_format import ReasoningFormat, TemplateSigns, ThinkingSwitch
from typecase.formats.think_tags import THINK_END, THINK_START

__all__ = ["CALLS", "REASONING"]

# GLM-5.3 templates have no switch: they always let the model think.
_ALWAYS_THINKS = TemplateSigns(
    has=("[gMASK]<sop>", "Reasoning Effort:", "<tool_call>", "<arg_key>", "<arg_value>"), lacks=("enable_thinking",)
)


def _reasoning(*names: str, always_on: TemplateSigns | None) -> ReasoningFormat:
    return ReasoningFormat(
        names=names,
        start=THINK_START,
        end=THINK_END,
        also_ends=("<tool_call>",),
        turns=("<|system|>", "<|user|>", "<|assistant|>", "<|observation|>"),
        switch=ThinkingSwitch(keys=("thinking", "enable_thinking")),
        always_on=always_on,
        keep_special=True,
    )


CALLS = (
    CallFormat(
        names=("glm45", "glm47"),
        style="native",
        tag="glm_4_7",
        default_level=StrictLevel.FUNCTION,
        keep_special="always",
    ),
    CallFormat(names=("ling3",), style="native", tag="glm_4_7", keep_special="always"),
)
REASONING = (_reasoning("glm45", "glm47", always_on=_ALWAYS_THINKS), _reasoning("ling3", always_on=None))
