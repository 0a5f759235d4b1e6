"""The program: help, version, exit codes, and errors of one line."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable

import pytest

from typecase.cli.main import main


def run(line: str, capsys: pytest.CaptureFixture[str]) -> tuple[int | str | None, str, str]:
    try:
        code: int | str | None = main(line.split())
    except SystemExit as stop:
        code = stop.code
    out, err = capsys.readouterr()
    return code, out, err


@pytest.mark.parametrize(
    ("line", "start"),
    [
        ("", "usage: typecase"),
        ("--help", "usage: typecase"),
        ("--version", "typecase "),
        ("launch --help", "usage: typecase launch COMPONENT"),
        ("launch render --help", "usage: typecase launch render [MODEL] [options]"),
        ("launch render -h", "usage: typecase launch render [MODEL] [options]"),
        ("launch render --bogus --help", "usage: typecase launch render [MODEL] [options]"),
        ("serve --help", "usage: typecase serve [MODEL] [options]"),
        ("launch render --help=all", "usage: typecase launch render"),
        ("launch render --help=modelconfig", "ModelConfig:"),
        ("launch render --help=Typecase", "Typecase:"),
        ("launch render --help=max_model", "ModelConfig:\n  --max-model-len VALUE\n"),
        ("launch render --help=nothing-like-it", "No group or arguments matching 'nothing-like-it'"),
    ],
)
def test_pages(line: str, start: str, capsys: pytest.CaptureFixture[str]) -> None:
    code, out, err = run(line, capsys)
    assert (code, err) == (0, "")
    assert out.startswith(start)


def test_help_of_all_names_every_flag(capsys: pytest.CaptureFixture[str]) -> None:
    _, out, _ = run("launch render --help=all", capsys)
    assert "--api-key VALUE ..." in out
    assert "--fingerprint-mode {custom,full,hash,none}" in out
    assert "No effect: it sets up a GPU engine" in out
    assert "--tokenizer-cache-mb" in out


@pytest.mark.parametrize(
    ("line", "error"),
    [
        ("bogus", "typecase: error: argument command: invalid choice: 'bogus' (choose from 'launch', 'serve')"),
        ("--bogus", "typecase: error: unrecognized arguments: --bogus"),
        ("launch", "typecase launch: error: the following arguments are required: launch_component"),
        ("launch zz", "typecase launch: error: argument launch_component: invalid choice: 'zz' (choose from 'render')"),
        ("launch render --bogus", "typecase launch render: error: unrecognized arguments: --bogus"),
        ("serve --port x", "typecase serve: error: argument --port: invalid int value: 'x'"),
    ],
)
def test_lines_that_cannot_be_parsed(line: str, error: str, capsys: pytest.CaptureFixture[str]) -> None:
    code, out, err = run(line, capsys)
    assert (code, out) == (2, "")
    usage, message = err.splitlines()
    assert usage.startswith("usage: typecase")
    assert message.startswith(error)


@pytest.mark.parametrize(
    ("line", "error"),
    [
        ("serve m", "typecase serve isn't built yet"),
        ("launch render m --config x.txt", "Config file must be of a yaml/yml type. txt supplied"),
        ("launch render m --grpc-port 1", "--grpc-port requires VLLM_USE_RUST_FRONTEND=1 vllm serve"),
        (
            "launch render m --enable-auto-tool-choice",
            "Error: --enable-auto-tool-choice requires --tool-call-parser",
        ),
        ("launch render m --enable-log-outputs", "Error: --enable-log-outputs requires"),
        ("launch render m --sse-keep-alive-interval=-1", "Error: --sse-keep-alive-interval must be"),
        (
            "launch render m --enable-per-request-metrics --disable-log-stats",
            "Error: --enable-per-request-metrics requires",
        ),
        (
            "launch render m --reasoning-effort-map.hihg x",
            "Error: --reasoning-effort-map has unknown efforts ['hihg']",
        ),
        ("launch render m --reasoning-effort-map.high 1", "Error: --reasoning-effort-map must be"),
    ],
)
def test_starts_that_are_refused(line: str, error: str, failure: Callable[..., str]) -> None:
    assert failure(*line.split()).startswith(error)


def test_parsing_loads_no_server() -> None:
    code = """
import sys
from typecase.cli.main import main
assert main(["launch", "render", "m", "--port", "x"]) == 2
heavy = {"uvicorn", "starlette", "tokenizers", "jinja2", "yaml", "msgspec", "huggingface_hub", "asyncio"}
print(sorted(heavy & sys.modules.keys()))
"""
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert run.stdout == "[]\n"
