"""Conversations that harmony's library can't read, and what it says of them.

The library gets a conversation as JSON text and reads it with Rust's ``serde_json``. That refuses half a surrogate
pair, ``NaN``, numbers beyond the range of a double, and nesting deeper than 127; its message tells where in the text.
vLLM 0.33 passes it on, so the text is made here, too, but only once something is wrong.
"""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from math import isfinite
from typing import Any

from typecase.api.errors import RequestError
from typecase.prompt.writers.harmony_messages import Developer, HarmonyMessage

__all__ = ["check_writable", "conversation_fault"]

_DEEPEST = 127
# A tool's parameters stand this deep in a conversation's JSON.
_PARAMETERS_DEPTH = 9
_SURE_BITS = 1000  # integers of so many bits are in a double's range
_TOKEN = re.compile(r'"(?:[^"\\]|\\.)*"|[\[{]|[\]}]|-?(?:NaN|Infinity)|-?[0-9][0-9.eE+-]*')
_HALF = re.compile(r"\\(?:u([dD][89a-fA-F][0-9a-f]{2})|.)")


def check_writable(message: HarmonyMessage) -> None:
    """Look at all of the parameters of tools, of which a prompt shows a part.

    Raises ``OverflowError`` or ``UnicodeEncodeError``; ``conversation_fault`` says what is wrong.
    """
    for content in message.contents:
        if isinstance(content, Developer):
            for tool in content.tools:
                if tool.parameters is not None:
                    _check(tool.parameters, _DEEPEST - _PARAMETERS_DEPTH)


def _check(value: Any, levels: int) -> None:
    kind = type(value)
    if kind is str:
        if not value.isascii():
            value.encode()
    elif kind is dict:
        if levels == 0:
            raise OverflowError("too deep")
        for key, item in value.items():
            if not key.isascii():
                key.encode()
            _check(item, levels - 1)
    elif kind is list:
        if levels == 0:
            raise OverflowError("too deep")
        for item in value:
            _check(item, levels - 1)
    elif kind is float and not isfinite(value):
        raise OverflowError("no number")
    elif kind is int and value.bit_length() > _SURE_BITS:
        float(value)


def conversation_fault(messages: Sequence[HarmonyMessage], cause: Exception) -> RequestError:
    """What is wrong with a conversation, in the library's words. ``cause``: what told that something is."""
    try:
        text = json.dumps({"messages": [message.as_json() for message in messages]})
    except RecursionError:
        return RequestError("invalid conversation JSON: recursion limit exceeded")
    depth = 0
    for token in _TOKEN.finditer(text):
        fault = None
        match token[0][0]:
            case "[" | "{":
                depth += 1
                fault = ("recursion limit exceeded", token.end()) if depth > _DEEPEST else None
            case "]" | "}":
                depth -= 1
            case '"':
                fault = _surrogate_fault(token[0], token.start())
            case "N" | "I":
                fault = "expected value", token.start() + 1
            case _:
                fault = _number_fault(token)
        if fault is not None:
            return RequestError(f"invalid conversation JSON: {fault[0]} at line 1 column {fault[1]}")
    return cause if isinstance(cause, RequestError) else RequestError("the conversation can't be written as JSON")


def _number_fault(token: re.Match[str]) -> tuple[str, int] | None:
    if "I" in token[0] or "N" in token[0]:
        return "invalid number", token.start() + 2
    return None if isfinite(float(token[0])) else ("number out of range", token.end())


def _surrogate_fault(string: str, start: int) -> tuple[str, int] | None:
    """The first escape of half a pair in a JSON string that begins at ``start``."""
    at = 0
    while (escape := _HALF.search(string, at)) is not None:
        at = escape.end()
        if escape[1] is None:
            continue
        if escape[1][1] not in "89abAB":
            return "lone leading surrogate in hex escape", start + at
        if string[at] != "\\":
            return "unexpected end of hex escape", start + at + 1
        if string[at + 1] != "u":
            return "unexpected end of hex escape", start + at + 2
        if string[at + 2] not in "dD" or string[at + 3] not in "cdefCDEF":
            return "lone leading surrogate in hex escape", start + at + 6
        at += 6
    return None
