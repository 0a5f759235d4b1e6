"""Messages as the template sees them; each case is what vLLM 0.33 does."""

from __future__ import annotations

from typing import Any

import pytest

from typecase.api.errors import RequestError
from typecase.prompt.conversation import fold_developer_messages, knows_developer_role, normalise_messages


def string(*messages: dict[str, Any]) -> list[dict[str, Any]]:
    return normalise_messages(messages, content_format="string", media_refusal="m is not a multimodal model")


def openai(*messages: dict[str, Any]) -> list[dict[str, Any]]:
    return normalise_messages(messages, content_format="openai", media_refusal="m is not a multimodal model")


def call(arguments: Any, **more: Any) -> dict[str, Any]:
    function = {"name": "f"} if arguments is ... else {"name": "f", "arguments": arguments}
    return {"role": "assistant", "tool_calls": [{"id": "1", "type": "function", "function": function, **more}]}


TEXTS = [{"type": "text", "text": "a"}, {"type": "text", "text": ""}, {"type": "text", "text": "b"}]


def test_texts_are_joined_or_kept() -> None:
    assert string({"role": "user", "content": TEXTS}) == [{"role": "user", "content": "a\nb"}]
    assert openai({"role": "user", "content": TEXTS}) == [{"role": "user", "content": TEXTS}]
    assert openai({"role": "user", "content": "x"})[0]["content"] == [{"type": "text", "text": "x"}]


def test_extra_keys_of_a_part_reach_openai_templates_only() -> None:
    part = {"type": "text", "text": "a", "cache_control": {"type": "ephemeral"}}
    assert openai({"role": "user", "content": [part]})[0]["content"] == [part]
    assert string({"role": "user", "content": [part]})[0]["content"] == "a"


@pytest.mark.parametrize("content", [None, [], ""])
def test_empty_content(content: Any) -> None:
    assert string({"role": "user", "content": content}) == [{"role": "user", "content": ""}]


def test_extra_keys_of_a_message_are_dropped() -> None:
    given = {"role": "user", "content": "x", "name": "ada", "task": "t", "mood": "good", "tool_call_id": "1"}
    assert string(given) == [{"role": "user", "content": "x", "name": "ada", "task": "t"}]
    assert string({"role": "user", "content": "x", "name": 5}) == [{"role": "user", "content": "x"}]


def test_reasoning_has_two_names_and_only_for_assistants() -> None:
    assert string({"role": "assistant", "content": "x", "reasoning": "r"}) == [
        {"role": "assistant", "content": "x", "reasoning": "r", "reasoning_content": "r"}
    ]
    assert string({"role": "user", "content": "x", "reasoning": "r"}) == [{"role": "user", "content": "x"}]


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        ('{"b": 1, "a": [2]}', {"b": 1, "a": [2]}),
        # vllm#43995, #47761, #48922, #46328: none of these may end the conversation
        ('{"value": ', {}),
        ("null", {}),
        ("", {}),
        ('"escaped"', {}),
        ("[1]", {}),
        ('{"a": 1} trailing', {}),
        ("[" * 100_000, {}),
        (None, {}),
        (..., {}),
        ({"already": True}, {"already": True}),
    ],
)
def test_call_arguments_become_a_mapping(arguments: Any, expected: dict[str, Any]) -> None:
    message = call(arguments)
    function = string(message)[0]["tool_calls"][0]["function"]
    assert function["arguments"] == expected
    assert list(function["arguments"]) == list(expected)
    assert message == call(arguments), "the request itself must stay as it was"


def test_empty_call_list_is_dropped() -> None:
    assert "tool_calls" not in string({"role": "assistant", "content": "x", "tool_calls": []})[0]


@pytest.mark.parametrize("bad", [5, {"type": "custom", "custom": {}}, {"type": "function"}, {"function": "f"}])
def test_calls_of_other_kinds_are_refused(bad: Any) -> None:
    with pytest.raises(RequestError) as refused:
        string({"role": "assistant", "tool_calls": [bad]})
    assert refused.value.param == "tool_calls"


def test_tool_results_that_are_all_text_become_a_string() -> None:
    message = {"role": "tool", "tool_call_id": "1", "content": [{"type": "text", "text": t} for t in "ab"]}
    for normalise in (string, openai):
        assert normalise(message) == [{"role": "tool", "content": "a\nb", "tool_call_id": "1"}]
    with_empty = {**message, "content": [{"type": "text", "text": t} for t in ("a", "", "b")]}
    assert (openai(with_empty)[0]["content"], string(with_empty)[0]["content"]) == ("a\n\nb", "a\nb")
    with pytest.raises(RequestError, match=r"messages\[0\]\.content\[1\]"):
        openai({**message, "content": [*message["content"][:1], {"type": "text", "text": 5}]})
    reference = {"type": "tool_reference", "name": "f"}
    assert openai({**message, "content": [reference]})[0]["content"] == [reference]
    assert string({**message, "content": [reference]})[0]["content"] == "f"


