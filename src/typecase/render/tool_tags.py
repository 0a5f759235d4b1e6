"""The structural tag that constrains a request's tool calls, for the formats that have one.

It is read off the format's record; two families need a builder of their own, which their record names.
"""

from __future__ import annotations

from collections.abc import Sequence

from typecase.formats.call_format import Call, ToolTag
from typecase.render.glm_tags import glm_format
from typecase.render.tag_formats import (
    const_string,
    json_schema,
    regex,
    sequence,
    tag,
    tags_with_separator,
    triggered_tags,
)
from typecase.render.tagged_tools import Choice, TaggedTool

__all__ = ["tools_format"]


def tools_format(record: ToolTag | str, tools: Sequence[TaggedTool], choice: Choice, *, single: bool) -> str:
    """What the calls of an answer may look like, as an xgrammar format.

    Args:
        record: the call format's ``tag``; ``glm_4_7`` is the only name here (harmony's tags are in ``harmony_tags``).
        tools: at least one; exactly one when ``choice`` is ``forced``.
        single: no more than one call (``parallel_tool_calls: false``).
    """
    if isinstance(record, str):
        return glm_format(tools, choice, single=single)
    calls = [_call(record, spelling, tool) for tool in tools for spelling in record.calls]
    if choice == "auto":
        return _allowed(record, calls, single=single)
    if choice == "forced" and not record.listed:
        return _one_call(record, tools[0], calls[0])
    stops = single or choice == "forced"
    block = record.block
    if block is None:
        if record.listed:
            return tags_with_separator(calls, stop_after_first=stops)
        return triggered_tags(
            [record.trigger], calls, excludes=record.excludes, at_least_one=True, stop_after_first=stops
        )
    return _in_block(record, tags_with_separator(calls, block.separator, stop_after_first=stops))


def _call(record: ToolTag, spelling: Call, tool: TaggedTool) -> str:
    arguments = json_schema(tool.schema, record.style)
    if record.number:
        arguments = sequence([regex(r"\d+"), const_string(record.number), arguments])
    return tag(f"{spelling.before}{tool.name}{spelling.after}", arguments, spelling.end)


def _allowed(record: ToolTag, calls: Sequence[str], *, single: bool) -> str:
    """Text, and calls where it comes to the trigger."""
    block = record.block
    if block is not None:
        inner = tags_with_separator(calls, block.separator, stop_after_first=single)
        calls = [tag(block.open, inner, _close(block.close))]
    return triggered_tags([record.trigger], calls, excludes=record.excludes, stop_after_first=single)


def _one_call(record: ToolTag, tool: TaggedTool, call: str) -> str:
    """The one call and nothing else."""
    block = record.block
    if block is None:
        return call
    if not block.as_tag:
        return _in_block(record, call)
    spelling = record.calls[0]
    return tag(
        f"{block.open}{spelling.before}{tool.name}{spelling.after}",
        json_schema(tool.schema, record.style),
        f"{spelling.end}{block.close[0]}",
    )


def _in_block(record: ToolTag, inner: str) -> str:
    block = record.block
    assert block is not None
    if block.as_tag:
        return tag(block.open, inner, _close(block.close))
    return sequence([const_string(block.lead + block.open), inner, const_string(block.close[0])])


def _close(spellings: tuple[str, ...]) -> str | tuple[str, ...]:
    return spellings[0] if len(spellings) == 1 else spellings
