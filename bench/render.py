"""Server CPU per request, ours beside vLLM's Rust renderer, in one run.

    python bench/render.py --models MODELS --shared SHARED --rust VLLM_RS [--sections chat,conv,tools,short,agent]
    [--rounds 5]

The section ``processes`` compares one process of ours with two (``processes.py``).

Starts both servers on a copy of qwen3 whose config.json says 262,144 positions and calls the shared bench over them.
Its ``ratio`` column is the median over rounds of ours / vllm-rs by CPU time; answers are compared in every block.
Other options go to the shared bench unchanged. See ``peers/bench.md`` there for how it measures.
"""

from __future__ import annotations

import argparse
import re
import subprocess
import sys
import tempfile
import time
import urllib.request
from pathlib import Path


def main() -> int:
    parser = argparse.ArgumentParser(description="Compare render servers by CPU time.")
    parser.add_argument(
        "--models", type=Path, required=True, help="folder of model directories (shared models/fetch.py)"
    )
    parser.add_argument("--shared", type=Path, required=True, help="the shared folder")
    parser.add_argument("--rust", type=Path, required=True, help="the vllm-rs binary")
    parser.add_argument("--sections", default="chat,conv,tools,short,agent")
    parser.add_argument("--rounds", default="5")
    parser.add_argument("--port", type=int, default=9400)
    parser.add_argument("--flags", default="", help="more flags for our server, separated by blanks")
    args, rest = parser.parse_known_args()
    sections = args.sections.split(",")
    if "processes" in sections:
        sections.remove("processes")
        args.sections = ",".join(sections)
        import processes

        processes.compare(
            args.models / "qwen3",
            processes=2,
            rounds=int(args.rounds),
            seconds=3.0,
            connections=16,
            words=2500,
            port=args.port + 2,
        )
        if not sections:
            return 0
    with tempfile.TemporaryDirectory() as folder:
        return compare(args, rest, long_context_copy(args.models / "qwen3", Path(folder) / "qwen3-262k"))


def compare(args: argparse.Namespace, rest: list[str], model: Path) -> int:
    ours = [sys.executable, "-m", "typecase.cli.main", "launch", "render", str(model), *args.flags.split()]
    commands = {
        "rs": [str(args.rust), "render", str(model)],
        "typecase": ours,
    }
    running: dict[str, subprocess.Popen[bytes]] = {}
    try:
        bench = [sys.executable, str(args.shared / "peers" / "bench.py"), "--sections", args.sections]
        bench += ["--rounds", args.rounds, *rest]
        for i, (name, command) in enumerate(commands.items()):
            port = args.port + i
            command += ["--served-model-name", "qwen3", "--port", str(port)]
            running[name] = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
            wait_ready(running[name], port)
            bench += ["--server", f"{name}=127.0.0.1:{port},{running[name].pid},qwen3"]
        return subprocess.call(bench)
    finally:
        for server in running.values():
            server.terminate()
            server.wait()


def long_context_copy(source: Path, copy: Path) -> Path:
    copy.mkdir()
    for file in source.resolve().iterdir():
        if file.name != "config.json":
            (copy / file.name).symlink_to(file)
    config = (source / "config.json").read_text()
    (copy / "config.json").write_text(re.sub(r'("max_position_embeddings": *)\d+', r"\g<1>262144", config))
    return copy


def wait_ready(server: subprocess.Popen[bytes], port: int) -> None:
    for _ in range(600):
        if server.poll() is not None:
            sys.exit(f"a server stopped at start: {server.args!r}")
        try:
            with urllib.request.urlopen(f"http://127.0.0.1:{port}/v1/models", timeout=2):
                return
        except OSError:
            time.sleep(0.1)
    sys.exit(f"not ready within a minute: {server.args!r}")


if __name__ == "__main__":
    sys.exit(main())
