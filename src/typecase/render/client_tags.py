"""A client's structural tag as xgrammar's models write it: known fields in their order, defaults filled in.

vLLM reads a tag into those models and writes it out again where it stands beside tool calls or in a channel.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from typecase.api.errors import RequestError

__all__ = ["written_format"]

_NEEDED = object()
_FORMAT, _FORMATS, _TAGS, _RULES = "content", "elements", "tags", "rules"
_LIST_FLAGS = {"at_least_one": False, "stop_after_first": False}

# The fields of each format with their defaults. Those named as above hold formats themselves.
_FIELDS: dict[str, dict[str, Any]] = {
    "const_string": {"value": _NEEDED},
    "json_schema": {
        "json_schema": _NEEDED,
        "style": "json",
        "any_order": False,
        "max_whitespace_cnt": None,
        "excludes": (),
    },
    "any_text": {"excludes": (), "max_tokens": None, "max_chars": None},
    "token": {"token": _NEEDED},
    "exclude_token": {"exclude_tokens": ()},
    "any_tokens": {"exclude_tokens": (), "max_tokens": None},
    "grammar": {"grammar": _NEEDED},
    "regex": {"pattern": _NEEDED},
    "qwen_xml_parameter": {"json_schema": _NEEDED},
    "sequence": {_FORMATS: _NEEDED},
    "or": {_FORMATS: _NEEDED},
    "tag": {"begin": _NEEDED, _FORMAT: _NEEDED, "end": _NEEDED},
    "triggered_tags": {"triggers": _NEEDED, _TAGS: _NEEDED, **_LIST_FLAGS, "excludes": ()},
    "token_triggered_tags": {"trigger_tokens": _NEEDED, _TAGS: _NEEDED, "exclude_tokens": (), **_LIST_FLAGS},
    "tags_with_separator": {_TAGS: _NEEDED, "separator": _NEEDED, **_LIST_FLAGS},
    "optional": {_FORMAT: _NEEDED},
    "plus": {_FORMAT: _NEEDED},
    "star": {_FORMAT: _NEEDED},
    "repeat": {"min": _NEEDED, "max": _NEEDED, _FORMAT: _NEEDED},
    "dispatch": {_RULES: _NEEDED, "loop": True, "excludes": ()},
    "token_dispatch": {_RULES: _NEEDED, "loop": True, "exclude_tokens": ()},
}


def written_format(value: Any, *, kind: str | None = None) -> dict[str, Any]:
    """A format as it is written.

    Args:
        value: what the client gave.
        kind: its type, where the place allows only one and the field may be left out.

    Raises:
        RequestError: it has no type or an unknown one, or lacks a field.
    """
    kind = _kind(value, kind)
    written: dict[str, Any] = {"type": kind}
    for field, default in _FIELDS[kind].items():
        if field in value:
            written[field] = _inner(field, value[field])
        elif default is _NEEDED:
            raise RequestError(f"structural_tag: a format of type {kind} needs the field {field}")
        else:
            written[field] = default
    return written


def _kind(value: Any, default: str | None) -> str:
    kind = value.get("type", default) if isinstance(value, Mapping) else None
    if not isinstance(kind, str) or kind not in _FIELDS:
        raise RequestError("structural_tag: each format needs a known type")
    return kind


def _inner(field: str, value: Any) -> Any:
    match field:
        case "content":
            return written_format(value)
        case "elements":
            return [written_format(one) for one in value]
        case "tags":
            return [written_format(one, kind="tag") for one in value]
        case "rules":
            return [[key, written_format(one)] for key, one in value]
        case "begin" | "end" if isinstance(value, Mapping):
            return written_format(value, kind="token")
    return value
