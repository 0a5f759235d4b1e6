"""DeepSeek V3.2's prompts against vLLM's, and what holds for every family whose prompts code writes."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from tests.support.written_cases import check_case, text_of, written_cases

import typecase

HELLO: list[dict[str, Any]] = [{"role": "user", "content": "Hello there"}]


@pytest.fixture(scope="module")
def model(tiny: Path) -> typecase.Model:
    return typecase.load(tiny, tokenizer_mode="deepseek_v32")


@pytest.mark.parametrize("case", written_cases("deepseek_v32"))
def test_recorded_prompts(model: typecase.Model, case: dict[str, Any]) -> None:
    check_case(model, case)


def test_many_results(model: typecase.Model) -> None:
    """The caller of a result is found without going back over the results before it."""
    call = {"type": "function", "function": {"name": "f", "arguments": "{}"}}
    calls = [{"id": str(i), **call} for i in range(5000)]
    results = [{"role": "tool", "tool_call_id": str(i), "content": str(i)} for i in range(5000)]
    prompt = text_of(model, {"messages": [*HELLO, {"role": "assistant", "tool_calls": calls}, *results]})
    assert prompt.count("<result>") == 5000
    assert prompt.endswith("<result>4999</result>\n</function_results>\n\n</think>")


def test_prompts_come_without_offsets(model: typecase.Model, tiny: Path) -> None:
    request = {"messages": HELLO, "return_token_offsets": True}
    assert model.render_chat(request).token_offsets is None
    assert typecase.load(tiny).render_chat(request).token_offsets is not None


def test_no_warning_of_other_prompts(model: typecase.Model) -> None:
    assert model.front.warning is None


def test_ids_at_once(model: typecase.Model) -> None:
    """``tokenize`` makes ids of the prompt, which are cut like ids."""
    whole = model.render_chat({"messages": HELLO}).token_ids

    def asked(**kwargs: Any) -> Any:
        return model.render_chat({"messages": HELLO, "chat_template_kwargs": {"tokenize": True, **kwargs}}).token_ids

    assert asked() == asked(truncation=False, max_length=3) == asked(truncation="do_not_truncate") == whole
    assert asked(max_length=3) == asked(truncation=True, max_length=3) == whole[-3:]
    assert asked(truncation="only_first", max_length=10**6) == whole
    cut = {"messages": HELLO, "chat_template_kwargs": {"tokenize": True}, "truncate_prompt_tokens": 2}
    assert model.render_chat(cut).token_ids == whole[-2:]
    with pytest.raises(typecase.RequestError, match="sideways is not a valid TruncationStrategy"):
        asked(truncation="sideways")
    with pytest.raises(typecase.RequestError, match="max_length must be a number of tokens, got -1"):
        asked(max_length=-1)
    with pytest.raises(typecase.RequestError, match="No token_ids rendered"):
        asked(max_length=0)


@pytest.mark.parametrize("tools", [5, 0, "f", {"function": {}}, [5], [{"type": "function"}]])
def test_tools_among_the_kwargs_may_be_anything(model: typecase.Model, tools: Any) -> None:
    with pytest.raises(typecase.RequestError, match="tools"):
        model.tokenize({"messages": HELLO, "chat_template_kwargs": {"tools": tools}})


@pytest.mark.network
def test_chosen_for_the_architecture(models: Path) -> None:
    model = typecase.load(models / "deepseek_v32")
    assert model.render_chat({"messages": HELLO}).token_ids.tolist() == [0, 128803, 19923, 1031, 128804, 128799]
    assert model.front.warning is None
    plain = typecase.load(models / "deepseek_v32", tokenizer_mode="hf")
    assert plain.front.writer is None
