"""Text from outside, made safe to show in a log or on a terminal."""

from __future__ import annotations

__all__ = ["printable"]


def printable(text: str) -> str:
    """The text on one line: what a terminal would act on (escape sequences, line breaks) is written as an escape.

    >>> print(printable("one\\ntwo \\x1b[31mred"))
    one\\ntwo \\x1b[31mred
    """
    return text if text.isprintable() else "".join(map(_escaped, text))


def _escaped(character: str) -> str:
    return character if character.isprintable() else character.encode("unicode_escape").decode("ascii")
