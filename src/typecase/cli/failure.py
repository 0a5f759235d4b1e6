"""What stops the program before it serves: ``StartError``, one line that says what is wrong and where."""

from __future__ import annotations

__all__ = ["StartError"]


class StartError(Exception):
    """An option or a variable that can't be used; ``main`` prints it and exits with 1."""
