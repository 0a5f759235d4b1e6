"""PLaMo 3: every marker is several tokens; JSON arguments after the name."""

from __future__ import annotations

from typecase.formats.call_format import Block, Call, CallFormat, ToolTag

__all__ = ["CALLS", "REASONING"]


def _marker(name: str) -> str:
    return f"<|plamo:{name}:plamo|>"


_REQUESTS_END = _marker("end_tool_requests")

# Its reasoning isn't here: where a prompt ended it is told by runs of tokens.
CALLS = (
    CallFormat(
        names=("plamo3",),
        style="native",
        tag=ToolTag(
            calls=(
                Call(
                    before=_marker("begin_tool_request") + _marker("begin_tool_name"),
                    after=_marker("end_tool_name")
                    + _marker("begin_tool_arguments")
                    + "<|plamo:constrain|>json<|plamo:msg|>",
                    end=_marker("end_tool_arguments") + _marker("end_tool_request"),
                ),
            ),
            trigger=_marker("begin_tool_requests"),
            block=Block(
                open=_marker("begin_tool_requests"),
                close=(_REQUESTS_END, f"{_REQUESTS_END}<|plamo:tag|>"),
                as_tag=True,
            ),
            listed=True,
        ),
        keep_special="always",
        scalar_kwarg="enable_thinking",
    ),
)
REASONING = ()
