"""The content format and the variables of a template are those that vLLM finds."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from typecase.prompt.template import ChatTemplate

TABLE: dict[str, Any] = json.loads(
    (Path(__file__).parent.parent / "data" / "content_formats.json").read_text(encoding="utf-8")
)


@pytest.mark.parametrize("case", TABLE["inline"], ids=lambda case: case["source"][:60])
def test_as_vllm_detects(case: dict[str, str]) -> None:
    assert ChatTemplate(case["source"]).content_format == case["format"]


@pytest.mark.shared
def test_as_vllm_detects_for_published_templates(shared: Path) -> None:
    found = {}
    for name in TABLE["files"]:
        template = ChatTemplate((shared / "chat_templates" / name).read_text(encoding="utf-8"))
        found[name] = {"format": template.content_format, "variables": sorted(template.variables)}
    assert found == TABLE["files"]


def test_a_broken_template_takes_strings() -> None:
    template = ChatTemplate("{% for message in messages %}{% for part in message.content %}")
    assert template.error is not None
    assert template.content_format == "string"
    assert template.variables == frozenset()


def test_accepted_kwargs() -> None:
    """vLLM passes on what the template looks up and what apply_chat_template takes, and drops the rest."""
    template = ChatTemplate("{{ colour }}{{ raise_exception }}{{ namespace }}{{ range }}{% set own = 1 %}{{ own }}")
    assert template.variables == {"colour", "raise_exception"}
    assert template.accepted == {"colour", "raise_exception", *TABLE["parameters"]} - {"chat_template", "tokenize"}
