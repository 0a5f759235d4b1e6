"""The components of the schema: msgspec's own description of our structs, with the loosely typed fields filled in.

What msgspec can't know is added here: fields with a reader of their own are shown as what the reader takes, and keys
that an answer always has are required in it.
"""

from __future__ import annotations

__all__ = ["Components"]

import json
from array import array
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import msgspec

from typecase.api.chat import ChatRequest
from typecase.api.completions import CompletionRequest
from typecase.api.generate import GenerateRequest, ParseContext, ReasoningParserKwargs
from typecase.api.messages import CountTokensRequest, CountTokensResponse, MessagesRequest
from typecase.api.models import ModelList
from typecase.api.responses import ResponsesRequest
from typecase.api.tokenize import (
    DetokenizeRequest,
    DetokenizeResponse,
    TokenizeChat,
    TokenizePrompt,
    TokenizeResponse,
)
from typecase.server.openapi.items import ResponsesShapes
from typecase.server.openapi.loose import (
    ChatMessage,
    JsonSchemaFormat,
    NamedToolChoice,
    PlainFormat,
    StructuralTagFormat,
    ToolDeclaration,
    TriggeredTagsFormat,
)

Schema = dict[str, Any]

_REF_START = "#/components/schemas/"
_REF = _REF_START + "{name}"
_NAMES = {
    "Message": "MessagesMessage",
    "ContentBlock": "MessagesBlock",
    "Tool": "MessagesTool",
    "ToolReference": "MessagesToolReference",
    "ToolDefinition": "MessagesToolDefinition",
    "ToolChoice": "MessagesToolChoice",
    "_ContextManagement": "ContextManagement",
}
_REQUESTS = (
    ChatRequest, CompletionRequest, MessagesRequest, CountTokensRequest, ResponsesRequest, TokenizePrompt, TokenizeChat,
    DetokenizeRequest,
)  # fmt: skip
_ANSWERS = (GenerateRequest, CountTokensResponse, TokenizeResponse, DetokenizeResponse, ModelList)
_LOOSE = (
    ChatMessage,
    ToolDeclaration,
    NamedToolChoice,
    PlainFormat,
    JsonSchemaFormat,
    StructuralTagFormat,
    TriggeredTagsFormat,
)
# Of these every key is always written. (Those that a request has, too, are not among them.)
_WHOLE = (*_ANSWERS, ParseContext, ReasoningParserKwargs)


def _ref(struct: type | str) -> Schema:
    return {"$ref": _REF.format(name=struct if isinstance(struct, str) else struct.__name__)}


def _list_of(struct: type | str) -> Schema:
    return {"type": "array", "items": _ref(struct)}


def _or_null(*schemas: Schema) -> Schema:
    return {"anyOf": [*schemas, {"type": "null"}]}


_TEXT: Schema = {"type": "string"}
_ID: Schema = {"type": "integer", "minimum": 0}
_TOOLS = _or_null(_list_of(ToolDeclaration))
_TOOL_CHOICE = _or_null({"type": "string", "enum": ["none", "auto", "required"]}, _ref(NamedToolChoice))
_FORMAT = _or_null(_ref(PlainFormat), _ref(JsonSchemaFormat), _ref(StructuralTagFormat), _ref(TriggeredTagsFormat))
_STREAM_OPTIONS = _or_null(
    {
        "type": "object",
        "properties": {
            "include_usage": {"type": ["boolean", "null"]},
            "continuous_usage_stats": {"type": ["boolean", "null"]},
        },
    }
)
_BUDGET = _or_null({"type": "integer", "minimum": -1})
_ERROR: Schema = {
    "title": "Error",
    "description": "Why a request was refused. `param` is the field at fault, `code` the HTTP status.",
    "type": "object",
    "properties": {
        "error": {
            "type": "object",
            "properties": {
                "message": _TEXT,
                "type": _TEXT,
                "param": _or_null(_TEXT),
                "code": {"type": "integer"},
            },
            "required": ["message", "type", "param", "code"],
        }
    },
    "required": ["error"],
}
_ANTHROPIC_ERROR: Schema = {
    "title": "AnthropicError",
    "description": "Why a request was refused, in the form of Anthropic's API.",
    "type": "object",
    "properties": {
        "type": {"const": "error"},
        "error": {
            "type": "object",
            "properties": {"type": _TEXT, "message": _TEXT},
            "required": ["type", "message"],
        },
    },
    "required": ["type", "error"],
}
_DETAIL: Schema = {
    "title": "Detail",
    "description": "What is wrong with a request that no route has looked at.",
    "type": "object",
    "properties": {"detail": _TEXT},
    "required": ["detail"],
}
_UNAUTHORIZED: Schema = {
    "title": "Unauthorized",
    "description": "There is no API key, or a wrong one.",
    "type": "object",
    "properties": {"error": {"const": "Unauthorized"}},
    "required": ["error"],
}


