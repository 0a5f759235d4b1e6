"""The two commands that take flags: words to ``Arguments``, with what the flags alone can be wrong about.

``launch render`` and ``serve`` have the same flags and differ as in vLLM: ``serve`` moves ``--model X`` to the front as
MODEL and leaves ``false`` in a configuration file without effect. The file is read first and the words are laid
over it, so that a list at its end can't swallow MODEL.
"""

from __future__ import annotations

__all__ = ["Command", "check"]

import re
from collections.abc import Sequence

from typecase.cli.config_file import config_words, take_config
from typecase.cli.failure import StartError
from typecase.cli.flags import Flag, load_flags
from typecase.cli.help import flags_help
from typecase.cli.meaning import load_meanings, warnings
from typecase.cli.parser import Arguments, FlagParser, UsageError

_EFFORTS = ("none", "minimal", "low", "medium", "high", "xhigh", "max")


class Command:
    """``launch render`` or ``serve``: parses its words and knows the warnings they cost."""

    def __init__(self, name: str):
        self.name = name
        self.serves = name == "serve"
        self.flags = load_flags()
        self.meanings = load_meanings()
        self.prog = f"typecase {name}"
        self._parser = FlagParser(
            self.prog, self.flags, lambda word: flags_help(self.prog, self.flags, self.meanings, word)
        )

    def parse(self, args: Sequence[str]) -> tuple[Arguments, list[str]]:
        """The arguments, and the warnings to log. Raises UsageError for what can't be parsed, else StartError."""
        if self.serves:
            args = _model_first(args)
        args, path = take_config(args)
        from_file = None
        notes: list[str] = []
        if path is not None:
            config = config_words(path, opposites=None if self.serves else _opposites(self.flags))
            try:
                from_file = self._parser.parse(config.words)
            except UsageError as error:
                raise UsageError(f"{error} (in {path})") from None
            if config.ignored:
                notes.append(f"{path}: false is ignored, as vllm serve does, for {', '.join(config.ignored)}")
        arguments = self._parser.parse(args, onto=from_file)
        if self.serves and path is not None and not arguments.given & {"model", "model_tag"}:
            raise StartError(
                "No model specified! Please specify model either as a positional argument or in a config file."
            )
        if arguments.config is not None:
            notes.append(f"--config={arguments.config} is not read, write --config {arguments.config}")
        return arguments, [*notes, *warnings(arguments, self.flags, self.meanings)]


def check(arguments: Arguments) -> None:
    """What vLLM refuses at its start, in its words. (Names of parsers are checked where the formats are known.)"""
    if arguments.grpc_port is not None:
        raise StartError("--grpc-port requires VLLM_USE_RUST_FRONTEND=1 vllm serve")
    efforts = arguments.reasoning_effort_map
    if efforts is not None:
        if not isinstance(efforts, dict) or not all(isinstance(value, str) for value in efforts.values()):
            raise StartError(
                "Error: --reasoning-effort-map must be a JSON object mapping reasoning efforts to strings."
            )
        if unknown := sorted(efforts.keys() - set(_EFFORTS)):
            raise StartError(
                f"Error: --reasoning-effort-map has unknown efforts {unknown}; keys must be one of {list(_EFFORTS)}."
            )
    if arguments.enable_auto_tool_choice and not arguments.tool_call_parser:
        raise StartError("Error: --enable-auto-tool-choice requires --tool-call-parser")
    if arguments.enable_log_outputs and not arguments.enable_log_requests:
        raise StartError("Error: --enable-log-outputs requires --enable-log-requests")
    if arguments.sse_keep_alive_interval < 0:
        raise StartError(
            "Error: --sse-keep-alive-interval must be a non-negative integer (0 disables keep-alive comments)."
        )
    if arguments.enable_per_request_metrics and arguments.disable_log_stats:
        raise StartError(
            "Error: --enable-per-request-metrics requires engine statistics logging; "
            "remove --disable-log-stats to enable per-request metrics."
        )


def _model_first(args: Sequence[str]) -> list[str]:
    """``serve --model X`` becomes ``serve X``; names for a model that isn't named are refused."""
    args = list(args)
    for position, word in enumerate(args):
        if re.match(r"--model(=.|$)", word):
            if word != "--model":
                args = [word.removeprefix("--model="), *args[:position], *args[position + 1 :]]
            elif position + 1 < len(args):
                args = [args[position + 1], *args[:position], *args[position + 2 :]]
            break
    names = any(re.match(r"--served[-_]model[-_]name(=.|$)", word) for word in args)
    config = any(re.match(r"--config(=.|$)", word) for word in args)
    if names and not config and args[0].startswith("-"):
        raise StartError(
            "`model` should be provided as the first positional argument when using `typecase serve`. "
            "i.e. `typecase serve <model> --<arg> <value>`."
        )
    return args


def _opposites(flags: Sequence[Flag]) -> dict[str, str | None]:
    """For each spelling of a flag without a value, the spelling that says the opposite; None: leaving it out does."""
    opposites: dict[str, str | None] = {}
    for flag in flags:
        if not flag.takes_value:
            off = flag.negative[0] if flag.negative else None
            opposites |= dict.fromkeys(flag.names, off)
            opposites |= dict.fromkeys(flag.negative, flag.name)
    return opposites
