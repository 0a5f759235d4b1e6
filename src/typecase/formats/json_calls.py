"""Families of which rendering knows only that they write calls in JSON, or XML, that no structural tag describes."""

from __future__ import annotations

from typecase.formats.call_format import CallFormat
from typecase.formats.reasoning_format import ReasoningFormat

__all__ = ["CALLS", "REASONING"]

CALLS = (
    CallFormat(names=("apertus",), style="json", keep_special="tools"),
    CallFormat(names=("dots",), style="native", keep_special="never"),
    CallFormat(names=("gigachat3",), style="json", keep_special="tools"),
    CallFormat(names=("hunyuan_a13b",), style="json", keep_special="never"),
    CallFormat(names=("internlm",), style="json", keep_special="tools"),
    CallFormat(
        names=("jamba",),
        style="json",
        keep_special="tools",
        needed=("<tool_calls>", "</tool_calls>"),
        lacking="Jamba Tool parser could not locate tool calls start/end tokens in the tokenizer!",
    ),
    CallFormat(names=("minicpm5",), style="json", keep_special="tools"),
    CallFormat(names=("muse", "musespark1x", "muse_glimmer"), style="native", keep_special="always"),
    CallFormat(names=("phi4_mini_json",), style="json", keep_special="never"),
    CallFormat(names=("xlam",), style="json", keep_special="never"),
)
# Hunyuan's answer never begins with its reasoning ended.
REASONING = (ReasoningFormat(names=("hunyuan_a13b",), prompt="open"),)
