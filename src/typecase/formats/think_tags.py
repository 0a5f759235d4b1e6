"""``<think>...</think>``: the marker pair that most families share, and what is said of a tokenizer without it."""

from __future__ import annotations

__all__ = ["NO_THINK_MARKERS", "THINK_END", "THINK_MARKERS", "THINK_START"]

THINK_START = "<think>"
THINK_END = "</think>"
THINK_MARKERS = (THINK_START, THINK_END)
NO_THINK_MARKERS = "could not locate think start/end tokens in the tokenizer!"
