"""What the prompts of DeepSeek's models since V3.2 have in common: markers, and DSML, the form of tools and calls.

A call is written as tagged parameters, not as JSON::

    <｜DSML｜tool_calls>
    <｜DSML｜invoke name="get_weather">
    <｜DSML｜parameter name="city" string="true">Oslo</｜DSML｜parameter>
    <｜DSML｜parameter name="days" string="false">3</｜DSML｜parameter>
    </｜DSML｜invoke>
    </｜DSML｜tool_calls>

A string stands as it is, any other value as JSON. The versions differ in the names of the tags (``Dsml``) and in the
words around them.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from typecase.api.errors import RequestError

__all__ = [
    "ASSISTANT",
    "BOS",
    "EOS",
    "THINK",
    "THINK_END",
    "USER",
    "Dsml",
    "check_kwargs",
    "function_schemas",
    "has_tools",
    "json_text",
]

BOS = "<｜begin▁of▁sentence｜>"
EOS = "<｜end▁of▁sentence｜>"
USER = "<｜User｜>"
ASSISTANT = "<｜Assistant｜>"
THINK = "<think>"
THINK_END = "</think>"

_MARK = "｜DSML｜"


@dataclass(frozen=True, slots=True)
class Dsml:
    """The names of a version's tags."""

    block: str
    call: str = "invoke"
    parameter: str = "parameter"

    def calls(self, calls: Sequence[Mapping[str, Any]]) -> str:
        """The block of an assistant's tool calls (``normalise_messages`` has made mappings of their arguments).

        Raises ``RequestError`` for a call without a name.
        """
        written = "\n".join(self._call(call["function"]) for call in calls)
        return f"{self.opening(self.block)}\n{written}\n{self.closing(self.block)}"

    def opening(self, name: str, attributes: str = "") -> str:
        """The tag that opens ``name``."""
        return f"<{_MARK}{name}{attributes}>"

    def closing(self, name: str) -> str:
        """The tag that closes ``name``."""
        return f"</{_MARK}{name}>"

    def example(self, name: str) -> list[str]:
        """The lines that show a model the form of a block of two calls, ``name`` standing for the function's name."""
        attributes = ' name="$PARAMETER_NAME" string="true|false"'
        return [
            self.opening(self.block),
            self.opening(self.call, f' name="${name}"'),
            self.opening(self.parameter, attributes) + "$PARAMETER_VALUE" + self.closing(self.parameter),
            "...",
            self.closing(self.call),
            self.opening(self.call, f' name="${name}2"'),
            "...",
            self.closing(self.call),
            self.closing(self.block),
        ]

    def _call(self, function: Mapping[str, Any]) -> str:
        name = function.get("name")
        if name is None:
            raise RequestError("a tool call of the history has no function name")
        arguments = "\n".join(self._parameter(key, value) for key, value in function["arguments"].items())
        opening = self.opening(self.call, f' name="{name}"')
        return f"{opening}\n{arguments}\n{self.closing(self.call)}"

    def _parameter(self, name: str, value: Any) -> str:
        is_text = isinstance(value, str)
        attributes = f' name="{name}" string="{"true" if is_text else "false"}"'
        shown = value if is_text else json_text(value)
        return f"{self.opening(self.parameter, attributes)}{shown}{self.closing(self.parameter)}"


def check_kwargs(kwargs: Mapping[str, Any]) -> None:
    """Refuse template kwargs that would stand in for the conversation itself."""
    for name in ("conversation", "messages", "self"):
        if name in kwargs:
            raise RequestError(f"chat_template_kwargs can't hold {name!r}")


def has_tools(tools: Any) -> bool:
    """Whether there are tools to show. Template kwargs may bring anything under that name."""
    if not isinstance(tools, list | dict | str | None):
        raise RequestError(f"chat_template_kwargs.tools must be a list, got {type(tools).__name__}")
    return bool(tools)


def function_schemas(tools: Any) -> str:
    """The functions of OpenAI's tool definitions, one JSON object a line.

    Raises ``RequestError`` for definitions of another shape, which template kwargs and developer messages may bring.
    """
    if not isinstance(tools, list) or not all(isinstance(tool, Mapping) and "function" in tool for tool in tools):
        raise RequestError('tools: expected a list of {"type": "function", "function": {...}}')
    return "\n".join(json_text(tool["function"]) for tool in tools)


def json_text(value: Any) -> str:
    """JSON as Python writes it by default, characters beyond ASCII left as they are."""
    try:
        return json.dumps(value, ensure_ascii=False)
    except RecursionError:
        raise RequestError("The request is nested too deeply to be written as JSON") from None
