"""Granite 3 and 4: calls in JSON; the reasoning of Granite 3 is marked by phrases, which no token shows."""

from __future__ import annotations

from typecase.formats.call_format import CallFormat
from typecase.formats.reasoning_format import ReasoningFormat

__all__ = ["CALLS", "REASONING"]

CALLS = (
    CallFormat(names=("granite",), style="json", keep_special="always"),
    CallFormat(names=("granite-20b-fc",), style="json", keep_special="never"),
    CallFormat(names=("granite4",), style="json", keep_special="tools"),
)
REASONING = (ReasoningFormat(names=("granite",), prompt="unknown"),)
