"""Shapes of what requests hold loosely: messages, content parts, tools, formats. For the schema only.

Requests are not read with these types: messages of any role and with any further keys pass, and so the schema says.
What a field is documented to take here is taken; more may be (a part without ``type``, say).
"""

from __future__ import annotations

__all__ = [
    "ChatMessage",
    "JsonSchemaFormat",
    "NamedToolChoice",
    "PlainFormat",
    "StructuralTagFormat",
    "ToolDeclaration",
    "TriggeredTagsFormat",
]

from typing import Annotated, Any, Literal, TypeAlias

import msgspec
from msgspec import Meta


class TextPart(msgspec.Struct, tag_field="type", tag="text"):
    """Text."""

    text: str


class InputTextPart(msgspec.Struct, tag_field="type", tag="input_text"):
    """Text, as Responses calls it."""

    text: str


class OutputTextPart(msgspec.Struct, tag_field="type", tag="output_text"):
    """Text of an earlier answer, as Responses calls it."""

    text: str


class RefusalPart(msgspec.Struct, tag_field="type", tag="refusal"):
    """An earlier refusal."""

    refusal: str


class ThinkingPart(msgspec.Struct, tag_field="type", tag="thinking"):
    """Earlier thinking."""

    thinking: str


class ToolReferencePart(msgspec.Struct, tag_field="type", tag="tool_reference"):
    """The name of a tool."""

    name: str


class Url(msgspec.Struct):
    """Where media are: an ``http``, ``https`` or ``data`` URL."""

    url: str


class InputAudio(msgspec.Struct):
    """Sound, in base64."""

    data: str
    format: str


class ImagePart(msgspec.Struct, tag_field="type", tag="image_url"):
    """A picture, for models that take pictures."""

    image_url: Url
    uuid: str | None = None


class AudioUrlPart(msgspec.Struct, tag_field="type", tag="audio_url"):
    """Sound, for models that take sound."""

    audio_url: Url
    uuid: str | None = None


class InputAudioPart(msgspec.Struct, tag_field="type", tag="input_audio"):
    """Sound, for models that take sound."""

    input_audio: InputAudio
    uuid: str | None = None


class VideoPart(msgspec.Struct, tag_field="type", tag="video_url"):
    """A video, for models that take videos."""

    video_url: Url
    uuid: str | None = None


ContentPart: TypeAlias = (
    TextPart
    | InputTextPart
    | OutputTextPart
    | RefusalPart
    | ThinkingPart
    | ToolReferencePart
    | ImagePart
    | AudioUrlPart
    | InputAudioPart
    | VideoPart
)


class CalledFunction(msgspec.Struct, kw_only=True):
    """``arguments`` is JSON, as text."""

    name: str
    arguments: str


class ToolCall(msgspec.Struct, kw_only=True):
    """A call that the model made."""

    id: str
    type: Literal["function"]
    function: CalledFunction


class ChatMessage(msgspec.Struct, kw_only=True):
    """A message of a chat. Templates see further keys, too."""

    role: Annotated[
        str, Meta(description="Usually system, developer, user, assistant or tool; the template knows which it takes.")
    ]
    content: str | list[ContentPart | str] | None = None
    name: str | None = None
    tool_calls: Annotated[list[ToolCall] | None, Meta(description="Of an assistant's message.")] = None
    tool_call_id: Annotated[str | None, Meta(description="Of a tool's message: the call that it answers.")] = None
    reasoning: Annotated[str | None, Meta(description="Of an assistant's message: what it thought.")] = None


class FunctionDeclaration(msgspec.Struct, kw_only=True):
    """``parameters`` is a JSON schema."""

    name: str
    description: str | None = None
    parameters: dict[str, Any] | None = None
    strict: bool | None = None
    defer_loading: bool | None = None


class ToolDeclaration(msgspec.Struct, kw_only=True):
    """A function that the model may call."""

    type: Literal["function"] = "function"
    function: FunctionDeclaration
    defer_loading: bool | None = None


class FunctionName(msgspec.Struct):
    """One of the request's functions."""

    name: str


class NamedToolChoice(msgspec.Struct, kw_only=True):
    """The function that is to be called."""

    type: Literal["function"] = "function"
    function: FunctionName


class PlainFormat(msgspec.Struct, kw_only=True):
    """Any text, or any JSON object."""

    type: Literal["text", "json_object"]


class NamedSchema(msgspec.Struct, kw_only=True):
    """A JSON schema and its name."""

    name: str
    description: str | None = None
    schema: dict[str, Any] | None = None
    strict: bool | None = None


class JsonSchemaFormat(msgspec.Struct, kw_only=True):
    """JSON that fits a schema."""

    type: Literal["json_schema"]
    json_schema: NamedSchema


class Structure(msgspec.Struct, kw_only=True):
    """Text that fits a schema, and what stands around it."""

    begin: str
    schema: dict[str, Any] | None = None
    end: str


class TriggeredTagsFormat(msgspec.Struct, kw_only=True):
    """Structural tags in their older form."""

    type: Literal["structural_tag"]
    structures: list[Structure]
    triggers: list[str]


class StructuralTagFormat(msgspec.Struct, kw_only=True):
    """A structural tag."""

    type: Literal["structural_tag"]
    format: dict[str, Any]
