"""SentencePiece BPE as tokenizer.json: merges out of scores.

A SentencePiece BPE model joins, again and again, the two neighbours whose joint piece has the highest score. A list of
merges in order of the scores of their results does the same, when each result comes with every way to make it.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

__all__ = ["SPACE", "sentencepiece_model"]

SPACE = "\u2581"  # what SentencePiece writes for a space


def sentencepiece_model(
    vocabulary: Mapping[str, int], scores: Mapping[str, float], *, unknown: str | None, adds_prefix: bool
) -> dict[str, Any]:
    """The normaliser, model and decoder of tokenizer.json. ``scores``: of the pieces that merging may make.

    ``adds_prefix``: a space is put before every stretch of text, as Llama 2 has it and Gemma has not.
    """
    to_mark = {"type": "Replace", "pattern": {"String": " "}, "content": SPACE}
    back = [
        {"type": "Replace", "pattern": {"String": SPACE}, "content": " "},
        {"type": "ByteFallback"},
        {"type": "Fuse"},
    ]
    prepend = {"type": "Prepend", "prepend": SPACE}
    strip = {"type": "Strip", "content": " ", "start": 1, "stop": 0}
    return {
        "normalizer": {"type": "Sequence", "normalizers": [prepend, to_mark]} if adds_prefix else to_mark,
        "pre_tokenizer": None,
        "decoder": {"type": "Sequence", "decoders": [*back, strip] if adds_prefix else back},
        "model": {
            "type": "BPE",
            "dropout": None,
            "unk_token": unknown,
            "continuing_subword_prefix": None,
            "end_of_word_suffix": None,
            "fuse_unk": True,
            "byte_fallback": True,
            "ignore_merges": False,
            "vocab": vocabulary,
            "merges": merges_by_score(vocabulary, scores),
        },
    }


def merges_by_score(vocabulary: Mapping[str, int], scores: Mapping[str, float]) -> list[tuple[str, str]]:
    """Every pair of pieces that makes a piece, best first; among equals the longer left part, then the longer right."""
    found: list[tuple[float, int, int, str, str]] = []
    for piece, score in scores.items():
        ways = []
        for cut in range(1, len(piece)):
            left, right = piece[:cut], piece[cut:]
            if left in vocabulary and right in vocabulary:
                ways.append((-score, -cut, cut - len(piece), left, right))
        if len(ways) > 1:
            ways.sort(key=lambda way: (vocabulary[way[3]], vocabulary[way[4]]))
        found += ways
    found.sort(key=lambda way: way[:3])
    return [(left, right) for *_, left, right in found]
