"""Calls written as Python calls: a bare list of them; LFM2 between tokens."""

from __future__ import annotations

from typecase.formats.call_format import CallFormat

__all__ = ["CALLS", "REASONING"]

CALLS = (
    CallFormat(names=("pythonic",), style="json", keep_special="never"),
    CallFormat(names=("olmo3",), style="json", keep_special="never"),
    CallFormat(
        names=("lfm2",),
        style="json",
        keep_special="tools",
        needed=("<|tool_call_start|>", "<|tool_call_end|>"),
        lacking="LFM2 tool parser could not locate <|tool_call_start|>/<|tool_call_end|> tokens in the tokenizer!",
    ),
)
REASONING = ()
