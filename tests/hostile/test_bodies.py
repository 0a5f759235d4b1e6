"""Bodies of any shape, through a real server: refused or served, never a 5xx, and never an answer of another form."""

from __future__ import annotations

import http.client
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import msgspec
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from tests.server.serving import CHAT, TIMEOUT, Running, running

import typecase
from typecase.api.chat import ChatRequest
from typecase.api.completions import CompletionRequest
from typecase.api.responses import ResponsesRequest
from typecase.api.tokenize import DetokenizeRequest
from typecase.server.settings import TemplateBudget

LEAVES = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(-(2**70), 2**70),
    st.floats(),
    st.text(max_size=8),
    st.sampled_from(
        [
            "user",
            "assistant",
            "tool",
            "system",
            "text",
            "function",
            "image_url",
            "auto",
            "none",
            "required",
            "",
            "{",
            "{}",
        ]
    ),
)
KEYS = st.one_of(
    st.sampled_from(
        [
            "role",
            "content",
            "type",
            "text",
            "function",
            "name",
            "arguments",
            "tool_calls",
            "id",
            "image_url",
            "url",
            "uuid",
        ]
    ),
    st.text(max_size=4),
)
VALUES = st.recursive(
    LEAVES,
    lambda inner: st.one_of(st.lists(inner, max_size=3), st.dictionaries(KEYS, inner, max_size=4)),
    max_leaves=8,
)
MESSAGES = st.one_of(
    st.just([{"role": "user", "content": "hello"}]),
    st.lists(
        st.one_of(
            st.fixed_dictionaries(
                {"role": st.sampled_from(["user", "assistant", "tool", "system"]), "content": VALUES}
            ),
            st.dictionaries(KEYS, VALUES, max_size=4),
            VALUES,
        ),
        max_size=3,
    ),
)


def bodies(cls: type[msgspec.Struct], **likely: st.SearchStrategy[Any]) -> st.SearchStrategy[dict[str, Any]]:
    """Mostly good bodies with a few fields of any value."""
    odd = st.dictionaries(st.sampled_from(cls.__struct_fields__), VALUES, max_size=3)
    return st.builds(lambda usual, fields: {**usual, **fields}, st.fixed_dictionaries(likely), odd)


REQUESTS = st.one_of(
    st.tuples(st.just(CHAT), bodies(ChatRequest, messages=MESSAGES)),
    st.tuples(st.just("/tokenize"), bodies(ChatRequest, messages=MESSAGES)),
    st.tuples(st.just("/tokenize"), bodies(ChatRequest, prompt=VALUES)),
    st.tuples(
        st.just("/v1/completions/render"),
        bodies(CompletionRequest, prompt=st.one_of(st.just("hello"), st.lists(st.integers(-5, 2**65)), VALUES)),
    ),
    st.tuples(st.just("/v1/responses/render"), bodies(ResponsesRequest, input=st.one_of(MESSAGES, VALUES))),
    st.tuples(
        st.just("/detokenize"), bodies(DetokenizeRequest, tokens=st.one_of(st.lists(st.integers(-5, 5000)), VALUES))
    ),
)


@pytest.fixture(scope="module")
def real(tiny: Path) -> Iterator[Running]:
    model = typecase.load(tiny, served_model_names=("tiny",), trust_request_chat_template=True)
    budget = TemplateBudget(steps=100_000, characters=1_000_000, seconds=5)
    with running(model, full_budget=budget) as server:
        yield server


@settings(max_examples=300, deadline=None, suppress_health_check=list(HealthCheck))
@given(request=REQUESTS)
def test_any_body(real: Running, request: tuple[str, dict[str, Any]]) -> None:
    path, body = request
    connection = http.client.HTTPConnection("127.0.0.1", real.port, timeout=TIMEOUT)
    try:
        connection.request("POST", path, json.dumps(body), {"Content-Type": "application/json"})
        answer = connection.getresponse()
        found = json.loads(answer.read())
    finally:
        connection.close()
    assert answer.status < 500 or found["error"]["type"] == "NotImplementedError", found
    if answer.status == 200:
        one = found[0] if isinstance(found, list) else found
        assert {"token_ids", "tokens", "prompt"} & set(one)
    elif "detail" not in found:
        assert set(found["error"]) == {"message", "type", "param", "code"}
        assert found["error"]["code"] == answer.status
        assert found["error"]["message"]
        assert "Traceback" not in found["error"]["message"]
