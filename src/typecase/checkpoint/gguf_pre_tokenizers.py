"""Byte-level pre-tokenizers by the names that GGUF files give them (``tokenizer.ggml.pre``).

Only names whose tokenizer was shown to give the ids of the original one: the test writes a GGUF file from a real
checkpoint, converts it back and compares. Where llama.cpp leaves something out that the original has (Qwen's NFC), the
original is followed.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

__all__ = ["PRE_TOKENIZERS", "PreTokenizer"]


@dataclass(frozen=True, slots=True)
class PreTokenizer:
    """What ``tokenizer.ggml.pre`` stands for."""

    splits: tuple[str, ...] = ()  # patterns, applied one after another; () stands for digits and GPT-2's own pattern
    nfc: bool = False
    ignore_merges: bool = False
    adds_bos: bool = False  # when the file doesn't say

    def components(self) -> dict[str, Any]:
        """The normaliser and the pre-tokenizer as tokenizer.json has them."""
        steps: list[dict[str, Any]] = [
            {"type": "Split", "pattern": {"Regex": split}, "behavior": "Isolated", "invert": False}
            for split in self.splits
        ] or [{"type": "Digits", "individual_digits": True}]
        steps.append(
            {"type": "ByteLevel", "add_prefix_space": False, "trim_offsets": True, "use_regex": not self.splits}
        )
        return {
            "normalizer": {"type": "NFC"} if self.nfc else None,
            "pre_tokenizer": {"type": "Sequence", "pretokenizers": steps},
        }


_CONTRACTIONS = r"(?i:'s|'t|'re|'ve|'m|'ll|'d)"
_REST = r"\s*[\r\n]+|\s+(?!\S)|\s+"
_UPPER, _LOWER = r"[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]", r"[\p{Ll}\p{Lm}\p{Lo}\p{M}]"
_BEFORE = r"[^\r\n\p{L}\p{N}]?"


def _by_case(ending: str, digits: str) -> str:
    """Words split where small letters are followed by capitals: the pattern of o200k and Tekken."""
    return (
        rf"{_BEFORE}{_UPPER}*{_LOWER}+{ending}|{_BEFORE}{_UPPER}+{_LOWER}*{ending}"
        rf"|{digits}| ?[^\s\p{{L}}\p{{N}}]+[\r\n/]*|{_REST}"
    )


_LLAMA3 = PreTokenizer(
    (rf"{_CONTRACTIONS}|{_BEFORE}\p{{L}}+|\p{{N}}{{1,3}}| ?[^\s\p{{L}}\p{{N}}]+[\r\n]*|{_REST}",),
    ignore_merges=True,
    adds_bos=True,
)
PRE_TOKENIZERS: Mapping[str, PreTokenizer] = {
    "command-r": PreTokenizer(nfc=True),
    "deepseek-v3": PreTokenizer(
        (
            r"\p{N}{1,3}",
            "[一-龥\u3040-ゟ゠-ヿ]+",
            r"""[!"#$%&'()*+,\-./:;<=>?@\[\\\]^_`{|}~][A-Za-z]+|[^\r\n\p{L}\p{P}\p{S}]?[\p{L}\p{M}]+"""
            rf"| ?[\p{{P}}\p{{S}}]+[\r\n]*|{_REST}",
        )
    ),
    "gpt-4o": PreTokenizer((_by_case(_CONTRACTIONS + "?", r"\p{N}{1,3}"),), ignore_merges=True),
    "llama-bpe": _LLAMA3,
    "llama-v3": _LLAMA3,  # two older names of the same
    "llama3": _LLAMA3,
    "qwen2": PreTokenizer(
        (rf"{_CONTRACTIONS}|{_BEFORE}\p{{L}}+|\p{{N}}| ?[^\s\p{{L}}\p{{N}}]+[\r\n]*|{_REST}",), nfc=True
    ),
    "qwen35": PreTokenizer(
        (rf"{_CONTRACTIONS}|{_BEFORE}[\p{{L}}\p{{M}}]+|\p{{N}}| ?[^\s\p{{L}}\p{{M}}\p{{N}}]+[\r\n]*|{_REST}",), nfc=True
    ),
    "smollm": PreTokenizer(),
    "tekken": PreTokenizer((_by_case("", r"\p{N}"),), ignore_merges=True, adds_bos=True),
}
