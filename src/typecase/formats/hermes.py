"""Hermes: a JSON object per call in ``<tool_call>``; Qwen2.5 and Qwen3 write it, too. LongCat has another marker."""

from __future__ import annotations

from typecase.formats.call_format import Call, CallFormat, ToolTag

__all__ = ["CALLS", "REASONING"]


def _tag(name: str) -> ToolTag:
    start, end = f"<{name}>", f"</{name}>"
    arguments = '", "arguments": '
    return ToolTag(
        calls=(
            Call(before=f'{start}\n{{"name": "', after=arguments, end=f"}}\n{end}"),
            Call(before=f'{start}{{"name": "', after=arguments, end=f"}}{end}"),
        ),
        trigger=start,
        listed=True,
    )


CALLS = (
    CallFormat(names=("hermes", "qwen3_json"), style="json", tag=_tag("tool_call"), keep_special="tools"),
    CallFormat(names=("longcat",), style="json", tag=_tag("longcat_tool_call"), keep_special="tools"),
)
REASONING = ()
