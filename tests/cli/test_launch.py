"""``typecase launch render`` as a process: it starts with whatever starts vLLM, or says in one line why not."""

from __future__ import annotations

import shutil
import signal
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Callable
from pathlib import Path

import pytest

Failure = Callable[..., str]

RENDER = ("launch", "render")
COMMAND = [sys.executable, "-m", "typecase.cli.main", *RENDER]


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port


def local(*words: str) -> tuple[str, ...]:
    return (*words, "--host", "127.0.0.1", "--port", str(free_port()))


def test_a_directory_that_is_not_there(failure: Failure) -> None:
    assert "/no/such/model" in failure(*RENDER, *local("/no/such/model"))


def test_a_directory_without_a_config(failure: Failure, tmp_path: Path) -> None:
    assert "missing" in failure(*RENDER, *local(str(tmp_path)))


@pytest.mark.parametrize("name", ["tokenizer.json", "config.json", "tokenizer_config.json", "generation_config.json"])
@pytest.mark.parametrize("content", [b"{", b"\xff", b"[]", b"{" * 5000])
def test_a_broken_file(failure: Failure, name: str, content: bytes, tiny: Path, tmp_path: Path) -> None:
    shutil.copytree(tiny, tmp_path / "m")
    (tmp_path / "m" / name).write_bytes(content)
    assert name in failure(*RENDER, *local(str(tmp_path / "m")))


def test_a_file_as_chat_template_that_is_not_there(failure: Failure, tiny: Path) -> None:
    assert "appears path-like, but doesn't exist" in failure(
        *RENDER, *local(str(tiny)), "--chat-template", "missing.jinja"
    )


def test_a_tokenizer_that_no_library_can_read(failure: Failure, tiny: Path, tmp_path: Path) -> None:
    shutil.copytree(tiny, tmp_path / "m")
    (tmp_path / "m" / "tokenizer.json").write_text('{"model": {"type": "BPE", "vocab": {"a": 0}, "merges": [["x"]]}}')
    assert "tokenizer" in failure(*RENDER, *local(str(tmp_path / "m")))


def test_a_context_longer_than_the_model(failure: Failure, tiny: Path) -> None:
    message = failure(*RENDER, *local(str(tiny)), "--max-model-len", "99999999")
    assert message.startswith("User-specified max_model_len (99999999) is greater than the derived max_model_len")


def test_a_port_in_use(failure: Failure, tiny: Path) -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = taken.getsockname()[1]
        assert str(port) in failure(*RENDER, str(tiny), "--host", "127.0.0.1", "--port", str(port))


def test_a_port_out_of_range(failure: Failure, tiny: Path) -> None:
    assert failure(*RENDER, str(tiny), "--port", "70000") == "--port must be between 0 and 65535, got 70000"


def test_a_bad_variable(failure: Failure, tiny: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("VLLM_MAX_STOP_STRINGS", "x")
    assert failure(*RENDER, str(tiny)) == "VLLM_MAX_STOP_STRINGS: 'x' is no number"


def test_start_and_stop(tiny: Path, tmp_path: Path) -> None:
    """Warnings first, one each; the server answers; SIGTERM ends it with 0."""
    port = free_port()
    config = tmp_path / "flags.yaml"
    config.write_text(f"host: 127.0.0.1\nport: {port}\nserved-model-name: [first, second]\nmax-model-len: 128\n")
    words = ["--config", str(config), str(tiny), "-tp", "2", "--trust-remote-code", "--api-key", "key"]
    words += ["--chat-template", "{% for x in %}"]
    log = tmp_path / "log"
    with log.open("w") as output:
        process = subprocess.Popen([*COMMAND, *words], stdout=output, stderr=output)
    try:
        url = f"http://127.0.0.1:{port}"
        wait(f"{url}/health", process, log)
        request = urllib.request.Request(f"{url}/v1/models", headers={"Authorization": "Bearer key"})
        with urllib.request.urlopen(request, timeout=30) as answer:
            models = answer.read().decode()
        assert '"first"' in models
        assert '"second"' in models
        assert '"max_model_len":128' in models
        with pytest.raises(urllib.error.HTTPError, match="401"):
            urllib.request.urlopen(f"{url}/v1/models", timeout=30)
        process.send_signal(signal.SIGTERM)
        assert process.wait(30) == 0
    finally:
        process.kill()
        process.wait()
    text = log.read_text()
    assert text.count("--tensor-parallel-size has no effect: ") == 1
    assert text.count("--trust-remote-code loads nothing: ") == 1
    assert "The chat template can't be used, chats will be refused: " in text
    assert "Tokenizer library: " in text
    assert "key" not in text.replace("API key", "").replace("--api-key", "")


def wait(url: str, process: subprocess.Popen[bytes], log: Path) -> None:
    while process.poll() is None:
        try:
            urllib.request.urlopen(url, timeout=30).close()
        except OSError:
            time.sleep(0.05)
        else:
            return
    raise AssertionError(f"the server stopped at start: {log.read_text()[-2000:]}")
