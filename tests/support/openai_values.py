"""Random values of the ``openai`` package's types, a few of them wrong, drawn from the shapes' own notation."""

from __future__ import annotations

import random
import re
from typing import Any

from typecase.api.openai_shapes import ROOTS, SHAPES

__all__ = ["ShapeMaker", "roots"]

_TOKEN = re.compile(r'("[^"]*"|[A-Za-z_]\w*|[][(){}<>|])')
ODD: list[Any] = [None, True, 5, 0, "", "x", [], {}, [5], ["a"], [None], [{}], {"type": "x"}, 1.5, "true", "5"]


class ShapeMaker:
    """Draws values for a type of the notation, a few of them wrong."""

    def __init__(self, seed: int):
        self.chance = random.Random(seed)
        lines = SHAPES.replace("\n  ", " ").strip().splitlines()
        self.shapes = {line.split(":")[0].split()[1]: line.partition(": ")[2] for line in lines}

    def root(self, names: list[str], wrong: float) -> Any:
        return self.shape(self.chance.choice(names), wrong)

    def shape(self, name: str, wrong: float) -> Any:
        value = {}
        for field in self.shapes[name].split("; "):
            key, _, form = field.partition(" ")
            if self.chance.random() < (0.35 if key.endswith("?") else 0.98):
                value[key.rstrip("?")] = self.value(form, wrong)
        if self.chance.random() < 0.05:
            value[self.chance.choice(["extra", "role", "status", "id", "type"])] = self.chance.choice(ODD)
        return value

    def value(self, form: str, wrong: float) -> Any:
        if self.chance.random() < wrong:
            return self.chance.choice(ODD)
        one = self.chance.choice(alternatives(form))
        match one:
            case "str":
                return self.chance.choice(["", "a", "é"])
            case "int":
                return self.chance.choice([0, 1, "5", 2.0])
            case "float":
                return self.chance.choice([1, 0.5, "0.5"])
            case "bool":
                return self.chance.choice([True, False, "yes", 1])
            case "any":
                return self.chance.choice(ODD)
            case "null":
                return None
        match one[0]:
            case '"':
                return one[1:-1]
            case "[" | "<":
                return [self.value(one[1:-1], wrong) for _ in range(self.chance.choice([0, 1, 1, 2]))]
            case "{":
                return {key: self.value(one[1:-1], wrong) for key in "ab"}
            case "(":
                return self.value(one[1:-1], wrong)
        return self.shape(one, wrong)


def alternatives(form: str) -> list[str]:
    found, depth = [""], 0
    for token in _TOKEN.findall(form):
        depth += (token in "([{<") - (token in ")]}>")
        if token == "|" and not depth:
            found.append("")
        else:
            found[-1] += token
    return found


def roots(name: str) -> list[str]:
    """The shapes that a field of a request may be made of."""
    line = next(line for line in ROOTS.splitlines() if line.startswith(f"{name} "))
    return re.findall(r"[A-Z]\w+", line)
