"""DeepSeek V4's prompts, and its completions between two texts, against vLLM's."""

from __future__ import annotations

from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.support.written_cases import check_case, refusal, text_of, written_cases

import typecase

HELLO: list[dict[str, Any]] = [{"role": "user", "content": "Hello there"}]
ROLES = ("user", "assistant", "system", "tool", "developer", "latest_reminder", "narrator")
JSON = st.recursive(
    st.none() | st.booleans() | st.integers(-5, 5) | st.text(max_size=3),
    lambda inner: st.lists(inner, max_size=2) | st.dictionaries(st.text(max_size=3), inner, max_size=2),
    max_leaves=4,
)
PARTS = st.lists(
    st.fixed_dictionaries(
        {"type": st.sampled_from(["text", "thinking", "tool_reference", "tool_result"])},
        optional={"text": st.text(max_size=3), "thinking": JSON, "name": JSON},
    ),
    max_size=3,
)
MESSAGES = st.lists(
    st.fixed_dictionaries(
        {"role": st.sampled_from(ROLES), "content": st.text(max_size=3) | PARTS},
        optional={
            "task": st.sampled_from(["title", "action", "sing"]) | JSON,
            "tools": JSON | st.just([{"type": "function", "function": {"name": "f"}}]),
            "tool_calls": JSON
            | st.just([{"id": "a", "type": "function", "function": {"name": "f", "arguments": '{"a": 1}'}}]),
            "tool_call_id": st.sampled_from(["a", "b"]),
            "reasoning": st.text(max_size=3),
            "content_blocks": JSON | PARTS,
            "response_format": JSON,
            "wo_eos": JSON,
        },
    ),
    max_size=5,
)


@pytest.fixture(scope="module")
def model(tiny: Path) -> typecase.Model:
    return typecase.load(tiny, tokenizer_mode="deepseek_v4")


@pytest.mark.parametrize("case", written_cases("deepseek_v4"))
def test_recorded_prompts(model: typecase.Model, case: dict[str, Any]) -> None:
    check_case(model, case)


def test_an_unknown_task_is_told_which_there_are(model: typecase.Model) -> None:
    refused = refusal(model, {"messages": [{"role": "user", "content": "a", "task": "sing"}]})
    assert refused.message == (
        "Invalid task: 'sing'. Valid tasks are: ['action', 'query', 'authority', 'domain', 'title', 'read_url']"
    )


def test_text_that_is_none(model: typecase.Model) -> None:
    parts = [{"type": "text", "text": "a"}, {"type": "thinking", "thinking": None}]
    assert "messages[0].content[1]" in refusal(model, {"messages": [{"role": "assistant", "content": parts}]}).message


def test_many_users_in_a_row(model: typecase.Model) -> None:
    """They become one turn, in time that grows with their number alone."""
    messages = [{"role": "user", "content": "a"}] * 20_000
    prompt = text_of(model, {"messages": messages, "chat_template_kwargs": {"thinking": False}})
    assert prompt.count("<｜User｜>") == 1
    assert prompt.count("a\n\n") == 19_999


def test_a_completion_between_two_texts(model: typecase.Model, tiny: Path) -> None:
    request = {"prompt": ["def f(", "x"], "suffix": "): pass"}
    rendered = model.render_completions(request)
    texts = [model.detokenize({"tokens": prompt.token_ids.tolist()}).prompt for prompt in rendered]
    assert texts == [f"<｜fim▁begin｜>{text}<｜fim▁hole｜>): pass<｜fim▁end｜>" for text in ("def f(", "x")]
    for other in ("deepseek_v32", "hf"):
        with pytest.raises(typecase.RequestError, match="suffix is only supported") as refused:
            typecase.load(tiny, tokenizer_mode=other).render_completions(request)
        assert refused.value.param == "suffix"


@pytest.mark.parametrize("mode", ["deepseek_v32", "deepseek_v4", "deepseek_v41"])
def test_no_conversation_crashes(tiny: Path, mode: str) -> None:
    model = typecase.load(tiny, tokenizer_mode=mode)

    @settings(max_examples=60, deadline=None)
    @given(messages=MESSAGES, kwargs=st.dictionaries(st.sampled_from(["thinking", "drop_thinking", "tools"]), JSON))
    def any_messages(messages: list[Any], kwargs: dict[str, Any]) -> None:
        with suppress(typecase.RequestError):
            model.tokenize({"messages": messages, "chat_template_kwargs": kwargs})

    any_messages()


@pytest.mark.network
def test_chosen_for_the_architecture(models: Path) -> None:
    model = typecase.load(models / "deepseek_v4")
    answer = model.render_chat({"messages": HELLO, "reasoning_effort": "low"})
    assert answer.token_ids.tolist() == [0, 128803, 19923, 1031, 128804, 128821]
    middle = model.render_completions({"prompt": "Hi there", "suffix": "foo"})[0]
    assert middle.token_ids.tolist() == [128801, 23166, 1031, 128800, 40897, 128802]
