"""Recorded answers of vLLM 0.33, replayed against our server started with the recorded command line."""

from __future__ import annotations

import json
import shlex
import subprocess
import sys
from pathlib import Path

import pytest
from tests.support.servers import render_server

pytestmark = [pytest.mark.network, pytest.mark.shared]

DIFFERENCES = Path(__file__).with_name("differences.json")
FILES = ["qwen3", "qwen3-options", "llama3_1", "llama3_2", "qwen2_5"]
FILES += ["deepseek_v3", "gemma3", "mistral_nemo", "command_r_plus", "llama2"]
CHAT_AND_SERVICE = (
    "^(chat|raw|tokenize|detokenize|service|key|template|default_kwargs|tools|logprobs"
    r"|len\.(?!completion|responses|messages))"
)
# What a parser adds to a request is built with the formats.
NOT_YET = ["structured_outputs", "skip_special_tokens", "reasoning_ended", "reasoning_parser_kwargs"]


@pytest.mark.parametrize("name", FILES)
def test_recorded_answers(shared: Path, models: Path, tmp_path: Path, name: str) -> None:
    samples = shared / "golden" / f"samples-{name}.jsonl"
    with samples.open(encoding="utf-8") as file:
        start = json.loads(next(file))["header"]["start"]
    arguments = shlex.split(start.partition("vllm launch render ")[2])
    with render_server(arguments, tmp_path / "log", folder=models) as server:
        replay = [sys.executable, str(shared / "peers" / "replay.py"), str(samples), "--url", server.url]
        replay += ["--differences", str(DIFFERENCES), "--only", CHAT_AND_SERVICE]
        for field in NOT_YET:
            replay += ["--ignore", field]
        done = subprocess.run(replay, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout[-6000:] + done.stderr[-2000:]
