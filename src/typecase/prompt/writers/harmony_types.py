"""JSON schemas as the TypeScript types in which gpt-oss sees its tools.

The rules are those of OpenAI's harmony library, oddities included, since the models were trained on its output: an
object's own description stands before its brace, ``anyOf``, ``$ref`` and ``const`` are unknown and read ``any``, the
values of an enum are shown for strings alone. A schema may be any JSON value; what isn't understood is ``any``.
"""

from __future__ import annotations

from collections.abc import Sized
from typing import Any

from typecase.api.errors import RequestError
from typecase.prompt.writers.harmony_json import written_value

__all__ = ["LONGEST_TOOLS", "check_length", "typescript"]

LONGEST_TOOLS = 32 << 20
"""Characters of a prompt's tools. The indentation of deep members takes a hundred times what they take in a request."""

_PLAIN_TYPES = {"number": "number", "integer": "number", "boolean": "boolean"}


def check_length(length: int) -> None:
    """Refuse tools that take more than ``LONGEST_TOOLS``. Raises ``RequestError``."""
    if length > LONGEST_TOOLS:
        raise RequestError(f"tools: written out, they take more than {LONGEST_TOOLS >> 20} MB", param="tools")


def typescript(schema: Any, indent: str = "") -> str:
    """The type that ``schema`` describes. ``indent`` stands before the lines of its members.

    >>> typescript({"type": "array", "items": {"type": "integer"}})
    'number[]'
    """
    if not isinstance(schema, dict):
        return "any"
    variants = schema.get("oneOf")
    if isinstance(variants, list):
        _check_room(variants, indent)
        written = "".join(f"\n{indent} | {_variant(variant, indent)}" for variant in variants)
        check_length(len(written))
        return written
    kind = schema.get("type")
    if isinstance(kind, list):
        names = ["number" if name == "integer" else name for name in kind if isinstance(name, str)]
        return " | ".join(names) if names else "any"
    match kind:
        case "object":
            return _object(schema, indent)
        case "string":
            return " | ".join(f'"{value}"' for value in _enum(schema) if isinstance(value, str)) or "string"
        case "array":
            return f"{typescript(schema['items'], indent)}[]" if "items" in schema else "Array<any>"
        case str():
            return _PLAIN_TYPES.get(kind, "any")
    return "any"


def _variant(variant: Any, indent: str) -> str:
    """One of the types of a ``oneOf`` that is no property's."""
    described = _text(variant, "description")
    comments = [] if described is None else [described]
    if isinstance(variant, dict) and "default" in variant:
        comments.append(f"default: {_default(variant, quoted_enum=True)}")
    return _type_of(variant, f"{indent}   ") + _trailing(comments)


def _object(schema: dict[str, Any], indent: str) -> str:
    described = _text(schema, "description")
    lines = [] if described is None else [f"{indent}// {described}\n"]
    lines.append("{\n")
    properties = schema.get("properties")
    if isinstance(properties, dict):
        _check_room(properties, indent)
        listed = schema.get("required")
        required = {name for name in listed if isinstance(name, str)} if isinstance(listed, list) else set()
        for name, value in properties.items():
            _add_property(lines, f"{name}{'' if name in required else '?'}", value, indent)
    lines.append(f"{indent}}}")
    check_length(sum(map(len, lines)))
    return "".join(lines)


def _check_room(members: Sized, indent: str) -> None:
    """Refuse members whose indentation alone is too much, before it is written."""
    check_length(len(members) * len(indent))


def _add_property(lines: list[str], name: str, schema: Any, indent: str) -> None:
    if not isinstance(schema, dict):
        lines.append(f"{indent}{name}: any,\n")
        return
    title, described = _text(schema, "title"), _text(schema, "description")
    if title is not None:
        lines.append(f"{indent}// {title}\n{indent}//\n")
    if described is not None and "oneOf" not in schema:
        lines.append(f"{indent}// {described}\n")
    examples = schema.get("examples")
    if isinstance(examples, list) and examples:
        _check_room(examples, indent)
        lines.append(f"{indent}// Examples:\n")
        lines.extend(f'{indent}// - "{example}"\n' for example in examples if isinstance(example, str))
    variants = schema.get("oneOf")
    if isinstance(variants, list):
        _add_variants(lines, name, schema, variants, described, indent)
        return
    default = f" // default: {_default(schema)}" if "default" in schema and "oneOf" not in schema else ""
    lines.append(f"{indent}{name}: {_type_of(schema, f'{indent}    ')},{default}\n")


def _add_variants(
    lines: list[str], name: str, schema: dict[str, Any], variants: list[Any], described: str | None, indent: str
) -> None:
    """A property with ``oneOf``: one line per variant. A description that the first variant repeats is left to it."""
    _check_room(variants, indent)
    first = _text(variants[0], "description") if variants else None
    is_above = described is not None and described != first
    if is_above:
        lines.append(f"{indent}// {described}\n")
    if "default" in schema:
        lines.append(f"{indent}// default: {_default(schema)}\n")
    lines.append(f"{indent}{name}:\n")
    for i, variant in enumerate(variants):
        comments = []
        own = _text(variant, "description")
        if own is not None and own != described and not (i == 0 and is_above):
            comments.append(own)
        if isinstance(variant, dict) and "default" in variant:
            comments.append(f"default: {_default(variant)}")
        lines.append(f"{indent} | {_type_of(variant, f'{indent}   ')}{_trailing(comments)}\n")
    lines.append(f"{indent},\n")


def _type_of(schema: Any, indent: str) -> str:
    """The type with ``null`` added for a nullable schema, unless the word occurs in it already."""
    written = typescript(schema, indent)
    if isinstance(schema, dict) and schema.get("nullable") is True and "null" not in written:
        return f"{written} | null"
    return written


def _default(schema: dict[str, Any], *, quoted_enum: bool = False) -> str:
    """The default as a comment shows it: a string in bare quotes, or as it is when the schema lists values."""
    value = schema["default"]
    if not isinstance(value, str):
        return written_value(value)
    if not _enum(schema):
        return f'"{value}"'
    return written_value(value) if quoted_enum else value


def _trailing(comments: list[str]) -> str:
    return f" // {' '.join(comments)}" if comments else ""


def _enum(schema: dict[str, Any]) -> list[Any]:
    values = schema.get("enum")
    return values if isinstance(values, list) else []


def _text(schema: Any, key: str) -> str | None:
    value = schema.get(key) if isinstance(schema, dict) else None
    return value if isinstance(value, str) else None
