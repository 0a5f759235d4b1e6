"""Mistral: ``[TOOL_CALLS]`` before calls; ``[THINK]`` around reasoning in vocabularies that have it."""

from __future__ import annotations

from typecase.formats.call_format import CallFormat
from typecase.formats.reasoning_format import ReasoningFormat

__all__ = ["CALLS", "REASONING"]

_NO_CALL_TOKEN = "Mistral parser could not locate the tool call token in the tokenizer!"

CALLS = (
    CallFormat(
        names=("mistral",),
        style="native",
        keep_special="always",
        needed=("[TOOL_CALLS]",),
        lacking=_NO_CALL_TOKEN,
        quirks=frozenset({"json_array"}),
    ),
)
REASONING = (
    ReasoningFormat(
        names=("mistral",),
        start="[THINK]",
        end="[/THINK]",
        also_ends=("[TOOL_CALLS]",),
        without_markers="ended",
        needed=("[TOOL_CALLS]",),
        lacking=_NO_CALL_TOKEN,
        keep_special=True,
        quirks=frozenset({"json_array"}),
    ),
)
