"""Formats by flags: what is resolved, and what stops the start."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from tests.formats.vocabulary import VOCABULARY

import typecase
from typecase.checkpoint.errors import CheckpointError
from typecase.formats.call_format import StrictLevel
from typecase.formats.choice import Formats, choose_formats
from typecase.formats.registry import CALL_FORMATS, REASONING_FORMATS

CASES = [json.loads(line) for line in Path(__file__).with_name("cases_start.jsonl").read_text("utf-8").splitlines()]


def nothing(token: str) -> None:
    return None


def choose(
    call: str | None = None,
    reasoning: str | None = None,
    *,
    level: Any = None,
    token_id: Callable[[str], int | None] = VOCABULARY.get,
    is_harmony: bool = False,
) -> Formats:
    return choose_formats(
        call=call, reasoning=reasoning, level=level, enforced=True, token_id=token_id, is_harmony=is_harmony
    )


@pytest.mark.parametrize("case", CASES, ids=lambda case: f"{case.get('call')}-{case.get('reasoning')}")
def test_a_vocabulary_without_any_marker(case: dict[str, Any]) -> None:
    names = {"call": case.get("call"), "reasoning": case.get("reasoning")}
    if case["refused"] is None:
        assert not choose(**names, token_id=nothing).is_empty
        return
    with pytest.raises(CheckpointError) as error:
        choose(**names, token_id=nothing)
    assert str(error.value).endswith(f"cannot be used with this checkpoint's tokenizer: {case['refused']}")


def test_with_its_markers_every_format_can_be_chosen() -> None:
    for name in CALL_FORMATS:
        assert choose(name).call is CALL_FORMATS[name]
    for name in REASONING_FORMATS:
        assert choose(None, name).reasoning is REASONING_FORMATS[name]


def test_none_is_fine() -> None:
    assert choose().is_empty
    assert choose(level="parameter").is_empty


def test_levels() -> None:
    assert choose("hermes").level is StrictLevel.AUTO
    assert choose("glm47").level is StrictLevel.FUNCTION
    assert choose("glm47", level="auto").level is StrictLevel.AUTO
    assert choose("hermes", level="parameter").level is StrictLevel.PARAMETER


@pytest.mark.parametrize("names", [("hermes", None), (None, "qwen3"), ("openai", "qwen3"), ("hermes", "openai_gptoss")])
def test_gpt_oss_takes_harmony_alone(names: tuple[str | None, str | None]) -> None:
    with pytest.raises(CheckpointError, match=r"--tool-call-parser openai and --reasoning-parser openai_gptoss"):
        choose(*names, is_harmony=True)
    assert not choose("openai", "openai_gptoss", is_harmony=True).is_empty


@pytest.mark.parametrize(
    ("settings", "words"),
    [
        ({"tool_call_parser": "nope", "enable_auto_tool_choice": True}, "invalid tool call parser: nope"),
        ({"reasoning_parser": "nope"}, "invalid reasoning parser: nope"),
        ({"reasoning_parser": "plamo3"}, "--reasoning-parser plamo3: typecase doesn't support"),
        (
            {"reasoning_parser": "deepseek_r1", "tool_call_parser": "jamba", "enable_auto_tool_choice": True},
            "--tool-call-parser jamba and --reasoning-parser deepseek_r1 cannot be used with this checkpoint's",
        ),
    ],
)
def test_loading_stops(tiny: Path, settings: dict[str, Any], words: str) -> None:
    with pytest.raises(CheckpointError, match=f"^{words}"):
        typecase.load(tiny, **settings)


def test_a_call_format_that_does_not_count_is_not_looked_at(tiny: Path) -> None:
    assert typecase.load(tiny, tool_call_parser="nope").front.formats.is_empty
