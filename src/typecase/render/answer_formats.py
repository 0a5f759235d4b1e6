"""A request's own constraint as an xgrammar format, to stand beside tool calls or in a channel.

Its schemas, regexes and grammars are passed on unread, but for what vLLM looks up in a schema before it puts it beside
tool calls (``fits_tags``): keywords that xgrammar doesn't hold.
"""

from __future__ import annotations

import json
import re
from typing import Any

from typecase.api.errors import RequestError
from typecase.api.structural_tags import check_nesting, check_structural_tag
from typecase.api.structured import StructuredOutputs
from typecase.render.client_tags import written_format
from typecase.render.tag_formats import const_string, grammar, json_schema, one_of, quoted, regex, tag, triggered_tags

__all__ = ["answer_format", "fits_tags"]

_FORMATS_KNOWN = frozenset(
    {
        "email", "date", "time", "date-time", "duration", "ipv4", "ipv6", "hostname", "uuid", "uri", "uri-reference",
        "uri-template", "json-pointer", "relative-json-pointer",
    }
)  # fmt: skip
_ARRAY_KEYWORDS = ("uniqueItems", "contains", "minContains", "maxContains")


def answer_format(constraint: StructuredOutputs) -> str | None:
    """The constraint as a format; None where it constrains nothing (``json_object: false``)."""
    if constraint.json_object:
        return json_schema('{"type": "object"}')
    if constraint.json is not None:
        return json_schema(quoted(_schema(constraint.json)))
    if constraint.regex is not None:
        return regex(constraint.regex)
    if constraint.choice is not None:
        return one_of(map(const_string, constraint.choice))
    if constraint.grammar is not None:
        if _is_lark(constraint.grammar):
            raise RequestError(
                "A grammar in Lark's syntax can't stand in a structural tag here: write it in EBNF (rule ::= ...)"
            )
        return grammar(constraint.grammar)
    if constraint.structural_tag is not None:
        return _client_tag(constraint.structural_tag)
    return None


def fits_tags(constraint: StructuredOutputs) -> bool:
    """Whether vLLM takes the constraint for one that can stand beside tool calls.

    What only compiling it would show is taken for good. Grammars in Lark's syntax aren't, since they would have to be
    translated.
    """
    if constraint.regex is not None:
        return "\0" not in constraint.regex
    if constraint.choice:
        return True
    if constraint.json is not None:
        try:
            check_nesting(constraint.json)
            schema = _schema(constraint.json)
        except RequestError:
            return False
        return isinstance(schema, dict) and not _has_unheld_keywords(schema)
    if constraint.json_object:
        return True
    if constraint.grammar:
        return not _is_lark(constraint.grammar)
    if constraint.structural_tag:
        try:
            check_structural_tag(constraint.structural_tag, "structured_outputs")
        except RequestError:
            return False
        return True
    return False


def _schema(given: str | dict[str, Any]) -> bool | dict[str, Any]:
    if not isinstance(given, str):
        return given
    check_nesting(given)
    try:
        schema = json.loads(given)
    except ValueError as error:
        raise RequestError(str(error)) from None
    if not isinstance(schema, bool | dict):
        raise RequestError(f"structured_outputs.json: expected a JSON schema, got {type(schema).__name__}")
    return schema


def _is_lark(text: str) -> bool:
    """vLLM's guess: a grammar with some rule and without ``::=``."""
    lines = (re.sub(r"(#|//).*$", "", line) for line in text.split("\n"))
    return bool(text) and not any("::=" in line for line in lines)


def _client_tag(text: str) -> str:
    check_nesting(text, structural_tag=True)
    try:
        value = json.loads(text)
    except ValueError as error:
        raise RequestError(str(error)) from None
    try:
        if "structures" not in value:
            return quoted(written_format(value["format"]))
        structures = [(s["begin"], json_schema(quoted(s["schema"])), s["end"]) for s in value["structures"]]
        return triggered_tags(value["triggers"], [tag(*structure) for structure in structures])
    except (KeyError, TypeError, AttributeError):
        raise RequestError(
            "structural_tag: its format, or one inside it, lacks a field or has one of a wrong type"
        ) from None


def _has_unheld_keywords(schema: Any) -> bool:
    """Whether a schema has keywords, somewhere, that xgrammar would let pass unheld."""
    pending = [schema]
    while pending:
        node = pending.pop()
        if not isinstance(node, dict):
            continue
        if _is_unheld(node):
            return True
        for value in node.values():
            pending.extend(value if isinstance(value, list) else (value,))
    return False


def _is_unheld(schema: dict[str, Any]) -> bool:
    kinds = schema.get("type")
    kinds = (
        {kinds}
        if isinstance(kinds, str)
        else {k for k in kinds if isinstance(k, str)}
        if isinstance(kinds, list)
        else ()
    )
    every = schema.get("allOf")
    return (
        (("integer" in kinds or "number" in kinds) and "multipleOf" in schema)
        or ("array" in kinds and any(key in schema for key in _ARRAY_KEYWORDS))
        or ("string" in kinds and (_has_odd_format(schema) or _has_pattern_and_length(schema)))
        or ("object" in kinds and (_has_odd_names(schema) or _has_odd_patterns(schema)))
        or (isinstance(every, list) and len(every) >= 2)
    )


def _has_odd_format(schema: dict[str, Any]) -> bool:
    if "format" not in schema:
        return False
    name = schema["format"]
    if isinstance(name, list | dict):
        raise RequestError(f"unhashable type: '{type(name).__name__}'")
    return name not in _FORMATS_KNOWN


def _has_pattern_and_length(schema: dict[str, Any]) -> bool:
    return ("pattern" in schema or "format" in schema) and ("minLength" in schema or "maxLength" in schema)


def _has_odd_names(schema: dict[str, Any]) -> bool:
    if "propertyNames" not in schema:
        return False
    names = schema["propertyNames"]
    return (
        (isinstance(names, dict) and _has_pattern_and_length(names))
        or "patternProperties" in schema
        or "properties" in schema
        or schema.get("unevaluatedProperties", True) is not True
    )


def _has_odd_patterns(schema: dict[str, Any]) -> bool:
    patterns = schema.get("patternProperties")
    return isinstance(patterns, dict) and ("properties" in schema or len(patterns) > 1)
