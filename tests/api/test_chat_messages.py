"""Messages and tools: what stays, what is put in order, what is told when they are wrong."""

from __future__ import annotations

import json
from typing import Any

import pytest

from typecase.api.chat import ChatRequest
from typecase.api.chat_messages import has_non_text_content
from typecase.api.decode import decode_request
from typecase.api.errors import BodyError, InvalidParameter, RequestError
from typecase.api.reading import REFUSED, Reading
from typecase.api.responses import ResponsesRequest
from typecase.api.tools import fast_tools, read_tools


def chat(*messages: Any, **fields: Any) -> ChatRequest:
    return decode_request(ChatRequest, {"messages": list(messages), **fields})


def test_unknown_roles_and_keys_stay() -> None:
    message = {"role": "narrator", "content": "x", "mood": {"a": 1}}
    assert chat(message).messages == [message]


def test_content_may_be_missing_but_not_null() -> None:
    assert chat({"role": "user"}).messages == [{"role": "user"}]
    assert chat({"role": "assistant", "content": None}).messages == [{"role": "assistant", "content": None}]
    with pytest.raises(BodyError) as caught:
        chat({"role": "user", "content": None})
    assert caught.value.param == "body.messages.0.content"
    assert "messages.0.content: expected a string or a list of content parts, got null" in caught.value.message


def test_a_missing_role_is_named() -> None:
    with pytest.raises(BodyError) as caught:
        chat({"content": "x"})
    assert caught.value.param == "body.messages.0.role"
    assert "messages.0.role: is missing" in caught.value.message


def test_the_text_names_the_real_fault_where_param_follows_the_peer() -> None:
    with pytest.raises(BodyError) as caught:
        chat({"role": "user", "content": "x", "name": 5})
    assert caught.value.param == "body.messages.0.role"
    assert "messages.0.name: expected a string, got 5" in caught.value.message


def test_old_reasoning_is_renamed() -> None:
    old = {"role": "assistant", "content": "c", "reasoning_content": "r"}
    assert chat(old).messages == [{"role": "assistant", "content": "c", "reasoning": "r"}]
    assert chat({**old, "reasoning": "new"}).messages[0]["reasoning"] == "new"
    assert old["reasoning_content"] == "r"


CALL = {"type": "function", "index": 0, "function": {"name": "f", "extra": 1, "arguments": "{}"}, "id": "i"}


@pytest.mark.parametrize("content", ["c", None, [{"type": "text", "text": "c"}]])
def test_tool_calls_are_put_in_order(content: Any) -> None:
    usual = {"type": "function", "function": {"name": "f", "arguments": "{}"}, "id": "i"}
    calls = chat({"role": "assistant", "content": content, "tool_calls": [CALL, usual]}).messages[0]["tool_calls"]
    assert json.dumps(calls) == json.dumps(
        [
            {
                "id": "i",
                "function": {"arguments": "{}", "name": "f", "extra": 1},
                "type": "function",
                "index": 0,
            },
            {"id": "i", "function": {"arguments": "{}", "name": "f"}, "type": "function"},
        ]
    )
    assert list(CALL) == ["type", "index", "function", "id"]


def test_arguments_must_be_text() -> None:
    call = {"id": "i", "type": "function", "function": {"name": "f", "arguments": {"a": 1}}}
    with pytest.raises(BodyError) as caught:
        chat({"role": "user", "content": "q"}, {"role": "assistant", "content": "", "tool_calls": [call]})
    # vLLM loses the message here, and takes "arguments" for a word of pydantic's.
    assert caught.value.param == "body.0.function"
    assert "messages.1.tool_calls.0.function.arguments" in caught.value.message
    assert '"arguments": "a string"' in caught.value.message


def test_faulty_calls_are_told_after_everything_else() -> None:
    message = {"role": "assistant", "content": "", "tool_calls": [{"id": "i", "type": "zz"}]}
    with pytest.raises(BodyError) as caught:
        chat(message, temperature="hot")
    assert caught.value.param == "body.temperature"


def test_harmonys_own_messages_are_refused() -> None:
    with pytest.raises(RequestError, match="a message needs a role"):
        chat({"author": {"role": "user"}, "content": [{"type": "text", "text": "x"}]})


@pytest.mark.parametrize(
    ("content", "expected"),
    [
        ("text", False),
        ([{"type": "text", "text": "t"}, "s"], False),
        ([{"text": "no type"}], False),
        ([{"type": "image_url", "image_url": {"url": "u"}}], True),
        ([{"image_url": "u"}], True),
        ([{"type": ["odd"]}], True),
        ([{"type": "zzz"}], True),
    ],
)
def test_text_is_told_from_media(content: Any, expected: bool) -> None:
    assert has_non_text_content([{"role": "user", "content": content}, 5]) is expected


def test_forwarded_prompt_ids_are_dropped_with_media() -> None:
    image = {"role": "user", "content": [{"type": "image_url", "image_url": {"url": "u"}}]}
    transfer = {"prompt_token_ids": [1], "a": 2}
    assert chat(image, kv_transfer_params=transfer).kv_transfer_params == {"a": 2}
    assert transfer == {"prompt_token_ids": [1], "a": 2}
    assert chat({"role": "user", "content": "x"}, kv_transfer_params=transfer).kv_transfer_params == transfer


