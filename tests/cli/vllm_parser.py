"""Hold our parser against vLLM's own. Run with a Python that has vLLM 0.33, and ``src`` on the path:

    PYTHONPATH=src VLLM_TARGET_DEVICE=cpu python tests/cli/vllm_parser.py compare [SEED [COUNT]]
    PYTHONPATH=src VLLM_TARGET_DEVICE=cpu python tests/cli/vllm_parser.py record

``compare`` parses every flag in every spelling and prefix with good and bad values, then COUNT random lines, with both,
and prints what differs. ``record`` writes ``cases.jsonl``: lines with what vLLM makes of them, which ``test_cases.py``
replays without vLLM. Nothing is started; only vLLM's parser is built.
"""

from __future__ import annotations

import contextlib
import dataclasses
import io
import json
import os
import random
import sys
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

os.environ.setdefault("VLLM_TARGET_DEVICE", "cpu")
os.environ.setdefault("VLLM_LOGGING_LEVEL", "CRITICAL")

from vllm.entrypoints.cli import launch, serve  # type: ignore[import-not-found]
from vllm.utils.argparse_utils import FlexibleArgumentParser  # type: ignore[import-not-found]

from typecase.cli.command import Command
from typecase.cli.failure import StartError
from typecase.cli.flags import Flag
from typecase.cli.parser import UsageError

CASES = Path(__file__).with_name("cases.jsonl")
RENDER = ("launch", "render")

# Values to try for each kind of flag, good ones and bad ones.
VALUES = {
    "str": ["x", "", "None", "a=b", "a.b", "/tmp/x", "-", '{"a":1}', "- x", "ü", "-3", "a_b"],
    "int": ["3", "0", "-1", "1_0", " 7 ", "x", "", "None", "1.5", "1k", "９"],
    "float": ["0.5", "-0.5", "1", "nan", "x", "", "None", "1e3"],
    "size": ["1k", "1K", "1.5k", "1.5K", "2M", "3g", "4T", "x", "", "None", "12", "-3", "0.1t", " 1k"],
    "size-or-auto": ["auto", "AUTO", "-1", "1k", "1K", "1.5K", "x", "", "None", "-2"],
    "json": ['{"a":1}', "[1]", '"x"', "x", "", "None", "{", "NaN", "null", "*"],
    "json-or-string": ['{"a":1}', "x", "{bad}", "", "None", ' {"a": 2} ', "{", "[1]"],
    "config": ["{}", "x", "", "None", "3", "[]"],
    "backend": ["AUTO", "Deep-Gemm", "x", "auto", "triton"],
    "devices": ["1,a", "0", " 2 ,x", ""],
    "reasoning-parser": ["NONE", "none", "qwen3", "", "None"],
    "lora-module": ["a=b", '{"name":"x","path":"y"}', '{"name":"x"}', "x", "", "[1]", "a=b,c", '{"name":"a","z":1}'],
}
KEYS = [".a", ".a.b", ".a_b", ".l+", ".", ".x.y.z"]
KEY_VALUES = ["1", "0.5", "1k", "1.5K", "true", "null", '"q"', "p,q", "x y", "", '{"c":1}', "[1,2]", "-1"]
ODD = [
    "-O3",
    "-O",
    "-O=2",
    "-h",
    "--help=x",
    "--bogus",
    "-x",
    "--",
    "-cc.mode=3",
    "-.a",
    "-a.b",
    "--a.b",
    "-",
    "--=",
    "-1",
]

