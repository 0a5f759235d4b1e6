"""Tokenizers that are kept in other files than tokenizer.json.

vocab.json with merges.txt, the layout of GPT-2, has all that a byte-level class of transformers takes from a
tokenizer.json, so one is made of them. Anything else is refused with the name of what is there.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from fnmatch import fnmatch
from typing import Any

import msgspec
from msgspec import Raw

from .errors import CheckpointError
from .json_files import read_text

__all__ = ["VOCAB_CLASSES", "VOCAB_FILES", "check_tokenizer_files", "tokenizer_from_vocab_files"]

VOCAB_FILES = ("vocab.json", "merges.txt")
# Classes that bring everything but vocabulary and merges
VOCAB_CLASSES = ("CohereTokenizer", "GPT2Tokenizer", "GPTNeoXTokenizer", "Qwen2Tokenizer", "Qwen3_5Tokenizer")

_OTHERS = (
    ("tekken.json", "Mistral's tokenizer (tekken.json), which --tokenizer-mode mistral reads"),
    ("tokenizer.model.v*", "Mistral's tokenizer (tokenizer.model.v*), which --tokenizer-mode mistral reads"),
    ("*.tiktoken", "a tiktoken file, which is not supported"),
    ("tiktoken.model", "a tiktoken file, which is not supported"),
    ("tokenizer.model", "a SentencePiece model (tokenizer.model), which is not supported without a tokenizer.json"),
    ("spiece.model", "a SentencePiece model (spiece.model), which is not supported without a tokenizer.json"),
    ("vocab.txt", "a WordPiece vocabulary (vocab.txt), which is not supported without a tokenizer.json"),
    ("vocab.json", "a vocab.json without merges.txt"),
)


def check_tokenizer_files(names: Collection[str]) -> None:
    """Raise unless ``names`` has files that a tokenizer can be read from."""
    if "tokenizer.json" in names or all(name in names for name in VOCAB_FILES):
        return
    for pattern, what in _OTHERS:
        if any(fnmatch(name, pattern) for name in names):
            raise CheckpointError(f"tokenizer.json: missing; there is only {what}")
    raise CheckpointError("tokenizer.json: missing; save the tokenizer beside the model, or name one with --tokenizer")


def tokenizer_from_vocab_files(files: Mapping[str, bytes], class_name: str) -> bytes:
    """A tokenizer.json with vocabulary and merges alone; the class named adds the rest (tokenizer_rebuild.py)."""
    check_tokenizer_files(files)
    if class_name not in VOCAB_CLASSES:
        raise CheckpointError(
            f"tokenizer.json: missing; vocab.json and merges.txt are there, but how {class_name} splits text "
            "can't be told from them"
        )
    merges = []
    for number, line in enumerate(read_text("merges.txt", files["merges.txt"]).split("\n"), 1):
        if not line.strip() or (number == 1 and line.startswith("#version")):
            continue
        pair = line.split(" ")
        if len(pair) != 2 or not all(pair):
            raise CheckpointError(f"merges.txt: line {number} is no pair of tokens")
        merges.append(pair)
    tokenizer: dict[str, Any] = {
        "version": "1.0",
        "truncation": None,
        "padding": None,
        "added_tokens": [],
        "normalizer": None,
        "pre_tokenizer": None,
        "post_processor": None,
        "decoder": None,
        "model": {"type": "BPE", "vocab": Raw(files["vocab.json"]), "merges": merges},
    }
    return msgspec.json.encode(tokenizer)
