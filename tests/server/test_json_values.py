"""Counting the values of a body without decoding it."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.server.serving import CHAT, running

from typecase.server.json_values import TooManyValues, check_values

VALUES = st.recursive(
    st.one_of(st.none(), st.booleans(), st.integers(), st.text(alphabet='a",[{\\:\u65e5', max_size=6)),
    lambda inner: st.one_of(st.lists(inner, max_size=5), st.dictionaries(st.text(max_size=3), inner, max_size=5)),
    max_leaves=40,
)


def count(value: Any) -> int:
    """Values, an empty container counting as two."""
    if isinstance(value, dict | list):
        inner = list(value.values()) if isinstance(value, dict) else value
        return 1 + (sum(map(count, inner)) or 1)
    return 1


def too_many(body: bytes, limit: int) -> bool:
    try:
        check_values(body, limit)
    except TooManyValues:
        return True
    return False


@given(value=VALUES, ascii_only=st.booleans(), limit=st.integers(1, 60))
def test_the_count_is_exact_for_bodies_that_are_looked_at(value: Any, ascii_only: bool, limit: int) -> None:
    body = json.dumps(value, ensure_ascii=ascii_only, separators=(",", ":")).encode()
    assert too_many(body, limit) == (len(body) > 2 * limit and count(value) > limit)


@pytest.mark.parametrize(
    "body",
    [
        b'"' + b'\\"' * 400_000,
        b'"' + b'\\"' * 400_000 + b"\\",
        b'"' * 800_001,
        b'"\\' * 400_000,
        b'"' + b"," * 800_000,
        b'{"a":"' + b"[," * 400_000 + b'"}',
    ],
)
def test_commas_in_strings_are_none_and_counting_is_linear(body: bytes) -> None:
    assert not too_many(body, 100_000)


def test_over_http() -> None:
    with running(max_json_nodes=10_000, inline_body_bytes=1000) as server:
        assert server.ask("POST", CHAT, b'{"t": "' + b"[," * 20_000 + b'"}').status == 200
        body = b'{"t": [' + b"[]," * 10_000 + b"0]}"
        refused = server.ask("POST", CHAT, body)
        assert refused.status == 400
        assert "--max-json-nodes" in refused.json["error"]["message"]
        assert server.ask("POST", "/detokenize", body).status == 200, "its list is of one kind"
