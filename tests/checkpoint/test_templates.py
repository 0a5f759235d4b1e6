from __future__ import annotations

import json
from typing import Any

import pytest

from typecase.checkpoint.errors import CheckpointError
from typecase.checkpoint.templates import read_templates

LIST = [{"name": "default", "template": "a"}, {"name": "rag", "template": "b"}]
JINJA = {"chat_template.jinja": b"file"}
TOOL = {"additional_chat_templates/tool_use.jinja": b"tool\r\nfile"}


def legacy(template: Any) -> dict[str, bytes]:
    return {"chat_template.json": json.dumps({"chat_template": template}).encode()}


@pytest.mark.parametrize(
    ("files", "config", "expected"),
    [
        ({}, None, ({}, None)),
        ({}, "config", ({"default": "config"}, None)),
        ({}, LIST, ({"default": "a", "rag": "b"}, None)),
        ({}, {"default": "a", "rag": "b"}, ({"default": "a", "rag": "b"}, None)),
        (JINJA, "config", ({"default": "file"}, "file")),
        (JINJA | TOOL, "config", ({"default": "file", "tool_use": "tool\nfile"}, "file")),
        # the files count alone, even when they leave the default open
        (TOOL, "config", ({"tool_use": "tool\nfile"}, None)),
        # chat_template.json is the processor's, and stands in where there is nothing else
        (legacy("old"), "config", ({"default": "config"}, "old")),
        (legacy("old") | JINJA, None, ({"default": "file"}, "old")),
        (legacy("old"), None, ({"default": "old"}, "old")),
        (legacy(None), None, ({}, None)),
    ],
)
def test_precedence(files: dict[str, bytes], config: Any, expected: tuple[dict[str, str], str | None]) -> None:
    assert read_templates(files, {} if config is None else {"chat_template": config}) == expected


@pytest.mark.parametrize("template", [1, [1], ["x"], [{"name": "a"}], [{"name": 1, "template": "x"}], {"a": 1}, True])
def test_other_kinds_are_refused(template: Any) -> None:
    with pytest.raises(CheckpointError, match=r'tokenizer_config.json: "chat_template" must be a string or a list of'):
        read_templates({}, {"chat_template": template})
    with pytest.raises(CheckpointError, match=r'chat_template.json: "chat_template" must be a string or a list of'):
        read_templates(legacy(template), {})