class Components:
    """All schemas by name."""

    def __init__(self) -> None:
        shapes = ResponsesShapes(_REF)
        fields = _fields(shapes)
        _, found = msgspec.json.schema_components(
            (*_REQUESTS, *_ANSWERS, *_LOOSE), schema_hook=_custom, ref_template=_REF
        )
        self.schemas: dict[str, Schema] = {**found, **shapes.components}
        self.schemas |= {each["title"]: each for each in (_ERROR, _ANTHROPIC_ERROR, _DETAIL, _UNAUTHORIZED)}
        for struct, replaced in fields.items():
            properties = self.schemas[struct]["properties"]
            for name, schema in replaced.items():
                properties[name] = dict(schema)
                # Where null isn't taken, a default of null only says that the field may be left out.
                if (default := found[struct]["properties"][name].get("default")) is not None:
                    properties[name]["default"] = default
        for struct_type in _WHOLE:
            schema = self.schemas[struct_type.__name__]
            schema["required"] = list(schema["properties"])
        _describe(self.schemas)
        self.schemas = _renamed(self.schemas)


def _renamed(schemas: Mapping[str, Schema]) -> dict[str, Schema]:
    """With names that say which API they belong to, and descriptions in Markdown."""

    def written(value: Any, key: str | None = None) -> Any:
        if isinstance(value, dict):
            return {name: written(each, name) for name, each in value.items()}
        if isinstance(value, list):
            return [written(each) for each in value]
        if key == "description" and isinstance(value, str):
            return value.replace("``", "`")
        if isinstance(value, str) and value.startswith(_REF_START):
            name = value.removeprefix(_REF_START)
            return _REF_START + _NAMES.get(name, name)
        return value

    renamed: dict[str, Schema] = {}
    for name, schema in schemas.items():
        name = _NAMES.get(name, name)
        renamed[name] = {**written(schema), "title": name}
    return renamed


def _custom(type_: type) -> Schema:
    if type_ is array:
        return {"type": "array", "items": _ID}
    raise NotImplementedError(type_)


def _fields(shapes: ResponsesShapes) -> Mapping[str, Mapping[str, Schema]]:
    """What fields of structs take that are typed loosely or read in a way of their own."""
    chat: Mapping[str, Schema] = {"messages": _list_of(ChatMessage), "tools": _TOOLS}
    offsets = {"type": "array", "items": {"type": "integer"}, "minItems": 2, "maxItems": 2}
    stop = _or_null(_TEXT, {"type": "array", "items": _TEXT})
    ids = {"type": "array", "items": _ID}
    prompt = (_TEXT, {"type": "array", "items": _TEXT}, ids, {"type": "array", "items": ids})
    return {
        "ChatRequest": {
            **chat,
            "tool_choice": _TOOL_CHOICE,
            "top_logprobs": _or_null({"type": "integer"}),
            "response_format": _FORMAT,
            "stream_options": _STREAM_OPTIONS,
            "request_id": _TEXT,
            "stop": stop,
            "thinking_token_budget": _BUDGET,
        },
        "CompletionRequest": {
            "prompt": _or_null(*prompt),
            "response_format": _FORMAT,
            "stream_options": _STREAM_OPTIONS,
            "request_id": _TEXT,
            "stop": stop,
            "thinking_token_budget": _BUDGET,
        },
        "TokenizeChat": chat,
        # Simpler than what msgspec makes of a tuple and of ``Literal[True]``: generators of clients stumble over it.
        "GenerateRequest": {"token_offsets": _or_null({"type": "array", "items": offsets})},
        "SamplingParams": {"skip_clone": {"type": "boolean"}},
        "ResponsesRequest": {
            "input": {"anyOf": [_TEXT, shapes.root("input")]},
            "tools": shapes.root("tools"),
            "tool_choice": shapes.root("tool_choice"),
            "top_logprobs": _or_null({"type": "integer"}),
            "request_id": _TEXT,
            "stop": stop,
        },
    }


def _describe(schemas: Mapping[str, Schema]) -> None:
    """Say what the fields of requests and answers are for."""
    texts: Mapping[str, Mapping[str, str]] = json.loads(Path(__file__).with_name("texts.json").read_bytes())
    for kind, structs in (("requests", _REQUESTS), ("answers", _ANSWERS)):
        for struct in structs:
            properties: dict[str, Schema] = schemas[struct.__name__]["properties"]
            for name, schema in properties.items():
                if name in texts[kind] and "description" not in schema:
                    properties[name] = {**schema, "description": texts[kind][name]}
