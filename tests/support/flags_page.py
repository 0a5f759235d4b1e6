"""Write ``docs/flags.md`` from the tables of ``typecase.cli``: ``python tests/support/flags_page.py``."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

from typecase.cli.environment import WITHOUT_EFFECT
from typecase.cli.flags import Flag, load_flags
from typecase.cli.meaning import Effect, Meaning, load_meanings
from typecase.formats.registry import CALL_FORMATS, CALL_NAMES, REASONING_FORMATS, REASONING_NAMES

TARGET = Path(__file__).parents[2] / "docs/flags.md"

INTRODUCTION = """\
# Flags

<!-- Generated from src/typecase/cli by tests/support/flags_page.py -->

`typecase launch render [MODEL] [flags]` takes every flag of `vllm launch render` 0.33, in every spelling that it has
there: `_` for `-`, `--flag=value`, prefixes that are clear (`--enable-auto`), `--no-x` and `--disable-x`, JSON flags by
key (`--hf-overrides.key value`), `-O3`. A command line that starts vLLM starts typecase. What a flag means may differ:

* flags that **do something** act as in vLLM;
* flags **not built yet** and flags **without effect** cost one warning line at the start;
* flags that would **load code** load nothing, and say so;
* an unknown flag is an error, with the flag that was probably meant.

Values are read as vLLM reads them, with two leniencies. The keys inside engine settings (`--compilation-config` and the
like) aren't checked, because nothing here reads them; any JSON object will do. And `--mm-processor-device` takes the
devices of every platform.
"""

ERRORS = """\
## Errors at the start

The program ends with exit code 2 when the command line can't be parsed, and with 1 and one line when it can't start:

* `--enable-auto-tool-choice` without `--tool-call-parser`
* `--enable-log-outputs` without `--enable-log-requests`
* `--enable-per-request-metrics` with `--disable-log-stats`
* `--sse-keep-alive-interval` below 0
* `--reasoning-effort-map` with unknown efforts, or values that aren't strings
* `--grpc-port`
* `--tool-call-parser` (with `--enable-auto-tool-choice`) or `--reasoning-parser` with a name that vLLM doesn't know,
  one that isn't supported yet (see below), or the name of a format that the checkpoint's tokenizer lacks the tokens for
* `--chat-template` that looks like a file and isn't one. The template files that vLLM brings along
  (`template_chatml.jinja` and others) are no part of typecase
* `--max-model-len` above what the checkpoint's config says, unless `VLLM_ALLOW_LONG_MAX_MODEL_LEN=1`

## A file of flags

