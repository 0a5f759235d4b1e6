"""gpt-oss over the routes: what becomes of a request, what it is spared, what is refused.

``cases_harmony.json`` was recorded from vLLM 0.33's own functions on a given day: request and prompt, or the refusal.
"""

from __future__ import annotations

import json
import shutil
from datetime import datetime
from pathlib import Path
from typing import Any

import pytest

import typecase
from typecase.checkpoint.errors import CheckpointError

MARKERS = ("<|start|>", "<|end|>", "<|message|>", "<|channel|>", "<|constrain|>", "<|call|>", "<|return|>")
CASES = json.loads((Path(__file__).parent / "cases_harmony.json").read_text("utf-8"))
DAY = "2026-01-15"
USER = {"role": "user", "content": "Hello"}
PREAMBLE = (
    "<|start|>system<|message|>You are ChatGPT, a large language model trained by OpenAI.\nKnowledge cutoff: 2024-06\n"
    f"Current date: {DAY}\n\nReasoning: medium\n\n# Valid channels: analysis, commentary, final. "
    "Channel must be included for every message.<|end|>"
)
HELLO = f"{PREAMBLE}<|start|>user<|message|>Hello<|end|><|start|>assistant"


@pytest.fixture(scope="module")
def folder(tiny: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The small checkpoint as if it were a gpt-oss."""
    folder = tmp_path_factory.mktemp("models") / "gptoss"
    shutil.copytree(tiny, folder)
    tokenizer = json.loads((folder / "tokenizer.json").read_bytes())
    flags = {"single_word": False, "lstrip": False, "rstrip": False, "normalized": False, "special": True}
    tokenizer["added_tokens"] += [{"id": 1093 + i, "content": marker, **flags} for i, marker in enumerate(MARKERS)]
    # The recorded texts must come back as they are.
    tokenizer["normalizer"] = None
    (folder / "tokenizer.json").write_text(json.dumps(tokenizer), "utf-8")
    (folder / "tokenizer_config.json").write_text('{"tokenizer_class": "PreTrainedTokenizerFast"}', "utf-8")
    config = json.loads((folder / "config.json").read_bytes())
    (folder / "config.json").write_text(json.dumps(config | {"model_type": "gpt_oss"}), "utf-8")
    return folder


@pytest.fixture(scope="module")
def model(folder: Path) -> typecase.Model:
    return typecase.load(folder, served_model_names=("gptoss",), system_start_date=DAY)


def rendered(model: typecase.Model, api: str, body: dict[str, Any]) -> typecase.GenerateRequest:
    return model.render_chat(body) if api == "chat" else model.render_responses(body)


def text(model: typecase.Model, request: typecase.GenerateRequest) -> str:
    return model.detokenize({"tokens": request.token_ids.tolist()}).prompt


def chat(model: typecase.Model, *messages: dict[str, Any], **fields: Any) -> str:
    return text(model, model.render_chat({"messages": list(messages), **fields}))


@pytest.mark.parametrize("case", CASES, ids=range(len(CASES)))
def test_recorded_requests(model: typecase.Model, case: dict[str, Any]) -> None:
    if "text" in case:
        assert text(model, rendered(model, case["api"], case["body"])) == case["text"]
        return
    with pytest.raises(typecase.RequestError) as refused:
        rendered(model, case["api"], case["body"])
    assert refused.value.status == 400
    assert refused.value.type == case["type"]
    if case["message"] is not None:  # else pydantic's words
        assert refused.value.message == case["message"]
    if "param" in case:
        assert refused.value.param == case["param"]


@pytest.mark.network
def test_recorded_ids(models: Path) -> None:
    model = typecase.load(models / "gptoss", system_start_date=DAY)
    for i, case in enumerate(CASES):
        if "ids" in case:
            assert rendered(model, case["api"], case["body"]).token_ids.tolist() == case["ids"], i


def test_the_day_is_the_clocks(folder: Path) -> None:
    model = typecase.load(folder)
    request = model.render_chat({"messages": [USER]}, now=datetime(2031, 2, 3, 23, 59))
    assert "Current date: 2031-02-03\n" in text(model, request)


def test_a_chat_has_none_of_a_templates_checks(model: typecase.Model) -> None:
    """No parser for a tool choice, no trust in a template, no limit on output and prompt beside the context itself."""
    tool = {"type": "function", "function": {"name": "f"}}
    fields = {
        "chat_template": "x", "chat_template_kwargs": {"chat_template": "y"}, "mm_processor_kwargs": {"a": 1},
        "media_io_kwargs": {"image": {"a": 1}}, "max_tokens": 10**6, "truncate_prompt_tokens": 3,
        "add_generation_prompt": False, "return_token_offsets": True,
    }  # fmt: skip
    request = model.render_chat({"messages": [USER], **fields})
    assert text(model, request) == HELLO
    assert request.token_offsets is None
    assert "type f = () => any;" in chat(model, USER, tools=[tool], tool_choice="required")


def test_a_truncated_chat_is_whole_and_counted_short(model: typecase.Model) -> None:
    message = {"role": "user", "content": "é " * 5000}
    with pytest.raises(typecase.RequestError, match=r"Input length \(\d+\) exceeds model's maximum context length"):
        model.render_chat({"messages": [message]})
    request = model.render_chat({"messages": [message], "truncate_prompt_tokens": 10})
    assert len(request.token_ids) > 5000
    assert request.sampling_params.max_tokens == model.max_model_len - 10


def test_responses_are_cut_to_length(model: typecase.Model) -> None:
    body = {"input": "é " * 5000}
    with pytest.raises(typecase.RequestError, match="maximum context length is 4096 tokens") as refused:
        model.render_responses(body)
    assert refused.value.param == "input_tokens"
    assert len(model.render_responses({**body, "truncation": "auto"}).token_ids) == 4095


def test_parse_context_has_no_template_kwargs(model: typecase.Model) -> None:
    request = model.render_chat({"messages": [USER], "chat_template_kwargs": {"a": 1}})
    assert request.parse_context is not None
    assert request.parse_context.chat_template_kwargs == {}


def test_reused_prompt_ids(model: typecase.Model) -> None:
    """They stand for a chat, even one with echo off and pictures in it; Responses take no notice."""
    transfer = {"prompt_token_ids": [1, 2, 3], "x": 1}
    request = model.render_chat({"messages": [USER], "kv_transfer_params": transfer})
    assert request.token_ids.tolist() == [1, 2, 3]
    assert request.kv_transfer_params == {"x": 1}
    response = model.render_responses({"input": "Hello", "kv_transfer_params": transfer})
    assert text(model, response) == HELLO
    assert response.kv_transfer_params == transfer


def test_instructions_in_the_system_message(folder: Path) -> None:
    model = typecase.load(folder, system_start_date=DAY, harmony_system_instructions=True)
    identity = "You are ChatGPT, a large language model trained by OpenAI.\n"
    told = chat(model, {"role": "system", "content": "Be brief."}, USER, {"role": "system", "content": "Now rude."})
    assert told.count("<|start|>system") == 2
    assert f"{identity}Be brief.\n" in told
    assert f"{identity}Now rude.\n" in told
    assert "developer" not in told
    late = chat(model, USER, {"role": "developer", "content": "lost"})
    assert late.endswith("<|start|>developer<|message|><|end|><|start|>assistant")


def test_effort_map(folder: Path) -> None:
    model = typecase.load(folder, system_start_date=DAY, reasoning_effort_map={"max": "high", "low": "none"})
    assert "Reasoning: high\n" in chat(model, USER, reasoning_effort="max")
    with pytest.raises(typecase.RequestError, match="Harmony does not support reasoning_effort='none'"):
        chat(model, USER, reasoning_effort="low")


def test_tools_hidden_when_none_may_be_called(folder: Path) -> None:
    tool = {"type": "function", "function": {"name": "f"}}
    hiding = typecase.load(folder, system_start_date=DAY, exclude_tools_when_tool_choice_none=True)
    assert chat(hiding, USER, tools=[tool], tool_choice="none") == HELLO
    response = hiding.render_responses(
        {"input": "Hello", "tools": [{"type": "function", "name": "f", "parameters": {}}]}
    )
    assert "namespace functions" in text(hiding, response)


@pytest.mark.parametrize(
    ("messages", "words"),
    [
        ([{"role": "user", "content": ["a"]}], r"messages\[0\].content\[0\]"),
        ([USER, {"role": "user", "content": ["a", {"type": "text", "text": "b"}]}], r"messages\[1\].content\[0\]"),
        (
            [{"role": "user", "content": [{"type": "text", "text": 5}, {"type": "text", "text": "b"}]}],
            "must be a string",
        ),
        ([{"role": "narrator", "content": "x"}], "role is 'narrator'"),
        ([USER, {"role": "user", "content": "x", "tool_calls": None}], r"messages\[1\].tool_calls"),
        ([USER, {"role": "user", "content": "x", "tool_calls": {"a": 1}}], r"messages\[1\].tool_calls\[0\]"),
        ([{"role": "user", "content": "x", "tool_calls": [{"id": "a", "function": None}]}], r"tool_calls\[0\]"),
        ([{"role": "user", "content": "x", "tool_calls": [{"id": [], "function": {}}]}], r"tool_calls\[0\]"),
        ([{"role": "assistant", "reasoning": {"type": "prompt_embeds", "data": "x"}}], r"messages\[0\].reasoning"),
    ],
)
def test_refused_messages(model: typecase.Model, messages: list[dict[str, Any]], words: str) -> None:
    with pytest.raises(typecase.RequestError, match=words) as refused:
        model.render_chat({"messages": messages})
    assert refused.value.status == 400


@pytest.mark.parametrize(
    "previous",
    [
        {"author": {"role": "zz"}, "content": "x"},
        {"author": {"role": ["user"]}, "content": "x"},
        {"author": {"role": "user", "name": 5}, "content": "x"},
        {"author": {"role": "user"}, "content": ["x"]},
        {"author": {"role": "user"}, "content": "x", "channel": 5},
        {"author": {"role": "tool"}, "content": "x"},
        {"role": ["user"], "content": "x"},
        {"role": "user", "content": None},
        {"role": "user", "content": [5]},
        {"role": "tool", "name": 5, "content": "x"},
        {"role": "tool", "content": [{"text": 5}]},
        {"role": "assistant", "tool_calls": 5},
        {"role": "assistant", "tool_calls": ["x"]},
        {"role": "assistant", "tool_calls": [{"function": {"name": "f", "arguments": {"a": 1}}}]},
    ],
)
def test_refused_previous_messages(model: typecase.Model, previous: dict[str, Any]) -> None:
    with pytest.raises(typecase.RequestError) as refused:
        model.render_responses({"input": "x", "previous_input_messages": [previous]})
    assert refused.value.status == 400


def test_tokenize(model: typecase.Model) -> None:
    """As the chat route, with the texts vLLM loses on the way from one request to the other."""
    body = {"messages": [USER], "chat_template": "x", "tools": [], "mm_processor_kwargs": {"a": 1}}
    assert model.tokenize(body).tokens == model.render_chat({"messages": [USER]}).token_ids.tolist()
    old = {"role": "assistant", "reasoning_content": "hm", "content": None}
    new = {"role": "assistant", "reasoning": "hm"}
    assert model.tokenize({"messages": [old]}).tokens == model.tokenize({"messages": [new]}).tokens
    lost = model.tokenize({"messages": [{"role": "user", "content": ["a"]}]})
    assert lost.tokens == model.tokenize({"messages": [{"role": "user", "content": ""}]}).tokens


def test_a_tokenizer_of_another_family(folder: Path, tiny: Path, tmp_path: Path) -> None:
    shutil.copytree(folder, tmp_path, dirs_exist_ok=True)
    shutil.copy(tiny / "tokenizer.json", tmp_path)
    with pytest.raises(CheckpointError, match=r"gpt_oss.*<\|start\|>"):
        typecase.load(tmp_path)
