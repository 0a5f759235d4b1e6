"""Structural tags against vLLM's verdicts; where only compiling what is inside would tell, they pass here."""

from __future__ import annotations

import json
from collections.abc import Callable
from itertools import product
from pathlib import Path
from typing import Any

import pytest

from typecase.api.errors import InvalidParameter, RequestError
from typecase.api.structural_tags import check_nesting, check_response_format_tag, check_structural_tag

CASES = json.loads((Path(__file__).parent / "cases_structural_tags.json").read_text(encoding="utf-8"))
TAG = {"format": {"type": "json_schema", "json_schema": {}}}


def is_taken(tag: object) -> bool:
    try:
        check_structural_tag(tag, "structured_outputs")
    except InvalidParameter:
        return False
    return True


def test_the_words_are_the_peers() -> None:
    with pytest.raises(InvalidParameter) as caught:
        check_structural_tag("", "structured_outputs")
    assert caught.value.param == "structured_outputs"
    assert caught.value.message == (
        "Invalid structured_outputs structural_tag specification. (parameter=structured_outputs)"
    )


@pytest.mark.parametrize("case", CASES, ids=range(len(CASES)))
def test_tags(case: dict[str, Any]) -> None:
    assert is_taken(case["tag"]) == (case["valid"] or case.get("only_compiling_tells", False))


@pytest.mark.parametrize("tag", ["", "{", 5, {}, '{"format": {"type": "repeat", "min": 1e999, "max": 2}}'])
def test_what_is_no_tag(tag: object) -> None:
    assert not is_taken(tag)


def nested(levels: int) -> dict[str, Any]:
    value: dict[str, Any] = {}
    for _ in range(levels - 1):
        value = {"properties": value}
    return value


def test_schemas_may_nest_64_levels_and_tags_80() -> None:
    check_nesting(nested(64))
    check_nesting(json.dumps(nested(64)))
    check_nesting(nested(80), structural_tag=True)
    for spec in (nested(65), json.dumps(nested(65)), "[" * 10**5):
        with pytest.raises(RequestError, match="may nest at most 64 levels"):
            check_nesting(spec)
    with pytest.raises(RequestError, match="may nest at most 64 levels"):
        check_nesting(nested(81), structural_tag=True)
    check_nesting("{no json")


def test_a_tag_nested_too_deeply_is_refused_before_its_shape() -> None:
    with pytest.raises(RequestError, match="nested too deeply"):
        check_structural_tag(json.dumps({"format": nested(90)}), "structured_outputs")
    with pytest.raises(RequestError, match="nested too deeply"):
        check_response_format_tag({"type": "structural_tag", "format": nested(90)})


def test_response_formats() -> None:
    check_response_format_tag({"type": "structural_tag", **TAG})
    legacy = {"structures": [{"begin": "<a>", "schema": {}, "end": "</a>"}], "triggers": ["<a"]}
    check_response_format_tag({"type": "structural_tag", **legacy})
    for wrong in ({}, {"format": None}, {**TAG, "structures": [], "triggers": ["<a"]}, {"structures": []}):
        with pytest.raises(InvalidParameter, match="Invalid response_format structural_tag"):
            check_response_format_tag({"type": "structural_tag", **wrong})


def triggered(triggers: list[str], begins: list[str]) -> str:
    tags = [{"begin": begin, "content": {"type": "any_text"}, "end": "."} for begin in begins]
    return json.dumps({"format": {"type": "triggered_tags", "triggers": triggers, "tags": tags}})


def test_each_tag_begins_with_one_trigger_and_each_trigger_begins_a_tag() -> None:
    words = ["a", "ab", "b", "ba", "aab"]
    for triggers, begins in product(product(words, repeat=2), product(words, repeat=3)):
        fits = all(sum(b.startswith(t) for t in triggers) == 1 for b in begins) and all(
            any(b.startswith(t) for b in begins) for t in triggers
        )
        assert is_taken(triggered(list(triggers), list(begins))) == fits, (triggers, begins)


def test_very_many_triggers_are_not_tried_on_every_tag() -> None:
    names = [f"<{i}>" for i in range(100_000)]
    assert is_taken(triggered(names, names))
    assert not is_taken(triggered(names, names[1:]))


@pytest.mark.parametrize("around", [lambda inner: {"elements": [inner]}, lambda inner: {"begin": 0, "content": inner}])
def test_formats_without_a_type_are_read_once_at_each_level(around: Callable[[object], object]) -> None:
    # Several kinds of formats could be such an object, and each looks at what is inside. Once for each kind at each of
    # these levels would not end.
    good, bad = ({"elements": [{"value": text}]} for text in ("", 0))
    for _ in range(37):
        good, bad = {"elements": [good]}, around(bad)
    check_response_format_tag({"type": "structural_tag", "format": good})
    with pytest.raises(InvalidParameter):
        check_response_format_tag({"type": "structural_tag", "format": bad})
