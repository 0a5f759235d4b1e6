"""What the pages say is so: examples run, commands parse, links lead somewhere, generated parts are current."""

from __future__ import annotations

import doctest
import importlib
import json
import re
import shlex
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from tests.conftest import DATA, ROOT

import typecase
from typecase.cli.command import Command, check

SOURCE = ROOT / "src"
PAGES = [ROOT / "README.md", ROOT / "CHANGELOG.md", *sorted((ROOT / "docs").glob("*.md"))]
README = PAGES[0].read_text(encoding="utf-8")


def id_of(page: Path) -> str:
    return page.name


def with_examples() -> list[str]:
    """The modules whose docstrings hold examples."""
    files = (file for file in sorted(SOURCE.rglob("*.py")) if ">>> " in file.read_text(encoding="utf-8"))
    return [".".join(file.relative_to(SOURCE).with_suffix("").parts).removesuffix(".__init__") for file in files]


@pytest.mark.parametrize("name", with_examples())
def test_examples_in_docstrings(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(ROOT)
    outcome = doctest.testmod(importlib.import_module(name))
    assert outcome.attempted > 0
    assert outcome.failed == 0


@pytest.mark.parametrize("page", PAGES, ids=id_of)
def test_links_lead_somewhere(page: Path) -> None:
    for target in re.findall(r"\]\(([^)\s]+)\)", page.read_text(encoding="utf-8")):
        if re.match(r"[a-z]+:", target):
            continue
        path, _, heading = target.partition("#")
        linked = page.parent / path if path else page
        assert linked.exists(), target
        if heading:
            assert heading in anchors(linked), target


def anchors(page: Path) -> set[str]:
    headings = re.findall(r"^#+ (.+)$", page.read_text(encoding="utf-8"), re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings}


def test_the_table_of_differences_is_current() -> None:
    done = subprocess.run([sys.executable, ROOT / "tools" / "differences.py", "--check"], check=False)
    assert done.returncode == 0, "run python tools/differences.py"


def commands(page: str, start: str) -> list[str]:
    """Commands that begin with ``start``: indented lines, continued ones joined, and code within sentences."""
    lines = re.sub(r"\\\n\s*", " ", page).splitlines()
    found = [line.strip() for line in lines if line.startswith(f"    {start}")]
    return found + re.findall(f"`({re.escape(start)}[^`]*)`", page)


@pytest.mark.parametrize(
    "command",
    sorted({c for page in PAGES for c in commands(page.read_text(encoding="utf-8"), "typecase launch render")}),
)
def test_commands_start(command: str) -> None:
    """As far as flags go, and without a warning."""
    arguments, notes = Command("launch render").parse(shlex.split(command.replace("[flags]", ""))[3:])
    check(arguments)
    assert notes == []


@pytest.mark.parametrize("command", commands(README, "curl "))
def test_documented_requests_are_served(command: str) -> None:
    words = shlex.split(command.partition(" | ")[0])
    path = next(word for word in words if word.startswith("http://")).partition("8000")[2]
    body = json.loads(words[words.index("-d") + 1])
    model = typecase.load(DATA / "tiny")
    render: Any = {
        "/v1/chat/completions/render": model.render_chat,
        "/v1/responses/render": model.render_responses,
    }[path]
    assert render(body).sampling_params.max_tokens == 32


@pytest.mark.parametrize("page", [PAGES[0], ROOT / "docs" / "library.md"], ids=id_of)
def test_python_blocks_run(page: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.chdir(DATA)
    blocks = re.findall(r"^```python\n(.*?)^```", page.read_text(encoding="utf-8"), re.MULTILINE | re.DOTALL)
    names: dict[str, Any] = {}
    for block in blocks:
        exec(re.sub(r'load\(".*?"\)', 'load("tiny")', block), names)
    assert names["rendered"].token_ids.typecode == "I"
    if len(blocks) > 1:
        assert capsys.readouterr().out.startswith("400 BadRequestError temperature temperature must be in [0, 2]")


def test_make_targets_exist() -> None:
    makefile = (ROOT / "Makefile").read_text(encoding="utf-8")
    named = set(re.findall(r"(?:^    |`)make (\w+)", README, re.MULTILINE))
    assert named >= {"demo", "test", "check", "nightly"}
    assert named <= set(re.findall(r"^(\w+):", makefile, re.MULTILINE))