def test_billing_header_is_taken_out_of_system_text() -> None:
    header = "x-anthropic-billing-header: cch=123"
    for content in (f"{header}\nBe brief.", [{"type": "text", "text": f"{header}\nBe brief."}]):
        assert string({"role": "system", "content": content})[0]["content"] == "Be brief."
    assert string({"role": "system", "content": header})[0]["content"] == ""
    assert string({"role": "user", "content": header})[0]["content"] == header


@pytest.mark.parametrize(
    "parts",
    [["a", "b"], [{"type": "bogus", "x": 1}], [{"x": 1}], [{"text": "a"}], [{"type": "text"}], [{"type": "text",
    "text": None}],
     [None], [["nested"]], [{"type": "input_text", "text": "b"}], [{}]],
)  # fmt: skip
def test_a_list_without_any_known_part_is_refused(parts: list[Any]) -> None:
    with pytest.raises(RequestError, match=r"messages\[0\]\.content\[0\]") as refused:
        string({"role": "user", "content": parts})
    assert refused.value.param is None


def test_beside_a_known_part_others_are_taken_by_type() -> None:
    text = {"type": "text", "text": "a"}
    assert string({"role": "user", "content": [text, "b"]})[0]["content"] == "a\nb"
    assert string({"role": "user", "content": [text, {"type": "input_text", "text": "b"}]})[0]["content"] == "a\nb"
    for odd, param in [({"x": 1}, "type"), ({"type": "bogus"}, "type"), ({"type": 5}, "type")]:
        with pytest.raises(RequestError) as refused:
            string({"role": "user", "content": [text, odd]})
        assert refused.value.param == param


def test_media_is_refused_with_the_given_words() -> None:
    for part in ({"type": "image_url", "image_url": {"url": "x"}}, {"image_url": "x"}):
        with pytest.raises(RequestError, match="m is not a multimodal model"):
            string({"role": "user", "content": [part]})


def test_developer_becomes_system_and_systems_are_merged() -> None:
    developer = {"role": "developer", "content": "D", "tools": None}
    user = {"role": "user", "content": "u"}
    system = {"role": "system", "content": "S"}
    assert fold_developer_messages([developer, user]) == [{"role": "system", "content": "D"}, user]
    assert fold_developer_messages([system, user, developer]) == [{"role": "system", "content": "S\n\nD"}, user]
    assert fold_developer_messages([user, developer]) == [{"role": "system", "content": "D"}, user]
    untouched = [user, system, user]
    assert fold_developer_messages(untouched) is untouched


def test_developer_role_is_found_by_its_quoted_name() -> None:
    assert knows_developer_role("{% if m.role == 'developer' %}")
    assert knows_developer_role('{% if m.role == "developer" %}')
    assert not knows_developer_role("{# developer #}")


def test_texts_of_a_bare_tool_result_are_joined() -> None:
    """Also of one that names no call."""
    assert openai({"role": "tool", "content": TEXTS}) == [{"role": "tool", "content": "a\n\nb"}]


def test_a_billing_header_counts_when_the_type_of_a_message_is_chosen() -> None:
    header = {"type": "text", "text": "x-anthropic-billing-header: a"}
    with pytest.raises(RequestError, match="Missing 'type' field"):
        string({"role": "system", "content": [{}, header]})
    with pytest.raises(RequestError, match="not a content part"):
        string({"role": "system", "content": [{}]})


def test_a_fault_in_a_content_is_told_before_one_in_a_tool_call() -> None:
    custom = {"role": "assistant", "tool_calls": [{"id": "1", "type": "custom"}]}
    with pytest.raises(RequestError, match="type 'function'"):
        string(custom)
    with pytest.raises(RequestError, match="Missing 'type' field"):
        string(custom, {"role": "narrator", "content": [{}]})


def test_which_type_reads_the_parts_of_a_message() -> None:
    """vLLM's catch-all takes parts of any known type, OpenAI's own type for a role only some."""
    parts = [{"type": "output_text", "text": "a"}]
    result = {"role": "tool", "tool_call_id": "1", "content": parts}
    with pytest.raises(RequestError, match=r"messages\[0\].content\[0\]"):
        string(result)
    assert string(result | {"name": "f"})[0]["content"] == "a"  # a name is a field of the catch-all alone
    thought = {"role": "system", "content": [{"type": "thinking", "thinking": "a"}]}
    assert string(thought | {"tools": [{"type": "function", "function": {"name": "f"}}]})[0]["content"] == "a"
    with pytest.raises(RequestError, match=r"messages\[0\].content\[0\]"):
        string(thought | {"tools": [{"function": {"name": "f"}}]})  # no tool, so that OpenAI's type takes the message
