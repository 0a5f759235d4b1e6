"""What a tokenizer.json says about how text is encoded, without its vocabulary.

``Pipeline`` holds the parts that decide behaviour: normalizer, pre-tokenizer, post-processor, the model's switches and
the flags of the added tokens. Two checkpoints with equal pipelines differ only in their tables, so agreement between
``fastokens`` and HF ``tokenizers`` is a property of the pipeline: ``proved.json`` lists the fingerprints of those on
which the tests hold both equal. The vocabulary is skipped, not built: reading 11 MB takes some milliseconds.
"""

from __future__ import annotations

import hashlib
from functools import cached_property
from typing import Any

import msgspec

__all__ = ["BYTE_CHARACTERS", "AddedToken", "Pipeline", "read_pipeline"]


def _byte_characters() -> tuple[str, ...]:
    """GPT-2's alphabet: printable Latin-1 stands for itself, the other bytes for U+0100 and up, in order."""
    printable = {*range(0x21, 0x7F), *range(0xA1, 0xAD), *range(0xAE, 0x100)}
    others = iter(range(0x100, 0x200))
    return tuple(chr(byte if byte in printable else next(others)) for byte in range(256))


BYTE_CHARACTERS = _byte_characters()
"""How byte-level vocabularies spell each byte, 0 to 255."""


class AddedToken(msgspec.Struct, frozen=True):
    """One entry of ``added_tokens``; the flags are HF ``tokenizers``' own."""

    id: int
    content: str
    single_word: bool = False
    lstrip: bool = False
    rstrip: bool = False
    normalized: bool = True
    special: bool = False


class _Model(msgspec.Struct, frozen=True, omit_defaults=True):
    type: str | None = None
    dropout: float | None = None
    unk_token: str | None = None
    continuing_subword_prefix: str | None = None
    end_of_word_suffix: str | None = None
    fuse_unk: bool | None = None
    byte_fallback: bool | None = None
    ignore_merges: bool | None = None


class Pipeline(msgspec.Struct, frozen=True, dict=True):
    """The behaviour of a tokenizer; see the module's docstring."""

    model: _Model
    added_tokens: list[AddedToken] = []
    normalizer: Any = None
    pre_tokenizer: Any = None
    post_processor: Any = None
    decoder: Any = None

    @property
    def is_byte_level(self) -> bool:
        """Whether text is cut into bytes spelled with ``BYTE_CHARACTERS``."""
        return b'"ByteLevel"' in msgspec.json.encode([self.pre_tokenizer, self.normalizer])

    @cached_property
    def fingerprint(self) -> str:
        """64 hex digits, the same for checkpoints that encode and decode by the same rules.

        Names and ids of tokens in a template post-processor are left out: they are table, not rule.
        """
        flags = sorted({(t.single_word, t.lstrip, t.rstrip, t.normalized, t.special) for t in self.added_tokens})
        rules = {
            "model": msgspec.to_builtins(self.model) | {"unk_token": self.model.unk_token is not None},
            "added": flags,
            "normalizer": self.normalizer,
            "pre_tokenizer": self.pre_tokenizer,
            "post_processor": _without_tokens(self.post_processor),
            "decoder": self.decoder,
        }
        return hashlib.sha256(msgspec.json.encode(rules, order="deterministic")).hexdigest()


def read_pipeline(tokenizer_json: bytes) -> Pipeline:
    """Read the rules of a tokenizer.json. Raises ``msgspec.DecodeError`` if it doesn't have the shape of one."""
    return msgspec.json.decode(tokenizer_json, type=Pipeline)


def _without_tokens(post_processor: Any) -> Any:
    """A post-processor's kind and options; of a template only how many tokens stand on which side of the text."""
    if not isinstance(post_processor, dict):
        return post_processor
    if post_processor.get("type") == "Sequence":
        parts = post_processor.get("processors")
        return {
            "type": "Sequence",
            "processors": [_without_tokens(p) for p in parts] if isinstance(parts, list) else parts,
        }
    if post_processor.get("type") == "TemplateProcessing":
        single = post_processor.get("single")
        return {
            "type": "TemplateProcessing",
            "single": [sorted(p) for p in single] if isinstance(single, list) else single,
        }
    return post_processor
