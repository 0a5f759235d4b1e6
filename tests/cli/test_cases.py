"""Lines of the command line and what vLLM 0.33's own parser made of them (``vllm_parser.py record``)."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from typecase.cli.command import Command
from typecase.cli.failure import StartError
from typecase.cli.parser import UsageError

CASES = [json.loads(line) for line in Path(__file__).with_name("cases.jsonl").read_text().splitlines()]


@pytest.fixture(scope="module")
def commands() -> dict[str, Command]:
    return {"launch": Command("launch render"), "serve": Command("serve")}


def parse(commands: dict[str, Command], line: list[str]) -> tuple[str, dict[str, Any]]:
    words = line[1:] if line[0] == "serve" else line[2:]
    try:
        return "ok", vars(commands[line[0]].parse(words)[0])
    except SystemExit as stop:
        return "help" if stop.code == 0 else "no", {}
    except (UsageError, StartError):
        return "no", {}


def test_as_vllm_parses(commands: dict[str, Command], capsys: pytest.CaptureFixture[str]) -> None:
    wrong = []
    for case in CASES:
        verdict, values = parse(commands, case["line"])
        expected: dict[str, Any] = {"verdict": case["verdict"]}
        got: dict[str, Any] = {"verdict": verdict}
        if case["verdict"] == "ok" == verdict:
            expected |= {"model": case["model"]} | case["values"]
            got |= {"model": values["model_tag"]} | {dest: values[dest] for dest in case["values"]}
            if got.get("lora_modules") is not None:
                got["lora_modules"] = [
                    {"name": module["name"], "path": module["path"]} for module in got["lora_modules"] if module
                ]
        if repr(got) != repr(expected):  # by repr, since NaN is not itself and 1 is True
            wrong.append((case["line"], expected, got))
    capsys.readouterr()
    assert wrong == []


def test_cases_name_every_flag() -> None:
    """Each flag of vLLM's stands in some case by its own name."""
    words = {word.partition("=")[0] for case in CASES for word in case["line"]}
    flags = [flag for flag in Command("launch render").flags if not flag.own]
    assert [flag.name for flag in flags if flag.name not in words] == ["--mm-processor-device"]
