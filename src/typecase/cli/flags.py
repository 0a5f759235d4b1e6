"""The flags as data: vLLM's (``flags.json``, written by ``tests/support/slim_flags.py``) and ours (``own_flags.json``).

Both files hold one record a flag. vLLM's say how a word is read, what it means here stands in ``meaning.json``; ours
bring their help along.
"""

from __future__ import annotations

__all__ = ["Flag", "load_flags"]

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

_HERE = Path(__file__).parent


@dataclass(frozen=True, slots=True)
class Flag:
    """One flag. ``names`` are its spellings (the first is the usual one), ``negative`` those that switch it off."""

    dest: str
    names: tuple[str, ...]
    group: str
    negative: tuple[str, ...] = ()
    action: str = "store"
    type: str = "str"
    none: bool = False  # an empty value and the word None mean: not given
    nargs: str | None = None
    const: Any = None  # the value of an nargs "?" flag without one
    choices: tuple[Any, ...] | None = None
    default: Any = None
    own: bool = False  # not one of vLLM's; its name can't be shortened
    help: str = ""
    later: str = ""  # one of ours that nothing uses yet: why

    @property
    def name(self) -> str:
        return self.names[0]

    @property
    def takes_value(self) -> bool:
        return self.action in ("store", "append")


def load_flags() -> list[Flag]:
    """Every flag, vLLM's first."""
    flags = []
    for file, own in (("flags.json", False), ("own_flags.json", True)):
        for record in json.loads((_HERE / file).read_bytes())["flags"]:
            for key in ("names", "negative", "choices"):
                if key in record:
                    record[key] = tuple(record[key])
            flags.append(Flag(own=own, **record))
    return flags
