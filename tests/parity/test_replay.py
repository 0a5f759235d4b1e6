"""Recorded answers of vLLM 0.33, replayed against our server started with the recorded command line.

All render, tokenize and service samples of the shared folder, and those in ``recorded/``, must agree in the whole body,
or be a wanted difference with its reason in ``differences.json``.
"""

from __future__ import annotations

import json
import shlex
import subprocess
import sys
from pathlib import Path

import pytest
from tests.support.servers import render_server

pytestmark = [pytest.mark.network, pytest.mark.shared]

HERE = Path(__file__).parent
DIFFERENCES = HERE / "differences.json"
SHARED = [
    "qwen3", "qwen3-options", "qwen3-coder", "qwen3-xml", "qwen2_5", "llama2", "llama3_1", "llama3_2", "deepseek_r1",
    "deepseek_v3", "deepseek_v31", "deepseek_v32", "gemma3", "command_r_plus", "mistral_nemo", "mistral_nemo_tekken",
    "gptoss", "standin_kimi_k2",
]  # fmt: skip
RECORDED = sorted(path.stem.removeprefix("samples-") for path in HERE.glob("recorded/samples-*.jsonl"))
# What isn't built yet: parsing output.
LEFT_OUT = r"^(derender|key\.derender)"


@pytest.mark.parametrize("name", SHARED)
def test_recorded_answers(shared: Path, models: Path, tmp_path: Path, name: str) -> None:
    replay(shared, models, tmp_path, shared / "golden" / f"samples-{name}.jsonl")


@pytest.mark.parametrize("name", RECORDED)
def test_our_own_recordings(shared: Path, models: Path, tmp_path: Path, name: str) -> None:
    replay(shared, models, tmp_path, HERE / "recorded" / f"samples-{name}.jsonl")


def replay(shared: Path, models: Path, tmp_path: Path, samples: Path) -> None:
    with samples.open(encoding="utf-8") as file:
        start = json.loads(next(file))["header"]["start"]
    before, _, arguments = start.partition("vllm launch render ")
    environ = dict(word.split("=", 1) for word in shlex.split(before) if "=" in word)
    with render_server(shlex.split(arguments), tmp_path / "log", folder=models, environ=environ) as server:
        command = [sys.executable, str(shared / "peers" / "replay.py"), str(samples), "--url", server.url]
        command += ["--differences", str(DIFFERENCES), "--skip", LEFT_OUT]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout[-6000:] + done.stderr[-2000:]
