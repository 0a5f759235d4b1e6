"""Command line words as vLLM lets people write them, rewritten to what argparse understands.

Pure: words in, words out. ``rewrite`` makes ``_`` and ``-`` the same in flag names, joins the dotted forms
(``--flag.key value``) of a flag to one JSON object at the end of the line, and turns ``-O3`` into
``--optimization-level 3``. The steps and their order are those of vLLM 0.33, down to its limits: a word that starts
with ``-`` and holds a dot is a dotted flag wherever it stands, ``--flag.a 1`` and ``--fla.b 2`` are two objects (and
the last one wins), and an object given as JSON is replaced by the dotted one.
"""

from __future__ import annotations

__all__ = ["Words", "WordsError", "rewrite"]

import json
import re
from argparse import ArgumentTypeError
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from typecase.cli.values import read_json, read_size

# A flag's name ends at the first dot; what follows is a key and keeps its underscores.
_NAME = re.compile(r"(?<=--)[^.]*")


class WordsError(Exception):
    """The words can't be rewritten; the message follows ``error: ``."""


@dataclass(slots=True)
class Words:
    """``help`` is the word of ``--help=word``; ``repeated`` names flags given twice, of which the last one counts."""

    args: list[str]
    help: str | None = None
    repeated: list[str] = field(default_factory=list)


def rewrite(args: Sequence[str]) -> Words:
    """The words as argparse should see them."""
    words = Words([])
    plain = _plain_names(args, words)
    seen: set[str] = set()
    objects: dict[str, dict[str, Any]] = {}
    position = 0
    while position < len(plain):
        word = plain[position]
        position += 1
        name, equals, value = word.partition("=")
        if word.startswith("-") and "." in name:
            if not equals:
                if position == len(plain):
                    raise WordsError(f"argument {name}: expected one argument")
                value = plain[position]
                position += 1
            _add_key(objects, name, value, words.repeated)
            continue
        if name.startswith("--") and "." not in word:
            if name in seen and name not in words.repeated:
                words.repeated.append(name)
            seen.add(name)
        words.args.append(word)
    for name, merged in objects.items():
        words.args += [name, json.dumps(merged)]
    return words


def _plain_names(args: Sequence[str], words: Words) -> list[str]:
    """Dashes in names, ``-O3`` spelled out, ``--help=word`` taken apart."""
    plain: list[str] = []
    for position, word in enumerate(args):
        following = args[position + 1] if position + 1 < len(args) else None
        if word.startswith("--help="):
            words.help = word.partition("=")[2]
            plain.append("--help")
        elif word.startswith("--"):
            name, equals, value = word.partition("=")
            plain.append(_NAME.sub(lambda match: match.group().replace("_", "-"), name, count=1) + equals + value)
        elif word.startswith("-O") and word != "-O":
            plain += ["--optimization-level", word[3:] if word[2] == "=" else word[2:]]
        elif word == "-O" and following in ("0", "1", "2", "3"):
            plain.append("--optimization-level")
        else:
            plain.append(word)
    return plain


def _add_key(objects: dict[str, dict[str, Any]], name: str, text: str, repeated: list[str]) -> None:
    """Put the value of ``--flag.key.sub`` where it belongs in the flag's object."""
    value: Any = text.split(",") if name.endswith("+") else _read(text)
    flag, *keys = name.removesuffix("+").split(".")
    for key in reversed(keys):
        value = {key: value}
    _merge(objects.setdefault(flag, {}), value, flag, repeated)


def _read(text: str) -> Any:
    """JSON, else a number with a suffix, else the text."""
    try:
        return read_json(text)
    except ValueError:
        pass
    try:
        return read_size(text)
    except (ValueError, ArgumentTypeError):
        return text


def _merge(target: dict[str, Any], update: dict[str, Any], path: str, repeated: list[str]) -> None:
    """Objects are merged, lists joined, anything else replaced (and noted)."""
    for key, value in update.items():
        old = target.get(key)
        if isinstance(value, dict) and isinstance(old, dict):
            _merge(old, value, f"{path}.{key}", repeated)
        elif isinstance(value, list) and isinstance(old, list):
            old.extend(value)
        else:
            if key in target:
                repeated.append(f"{path}.{key}")
            target[key] = value
