"""What each of vLLM's flags means here: the table of ``meaning.json``, and the warnings that follow from it.

A flag is ``used``, not built yet (``later``), ``loads nothing`` (it would run somebody's code) or has ``no effect``.
Whatever isn't used costs one warning when it is given: a flag that does nothing must not do so silently. Given with a
value that is honoured all the same (``--no-trust-remote-code``, ``--tokenizer-mode hf``), it costs none.
"""

from __future__ import annotations

__all__ = ["Effect", "Meaning", "load_meanings", "warnings"]

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import Any

from typecase.cli.flags import Flag
from typecase.cli.parser import Arguments


class Effect(StrEnum):
    USED = "used"
    LATER = "not built yet"
    LOADS_NOTHING = "loads nothing"
    NONE = "no effect"


@dataclass(frozen=True, slots=True)
class Meaning:
    """``text`` is the flag's help if it is used, else the reason why not; ``honoured`` values need no warning."""

    effect: Effect
    text: str
    honoured: tuple[Any, ...] = ()

    @property
    def help(self) -> str:
        match self.effect:
            case Effect.USED:
                return self.text
            case Effect.LATER:
                return f"Not built yet: {self.text}."
            case Effect.LOADS_NOTHING:
                return f"Loads nothing: {self.text}."
            case Effect.NONE:
                return f"No effect: {self.text}."


def load_meanings() -> dict[str, Meaning]:
    """The table, by ``dest``."""
    table = json.loads(Path(__file__).with_name("meaning.json").read_bytes())
    honoured = table["honoured_values"]
    meanings: dict[str, Meaning] = {}
    for key, effect in (("used", Effect.USED), ("later", Effect.LATER), ("loads_nothing", Effect.LOADS_NOTHING)):
        for dest, text in table[key].items():
            meanings[dest] = Meaning(effect, text, tuple(honoured.get(dest, ())))
    for record in table["no_effect"]:
        for dest in record["flags"]:
            meanings[dest] = Meaning(Effect.NONE, record["why"])
    return meanings


def warnings(arguments: Arguments, flags: list[Flag], meanings: Mapping[str, Meaning]) -> Iterator[str]:
    """One line for each given flag that isn't used as given, and for flags given twice."""
    if arguments.repeated:
        yield f"Found duplicate keys {', '.join(arguments.repeated)}: the last value counts"
    for flag in flags:
        if flag.dest not in arguments.given:
            continue
        if flag.own:
            if flag.later:
                yield f"{flag.name} has no effect yet: {flag.later}"
            continue
        meaning = meanings[flag.dest]
        value = getattr(arguments, flag.dest)
        if value in meaning.honoured:
            continue
        match meaning.effect:
            case Effect.LATER if value:
                yield f"{flag.name} has no effect yet: {meaning.text}"
            case Effect.LOADS_NOTHING if value:
                yield f"{flag.name} loads nothing: {meaning.text}"
            case Effect.NONE:
                yield f"{flag.name} has no effect: {meaning.text}"
