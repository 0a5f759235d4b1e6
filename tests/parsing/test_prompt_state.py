"""Whether a prompt has ended the reasoning: vLLM's verdicts, for every format, by the tokens a prompt ends with."""

from __future__ import annotations

import json
from array import array
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from tests.formats.vocabulary import VOCABULARY

from typecase.formats.registry import REASONING_FORMATS
from typecase.parsing.prompt_state import PromptState

CASES = [
    json.loads(line) for line in Path(__file__).with_name("cases_prompt_state.jsonl").read_text("utf-8").splitlines()
]
VERDICTS = {"ended": True, "open": False, "unknown": None}


def ids(tokens: list[str]) -> array[int]:
    return array("I", [VOCABULARY[token] for token in tokens])


@pytest.mark.parametrize("name", sorted({case["reasoning"] for case in CASES}))
def test_verdicts(name: str) -> None:
    state = PromptState(REASONING_FORMATS[name], VOCABULARY.get)
    for case in (case for case in CASES if case["reasoning"] == name):
        for word, verdict in VERDICTS.items():
            for tokens in case.get(word, ()):
                assert state.ended(ids(tokens), case["kwargs"]) is verdict, (case["kwargs"], tokens)


def test_all_formats_have_cases() -> None:
    recorded = {case["reasoning"] for case in CASES}
    assert all(recorded.intersection(record.names) for record in REASONING_FORMATS.values())


def test_names_of_one_format_agree() -> None:
    assert REASONING_FORMATS["glm47"] is REASONING_FORMATS["glm45"]
    assert REASONING_FORMATS["step5"] is REASONING_FORMATS["deepseek_r1"]


def without(*tokens: str) -> Any:
    return {token: i for token, i in VOCABULARY.items() if token not in tokens}.get


def test_a_vocabulary_without_the_end_marker_ends_nothing() -> None:
    state = PromptState(REASONING_FORMATS["qwen3"], without("</think>"))
    assert state.ended(ids(["</think>"]), {}) is False
    assert state.ended(ids(["<tool_call>"]), {}) is False


def test_a_vocabulary_without_the_call_marker_knows_the_end_all_the_same() -> None:
    state = PromptState(REASONING_FORMATS["qwen3"], without("<tool_call>"))
    assert state.ended(ids(["</think>", "x"]), {}) is True
    assert state.ended(ids(["<tool_call>"]), {}) is False


def test_mistral_without_think_tokens_has_no_reasoning_to_end() -> None:
    assert PromptState(REASONING_FORMATS["mistral"], VOCABULARY.get).ended(ids(["x"]), {}) is False
    assert PromptState(REASONING_FORMATS["mistral"], without("[THINK]", "[/THINK]")).ended(ids(["x"]), {}) is True


def test_a_glm_template_without_a_switch_always_thinks() -> None:
    template = "[gMASK]<sop> Reasoning Effort: <tool_call> <arg_key> <arg_value>"
    off = {"enable_thinking": False}
    thinks = PromptState(REASONING_FORMATS["glm45"], VOCABULARY.get, template=template)
    assert thinks.ended(ids(["x"]), off) is False
    assert PromptState(REASONING_FORMATS["glm45"], VOCABULARY.get, template=template + "enable_thinking").ended(
        ids([]), off
    )
    assert PromptState(REASONING_FORMATS["ling3"], VOCABULARY.get, template=template).ended(ids([]), off)


def test_tokens_are_needed_only_when_reasoning_is_on() -> None:
    state = PromptState(REASONING_FORMATS["deepseek_v3"], without("<think>"))
    assert state.lacks({}) == ()
    assert state.lacks({"thinking": True}) == ("<think>",)
    assert PromptState(REASONING_FORMATS["deepseek_v3"], VOCABULARY.get).lacks({"thinking": True}) == ()


def test_a_switch_may_be_any_value() -> None:
    switch = replace(REASONING_FORMATS["kimi_k2"].switch)
    assert switch.is_on({"thinking": "no"})
    assert not switch.is_on({"thinking": "", "enable_thinking": 0})
    assert switch.is_on({"thinking": None})
