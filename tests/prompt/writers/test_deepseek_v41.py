"""DeepSeek V4.1's prompts against vLLM's."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from tests.support.written_cases import check_case, refusal, text_of, written_cases

import typecase


@pytest.fixture(scope="module")
def model(tiny: Path) -> typecase.Model:
    return typecase.load(tiny, tokenizer_mode="deepseek_v41")


@pytest.mark.parametrize("case", written_cases("deepseek_v41"))
def test_recorded_prompts(model: typecase.Model, case: dict[str, Any]) -> None:
    check_case(model, case)


def test_an_empty_list_of_parts_is_an_empty_text(model: typecase.Model) -> None:
    """vLLM refuses it: it can't copy what pydantic makes of the list."""
    off = {"chat_template_kwargs": {"thinking": False}}
    empty, text = ({"messages": [{"role": "user", "content": content}], **off} for content in ([], ""))
    assert text_of(model, empty) == text_of(model, text)


@pytest.mark.parametrize("blocks", [5, [5], {"type": "text"}, [{"type": "text", "text": None}]])
def test_blocks_of_no_shape(model: typecase.Model, blocks: Any) -> None:
    message = {"role": "user", "content": "x", "content_blocks": blocks}
    assert "messages[0].content_blocks" in refusal(model, {"messages": [message]}).message
