"""Items, tools and tool choices of Responses against vLLM 0.33's own classes.

``cases_response_items.json``: bodies, one a line, and what vLLM makes of each: ``param`` (pydantic refused it there),
``message`` and ``error_param`` (vLLM's own words), ``crash``, or the chat ``messages`` and ``tools``, and ``continues``
where the last item is gone on with. ``?`` stands for messages that hold what JSON can't.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from tests.support.openai_values import ShapeMaker, roots

import typecase
from typecase.api.decode import decode_request
from typecase.api.errors import RequestError
from typecase.api.openai_types import Misfit, Model, Unread
from typecase.api.responses import ResponsesRequest
from typecase.render.response_items import chat_messages, chat_tools, continues_last_item, read_contents

CASES = json.loads(Path(__file__).with_name("cases_response_items.json").read_text(encoding="utf-8"))


def plain(value: Any) -> Any:
    if isinstance(value, Unread):
        return plain(value.check())
    if isinstance(value, dict):
        return {key: plain(inner) for key, inner in value.items()}
    return [plain(inner) for inner in value] if isinstance(value, list) else value


def outcome(make: Callable[[], Any]) -> Any:
    """What comes out, or the refusal."""
    try:
        return plain(make())
    except RequestError as error:
        return error


def check(wanted: Any, ours: Any) -> None:
    if isinstance(wanted, dict):
        assert isinstance(ours, RequestError)
        assert ours.status == 400
        if "message" in wanted:
            assert (ours.message, ours.param) == (wanted["message"], wanted["param"])
    elif wanted != "?":
        assert ours == wanted
        # The order of keys is seen where templates print a tool.
        assert wanted == [] or "function" not in wanted[0] or json.dumps(ours) == json.dumps(wanted)


@pytest.mark.parametrize("case", CASES, ids=range(len(CASES)))
def test_bodies(case: dict[str, Any]) -> None:
    request = outcome(lambda: decode_request(ResponsesRequest, case["body"].encode()))
    if isinstance(request, RequestError):
        assert request.status == 400
        assert not {"messages", "tools"} & set(case)
        told = (request.type, request.message, request.param)
        if "message" in case:
            assert told == ("BadRequestError", case["message"], case["error_param"])
        elif "param" in case:
            assert told[::2] == ("Bad Request", case["param"])
        return
    assert not {"param", "message", "crash"} & set(case)
    if "messages" in case:
        check(case["messages"], outcome(lambda: chat_messages(request.instructions, request.input)))
    if "tools" in case:
        check(case["tools"], outcome(lambda: chat_tools(request.tools)))
    assert continues_last_item(request.input) == case.get("continues", False)


def test_cases_of_every_outcome() -> None:
    found = [key for case in CASES for key in case]
    for key in ("param", "message", "messages", "tools", "continues"):
        assert found.count(key) > 5, key


TEXT = {"type": "input_text", "text": "a"}


def result(*parts: Any) -> list[Any]:
    return [{"type": "custom_tool_call_output", "call_id": "c", "output": list(parts)}]


def test_parts_that_are_read_late_are_refused_where_they_are_used() -> None:
    request = decode_request(ResponsesRequest, {"input": result(TEXT, {"type": "input_text"}, TEXT)})
    messages = chat_messages(None, request.input)
    read_contents(messages)
    first, second = messages[0]["content"]
    assert first == TEXT
    assert isinstance(second, Misfit)
    assert str(second) == "text: is missing"


def test_usual_items_are_what_a_long_look_makes_of_them() -> None:
    """The quick look agrees with the whole union: an unknown key sends an item there."""
    answer = {"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": "a"}]}
    items: list[dict[str, Any]] = [
        {"role": "user", "content": "x"},
        {"type": "message", "role": "system", "content": "x"},
        {"role": "assistant", "content": "x"},
        {"role": "developer", "content": [TEXT, TEXT]},
        answer,
        {"type": "function_call", "call_id": "c", "name": "f", "arguments": "{}", "id": "i", "status": "incomplete"},
        {"type": "function_call_output", "call_id": "c", "output": "o", "status": "completed", "id": "i"},
    ]
    for item in items:
        quick, slow = (
            decode_request(ResponsesRequest, {"input": [given]}).input[0] for given in (item, {**item, "zz": 1})
        )
        assert isinstance(quick, Model) == isinstance(slow, Model), item
        assert chat_messages(None, [quick])[0] | {"zz": 1} == chat_messages(None, [slow])[0] | {"zz": 1}


@pytest.mark.parametrize(
    ("item", "text"),
    [
        ({"type": "function_call", "name": "f", "arguments": "{}"}, "input.0.call_id: is missing"),
        ({"role": "user"}, "input.0.content: is missing"),
        ({"role": "tool", "content": "x"}, "input.0.role: expected 'user', 'assistant', 'system' or 'developer'"),
        ({"type": "nope"}, "input.0: type 'nope' isn't an input item this API knows"),
        (5, "input.0: isn't an input item this API knows; a message has a role and content"),
    ],
)
def test_a_refused_item_is_told_what_it_lacks(item: Any, text: str) -> None:
    with pytest.raises(RequestError) as refused:
        decode_request(ResponsesRequest, {"input": [item]})
    assert text in refused.value.message
    assert refused.value.param == "body.input"


def test_random_requests_are_rendered_or_refused(tiny: Path) -> None:
    """Nothing but a ``RequestError`` comes out, whatever items and tools go in."""
    model, make = typecase.load(tiny), ShapeMaker(3)
    items, tools, choices = roots("input"), roots("tools"), roots("tool_choice")
    rendered = refused = 0
    for i in range(600):
        wrong = (0.0, 0.02, 0.2)[i % 3]
        body: dict[str, Any] = {"input": [make.root(items, wrong) for _ in range(make.chance.randint(1, 3))]}
        if i % 2:
            body["tools"] = [make.root(tools, wrong) for _ in range(2)]
        if i % 5 == 0:
            body["tool_choice"] = make.root(choices, wrong)
        told = outcome(lambda body=body: model.render_responses(body))
        if isinstance(told, RequestError):
            assert told.status == 400
            refused += 1
        else:
            rendered += 1
    assert min(rendered, refused) > 10


def test_very_many_calls_in_a_row() -> None:
    """They become one message; of an assistant's message only the text counts."""
    own = {"id": "a", "type": "function", "function": {"name": "f", "arguments": "{}"}}
    call = {"type": "function_call", "call_id": "b", "name": "f", "arguments": "{}"}
    given = [{"role": "assistant", "content": "x", "tool_calls": [own]}] + [call] * 100_000
    request = decode_request(ResponsesRequest, {"input": given})
    messages = chat_messages(None, request.input)
    assert len(messages) == 1
    assert len(messages[0]["tool_calls"]) == 100_000
    assert given[0]["tool_calls"] == [own]
