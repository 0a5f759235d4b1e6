"""ERNIE 4.5: a JSON object per call, reasoning that the prompt opens."""

from __future__ import annotations

from typecase.formats.call_format import CallFormat
from typecase.formats.reasoning_format import ReasoningFormat
from typecase.formats.think_tags import NO_THINK_MARKERS, THINK_END, THINK_MARKERS, THINK_START

__all__ = ["CALLS", "REASONING"]

CALLS = (CallFormat(names=("ernie45",), style="json", keep_special="never"),)
REASONING = (
    ReasoningFormat(
        names=("ernie45",),
        start=THINK_START,
        end=THINK_END,
        needed=THINK_MARKERS,
        lacking=f"Ernie45ReasoningParser reasoning parser {NO_THINK_MARKERS}",
    ),
)
