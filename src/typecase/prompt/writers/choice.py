"""Which writer a checkpoint's chats need, by vLLM 0.33's rule; most need none."""

from __future__ import annotations

__all__ = ["choose_writer"]

from typecase.checkpoint.checkpoint import Checkpoint
from typecase.prompt.writers.writer import Writer
from typecase.text.tokenizer import Tokenizer


def choose_writer(checkpoint: Checkpoint, tokenizer: Tokenizer, *, mode: str) -> Writer | None:
    """The writer of a checkpoint's family; None when its chat template writes the prompts.

    Args:
        checkpoint: whose chats.
        tokenizer: its tokenizer, for writers that give ids.
        mode: ``--tokenizer-mode``; ``auto`` leaves the choice to the checkpoint's model type.
    """
    return None
