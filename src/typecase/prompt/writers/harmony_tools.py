"""The section of a harmony developer message that defines the functions the model may call."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from typecase.prompt.writers.harmony_types import check_length, typescript

__all__ = ["HarmonyTool", "tools_section"]

_NAMESPACE = "functions"


@dataclass(frozen=True, slots=True)
class HarmonyTool:
    """A function: its name, what it does ("" for nothing said), the JSON schema of its parameters or None."""

    name: str
    description: str
    parameters: Mapping[str, Any] | None

    def as_json(self) -> dict[str, Any]:
        """The definition as harmony's library passes it on."""
        given = {"name": self.name, "description": self.description}
        return given if self.parameters is None else {**given, "parameters": self.parameters}


def tools_section(tools: Sequence[HarmonyTool]) -> str:
    """The definitions as a TypeScript namespace.

    >>> print(tools_section([HarmonyTool("ping", "Are you there?", None)]))
    # Tools
    <BLANKLINE>
    ## functions
    <BLANKLINE>
    namespace functions {
    <BLANKLINE>
    // Are you there?
    type ping = () => any;
    <BLANKLINE>
    } // namespace functions
    """
    lines = ["# Tools\n", f"## {_NAMESPACE}\n", f"namespace {_NAMESPACE} {{\n"]
    length = 0
    for tool in tools:
        lines.extend(f"// {line}" for line in _lines(tool.description))
        taken = "" if tool.parameters is None else f"_: {typescript(tool.parameters)}"
        length += len(taken)
        check_length(length)
        lines.append(f"type {tool.name} = ({taken}) => any;\n")
    lines.append(f"}} // namespace {_NAMESPACE}")
    return "\n".join(lines)


def _lines(text: str) -> list[str]:
    """Lines as Rust counts them: ended by a newline alone, with a carriage return before it or without."""
    lines = text.split("\n")
    if not lines[-1]:
        lines.pop()
        ended = len(lines)
    else:
        ended = len(lines) - 1
    return [line.removesuffix("\r") if i < ended else line for i, line in enumerate(lines)]
