"""Words to ``Arguments``: argparse, as vLLM uses it, over the flags of ``flags.py``.

argparse gives what people know from vLLM: prefixes of names, ``--flag=value``, lists, choices, and the shape of its
errors. Two things are ours. Our own flags are matched by their full name only, so that every prefix that vLLM takes
keeps its meaning; and the result remembers which flags were given, for the warnings of ``meaning.py``.
"""

from __future__ import annotations

__all__ = ["Arguments", "FlagParser", "UsageError"]

import argparse
from collections.abc import Callable, Iterable, Sequence
from typing import Any, NoReturn

from typecase.api.printable import printable
from typecase.cli.flags import Flag
from typecase.cli.values import KINDS, optional
from typecase.cli.words import WordsError, rewrite


class UsageError(Exception):
    """The words can't be parsed; ``str()`` is the usage line and the error, as argparse prints them."""


class Arguments(argparse.Namespace):
    """The value of every flag by its ``dest``, and MODEL as ``model_tag``; ``given`` names those that were given."""

    given: frozenset[str]
    repeated: tuple[str, ...]


class FlagParser(argparse.ArgumentParser):
    """The parser of one command. ``show_help`` gets the word of ``--help=word``, or None, and gives the text."""

    def __init__(self, prog: str, flags: Iterable[Flag], show_help: Callable[[str | None], str]):
        super().__init__(
            prog=prog,
            usage=f"{prog} [MODEL] [options]",
            add_help=False,
            argument_default=argparse.SUPPRESS,
        )
        self._defaults_of: dict[str, Any] = {"model_tag": None}
        self._own: set[str] = set()
        self._show_help = show_help
        self._help_word: str | None = None
        self.add_argument("-h", "--help", action=_Help)
        self.add_argument("model_tag", nargs="?", metavar="MODEL")
        for flag in flags:
            self._add(flag)

    def parse(self, args: Sequence[str], *, onto: Arguments | None = None) -> Arguments:
        """Parse words; ``onto`` holds flags from a configuration file, which those in the words replace."""
        try:
            words = rewrite(args)
        except WordsError as error:
            self.error(str(error))
        self._help_word = words.help
        found, unknown = self.parse_known_args(words.args, argparse.Namespace())
        if unknown:
            self.error(f"unrecognized arguments: {' '.join(unknown)}{self._suggestion(unknown)}")
        given = vars(found)
        earlier = {} if onto is None else {dest: getattr(onto, dest) for dest in onto.given}
        values = Arguments(**{**self._defaults_of, **earlier, **given})
        values.given = frozenset(earlier | given)
        values.repeated = tuple(name for name in words.repeated if name != "--middleware")
        return values

    def error(self, message: str) -> NoReturn:
        raise UsageError(f"{self.format_usage()}{self.prog}: error: {printable(message)}")

    def help_text(self) -> str:
        return self._show_help(self._help_word)

    def _add(self, flag: Flag) -> None:
        self._defaults_of[flag.dest] = flag.default
        if flag.own:
            self._own.update(flag.names)
        options: dict[str, Any] = {"dest": flag.dest}
        if flag.takes_value:
            read = KINDS[flag.type]
            options |= {"action": flag.action, "type": optional(read) if flag.none else read, "choices": flag.choices}
            if flag.nargs is not None:
                options["nargs"] = flag.nargs
            if flag.nargs == "?":
                options["const"] = flag.const
            self.add_argument(*flag.names, **options)
        else:
            self.add_argument(*flag.names, *flag.negative, action=_Toggle, negative=flag.negative, **options)

    def _get_option_tuples(self, option_string: str) -> list[Any]:
        """What a prefix could mean: never one of our own flags. (argparse's one place for it, in every Python.)"""
        found = super()._get_option_tuples(option_string)
        return [match for match in found if not self._own.intersection(match[0].option_strings)]

    def _suggestion(self, unknown: Sequence[str]) -> str:
        from difflib import get_close_matches

        for word in unknown:
            if word.startswith("-"):
                close = get_close_matches(word.partition("=")[0], self._option_string_actions, n=1)
                return f" (did you mean {close[0]}?)" if close else ""
        return ""


class _Toggle(argparse.Action):
    """A flag without a value; its negative spellings set False."""

    def __init__(self, option_strings: Sequence[str], dest: str, negative: Sequence[str], **options: Any):
        super().__init__(option_strings, dest, nargs=0, **options)
        self._negative = frozenset(negative)

    def __call__(
        self, parser: argparse.ArgumentParser, namespace: argparse.Namespace, values: Any, option_string: Any = None
    ) -> None:
        setattr(namespace, self.dest, option_string not in self._negative)


class _Help(argparse.Action):
    """Print the help and stop, at the moment it is met, as argparse does."""

    def __init__(self, option_strings: Sequence[str], dest: str, **options: Any):
        super().__init__(option_strings, argparse.SUPPRESS, nargs=0, **options)

    def __call__(
        self, parser: argparse.ArgumentParser, namespace: argparse.Namespace, values: Any, option_string: Any = None
    ) -> None:
        assert isinstance(parser, FlagParser)
        print(parser.help_text())
        parser.exit(0)
