"""Messages, content blocks and tools of Anthropic's Messages API, as vLLM 0.33 reads them."""

from __future__ import annotations

__all__ = [
    "Blocks",
    "ContentBlock",
    "Message",
    "Messages",
    "System",
    "Tool",
    "ToolDefinition",
    "ToolReference",
    "changes_tools",
    "tagged_reader",
]

from collections.abc import Mapping, Sequence
from typing import Annotated, Any, Literal, TypeAlias

import msgspec
from msgspec import Meta

from typecase.api.faults import Loc
from typecase.api.reading import REFUSED, Reader, Reading, nullable_reader, reader_for


def tagged_reader(*structs: type[msgspec.Struct]) -> Reader:
    """The reader of structs told apart by their tag; vLLM's locations hold the tag."""
    readers = {struct.__struct_config__.tag: reader_for(struct) for struct in structs}
    expected = f"an object whose type is {' or '.join(map(repr, readers))}"

    def read(value: object, loc: Loc, reading: Reading) -> object:
        tag = value.get("type") if isinstance(value, Mapping) else None
        if not isinstance(tag, str) or tag not in readers:
            return reading.refuse(loc, expected, value)
        return readers[tag](value, (*loc, tag), reading)

    return read


class Tool(msgspec.Struct, kw_only=True):
    """A tool the model may call."""

    name: str
    description: str | None = None
    input_schema: dict[str, Any]
    strict: bool | None = None
    defer_loading: bool | None = None


class ToolReference(msgspec.Struct, kw_only=True, tag_field="type", tag="tool_reference"):
    """A tool that the request declares, by name."""

    name: str


class ToolDefinition(msgspec.Struct, kw_only=True, tag_field="type", tag="tool_definition"):
    """A tool that a message brings along."""

    definition: Tool


ToolChange: TypeAlias = Annotated[
    ToolReference | ToolDefinition | None,
    Meta(extra={"reader": nullable_reader(tagged_reader(ToolReference, ToolDefinition))}),
]

_CHANGES = ("tool_addition", "tool_removal")


class ContentBlock(msgspec.Struct, kw_only=True):
    """A block of any type: the fields of all types, None where a block has none."""

    type: Literal[
        "text",
        "image",
        "tool_use",
        "tool_result",
        "tool_reference",
        "thinking",
        "redacted_thinking",
        "tool_addition",
        "tool_removal",
    ]
    text: str | None = None
    source: dict[str, Any] | None = None
    id: str | None = None
    tool_use_id: str | None = None
    name: str | None = None
    input: dict[str, Any] | None = None
    content: str | list[dict[str, Any]] | None = None
    is_error: bool | None = None
    tool_name: str | None = None
    thinking: str | None = None
    signature: str | None = None
    data: str | None = None
    tool: ToolChange = None

    @property
    def is_change(self) -> bool:
        """Whether the block adds or removes a tool."""
        return self.type in _CHANGES


_read_fields = reader_for(ContentBlock)


def _read_block(value: object, loc: Loc, reading: Reading) -> Any:
    block = _read_fields(value, loc, reading)
    if block is REFUSED or not block.is_change:
        return block
    if block.tool is None:
        return reading.fault(loc, f"tool is required for {block.type} blocks")
    if block.type == "tool_removal" and isinstance(block.tool, ToolDefinition):
        return reading.fault(loc, "tool_removal only accepts a tool_reference")
    return block


Blocks: TypeAlias = list[Annotated[ContentBlock, Meta(extra={"reader": _read_block})]]


class Message(msgspec.Struct, kw_only=True):
    """One turn, or with role ``system`` a remark between turns."""

    role: Literal["user", "assistant", "system"]
    content: str | Blocks


_read_message_fields = reader_for(Message)
_read_system_fields = reader_for(str | Blocks | None)


def _read_message(value: object, loc: Loc, reading: Reading) -> Any:
    message = _read_message_fields(value, loc, reading)
    if message is REFUSED or message.role == "system" or not _has_change(message.content):
        return message
    return reading.fault(loc, _MISPLACED)


def _read_system(value: object, loc: Loc, reading: Reading) -> Any:
    system = _read_system_fields(value, loc, reading)
    return reading.fault(loc, _MISPLACED) if _has_change(system) else system


_MISPLACED = 'tool_addition and tool_removal blocks are only allowed in messages with role "system"'

Messages: TypeAlias = list[Annotated[Message, Meta(extra={"reader": _read_message})]]
System: TypeAlias = Annotated[str | Blocks | None, Meta(extra={"reader": _read_system})]


def changes_tools(messages: Sequence[Message]) -> bool:
    """Whether some message adds or removes tools."""
    return any(_has_change(message.content) for message in messages)


def _has_change(content: Any) -> bool:
    return isinstance(content, list) and any(block.is_change for block in content)
