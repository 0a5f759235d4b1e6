"""Checkpoints in Mistral's own format: which file is the tokenizer's, and when it is used.

The rule is vLLM 0.33's. Left to choose, it takes Mistral's tokenizer where weights in Mistral's naming lie beside one
of its tokenizer files; the mode ``mistral`` takes it wherever there is such a file.
"""

from __future__ import annotations

import re
from collections.abc import Collection
from dataclasses import dataclass
from fnmatch import fnmatch

from .errors import CheckpointError

__all__ = ["MISTRAL_FILES", "MISTRAL_WEIGHTS", "TEKKEN", "MistralTokenizerFile", "mistral_tokenizer_name"]

TEKKEN = "tekken.json"
MISTRAL_WEIGHTS = "consolidated*.safetensors"
MISTRAL_FILES = (TEKKEN, "tokenizer.model.v*")

# Instruct versions, and versions of the picture settings that some SentencePiece files name
_SENTENCEPIECE = re.compile(r"[^.]+\.model(?:\.v(?:1|2|3|7|11|13|15)(?:m1|m2)?)?")


@dataclass(frozen=True, slots=True)
class MistralTokenizerFile:
    """Mistral's tokenizer of a checkpoint. The name counts: SentencePiece files say their version in it."""

    name: str
    data: bytes

    @property
    def is_tekken(self) -> bool:
        """Whether it is the JSON kind; else a SentencePiece model."""
        return self.name == TEKKEN


def mistral_tokenizer_name(names: Collection[str], *, mode: str, has_weights: bool | None = None) -> str | None:
    """The tokenizer file to read with Mistral's own code; None where the checkpoint is read as Hugging Face's.

    Args:
        names: the files of the checkpoint.
        mode: ``--tokenizer-mode``.
        has_weights: whether there are weights in Mistral's naming, where ``names`` doesn't have all files.

    Raises:
        CheckpointError: it must be read so and has no file that can be.
    """
    if mode == "auto":
        if has_weights is None:
            has_weights = any(fnmatch(name, MISTRAL_WEIGHTS) for name in names)
        if not has_weights or not any(fnmatch(name, pattern) for name in names for pattern in MISTRAL_FILES):
            return None
    elif mode != "mistral":
        return None
    if TEKKEN in names:
        return TEKKEN
    found = [name for name in names if _SENTENCEPIECE.fullmatch(name)]
    if not found:
        raise CheckpointError(
            "no tokenizer file of Mistral's that can be read: tekken.json or tokenizer.model.vN is wanted "
            "(N: 1, 2, 3, 7, 11, 13 or 15)"
        )
    # vLLM takes the last in alphabetical order, v7 before v11.
    return max(found)