# Lines that say something about a rule; see test_cases.py.
RULES: list[list[str]] = [
    [*RENDER],
    [*RENDER, "org/model"],
    [*RENDER, "m1", "m2"],
    [*RENDER, "m1", "--port", "1", "m2"],
    [*RENDER, "--port", "1", "m"],
    [*RENDER, "--model", "a", "--port", "1"],
    [*RENDER, "b", "--model", "a"],
    [*RENDER, "--", "m"],
    [*RENDER, "--port", "1", "--", "m"],
    [*RENDER, "m", "--", "--port"],
    [*RENDER, "--max_model_len", "1K"],
    [*RENDER, "--max-model-len", "1.5K"],
    [*RENDER, "--max-model-len", "2k"],
    [*RENDER, "--max-model-len=auto"],
    [*RENDER, "--max-model-len", "-1"],
    [*RENDER, "--api_key=a_b"],
    [*RENDER, "--api-key", "a", "--api-key", "b"],
    [*RENDER, "--api-key", "a", "b", "--", "m"],
    [*RENDER, "--served-model-name", "a", "b"],
    [*RENDER, "--served-model-name", "None", ""],
    [*RENDER, "--enable-auto"],
    [*RENDER, "--enable"],
    [*RENDER, "--no"],
    [*RENDER, "--he"],
    [*RENDER, "--hel"],
    [*RENDER, "-h"],
    [*RENDER, "--help=port"],
    [*RENDER, "--help", "port"],
    [*RENDER, "--port", "x", "--help"],
    [*RENDER, "--bogus", "--help"],
    [*RENDER, "--disable-auto-tool-choice"],
    [*RENDER, "--no-enable-auto-tool-choice"],
    [*RENDER, "--enable-fastapi-docs"],
    [*RENDER, "--trust-remote-code=1"],
    [*RENDER, "--middleware", "a.b", "--middleware", "c.d"],
    [*RENDER, "--port=1", "--port=2"],
    [*RENDER, "--override-generation-config", '{"temperature":0.5}'],
    [*RENDER, "--override-generation-config.temperature", "0.5", "--override_generation_config.max_new_tokens=1k"],
    [*RENDER, "--default-chat-template-kwargs.l+", "p,q"],
    [*RENDER, "--default-chat-template-kwargs.l+", "p,q", "--default-chat-template-kwargs.l+", "r"],
    [*RENDER, "--hf-overrides", '{"a":1}', "--hf-overrides.b", "2"],
    [*RENDER, "--hf-overrides.b", "2", "--hf-overrides", '{"a":1}'],
    [*RENDER, "--hf-over.a", "1", "--hf-overrides.b", "2"],
    [*RENDER, "--hf_overrides.a_b.c_d", "1"],
    [*RENDER, "--hf-overrides.a.b", "1", "--hf-overrides.a", "2"],
    [*RENDER, "--hf-overrides.b"],
    [*RENDER, "--port.x", "1"],
    [*RENDER, "--chat-template.x", "1"],
    [*RENDER, "--chat-template", "None"],
    [*RENDER, "--chat-template", ""],
    [*RENDER, "--chat-template", "-x"],
    [*RENDER, "--chat-template", "- x"],
    [*RENDER, "--chat-template=-x"],
    [*RENDER, "--host", ""],
    [*RENDER, "--tokenizer", "None"],
    [*RENDER, "--allowed-origins", "*"],
    [*RENDER, "--allowed-origins", '["*"]'],
    [*RENDER, "--bogus"],
    [*RENDER, "--bogus", "x"],
    [*RENDER, "-1"],
    [*RENDER, "-x"],
    [*RENDER, "-v"],
    [*RENDER, "--fingerprint-mode", "x"],
    [*RENDER, "--tool-strict-level", "x"],
    [*RENDER, "--tool-strict-level", "None"],
    [*RENDER, "-O3"],
    [*RENDER, "-O", "3"],
    [*RENDER, "-O=3"],
    [*RENDER, "-O"],
    [*RENDER, "-O", "x"],
    [*RENDER, "-n4"],
    [*RENDER, "-tp", "4"],
    [*RENDER, "-tp4"],
    [*RENDER, "-tp=4"],
    [*RENDER, "-qawq"],
    [*RENDER, "-d", "3"],
    [*RENDER, "-ep"],
    [*RENDER, "-cc.mode=3"],
    [*RENDER, "-cc", "{}"],
    [*RENDER, "-cc", "3"],
    [*RENDER, "--structured-outputs-config.reasoning_parser", "x"],
    [*RENDER, "--hf-token"],
    [*RENDER, "--hf-token", "x", "y"],
    [*RENDER, "--hf-token", "--port", "1", "m"],
    [*RENDER, "--hf-token=None"],
    [*RENDER, "--gpu-memory-utilization", "-0.5"],
    [*RENDER, "--gpu-memory-utilization=-0.5"],
    [*RENDER, "--device-memory-utilization", "0.5"],
    [*RENDER, "--seed", "-5"],
    [*RENDER, "--reasoning-parser", "NONE"],
    [*RENDER, "--log-level", "debug"],
    [*RENDER, "--config=x.yaml"],
    ["serve"],
    ["serve", "m", "--port", "1"],
    ["serve", "--model", "m", "--port", "1"],
    ["serve", "--port", "1", "--model=m"],
    ["serve", "a", "--model", "m"],
    ["serve", "--served-model-name", "x"],
    ["serve", "--served_model_name=x", "m"],
    ["serve", "m", "--served-model-name", "x"],
    ["serve", "--model", "m", "--served-model-name", "x"],
]


