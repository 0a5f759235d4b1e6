"""Prompt text -> ids within the context: length checks, truncation, special tokens, offsets (vLLM's
``TokenizeParams``).

Two ways of truncating exist in vLLM 0.33 and differ in what becomes of the special tokens put around a text: without a
side the tokenizer cuts the text and then adds them, with an explicit side they are cut like any other token.
"""

from __future__ import annotations

from array import array
from dataclasses import dataclass
from typing import Literal, TypeVar

from typecase.api.errors import InvalidParameter
from typecase.text.tokenizer import Tokenizer

__all__ = ["Encoded", "Tokenization"]

Side = Literal["left", "right"]
Items = TypeVar("Items", "array[int]", "list[tuple[int, int]]")

# vLLM loads every HF tokenizer with this side.
_DEFAULT_SIDE: Side = "left"


@dataclass(frozen=True, slots=True)
class Encoded:
    """The ids of a prompt and, when asked for, where in its text each came from (code points)."""

    ids: array[int]
    offsets: list[tuple[int, int]] | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Tokenization:
    """How one request's prompt is tokenized.

    Args:
        max_model_len: the context; None where a route has no limit (``/tokenize``).
        truncate: ``truncate_prompt_tokens``: how many tokens to keep, -1 for the context less one, None for all.
        side: which end is cut off; None for the tokenizer's own.
        add_special_tokens: whether the post-processor's tokens stand around the prompt.
        offsets: whether to return offsets.
        generates: whether output is wanted at all, for which ``truncate=-1`` then leaves a token of the context.
    """

    max_model_len: int | None
    truncate: int | None = None
    side: Side | None = None
    add_special_tokens: bool = False
    offsets: bool = False
    generates: bool = True

    def check(self) -> None:
        """Refuse settings that can't work whatever the prompt is; vLLM does so before it renders."""
        if self.side not in (None, "left", "right"):
            raise InvalidParameter(
                "`truncation_side` must be either 'left' or 'right'.", "truncation_side", value=self.side
            )
        if self.max_model_len is not None and self.truncate is not None and self.truncate > self.max_model_len:
            raise InvalidParameter(
                f"truncate_prompt_tokens={self.truncate} cannot be greater than max_model_len = {self.max_model_len}. "
                "Please request a smaller truncation size.",
                "truncate_prompt_tokens",
                value=self.truncate,
            )

    def check_characters(self, tokenizer: Tokenizer, text: str) -> None:
        """Refuse a text that can't fit whatever its tokens are; ``encode`` does so, too, but one text after another."""
        self._fit_characters(tokenizer, text)

    def encode(self, tokenizer: Tokenizer, text: str) -> Encoded:
        """Encode a prompt.

        Raises ``InvalidParameter`` if it is too long, ``UnicodeEncodeError`` for a lone surrogate.
        """
        text, removed = self._fit_characters(tokenizer, text)
        if self.truncate is None:
            encoded = self._encode_whole(tokenizer, text)
            if self.max_model_len is not None and len(encoded.ids) > self.max_model_len:
                # vLLM stops encoding one token past the limit and so never knows the length.
                raise self.too_long(self.max_model_len + 1)
            return encoded
        encoded = self._encode_truncated(tokenizer, text)
        if removed and encoded.offsets is not None:
            shifted = [(s, e) if (s, e) == (0, 0) else (s + removed, e + removed) for s, e in encoded.offsets]
            return Encoded(encoded.ids, shifted)
        return encoded

    def fit_ids(self, ids: array[int]) -> array[int]:
        """The same rules for a prompt that came as ids."""
        keep = self._kept
        if keep is not None and keep < len(ids):
            ids = _cut(ids, keep, self.side or _DEFAULT_SIDE)
        if self.max_model_len is not None and len(ids) > self.max_model_len:
            raise self.too_long(len(ids))
        return ids

    def too_long(self, count: int) -> InvalidParameter:
        """The refusal of a prompt of ``count`` tokens."""
        assert self.max_model_len is not None
        at_least = "at least " if count == self.max_model_len + 1 else ""
        return InvalidParameter(
            f"This model's maximum context length is {self.max_model_len} tokens. However, your prompt contains "
            f"{at_least}{count} input tokens, which exceeds this limit even without any output tokens. "
            "Please reduce the length of the input prompt.",
            "input_tokens",
            value=count,
        )

    @property
    def _kept(self) -> int | None:
        if self.truncate is None or self.truncate >= 0:
            return self.truncate
        return None if self.max_model_len is None else max(0, self.max_model_len - (1 if self.generates else 0))

    def _fit_characters(self, tokenizer: Tokenizer, text: str) -> tuple[str, int]:
        """Refuse or trim a text that can't fit whatever its tokens are. Returns it and how much went at its start."""
        # No token is shorter than one character, so most texts need no look at the vocabulary.
        if self.max_model_len is None or len(text) <= self.max_model_len:
            return text, 0
        most = self.max_model_len * tokenizer.max_token_characters
        if len(text) <= most:
            return text, 0
        if self.truncate is None:
            raise InvalidParameter(
                f"This model's maximum context length is {self.max_model_len} tokens. However, your prompt contains "
                f"{len(text)} characters (more than {most} characters, which is the upper bound for "
                f"{self.max_model_len} input tokens). Please reduce the length of the input prompt.",
                "input_text",
                value=len(text),
            )
        if self.side == "left":
            return text[-most:], len(text) - most
        if self.side == "right":
            return text[:most], 0
        return text, 0

    def _encode_whole(self, tokenizer: Tokenizer, text: str) -> Encoded:
        if self.offsets:
            return Encoded(*tokenizer.encode_with_offsets(text, add_special_tokens=self.add_special_tokens))
        return Encoded(tokenizer.encode(text, add_special_tokens=self.add_special_tokens))

    def _encode_truncated(self, tokenizer: Tokenizer, text: str) -> Encoded:
        keep = self._kept
        whole = self._encode_whole(tokenizer, text)
        if keep is None or keep >= len(whole.ids):
            return whole
        side = self.side or _DEFAULT_SIDE
        before, after = tokenizer.special_around if self.add_special_tokens else (0, 0)
        if self.side is not None or keep < before + after:
            before = after = 0
        inner = slice(before, len(whole.ids) - after)
        room = keep - before - after

        ids = whole.ids[:before] + _cut(whole.ids[inner], room, side) + whole.ids[len(whole.ids) - after :]
        offsets = whole.offsets
        if offsets is not None:
            offsets = offsets[:before] + _cut(offsets[inner], room, side) + offsets[len(offsets) - after :]
        return Encoded(ids, offsets)


def _cut(items: Items, keep: int, side: Side) -> Items:
    """The last (left side cut off) or first ``keep`` items."""
    if keep <= 0:
        return items[:0]
    return items[-keep:] if side == "left" else items[:keep]
