"""``--config FILE.yaml``: a file of flags, read as words of the command line.

Keys are flag names. A scalar is a value, ``true`` a flag without one, a list several values, a mapping JSON. ``false``
switches a toggle off on ``launch render``; on ``serve`` it is ignored, because vLLM 0.33 ignores it there, and
the caller warns. The file is input like any other: the safe loader, a bounded size, and a bounded number of aliases
(nested ones multiply).
"""

from __future__ import annotations

__all__ = ["ConfigFile", "config_words", "take_config"]

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from typecase.cli.failure import StartError

MAX_BYTES = 1 << 20
MAX_ALIASES = 20


@dataclass(slots=True)
class ConfigFile:
    """The words of a file, and the keys whose ``false`` was left out."""

    path: str
    words: list[str] = field(default_factory=list)
    ignored: list[str] = field(default_factory=list)


def take_config(args: Sequence[str]) -> tuple[list[str], str | None]:
    """Take ``--config FILE`` out of the words. Only this form is read; ``--config=FILE`` is not, as in vLLM."""
    if "--config" not in args:
        return list(args), None
    if args.count("--config") > 1:
        raise StartError("More than one config file specified!")
    position = list(args).index("--config")
    if position + 1 == len(args):
        raise StartError("No config file specified! Please check your command-line arguments.")
    return [*args[:position], *args[position + 2 :]], args[position + 1]


def config_words(path: str, *, opposites: Mapping[str, str | None] | None) -> ConfigFile:
    """Read the file.

    ``opposites`` has what ``false`` stands for: the flag that switches the key's flag off, or None for a flag that
    is off when it isn't there. Without ``opposites``, ``false`` is ignored.
    """
    extension = path.rpartition(".")[2]
    if extension not in ("yaml", "yml"):
        raise StartError(f"Config file must be of a yaml/yml type. {extension} supplied")
    config = ConfigFile(path)
    for key, value in _read(path).items():
        if not isinstance(key, str):
            raise StartError(f"config file {path}: the key {key!r} is no flag name")
        flag = f"--{key}"
        match value:
            case True:
                config.words.append(flag)
            case False:
                if opposites is None:
                    config.ignored.append(key)
                    continue
                switch = flag.replace("_", "-")
                if switch not in opposites:
                    raise StartError(f"config file {path}: {key} is no switch that can be false")
                config.words += filter(None, [opposites[switch]])
            case list():
                config.words += [flag, *(_text(item, path) for item in value)] if value else []
            case _:
                config.words.append(f"{flag}={_text(value, path)}")
    return config


def _text(value: Any, path: str) -> str:
    """The value as a word: JSON for what has parts, else as Python writes it."""
    if not isinstance(value, dict | list):
        return str(value)
    try:
        return json.dumps(value)
    except (ValueError, TypeError, RecursionError) as error:
        raise StartError(f"config file {path}: {error}") from None


def _read(path: str) -> dict[Any, Any]:
    """The mapping in the file; an empty file is an empty one."""
    import yaml

    class Loader(yaml.SafeLoader):
        aliases = 0

        def compose_node(self, parent: Any, index: Any) -> Any:
            if self.check_event(yaml.AliasEvent):
                self.aliases += 1
                if self.aliases > MAX_ALIASES:
                    raise yaml.YAMLError(f"more than {MAX_ALIASES} aliases")
            return super().compose_node(parent, index)

    try:
        with Path(path).open("rb") as file:
            data = file.read(MAX_BYTES + 1)
        if len(data) > MAX_BYTES:
            raise StartError(f"config file {path}: more than {MAX_BYTES} bytes")
        value = yaml.load(data, Loader)
    except (OSError, yaml.YAMLError, ValueError, RecursionError) as error:
        raise StartError(f"config file {path}: {' '.join(str(error).split())}") from None
    if value is None:
        return {}
    if not isinstance(value, dict):
        raise StartError(f"config file {path}: a mapping of flags is wanted, not a {type(value).__name__}")
    return value