def build_parser() -> Any:
    """vLLM's parser with the two commands that take these flags."""
    parser = FlexibleArgumentParser(prog="vllm")
    parser.add_argument("-v", "--version", action="version", version="")
    commands = parser.add_subparsers(dest="subparser")
    for module in (serve, launch):
        for command in module.cmd_init():
            command.subparser_init(commands)
    return parser


class Parsers:
    """Both parsers, asked alike: ``ok``, ``no`` or ``help``, and the values."""

    def __init__(self) -> None:
        self._theirs = build_parser()
        self._ours = {"launch": Command("launch render"), "serve": Command("serve")}
        self.flags = [flag for flag in self._ours["launch"].flags if not flag.own and flag.dest != "config"]

    def theirs(self, line: list[str]) -> tuple[str, dict[str, Any], str]:
        err = io.StringIO()
        try:
            with contextlib.redirect_stderr(err), contextlib.redirect_stdout(io.StringIO()):
                return "ok", vars(self._theirs.parse_args(list(line))), ""
        except SystemExit as stop:
            return ("help" if stop.code == 0 else "no"), {}, err.getvalue()
        except Exception as error:  # vLLM lets some of them through; it doesn't start
            return "no", {}, repr(error)

    def ours(self, line: list[str]) -> tuple[str, dict[str, Any], str]:
        words = line[1:] if line[0] == "serve" else line[2:]
        try:
            with contextlib.redirect_stdout(io.StringIO()):
                arguments, _ = self._ours[line[0]].parse(words)
        except SystemExit:
            return "help", {}, ""
        except (UsageError, StartError) as error:
            return "no", {}, str(error)
        return "ok", vars(arguments), ""

    def differences(self, line: list[str]) -> Iterator[str]:
        verdict, theirs, why = self.theirs(line)
        our_verdict, ours, our_why = self.ours(line)
        if verdict != our_verdict:
            # Two wanted leniencies: keys of engine settings, devices of other platforms.
            if verdict == "no" and our_verdict == "ok" and ("validation error for" in why or "--mm-processor-d" in why):
                return
            yield f"vLLM: {verdict} {why[-300:]!r}, here: {our_verdict} {our_why[-300:]!r}"
        elif verdict == "ok":
            for dest, value in theirs.items():
                if self._comparable(dest, ours) and repr(comparable(dest, value)) != repr(comparable(dest, ours[dest])):
                    yield f"{dest}: vLLM {value!r}, here {ours[dest]!r}"

    def _comparable(self, dest: str, ours: dict[str, Any]) -> bool:
        flag = next((flag for flag in self.flags if flag.dest == dest), None)
        if flag is None:
            return dest == "model_tag"
        return flag.type != "config" and dest in ours["given"]


def comparable(dest: str, value: Any) -> Any:
    """The value in JSON's terms: LoRA modules as their name and path, without the empty ones, which vLLM skips."""
    if dest != "lora_modules" or value is None:
        return value
    modules = [dataclasses.asdict(item) if dataclasses.is_dataclass(item) else item for item in value if item]
    return [{"name": module["name"], "path": module["path"]} for module in modules]


def values_of(flag: Flag) -> list[str]:
    if flag.choices:
        return [*(str(choice) for choice in flag.choices if choice is not None), "x", "", "None"]
    return VALUES[flag.type]


def systematic(flags: list[Flag]) -> Iterator[list[str]]:
    """Every flag in every spelling with every value, and every prefix."""
    for flag in flags:
        for name in (*flag.names, *flag.negative):
            for spelling in sorted({name, "--" + name[2:].replace("-", "_") if name.startswith("--") else name}):
                if not flag.takes_value:
                    yield [*RENDER, spelling]
                    yield [*RENDER, spelling + "=x"]
                    continue
                for value in values_of(flag):
                    yield [*RENDER, spelling, value]
                    yield [*RENDER, f"{spelling}={value}"]
        for length in range(3, len(flag.name)):
            yield [*RENDER, flag.name[:length], *(values_of(flag)[:1] if flag.takes_value else ())]


