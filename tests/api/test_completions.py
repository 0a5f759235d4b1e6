"""Completion bodies against vLLM's verdicts. ``cases_completions.json`` is laid out like the files of
``test_decode.py``."""

from __future__ import annotations

import contextlib
import json
from typing import Any

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.api.test_decode import VALUES, cases, check

from typecase.api.completions import CompletionRequest, decode_completion
from typecase.api.decode import read_fast, read_slowly
from typecase.api.errors import BodyError, RequestError
from typecase.api.limits import DEFAULT_LIMITS, Limits


@pytest.mark.parametrize("case", cases("completions"))
def test_bodies(case: dict[str, Any]) -> None:
    check(case, decode_completion)


FIELDS = st.sampled_from([f.encode_name for f in msgspec.structs.fields(CompletionRequest)])
ITEM = st.sampled_from([0, 1, -1, 2**33, True, 1.0, 1.5, "1", "a", "", "\ud800", None, [], [1], ["1"], [True], {}])
PROMPT = st.lists(ITEM, max_size=4) | st.sampled_from(["a", "", None, 5, {}, "\ud800"])
BODY = st.builds(
    lambda prompt, fields: {"prompt": prompt, **fields}, PROMPT, st.dictionaries(FIELDS, VALUES, max_size=3)
)


@settings(max_examples=300, deadline=None)
@given(BODY)
def test_the_fast_way_agrees_with_the_slow_one(body: dict[str, Any]) -> None:
    try:
        checked = CompletionRequest.check_body(dict(body))
        fast = read_fast(CompletionRequest, checked, DEFAULT_LIMITS)
    except RequestError:
        return
    if fast is not None:
        assert read_slowly(CompletionRequest, checked, DEFAULT_LIMITS) == fast


@settings(max_examples=200, deadline=None)
@given(BODY)
def test_a_body_is_read_or_refused_and_left_alone(body: dict[str, Any]) -> None:
    before = json.dumps(body)
    with contextlib.suppress(RequestError):
        decode_completion(body)
    assert json.dumps(body) == before


def test_a_bad_prompt_of_several_is_named() -> None:
    with pytest.raises(BodyError) as caught:
        decode_completion({"prompt": ["a", "b", 5]})
    assert "prompt.2: expected a string, got 5" in caught.value.message
    with pytest.raises(BodyError) as caught:
        decode_completion({"prompt": [[1], [2, -3]]})
    assert "prompt.1.1: must be at least 0, got -3" in caught.value.message


@pytest.mark.parametrize("name", ["prompt", "prompt_embeds"])
def test_the_limit_of_prompts_can_be_moved(name: str) -> None:
    body: dict[str, Any] = {"prompt": "a", name: ["b"] * 6}
    assert decode_completion(body).prompt
    with pytest.raises(RequestError) as caught:
        decode_completion(body, limits=Limits(max_completion_prompts=5))
    assert caught.value.param == name
    assert caught.value.message.startswith(f"{name} list length 6 exceeds the maximum allowed count of 5. ")
    assert decode_completion({"prompt": [1] * 6}, limits=Limits(max_completion_prompts=5)).prompt == [1] * 6
