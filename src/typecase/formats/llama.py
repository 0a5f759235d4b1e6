"""Llama 3 and 4: a bare JSON object per call, after ``<|python_tag|>`` or not; Llama 4 also writes Python calls."""

from __future__ import annotations

from typecase.formats.call_format import Call, CallFormat, ToolTag
from typecase.formats.think_tags import THINK_MARKERS

__all__ = ["CALLS", "LLAMA_TAG", "REASONING"]

LLAMA_TAG = ToolTag(
    calls=(Call(before='{"name": "', after='", "parameters": ', end="}"),),
    trigger='{"name": ',
    excludes=THINK_MARKERS,
)

CALLS = (
    CallFormat(
        names=("llama3_json", "llama4_json"),
        style="json",
        tag=LLAMA_TAG,
        keep_special="never",
        needed=("<|python_tag|>",),
        lacking="Llama3JsonToolParser could not locate the bot token '<|python_tag|>' in the tokenizer.",
    ),
    CallFormat(names=("llama4_pythonic",), style="json", keep_special="never"),
)
REASONING = ()
