"""Structural tags of GLM's key and value tags.

They hold basic types of values even for tools that aren't strict: the format's arguments can't be written as "any
JSON". A value of GLM's is a bare text, which is why a schema is turned into formats here.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

from typecase.api.errors import RequestError
from typecase.formats.think_tags import THINK_MARKERS
from typecase.render.tag_formats import (
    any_text,
    const_string,
    json_schema,
    one_of,
    quoted,
    sequence,
    star,
    tag,
    tags_with_separator,
    triggered_tags,
)
from typecase.render.tagged_tools import Choice, TaggedTool

__all__ = ["glm_format"]

_OPEN, _CLOSE = "<tool_call>", "</tool_call>"
_ARGUMENT_TAGS = ("<arg_key>", "</arg_key>", "<arg_value>", "</arg_value>")
_NOT_IN_TEXT = (*THINK_MARKERS, _CLOSE, *_ARGUMENT_TAGS)
_NOT_IN_VALUES = (*THINK_MARKERS, _OPEN, _CLOSE, *_ARGUMENT_TAGS)
_FREE_TEXT = any_text(_NOT_IN_VALUES)
# With these a schema's properties don't tell all that arguments may be.
_NOT_PLAIN = ("$ref", "allOf", "anyOf", "oneOf", "patternProperties")


def glm_format(tools: Sequence[TaggedTool], choice: Choice, *, single: bool) -> str:
    """What the calls may look like; see ``typecase.render.tool_tags.tools_format``."""
    calls = [tag(f"{_OPEN}{tool.name}", _arguments(tool), _CLOSE) for tool in tools]
    all_strict = all(tool.strict for tool in tools)
    if choice == "auto":
        return triggered_tags([_OPEN], calls, excludes=_NOT_IN_TEXT, stop_after_first=single)
    if not all_strict:
        return tags_with_separator(calls, stop_after_first=single or choice == "forced")
    if choice == "forced":
        return calls[0]
    return triggered_tags([_OPEN], calls, excludes=_NOT_IN_TEXT, at_least_one=True, stop_after_first=single)


def _arguments(tool: TaggedTool) -> str:
    if tool.strict:
        return json_schema(tool.schema, "glm_xml")
    properties = _plain_properties(tool.parameters or {})
    if properties is None:
        return json_schema("true", "glm_xml")
    pairs = [
        sequence(
            [const_string(f"<arg_key>{key}</arg_key><arg_value>"), _value(tool, value), const_string("</arg_value>")]
        )
        for key, value in properties.items()
    ]
    return star(_any(pairs))


def _plain_properties(parameters: dict[str, Any]) -> dict[str, Any] | None:
    properties = parameters.get("properties")
    if not isinstance(properties, dict) or not properties or parameters.get("additionalProperties") is True:
        return None
    return None if any(key in parameters for key in _NOT_PLAIN) else properties


def _value(tool: TaggedTool, schema: Any) -> str:
    if not isinstance(schema, dict):
        # In vLLM a TypeError, or a crash.
        raise RequestError(
            f"argument of type '{type(schema).__name__}' is not iterable"
            if schema is None or isinstance(schema, bool | int | float)
            else f"tools: the properties of {tool.name} must be schemas, got {type(schema).__name__}"
        )
    if "enum" in schema:
        values = schema["enum"]
        if not isinstance(values, list | dict | str):
            raise RequestError(f"'{type(values).__name__}' object is not iterable")
        return _any([const_string(value if isinstance(value, str) else json.dumps(value)) for value in values])
    return _typed(schema.get("type"))


def _typed(kind: Any) -> str:
    if isinstance(kind, list):
        texts = [_typed(one) for one in kind if one != "string"]
        return _any([*texts, _FREE_TEXT] if "string" in kind else texts)
    if kind is None or kind == "string":
        return _FREE_TEXT
    return json_schema(quoted({"type": kind}))


def _any(formats: list[str]) -> str:
    return formats[0] if len(formats) == 1 else one_of(formats)
