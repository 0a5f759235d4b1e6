"""Requests made from the schema, right ones and wrong ones: never a 5xx, nor a status or shape that isn't documented.

The short run is the same each time; the nightly one looks for ten minutes at what nobody has thought of.
"""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.support.servers import Running, render_server

CHECKS = (
    "not_a_server_error",
    "status_code_conformance",
    "content_type_conformance",
    "response_schema_conformance",
    "response_headers_conformance",
    "ignored_auth",
)


@pytest.fixture(scope="module")
def keyed(tiny: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Running]:
    """A server with a key and all optional routes. Any model name is taken: else most requests would end there."""
    flags = ["--api-key", "secret", "--enable-tokenizer-info-endpoint", "--enable-request-id-headers"]
    with render_server(
        [str(tiny), "--served-model-name", "tiny", *flags, "--trust-request-chat-template"],
        tmp_path_factory.mktemp("schemathesis") / "log",
        environ={"VLLM_SKIP_MODEL_NAME_VALIDATION": "1"},
    ) as server:
        yield server


def run(server: Running, folder: Path, *options: str) -> None:
    command = [sys.executable, "-m", "schemathesis.cli", "run", f"{server.url}/openapi.json", "--no-color"]
    command += ["--checks", ",".join(CHECKS), "--header", "Authorization: Bearer secret", "--warnings", "off", *options]
    done = subprocess.run(command, cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False)
    assert done.returncode == 0, done.stdout[-8000:]
    assert "Traceback" not in server.log.read_text()


def test_some_requests(keyed: Running, tmp_path: Path) -> None:
    run(
        keyed,
        tmp_path,
        *["--phases", "examples,fuzzing", "--max-examples", "5", "--generation-deterministic"],
    )


@pytest.mark.nightly
def test_requests_for_ten_minutes(keyed: Running, tmp_path: Path) -> None:
    run(
        keyed,
        tmp_path,
        *["--phases", "examples,coverage,fuzzing,stateful", "--max-examples", "300", "--max-time", "600"],
    )
