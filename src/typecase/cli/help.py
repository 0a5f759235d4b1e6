"""The help pages: of the program, of ``launch``, and of a command's flags (all, one group, or a search)."""

from __future__ import annotations

__all__ = ["LAUNCH", "PROGRAM", "flags_help"]

import json
import shutil
import textwrap
from collections.abc import Iterable, Iterator, Mapping, Sequence

from typecase.cli.flags import Flag
from typecase.cli.meaning import Meaning

PROGRAM = """\
usage: typecase [-h] [-v] COMMAND ...

Requests into token ids and token ids into answers: the front half of an LLM service.

commands:
  launch render [MODEL]   start a render server: requests in, token ids out
  serve [MODEL]           serve a model behind an engine (not built yet)

options:
  -h, --help              show this help
  -v, --version           show the version

Flags are those of vLLM 0.33: `typecase launch render --help`.
"""

LAUNCH = """\
usage: typecase launch COMPONENT ...

components:
  render [MODEL]   start a render server: requests in, token ids out

`typecase launch render --help` shows its flags.
"""

_GROUPS = {
    "Typecase": "flags of ours: caches and limits",
    "Frontend": "listening, access, templates, tools, logs",
    "ModelConfig": "the checkpoint, its tokenizer and limits",
    "MultiModalConfig": "media",
    "StructuredOutputsConfig": "reasoning",
    "LoggingConfig": "logs",
    "LoadConfig": "downloads",
}
_ENGINE = "engine settings, without effect here"

_JSON_FORMS = """\
JSON flags can also be given by key; these two are the same:
  --json-arg '{"key1": "value1", "key2": {"key3": "value2"}}'
  --json-arg.key1 value1 --json-arg.key2.key3 value2
A key that ends in + adds to a list: --json-arg.key4+ value3 --json-arg.key4+='value4,value5'
"""


def flags_help(prog: str, flags: Sequence[Flag], meanings: Mapping[str, Meaning], word: str | None) -> str:
    """The page for ``--help`` (word None), ``--help=all``, ``--help=GROUP`` or ``--help=part-of-a-name``."""
    width = min(shutil.get_terminal_size().columns, 120)
    if word is None:
        return _overview(prog, flags)
    wanted = word.lower().replace("_", "-")
    if wanted == "all":
        return "\n".join([f"usage: {prog} [MODEL] [options]\n", *_describe(flags, meanings, width), _JSON_FORMS])
    group = [flag for flag in flags if flag.group.lower() == wanted]
    found = group or [flag for flag in flags if any(wanted in name for name in (*flag.names, *flag.negative))]
    if not found:
        return f"No group or arguments matching '{wanted}'.\n`--help` shows the groups, `--help=all` every flag."
    return "\n".join([*_describe(found, meanings, width), _JSON_FORMS])


def _overview(prog: str, flags: Iterable[Flag]) -> str:
    groups = dict.fromkeys(flag.group for flag in flags)
    ordered = [*(group for group in _GROUPS if group in groups), *(group for group in groups if group not in _GROUPS)]
    lines = "\n".join(f"  {group:25}{_GROUPS.get(group, _ENGINE)}" for group in ordered)
    return f"""\
usage: {prog} [MODEL] [options]

MODEL is a directory, a hub id or a .gguf file. The flags are those of vLLM 0.33; one that means nothing here is taken
with a warning.

groups:
{lines}

For all flags:   {prog} --help=all
For a group:     {prog} --help=ModelConfig    (in any case)
For a flag:      {prog} --help=max-model-len  (or a part of its name)
"""


def _describe(flags: Iterable[Flag], meanings: Mapping[str, Meaning], width: int) -> Iterator[str]:
    """Group titles, and under them each flag with its values and its help."""
    by_group: dict[str, list[Flag]] = {}
    for flag in flags:
        by_group.setdefault(flag.group, []).append(flag)
    for group, members in by_group.items():
        yield f"{group}:"
        for flag in sorted(members, key=lambda flag: flag.name):
            help_text = flag.help if flag.own else meanings[flag.dest].help
            if flag.later:
                help_text += f" Not built yet: {flag.later}."
            if flag.default not in (None, "", False, []) and flag.takes_value:
                help_text += (
                    f" (default: {flag.default if isinstance(flag.default, str) else json.dumps(flag.default)})"
                )
            yield f"  {_spelling(flag)}"
            yield textwrap.fill(help_text, width, initial_indent=" " * 6, subsequent_indent=" " * 6)
        yield ""


def _spelling(flag: Flag) -> str:
    """``--name, -n {a,b}``, ``--names VALUE ...`` or ``--enable-x, --disable-x``."""
    shown = [*flag.names, *(name for name in flag.negative[:1])]
    if not flag.takes_value:
        return ", ".join(shown)
    choices = [str(choice) for choice in flag.choices or () if choice is not None]
    value = "{" + ",".join(choices) + "}" if choices else "JSON" if flag.type in ("json", "config") else "VALUE"
    match flag.nargs:
        case "+":
            value += " ..."
        case "?":
            value = f"[{value}]"
    return f"{', '.join(shown)} {value}"