`--config FILE.yaml` (or `.yml`, at most one; `--config=FILE` isn't read, as in vLLM) holds flags by name. The command
line stands over it.

```yaml
model: Qwen/Qwen3-0.6B
served-model-name: [qwen3, default]
port: 8100
enable-request-id-headers: true
override-generation-config:
  temperature: 0.5
```

`true` is the flag without a value, a list several values, a mapping JSON. `false` switches a flag off on
`launch render`; `serve` ignores it with a warning, because `vllm serve` 0.33 ignores it.
"""

VARIABLES = """\
## Environment variables

| variable | meaning |
| --- | --- |
| `VLLM_API_KEY` | the API key, where `--api-key` isn't given |
| `VLLM_SKIP_MODEL_NAME_VALIDATION` | 1: requests may name any model |
| `VLLM_ALLOW_LONG_MAX_MODEL_LEN` | 1: `--max-model-len` may be longer than the checkpoint's config says |
| `VLLM_ENFORCE_STRICT_TOOL_CALLING` | 0: no structural tags; calls that must be made are plain JSON by a schema |
| `VLLM_SYSTEM_START_DATE` | the day that gpt-oss prompts name (today) |
| `VLLM_GPT_OSS_HARMONY_SYSTEM_INSTRUCTIONS` | 1: a gpt-oss prompt's instructions stand in its system message |
| `VLLM_MAX_N_SEQUENCES` | largest `n` of a request (16384) |
| `VLLM_MAX_STOP_STRINGS` | most `stop` strings of a request (4) |
| `VLLM_MAX_COMPLETION_PROMPTS` | most prompts of a completion request (1024) |
| `VLLM_CHAT_TEMPLATE_RENDER_TIMEOUT` | seconds that rendering a chat template may take (30); 0: no limit |
| `VLLM_HTTP_TIMEOUT_KEEP_ALIVE` | seconds that an idle connection stays open (5) |
| `VLLM_LOGGING_LEVEL`, `VLLM_LOGGING_PREFIX` | level (INFO) and first characters of log lines |
| `VLLM_LOGGING_STREAM` | `ext://sys.stderr` (default) or `ext://sys.stdout` |
| `VLLM_LOGGING_CONFIG_PATH` | JSON file for Python's `logging.config.dictConfig` |
| `VLLM_CONFIGURE_LOGGING` | 0: logging is left alone |
| `HF_TOKEN`, `HF_HOME`, `HF_HUB_OFFLINE` and others | as the Hugging Face hub's client reads them |

These change something in vLLM and nothing here; one that is set costs a warning:
"""


def flags_page() -> str:
    """The whole page."""
    flags, meanings = load_flags(), load_meanings()
    return "\n".join(_lines(flags, meanings))


def _lines(flags: list[Flag], meanings: dict[str, Meaning]) -> Iterator[str]:
    own = [flag for flag in flags if flag.own]
    theirs = [flag for flag in flags if not flag.own]

    def having(effect: Effect) -> list[Flag]:
        return [flag for flag in theirs if meanings[flag.dest].effect is effect]

    yield INTRODUCTION
    yield "## Flags that do something\n"
    yield from _table((flag, meanings[flag.dest].text) for flag in having(Effect.USED))
    yield "\n## Flags of ours\n"
    yield "They are matched by their full name only, so that every prefix that vLLM takes keeps its meaning.\n"
    yield from _table((flag, flag.help + (f" Not built yet: {flag.later}." if flag.later else "")) for flag in own)
    yield "\n## Not built yet\n"
    yield from _table((flag, meanings[flag.dest].text) for flag in having(Effect.LATER))
    yield "\n## Flags that load nothing\n"
    yield from _table((flag, meanings[flag.dest].text) for flag in having(Effect.LOADS_NOTHING))
    yield "\n## Flags without effect\n"
    by_reason: dict[str, list[str]] = {}
    for flag in having(Effect.NONE):
        by_reason.setdefault(meanings[flag.dest].text, []).append(f"`{flag.name}`")
    for reason, names in by_reason.items():
        yield f"* {reason}: {', '.join(names)}"
    yield "\n" + ERRORS
    yield "## Names of parsers\n"
    for flag, formats, known in (
        ("--tool-call-parser", CALL_FORMATS, CALL_NAMES),
        ("--reasoning-parser", REASONING_FORMATS, REASONING_NAMES),
    ):
        yield f"* `{flag}`: {', '.join(f'`{name}`' for name in known if name in formats)}"
        yield f"  (not yet: {', '.join(f'`{name}`' for name in known if name not in formats)})"
    yield ""
    yield VARIABLES
    by_reason = {}
    for variable, reason in WITHOUT_EFFECT.items():
        by_reason.setdefault(reason, []).append(f"`{variable}`")
    for reason, names in by_reason.items():
        yield f"* {reason}: {', '.join(names)}"
    yield ""


def _table(rows: Iterable[tuple[Flag, str]]) -> Iterator[str]:
    yield "| flag | default | meaning |"
    yield "| --- | --- | --- |"
    for flag, text in sorted(rows, key=lambda row: row[0].name):
        names = ", ".join(f"`{name}`" for name in (*flag.names, *flag.negative[:1]))
        default = "" if flag.default in (None, "", False, []) else f"`{_shown(flag.default)}`"
        yield f"| {names} | {default} | {text.replace('|', '/')} |"


def _shown(value: Any) -> str:
    return value if isinstance(value, str) else json.dumps(value)


if __name__ == "__main__":
    TARGET.write_text(flags_page())
