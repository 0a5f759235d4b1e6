"""CPU time of one chat template rendering: ours, with and without a budget, against plain jinja2 and transformers.

    python bench/templates.py ../shared/chat_templates/Qwen-Qwen3-0.6B.jinja

The cases are one short message, 401 short messages and 100 tools. Every contestant's text is compared first. The
figures are the best of several rounds in milliseconds of CPU; ratios between them count, not the figures.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable
from datetime import datetime
from functools import partial
from pathlib import Path
from typing import Any

import jinja2
from jinja2.sandbox import ImmutableSandboxedEnvironment, SandboxedEnvironment
from transformers.utils.chat_template_utils import _compile_jinja_template, render_jinja_template

from typecase.prompt.budget import Budget
from typecase.prompt.template import ChatTemplate

Case = dict[str, Any]


def cases() -> dict[str, Case]:
    tool = {
        "type": "function",
        "function": {
            "name": "look_up",
            "description": "Looks something up, and says where it was found. " * 3,
            "parameters": {
                "type": "object",
                "properties": {f"field_{i}": {"type": "string", "description": "what to look for"} for i in range(6)},
                "required": ["field_0"],
            },
        },
    }
    turns = [
        {"role": "user" if i % 2 == 0 else "assistant", "content": f"Some short message number {i} here"}
        for i in range(400)
    ]
    return {
        "1 message": {"messages": [{"role": "user", "content": "Hello there"}]},
        "401 messages": {"messages": [{"role": "system", "content": "Be brief."}, *turns, turns[0]]},
        "100 tools": {"messages": [{"role": "user", "content": "Hello"}], "tools": [tool] * 100},
    }


def contestants(source: str) -> dict[str, Callable[[Case], str]]:
    template = ChatTemplate(source)
    patterns = _compile_jinja_template(source)

    def of_jinja(kind: type[jinja2.Environment]) -> Callable[[Case], str]:
        environment = kind(
            trim_blocks=True, lstrip_blocks=True, extensions=[type(e) for e in patterns.environment.extensions.values()]
        )
        environment.filters["tojson"] = patterns.environment.filters["tojson"]
        environment.globals.update(patterns.environment.globals)
        compiled = environment.from_string(source)
        return lambda case: compiled.render(documents=None, add_generation_prompt=True, **case)

    def ours(case: Case, budget: Budget | None = None) -> str:
        return template.render(
            case["messages"],
            tools=case.get("tools"),
            add_generation_prompt=True,
            variables={},
            now=datetime.now,
            budget=budget,
        )

    def transformers(case: Case) -> str:
        return render_jinja_template(
            [case["messages"]], tools=case.get("tools"), chat_template=source, add_generation_prompt=True
        )[0][0]

    return {
        "typecase": ours,
        "typecase with a budget": lambda case: ours(case, Budget(10**6, 10**8, lambda: False)),
        "jinja2, no sandbox": of_jinja(jinja2.Environment),
        "jinja2 SandboxedEnvironment": of_jinja(SandboxedEnvironment),
        "jinja2 ImmutableSandboxedEnvironment": of_jinja(ImmutableSandboxedEnvironment),
        "transformers": transformers,
    }


def milliseconds(run: Callable[[], object], rounds: int) -> float:
    best = float("inf")
    count = 1
    for _ in range(rounds):
        while True:
            start = time.process_time()
            for _ in range(count):
                run()
            spent = time.process_time() - start
            if spent > 0.02:
                break
            count *= 2
        best = min(best, spent / count)
    return best * 1000


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("template", type=Path)
    parser.add_argument("--rounds", type=int, default=7)
    options = parser.parse_args()
    source = options.template.read_text(encoding="utf-8")

    rendering = contestants(source)
    for name, case in cases().items():
        case = {"tools": None, **case}
        texts = {run(case) for run in rendering.values()}
        print(f"\n{name}: {len(texts.copy().pop())} characters" + ("" if len(texts) == 1 else ", TEXTS DIFFER"))
        spent = {who: milliseconds(partial(run, case), options.rounds) for who, run in rendering.items()}
        for who, value in spent.items():
            print(f"  {who:38} {value:8.3f} ms  {value / spent['jinja2, no sandbox']:6.2f}")


if __name__ == "__main__":
    main()
