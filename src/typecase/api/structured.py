"""What may constrain the output: ``structured_outputs``, and the ``response_format`` of chat and completions."""

from __future__ import annotations

__all__ = ["ResponseFormat", "StructuredOutputs", "read_response_format"]

from typing import Any, Literal, TypeAlias

import msgspec

from typecase.api.errors import RequestError
from typecase.api.reading import OpenRecord, reader_for

_CONSTRAINTS = ("json", "regex", "choice", "grammar", "json_object", "structural_tag")


class StructuredOutputs(msgspec.Struct, kw_only=True):
    """One constraint and its options. Written with all its keys in this order, nulls included."""

    json: str | dict[str, Any] | None = None
    regex: str | None = None
    choice: list[str] | None = None
    grammar: str | None = None
    json_object: bool | None = None
    disable_any_whitespace: bool = False
    disable_additional_properties: bool = False
    whitespace_pattern: str | None = None
    structural_tag: str | None = None
    # The engine fills these in; a client's values don't count.
    backend: Any = msgspec.field(default=None, name="_backend")
    backend_was_auto: Any = msgspec.field(default=False, name="_backend_was_auto")

    def __post_init__(self) -> None:
        """Refuse none and several. Raises ``RequestError``, which msgspec lets through."""
        self.backend, self.backend_was_auto = None, False
        count = sum(getattr(self, name) is not None for name in _CONSTRAINTS)
        if count != 1:
            kind = "but multiple are specified" if count else "but none are specified"
            fields = {f.encode_name: getattr(self, f.name) for f in msgspec.structs.fields(self)}
            raise RequestError(
                f"You {'can only' if count else 'must'} use one kind of structured outputs constraint {kind}: {fields}"
            )


class _JsonSchema(OpenRecord):
    name: str
    description: str | None = None
    schema: dict[str, Any] | None = None
    strict: bool | None = None


class _Plain(OpenRecord):
    type: Literal["text", "json_object", "json_schema"]
    json_schema: _JsonSchema | None = None


class _Tag(OpenRecord):
    type: Literal["structural_tag"]
    format: Any


class _Structure(OpenRecord, kw_only=True):
    begin: str
    schema: dict[str, Any] | None = None
    end: str


class _LegacyTag(OpenRecord):
    type: Literal["structural_tag"]
    structures: list[_Structure]
    triggers: list[str]


ResponseFormat: TypeAlias = dict[str, Any]
"""A checked ``response_format``: its known fields in vLLM's order with defaults filled in, then what else came."""

read_response_format = reader_for(_Plain | _Tag | _LegacyTag | None)
