"""Step: Step3's own block; Step-3.5 and later write calls as Qwen3-Coder does, and always reason."""

from __future__ import annotations

from dataclasses import replace

from typecase.formats.call_format import CallFormat
from typecase.formats.qwen3 import QWEN_REASONING, QWEN_TAG
from typecase.formats.reasoning_format import ALWAYS_ON, ReasoningFormat
from typecase.formats.think_tags import THINK_END

__all__ = ["CALLS", "REASONING"]

CALLS = (
    CallFormat(names=("step3",), style="json", keep_special="tools"),
    CallFormat(
        names=("step3p5", "step5"),
        style="json",
        tag=QWEN_TAG,
        keep_special="always",
        scalar_kwarg="enable_thinking",
    ),
)
# Step5's reasoning is that of DeepSeek R1.
REASONING = (
    ReasoningFormat(
        names=("step3",),
        end=THINK_END,
        needed=(THINK_END,),
        lacking="Step3 reasoning parser could not locate think end token in the tokenizer!",
    ),
    replace(QWEN_REASONING, names=("step3p5",), switch=ALWAYS_ON),
)
