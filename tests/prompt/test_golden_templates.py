"""Published chat templates give the recorded texts and errors of transformers 5.20."""

from __future__ import annotations

import gzip
import hashlib
import json
from collections.abc import Iterator
from datetime import datetime
from functools import lru_cache
from pathlib import Path
from typing import Any

import pytest

from typecase.api.errors import TemplateError, TemplateLimit
from typecase.prompt.budget import Budget
from typecase.prompt.template import ChatTemplate


def _now() -> datetime:
    return datetime(2026, 1, 15, 10, 30)


@lru_cache
def _read(shared: Path) -> tuple[dict[str, Any], dict[str, dict[str, Any]]]:
    """The conversations by name, and each template's line with its recorded ``outcomes`` by conversation."""
    conversations: dict[str, Any] = {}
    templates: dict[str, dict[str, Any]] = {}
    with gzip.open(shared / "golden" / "templates.jsonl.gz", "rt", encoding="utf-8") as lines:
        for line in map(json.loads, lines):
            if "messages" in line:
                conversations[line["conversation"]] = line
            elif "template" in line:
                templates[line["template"]] = line | {"outcomes": {}}
            elif "of" in line:
                templates[line["of"]]["outcomes"][line["conversation"]] = line
    return conversations, templates


def _outcome(
    template: ChatTemplate, conversation: dict[str, Any], tokens: dict[str, str], budget: Budget | None
) -> Any:
    variables = {**tokens, **conversation.get("kwargs", {})}
    shown = {
        "tools": conversation.get("tools"),
        "documents": conversation.get("documents"),
        "add_generation_prompt": conversation.get("add_generation_prompt", True),
    }
    messages = conversation["messages"]
    try:
        if not messages:  # recorded one level deeper than `render`, which refuses these
            return template.fill(variables | shown | {"messages": []}, now=_now, budget=budget)
        continued = conversation.get("continue_final_message", False)
        return template.render(
            messages, **shown, continue_final_message=continued, variables=variables, now=_now, budget=budget
        )
    except TemplateLimit:
        raise
    except TemplateError as error:
        return error


def _check(source: str, line: dict[str, Any], conversations: dict[str, Any]) -> None:
    template = ChatTemplate(source)
    assert template.error is None
    for name, expected in line["outcomes"].items():
        for budget in (None, Budget(20_000, 500_000)):
            found = _outcome(template, conversations[name], line["special_tokens"], budget)
            if "text" in expected:
                assert found == expected["text"], (line["template"], name)
            else:
                # Recorded messages are cut at 300 characters.
                assert isinstance(found, TemplateError), (line["template"], name)
                assert found.message.startswith(expected["error"][1]), (line["template"], name)


@pytest.mark.shared
@pytest.mark.parametrize("first", "ABCDGHIKLMNOPQRSacdfghilmoptuv")
def test_published_templates(shared: Path, first: str) -> None:
    conversations, templates = _read(shared)
    for name, line in templates.items():
        folder, _, file = name.partition("/")
        if folder == "chat_templates" and file.startswith(first):
            _check((shared / name).read_text(encoding="utf-8"), line, conversations)


@pytest.mark.shared
def test_no_template_is_forgotten(shared: Path) -> None:
    conversations, templates = _read(shared)
    assert {name.partition("/")[2][0] for name in templates if name.startswith("chat_")} <= set(
        "ABCDGHIKLMNOPQRSacdfghilmoptuv"
    )
    assert sum(len(line["outcomes"]) for line in templates.values()) == len(conversations) * len(templates)


def _sources(directory: Path) -> Iterator[str]:
    """Every template text in a model directory."""
    for path in directory.glob("*.jinja"):
        yield path.read_text(encoding="utf-8")
    for file in ("tokenizer_config.json", "chat_template.json"):
        if (directory / file).is_file():
            template = json.loads((directory / file).read_text(encoding="utf-8")).get("chat_template")
            for entry in template if isinstance(template, list) else [template]:
                yield entry["template"] if isinstance(entry, dict) else entry or ""


@pytest.mark.shared
@pytest.mark.network
def test_templates_of_models(shared: Path, models: Path) -> None:
    conversations, templates = _read(shared)
    sources = {
        hashlib.sha256(source.encode()).hexdigest(): source
        for directory in models.iterdir()
        if directory.is_dir()
        for source in _sources(directory)
    }
    checked = 0
    for name, line in templates.items():
        if name.startswith("models/") and line["sha256"] in sources:
            _check(sources[line["sha256"]], line, conversations)
            checked += 1
    assert checked >= 20
