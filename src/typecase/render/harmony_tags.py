"""Structural tags of harmony: channels, one after the other, the last of which holds the answer or a call.

Harmony's own end tokens can't stand in a grammar, since a constrained engine may not stop at them; the empty text
stands for them.
"""

from __future__ import annotations

from collections.abc import Sequence

from typecase.render.tag_formats import (
    any_text,
    const_string,
    is_json_schema,
    json_schema,
    one_of,
    optional,
    sequence,
    tag,
)
from typecase.render.tagged_tools import Choice, TaggedTool

__all__ = ["HARMONY_SPELLINGS", "harmony_answer", "harmony_tools"]

_END = ("<|end|>", "")
_CHANNELS = ("<|channel|>commentary", "<|channel|>analysis", "<|channel|>final")
_JSON_SIGNS = (" json", " <|constrain|>json")

HARMONY_SPELLINGS = 2 * len(_CHANNELS) * len(_JSON_SIGNS)
"""How often a tool's schema stands in a tag."""


def harmony_tools(tools: Sequence[TaggedTool], choice: Choice, *, hosted: bool) -> str:
    """Analysis and commentary, then a call, or the answer where calls are only allowed.

    ``hosted``: there are tools besides functions, whose calls are known only by their recipients.
    """
    if hosted:
        last = [
            tag("to=", any_text(("<|start|>",)), _END),
            *(tag(f"{channel} to=", any_text(("<|start|>", "<|channel|>")), _END) for channel in _CHANNELS),
        ]
    else:
        last = [call for tool in tools for call in _calls(tool)]
    if choice == "auto":
        last += [tag(_final(sign), any_text(), _END) for sign in (*_JSON_SIGNS, "")]
    return sequence([_optional_message("analysis"), _optional_message("commentary"), one_of(last)])


def harmony_answer(answer: str) -> str:
    """Analysis, then the answer in a format of the client's; its message says so if that is JSON by a schema."""
    if is_json_schema(answer):
        last = one_of(tag(_final(sign), answer, _END) for sign in _JSON_SIGNS)
    else:
        last = tag(_final(""), answer, _END)
    return sequence([_optional_message("analysis"), last])


def _calls(tool: TaggedTool) -> list[str]:
    """The spellings of a call's header: recipient before or after the channel, with either sign of JSON."""
    arguments = json_schema(tool.schema)
    to = f" to=functions.{tool.name}"
    headers = [f"{to}{channel}{sign}<|message|>" for sign in _JSON_SIGNS for channel in _CHANNELS]
    headers += [f"{channel}{to}{sign}<|message|>" for sign in _JSON_SIGNS for channel in _CHANNELS]
    return [tag(header, arguments, _END) for header in headers]


def _final(sign: str) -> str:
    return f"<|channel|>final{sign}<|message|>"


def _optional_message(channel: str) -> str:
    message = tag(f"<|channel|>{channel}<|message|>", any_text(), "<|end|>")
    return optional(sequence([message, const_string("<|start|>assistant")]))