class RandomLines:
    """Lines of several flags, spelled in all the ways, now and then wrongly."""

    def __init__(self, flags: list[Flag], seed: int):
        self._flags = flags
        self._random = random.Random(seed)

    def line(self) -> list[str]:
        rnd = self._random
        line = [rnd.choice(["m", "org/model", "./dir", "x.gguf", "-5"])] if rnd.random() < 0.4 else []
        for _ in range(rnd.choice([0, 1, 1, 1, 2, 2, 3, 5])):
            line += self._flag()
        chance = rnd.random()
        if chance < 0.05:
            line += ["--", "m"]
        elif chance < 0.12:
            line.insert(rnd.randint(0, len(line)), rnd.choice(ODD))
        return ["serve", *line] if rnd.random() < 0.2 else [*RENDER, *line]

    def _flag(self) -> list[str]:
        rnd = self._random
        flag = rnd.choice(self._flags)
        name = self._spelled(rnd.choice((*flag.names, *flag.negative)))
        chance = rnd.random()
        if not flag.takes_value:
            return [name + "=1"] if chance < 0.05 else [name, "x"] if chance < 0.08 else [name]
        value = rnd.choice(values_of(flag))
        if flag.type in ("json", "json-or-string") and chance < 0.4:
            name, value = name + rnd.choice(KEYS), rnd.choice(KEY_VALUES)
        elif flag.nargs == "+" and chance < 0.8:
            return [name, *(rnd.choice(values_of(flag)) for _ in range(rnd.choice([0, 1, 2, 3])))]
        elif (flag.nargs == "?" and chance < 0.5) or chance < 0.05:
            return [name]
        elif chance < 0.1 and not name.startswith("--"):
            return [name + value]
        return [f"{name}={value}"] if rnd.random() < 0.4 else [name, value]

    def _spelled(self, name: str) -> str:
        rnd = self._random
        chance = rnd.random()
        if not name.startswith("--") or chance > 0.65:
            return name
        if chance < 0.3:
            return "--" + name[2:].replace("-", "_")
        if chance < 0.4:
            return "--" + "".join(c if c != "-" or rnd.random() < 0.5 else "_" for c in name[2:])
        return name + "x" if chance < 0.42 else name[: rnd.randint(max(3, len(name) - 8), len(name))]


def compare(seed: int, count: int) -> int:
    parsers = Parsers()
    lines = RandomLines(parsers.flags, seed)
    seen = differing = 0
    for line in (*RULES, *systematic(parsers.flags), *(lines.line() for _ in range(count))):
        seen += 1
        for difference in parsers.differences(line):
            differing += 1
            print(line, difference)
    print(f"{seen} lines, {differing} differences")
    return min(differing, 1)


def record() -> None:
    """RULES, a good and a bad value for each flag in a random spelling, and some random lines, as vLLM takes them."""
    parsers = Parsers()
    lines = RandomLines(parsers.flags, seed=33)
    picked = [*RULES]
    for flag in parsers.flags:
        if flag.dest == "mm_processor_device":
            continue
        for name in (*flag.names, *flag.negative):
            values = [value for value in values_of(flag) if flag.type != "config" or not value.startswith('{"')]
            kept = [values[0], values[-1]] if len(values) > 1 else values
            picked += [[*RENDER, name, value] for value in kept] if flag.takes_value else [[*RENDER, name]]
    picked += [lines.line() for _ in range(600)]
    written = Counter[str]()
    with CASES.open("w") as file:
        for line in picked:
            verdict, values, why = parsers.theirs(line)
            if "validation error for" in why or "--mm-processor-d" in why:
                continue
            case: dict[str, Any] = {"line": line, "verdict": verdict}
            if verdict == "ok":
                given = parsers.ours(line)[1].get("given", ())
                case["model"] = values["model_tag"]
                case["values"] = {
                    flag.dest: comparable(flag.dest, values[flag.dest])
                    for flag in parsers.flags
                    if flag.dest in given and flag.type != "config"
                }
            written[verdict] += 1
            file.write(json.dumps(case, ensure_ascii=False) + "\n")
    print(dict(written))


if __name__ == "__main__":
    if sys.argv[1:2] == ["record"]:
        record()
    else:
        sys.exit(compare(*(int(word) for word in (*sys.argv[2:4], "1", "4000")[:2])))
