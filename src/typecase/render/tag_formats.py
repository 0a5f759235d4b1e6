"""xgrammar's formats, the parts of a structural tag, each written as JSON text.

A tag is text in the answer, made of one format inside another, so each function here takes the texts of its parts and
gives its own; keys, their order and the defaults written out are those of xgrammar's models, as vLLM dumps them. For a
hundred tools this is many times faster than building values and dumping them.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence

__all__ = [
    "any_text",
    "const_string",
    "grammar",
    "is_json_schema",
    "json_schema",
    "one_of",
    "optional",
    "quoted",
    "regex",
    "sequence",
    "star",
    "structural_tag",
    "tag",
    "tags_with_separator",
    "triggered_tags",
]

quoted = json.dumps
"""A value as JSON in Python's spelling: blanks after commas and colons, ASCII only."""

_FLAG = {True: "true", False: "false"}


def structural_tag(inner: str) -> str:
    """The whole tag."""
    return f'{{"type": "structural_tag", "format": {inner}}}'


def const_string(value: str) -> str:
    """Exactly this text."""
    return f'{{"type": "const_string", "value": {quoted(value)}}}'


def json_schema(schema: str, style: str = "json") -> str:
    """A value that fits a schema; ``schema`` is JSON text, ``true`` allows any."""
    return (
        f'{{"type": "json_schema", "json_schema": {schema}, "style": "{style}", "any_order": false, '
        '"max_whitespace_cnt": null, "excludes": []}'
    )


def is_json_schema(written: str) -> bool:
    """Whether a written format is one of ``json_schema``'s."""
    return written.startswith('{"type": "json_schema"')


def any_text(excludes: Sequence[str] = ()) -> str:
    """Any text without certain strings."""
    return f'{{"type": "any_text", "excludes": {quoted(excludes)}, "max_tokens": null, "max_chars": null}}'


def regex(pattern: str) -> str:
    """Text that fits a pattern."""
    return f'{{"type": "regex", "pattern": {quoted(pattern)}}}'


def grammar(text: str) -> str:
    """Text that fits a grammar in EBNF."""
    return f'{{"type": "grammar", "grammar": {quoted(text)}}}'


def sequence(elements: Iterable[str]) -> str:
    """One after the other."""
    return f'{{"type": "sequence", "elements": [{", ".join(elements)}]}}'


def one_of(elements: Iterable[str]) -> str:
    """Any of these."""
    return f'{{"type": "or", "elements": [{", ".join(elements)}]}}'


def optional(content: str) -> str:
    """This or nothing."""
    return f'{{"type": "optional", "content": {content}}}'


def star(content: str) -> str:
    """This any number of times, or not at all."""
    return f'{{"type": "star", "content": {content}}}'


def tag(begin: str, content: str, end: str | Sequence[str]) -> str:
    """A format between two texts, the second of which may have several spellings."""
    return f'{{"type": "tag", "begin": {quoted(begin)}, "content": {content}, "end": {quoted(end)}}}'


def triggered_tags(
    triggers: Sequence[str],
    tags: Iterable[str],
    *,
    excludes: Sequence[str] = (),
    at_least_one: bool = False,
    stop_after_first: bool = False,
) -> str:
    """Any text, and tags where a trigger begins one."""
    return (
        f'{{"type": "triggered_tags", "triggers": {quoted(triggers)}, "tags": [{", ".join(tags)}], '
        f'"at_least_one": {_FLAG[at_least_one]}, "stop_after_first": {_FLAG[stop_after_first]}, '
        f'"excludes": {quoted(excludes)}}}'
    )


def tags_with_separator(tags: Iterable[str], separator: str = "", *, stop_after_first: bool = False) -> str:
    """Tags and nothing between them but the separator; at least one."""
    return (
        f'{{"type": "tags_with_separator", "tags": [{", ".join(tags)}], "separator": {quoted(separator)}, '
        f'"at_least_one": true, "stop_after_first": {_FLAG[stop_after_first]}}}'
    )
