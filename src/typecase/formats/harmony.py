"""Harmony (gpt-oss): channels. Prompts end before the answer's first channel, so nothing is left to end."""

from __future__ import annotations

from typecase.formats.call_format import CallFormat
from typecase.formats.reasoning_format import ReasoningFormat

__all__ = ["CALLS", "REASONING"]

CALLS = (CallFormat(names=("openai",), style="json", tag="harmony", keep_special="never"),)
REASONING = (ReasoningFormat(names=("openai_gptoss",), prompt="ended"),)
