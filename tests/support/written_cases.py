"""Recorded prompts of families that code writes: ``prompt/writers/cases_MODE.jsonl``, and how they are told again.

Each line holds a ``/tokenize`` request and the ``prompt`` that vLLM 0.33 writes for it, or the words of its ``refusal``
(null where Python or an assertion worded it).
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

import typecase

CASES = Path(__file__).parent.parent / "prompt" / "writers"


def written_cases(mode: str) -> list[Any]:
    """The cases of a tokenizer mode as pytest's parameters."""
    lines = (CASES / f"cases_{mode}.jsonl").read_text("utf-8").splitlines()
    return [pytest.param(case, id=case["name"].replace(" ", "_")) for case in map(json.loads, lines)]


def check_case(model: typecase.Model, case: dict[str, Any]) -> None:
    """The request gives the recorded prompt or refusal. The model's tokenizer must keep every text."""
    if "prompt" in case:
        assert text_of(model, case["request"]) == case["prompt"]
        return
    refused = refusal(model, case["request"])
    assert (refused.status, refused.type, refused.param) == (400, "BadRequestError", None)
    if case["refusal"] is not None:
        assert refused.message == case["refusal"]


def text_of(model: typecase.Model, request: dict[str, Any]) -> str:
    """The prompt that a ``/tokenize`` request gives."""
    return model.detokenize({"tokens": model.tokenize(request).tokens}).prompt


def refusal(model: typecase.Model, request: dict[str, Any]) -> typecase.RequestError:
    """What a ``/tokenize`` request is refused with."""
    with pytest.raises(typecase.RequestError) as refused:
        model.tokenize(request)
    return refused.value
