"""What each flag means here, and that whatever does nothing says so."""

from __future__ import annotations

import json
import runpy
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from typecase.cli.command import Command
from typecase.cli.meaning import Effect

SUPPORT = Path(__file__).parents[1] / "support"


@pytest.fixture(scope="module")
def command() -> Command:
    return Command("launch render")


def test_every_flag_has_one_meaning(command: Command) -> None:
    table = json.loads((Path(__file__).parents[2] / "src/typecase/cli/meaning.json").read_text())
    entries = [*table["used"], *table["later"], *table["loads_nothing"]]
    entries += [dest for record in table["no_effect"] for dest in record["flags"]]
    assert sorted(entries) == sorted(flag.dest for flag in command.flags if not flag.own)


def test_own_flags_explain_themselves(command: Command) -> None:
    assert all(flag.help for flag in command.flags if flag.own)


def _words(flag: Any) -> list[str]:
    """The flag with some value that isn't its default."""
    samples: Mapping[str, str] = {
        "int": "3",
        "float": "0.25",
        "size": "3",
        "size-or-auto": "3",
        "json": '{"a": 1}',
        "json-or-string": '{"a": 1}',
        "config": '{"a": 1}',
        "lora-module": "a=b",
        "devices": "1",
    }
    if not flag.takes_value:
        return [flag.negative[0] if flag.default else flag.name]
    choices = [str(choice) for choice in flag.choices or () if choice is not None]
    return [f"{flag.name}={next((c for c in choices if c != flag.default), samples.get(flag.type, 'x'))}"]


def test_every_flag_without_effect_costs_one_warning(command: Command) -> None:
    for flag in command.flags:
        if flag.own or flag.dest == "config":
            continue
        _, notes = command.parse(_words(flag))
        effect = command.meanings[flag.dest].effect
        # What is not yet built or loads nothing is honoured when it is switched off.
        off = effect is not Effect.NONE and not flag.takes_value and flag.default
        expected = 0 if effect is Effect.USED or off else 1
        assert len(notes) == expected, (flag.name, notes)
        assert all(note.startswith(flag.name) for note in notes)


@pytest.mark.parametrize(
    ("line", "notes"),
    [
        ("-tp 4", ["--tensor-parallel-size has no effect: it sets up a GPU engine, and there is none here"]),
        ("--trust-remote-code", ["--trust-remote-code loads nothing: a checkpoint's own code is never run"]),
        ("--no-trust-remote-code", []),
        ("--tokenizer-mode hf --config-format auto", []),
        ("--middleware a.b --middleware c.d", ["--middleware loads nothing: no code is imported into the server"]),
        ("--port 1 --port 2", ["Found duplicate keys --port: the last value counts"]),
        ("--max-json-nodes 5", []),
        ("--max-body-mb 5", []),
        (
            "--limit-mm-per-prompt.image 2",
            ["--limit-mm-per-prompt has no effect yet: media are refused"],
        ),
    ],
)
def test_warnings(command: Command, line: str, notes: list[str]) -> None:
    assert command.parse(line.split())[1] == notes


def test_the_page_is_current() -> None:
    page = runpy.run_path(str(SUPPORT / "flags_page.py"))
    assert page["TARGET"].read_text() == page["flags_page"](), "run python tests/support/flags_page.py"


@pytest.mark.shared
def test_the_flags_are_current(shared: Path) -> None:
    slim = runpy.run_path(str(SUPPORT / "slim_flags.py"))
    facts = json.loads((shared / "reference/vllm-flags.json").read_text())
    flags = [slim["slim"](flag) for flag in facts["flags"] if not flag["positional"]]
    assert json.loads(slim["TARGET"].read_text()) == {"vllm_version": facts["vllm_version"], "flags": flags}
