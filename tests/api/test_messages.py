"""Bodies of the Messages API against the verdicts of vLLM 0.33's own request classes.

``cases_messages.json``: one body a line, with ``accepts`` (the fields as they were read, but for the type that
vLLM writes into a schema without one) or ``param`` (where the first fault is).
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import msgspec
import pytest

from typecase.api.decode import decode_request, read_fast, read_slowly
from typecase.api.errors import BodyError
from typecase.api.limits import DEFAULT_LIMITS, Limits
from typecase.api.message_blocks import ContentBlock, Message
from typecase.api.messages import CountTokensRequest, MessagesRequest, ThinkingEnabled

CASES = json.loads((Path(__file__).parent / "cases_messages.json").read_text(encoding="utf-8"))
CLASSES: dict[str, Any] = {"messages": MessagesRequest, "count": CountTokensRequest}
USER = {"role": "user", "content": "x"}
BODY = {"model": "m", "max_tokens": 10, "messages": [USER]}


def utf8(text: str) -> bytes:
    return text.encode("utf-8", "surrogatepass")


def without_nulls(value: Any) -> Any:
    if isinstance(value, dict):
        return {k: without_nulls(v) for k, v in value.items() if v is not None}
    return [without_nulls(v) for v in value] if isinstance(value, list) else value


@pytest.mark.parametrize("case", [c for c in CASES if "accepts" in c])
def test_accepted(case: dict[str, Any]) -> None:
    request = decode_request(CLASSES[case["class"]], utf8(case["body"]))
    for name, value in case["accepts"].items():
        read = without_nulls(msgspec.to_builtins(getattr(request, name)))
        assert repr(read) == repr(without_nulls(value)), name


@pytest.mark.parametrize("case", [c for c in CASES if "param" in c])
def test_refused(case: dict[str, Any]) -> None:
    with pytest.raises(BodyError) as refused:
        decode_request(CLASSES[case["class"]], utf8(case["body"]))
    error = refused.value
    assert (error.status, error.type, error.param) == (400, "Bad Request", case["param"])
    assert "validation error" in error.message


def test_both_ways_of_reading_agree() -> None:
    """What the fast way takes, the slow way reads the same; the fast way takes most of what is accepted."""
    fast = slow = 0
    for case in CASES:
        cls = CLASSES[case["class"]]
        raw = cls.check_body(json.loads(case["body"]))
        request = read_fast(cls, raw, DEFAULT_LIMITS)
        if request is not None:
            assert "accepts" in case, case
            assert repr(request) == repr(read_slowly(cls, raw, DEFAULT_LIMITS))
            fast += 1
        slow += "accepts" in case and request is None
    assert fast > 3 * slow


def test_faults_are_told_in_words() -> None:
    def told(**fields: Any) -> str:
        with pytest.raises(BodyError) as refused:
            decode_request(MessagesRequest, {**BODY, **fields})
        return refused.value.message

    block = {"type": "tool_removal", "tool": {"type": "tool_reference", "name": "f"}}
    changed = {"role": "user", "content": [block]}
    bare = {"role": "system", "content": [{"type": "tool_addition"}]}
    whole = {"role": "system", "content": [{**block, "tool": {"type": "tool_definition", "definition": {}}}]}
    assert "messages.0.content.0.type: expected 'text', 'image'" in told(
        messages=[{"role": "user", "content": [{"type": "x"}]}]
    )
    assert "messages.0.content.0.text: expected a string, got 5" in told(
        messages=[{"role": "user", "content": [{"type": "text", "text": 5}]}]
    )
    assert 'only allowed in messages with role "system"' in told(messages=[changed])
    assert 'only allowed in messages with role "system"' in told(system=[block])
    assert "tool is required for tool_addition blocks" in told(messages=[bare])
    assert "definition.name: is missing" in told(messages=[whole])
    assert "thinking.budget_tokens must be less than max_tokens" in told(
        thinking={"type": "enabled", "budget_tokens": 1024}
    )
    assert "tool_choice.name is required when type is 'tool'" in told(tool_choice={"type": "tool"})


def test_the_operators_limit_of_stop_sequences() -> None:
    body = {**BODY, "stop_sequences": ["a"] * 5}
    assert decode_request(MessagesRequest, body, limits=Limits(max_stop_strings=5)).stop_sequences == ["a"] * 5
    with pytest.raises(BodyError, match="takes at most 4 items"):
        decode_request(MessagesRequest, body)


def test_the_body_stays_as_it_is() -> None:
    body = {**BODY, "tools": [{"name": "f", "input_schema": {}}], "return_mm_kwargs": False}
    before = json.dumps(body)
    request = decode_request(MessagesRequest, body)
    assert request.mm_payload == "none"
    assert json.dumps(body) == before


def test_requests_made_in_python() -> None:
    blocks = [ContentBlock(type="text", text="x")]
    request = MessagesRequest(model="m", max_tokens=2000, messages=[Message(role="user", content=blocks)])
    assert request.stream is False
    with pytest.raises(BodyError):
        MessagesRequest(
            model="m", max_tokens=2000, messages=request.messages, thinking=ThinkingEnabled(budget_tokens=2000)
        )
