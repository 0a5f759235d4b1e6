"""Mistral's own tokenizers behind the ``Backend`` protocol: tekken and SentencePiece, by mistral-common.

Differences from the other backends: special tokens written out in a text are text, always. ``token`` gives the
spelling that mistral-common shows: decoded text for tekken (U+FFFD where a token isn't whole characters), pieces
(``▁x``) for SentencePiece. Decoding with special tokens joins those spellings for SentencePiece, as vLLM 0.33's
``/detokenize`` does.
"""

from __future__ import annotations

from array import array
from collections.abc import Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Any

import msgspec

from typecase.api.errors import RequestError
from typecase.checkpoint.mistral_files import MistralTokenizerFile
from typecase.text.mistral_files import build_mistral_tokenizer
from typecase.text.pipeline import AddedToken, Pipeline

if TYPE_CHECKING:
    from mistral_common.tokens.tokenizers.mistral import MistralTokenizer

__all__ = ["MistralBackend"]

_FIRST_WITH_GRAMMARS = 11


class MistralBackend:
    """A tokenizer file of Mistral's. ``common`` is mistral-common's object, for those who write prompts with it.

    Raises ``CheckpointError`` if the file can't be used or the library isn't installed.
    """

    name = "mistral-common"

    def __init__(self, file: MistralTokenizerFile):
        # First, because it is what says which extra is missing.
        self.common: MistralTokenizer[Any, Any, Any, Any, Any] = build_mistral_tokenizer(file)
        from mistral_common.tokens.tokenizers.base import SpecialTokenPolicy

        self.is_tekken = file.is_tekken
        self.version = int(self.common.version.value.removeprefix("v"))
        self._tokenizer = self.common.instruct_tokenizer.tokenizer
        self._size = self._tokenizer.n_words
        self._keep, self._ignore = SpecialTokenPolicy.KEEP, SpecialTokenPolicy.IGNORE

    def encode(self, text: str, *, add_special_tokens: bool) -> array[int]:
        if not self.is_tekken:
            text.encode()  # the library's words for a lone surrogate don't say what is wrong
        try:
            ids = self._tokenizer.encode(text, bos=add_special_tokens, eos=False)
        except UnicodeEncodeError:
            raise
        except ValueError as error:
            # The pattern gives up on a very long run of blanks.
            raise RequestError(str(error)) from error
        return array("I", ids)

    def encode_ordinary(self, text: str) -> array[int]:
        return self.encode(text, add_special_tokens=False)

    def decode(self, ids: Sequence[int], *, skip_special_tokens: bool) -> str:
        known = [i for i in ids if 0 <= i < self._size]
        return self._tokenizer.decode(known, special_token_policy=self._ignore if skip_special_tokens else self._keep)

    def token(self, token_id: int) -> str | None:
        return self._tokenizer.id_to_piece(token_id) if 0 <= token_id < self._size else None

    def token_id(self, token: str) -> int | None:
        return self._ids.get(token)

    def vocabulary_size(self) -> int:
        return self._size

    @property
    def has_grammars(self) -> bool:
        """Whether mistral-common can write a grammar of the model's output."""
        return self.is_tekken and self.version >= _FIRST_WITH_GRAMMARS

    @property
    def pipeline(self) -> Pipeline:
        """The special tokens by id, and no rules: they are the library's."""
        special = [
            AddedToken(id=i, content=self._tokenizer.id_to_piece(i), special=True, normalized=False)
            for i in sorted(self._tokenizer.special_ids)
        ]
        return msgspec.structs.replace(msgspec.convert({"model": {}}, Pipeline), added_tokens=special)

    @cached_property
    def _ids(self) -> dict[str, int]:
        """Of tokens that are spelled alike, the lowest id."""
        vocabulary = self._tokenizer.vocab()
        return {token: i for i, token in zip(range(self._size - 1, -1, -1), reversed(vocabulary), strict=True)}
