"""The one error of this room: a checkpoint that can't be read. Its message is one line, names the file and says what
is wrong with it, so that a start-up failure can be printed as it is."""

from __future__ import annotations

from typecase.api.printable import printable

__all__ = ["CheckpointError", "one_line"]

_LONGEST = 600


class CheckpointError(Exception):
    """A checkpoint can't be read. ``str(error)`` is one printable line."""

    def __init__(self, message: str):
        super().__init__(one_line(message))


def one_line(text: str) -> str:
    """``text`` on one line without control characters, cut when very long.

    Messages quote bytes of files that nobody vouches for, and they end on terminals.

    >>> one_line("a\\n  b\\x1b[31m")
    'a b\\\\x1b[31m'
    """
    text = printable(" ".join(text.split()))
    return text if len(text) <= _LONGEST else text[: _LONGEST - 3] + "..."