TOOLS: list[dict[str, Any]] = [
    {"type": "function", "function": {"name": "f", "description": "d", "parameters": {"b": 1, "a": 2}}},
    {"function": {"parameters": None, "name": "f", "x": 1}, "y": 2},
    {"type": "function", "function": {"name": "f", "strict": False}},
    {"type": "function", "function": {"name": "f"}, "defer_loading": True},
    {"type": "function", "function": {"name": "f", "defer_loading": False}, "defer_loading": True},
    {"type": "function", "function": {"name": "f", "defer_loading": False}},
]


def test_tools_take_one_form() -> None:
    bare = {"name": "f", "description": None, "parameters": None}
    assert json.dumps(fast_tools(TOOLS)) == json.dumps(
        [
            {"type": "function", "function": {"name": "f", "description": "d", "parameters": {"b": 1, "a": 2}}},
            {"type": "function", "function": bare},
            {"type": "function", "function": {**bare, "strict": False}},
            {"type": "function", "function": {**bare, "defer_loading": True}, "defer_loading": True},
            {"type": "function", "function": {**bare, "defer_loading": False}, "defer_loading": True},
            {"type": "function", "function": {**bare, "defer_loading": False}},
        ]
    )
    assert read_tools(TOOLS, (), Reading()) == fast_tools(TOOLS)


@pytest.mark.parametrize(
    "tool",
    [
        {"type": "function", "function": {"name": 5, "description": None, "parameters": None}},
        {"type": "function", "function": {"name": "f", "description": 5, "parameters": None}},
        {"type": "function", "function": {"name": "f", "description": None, "parameters": []}},
        {"type": "custom", "function": {"name": "f", "description": None, "parameters": None}},
        {"type": "function", "function": {"name": "f", "strict": "yes"}},
        {"type": "function", "function": {}},
        {"type": "function", "function": None},
        {"type": "function"},
        5,
    ],
)
def test_odd_tools_are_left_to_the_slow_reader(tool: Any) -> None:
    assert fast_tools([tool]) is REFUSED


@pytest.mark.parametrize("members", [None, [5], [{"type": "function"}], [{"name": "f"}]])
def test_namespaces_hold_named_tools(members: Any) -> None:
    space = {"type": "namespace", "name": "n", "description": "d"}
    good = {**space, "tools": [{"type": "function", "name": "f"}]}
    (read,) = decode_request(ResponsesRequest, {"input": "x", "tools": [good]}).tools
    assert (read["name"], read["tools"][0]["name"]) == ("n", "f")
    with pytest.raises(BodyError):
        decode_request(ResponsesRequest, {"input": "x", "tools": [{**space, "tools": members}]})


def test_a_bare_name_in_one_namespace_is_found() -> None:
    spaces = [
        {"type": "namespace", "name": n, "description": "d", "tools": [{"type": "function", "name": t} for t in names]}
        for n, names in (("a", "fg"), ("b", "fh"))
    ]

    def chosen(name: str) -> Any:
        choice = {"type": "function", "name": name}
        return decode_request(ResponsesRequest, {"input": "x", "tools": spaces, "tool_choice": choice}).tool_choice

    assert chosen("g") == {"type": "function", "name": "a__g"}
    assert chosen("b__f") == {"type": "function", "name": "b__f"}
    with pytest.raises(InvalidParameter, match=r"ambiguous: it is defined in more than one namespace \(a__f, b__f\)"):
        chosen("f")
    with pytest.raises(InvalidParameter, match="not found in 'tools'"):
        chosen("z")


def test_a_tool_choice_follows_from_tools() -> None:
    user = {"role": "user", "content": "x"}
    assert chat(user).tool_choice == "none"
    assert chat(user, tools=TOOLS).tool_choice == "auto"
    assert chat(user, tools=TOOLS, tool_choice=None).tool_choice is None
    named = {"type": "function", "function": {"name": "f"}}
    assert json.dumps(chat(user, tools=TOOLS, tool_choice=named).tool_choice) == (
        '{"function": {"name": "f"}, "type": "function"}'
    )


def test_tools_of_a_message_are_put_in_order() -> None:
    """Their keys come in the order of vLLM's types; ``strict`` is read as a bool."""
    function = {"strict": "yes", "more": 1, "parameters": {"z": 1, "a": 2}, "description": "d", "name": "f"}
    (message,) = chat(
        {"role": "developer", "content": "x", "tools": [{"type": "function", "function": function}]}
    ).messages
    (tool,) = message["tools"]
    assert list(tool) == ["function", "type"]
    assert list(tool["function"].items()) == [
        ("name", "f"), ("description", "d"), ("parameters", {"z": 1, "a": 2}), ("strict", True), ("more", 1),
    ]  # fmt: skip


@pytest.mark.parametrize("tools", [5, [5], [{"type": "function", "function": {"name": "f", "strict": "maybe"}}]])
def test_tools_that_are_none_stay_where_openais_type_takes_the_message(tools: Any) -> None:
    message = {"role": "developer", "content": "x", "tools": tools}
    assert chat(message).messages == [message]
    with pytest.raises(BodyError) as caught:
        chat(message | {"role": "narrator"})
    assert "tools: expected a list of function tools" in caught.value.message
