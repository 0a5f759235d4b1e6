"""The two libraries that can encode, behind one small protocol.

``fastokens`` costs ten to fifty times less; HF ``tokenizers`` is what every checkpoint was made with, hence the
reference, the fallback and the only source of offsets. Ids come back as one flat ``array("I")``: no Python int is made
for an id before the JSON border.
"""

from __future__ import annotations

import json
from array import array
from collections.abc import Sequence
from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    import fastokens
    import tokenizers

__all__ = ["Backend", "CannotEncode", "FastokensBackend", "TokenizersBackend", "UnloadableTokenizer"]

_LARGEST_ID = 2**32 - 1


class UnloadableTokenizer(ValueError):
    """The library can't read this tokenizer.json."""


class CannotEncode(ValueError):
    """``fastokens`` gives up on this text (a byte that the vocabulary lacks), where HF ``tokenizers`` finds ids."""


class Backend(Protocol):
    """What either library does for us. All methods may be called from several threads at once."""

    name: str

    def encode(self, text: str, *, add_special_tokens: bool) -> array[int]: ...

    def encode_ordinary(self, text: str) -> array[int]: ...

    def decode(self, ids: Sequence[int], *, skip_special_tokens: bool) -> str: ...

    def token(self, token_id: int) -> str | None: ...

    def token_id(self, token: str) -> int | None: ...

    def vocabulary_size(self) -> int: ...


class FastokensBackend:
    """``fastokens``, with its cache of text segments if ``cache_bytes`` is not 0."""

    name = "fastokens"

    def __init__(self, tokenizer_json: bytes, *, cache_bytes: int = 0):
        from fastokens import Tokenizer

        try:
            self._tokenizer: fastokens.Tokenizer = Tokenizer.from_json_str(tokenizer_json.decode())
        except Exception as error:  # the library raises plain Exceptions and its own kinds alike
            raise UnloadableTokenizer(str(error)) from error
        # vLLM loads tokenizers without the truncation and padding a tokenizer.json may carry.
        self._tokenizer.no_truncation()
        self._tokenizer.no_padding()
        if cache_bytes:
            self._tokenizer.enable_segment_cache(cache_bytes)
        self._all_special = all(token["special"] for token in self._tokenizer.added_tokens())

    def encode(self, text: str, *, add_special_tokens: bool) -> array[int]:
        return self._flat(text, add_special_tokens=add_special_tokens)

    def encode_ordinary(self, text: str) -> array[int]:
        if self._all_special:
            return self._flat(text, split_special_tokens=True)
        try:
            return array("I", self._tokenizer.encode_ordinary(text).ids)
        except UnicodeEncodeError:
            raise
        except ValueError as error:
            raise CannotEncode(str(error)) from error

    def _flat(self, text: str, *, add_special_tokens: bool = False, split_special_tokens: bool = False) -> array[int]:
        try:
            buffer, _ = self._tokenizer.encode_batch_flat([text], add_special_tokens, split_special_tokens)
        except UnicodeEncodeError:
            raise
        except ValueError as error:
            raise CannotEncode(str(error)) from error
        ids = array("I")
        ids.frombytes(buffer)
        return ids

    def decode(self, ids: Sequence[int], *, skip_special_tokens: bool) -> str:
        text: str = self._tokenizer.decode(_in_range(ids), skip_special_tokens)
        return text

    def token(self, token_id: int) -> str | None:
        token: str | None = self._tokenizer.id_to_token(token_id) if 0 <= token_id <= _LARGEST_ID else None
        return token

    def token_id(self, token: str) -> int | None:
        token_id: int | None = self._tokenizer.token_to_id(token)
        return token_id

    def vocabulary_size(self) -> int:
        size: int = self._tokenizer.vocab_size
        return size


class TokenizersBackend:
    """HF ``tokenizers``."""

    name = "tokenizers"

    def __init__(self, tokenizer_json: bytes):
        from tokenizers import Tokenizer

        try:
            self._tokenizer: tokenizers.Tokenizer = Tokenizer.from_str(tokenizer_json.decode())
        except Exception as error:  # as above
            raise UnloadableTokenizer(str(error)) from error
        self._tokenizer.no_truncation()
        self._tokenizer.no_padding()
        self._without_added: tokenizers.Tokenizer | None = None

    def encode(self, text: str, *, add_special_tokens: bool) -> array[int]:
        text.encode()  # for a lone surrogate the library only says that its input has the wrong type
        # The batch call releases the GIL and skips offsets; encode() does neither.
        encoding = self._tokenizer.encode_batch_fast([text], add_special_tokens=add_special_tokens)[0]
        return array("I", encoding.ids)

    def encode_ordinary(self, text: str) -> array[int]:
        text.encode()
        if self._without_added is None:
            # The library can be told to split special tokens only, so this is a second one that has no added tokens.
            # Two threads may both make it: the same one.
            whole = json.loads(self._tokenizer.to_str())
            self._without_added = type(self._tokenizer).from_str(json.dumps(whole | {"added_tokens": []}))
        encoding = self._without_added.encode_batch_fast([text], add_special_tokens=False)[0]
        return array("I", encoding.ids)

    def encode_with_offsets(self, text: str, *, add_special_tokens: bool) -> tuple[array[int], list[tuple[int, int]]]:
        text.encode()
        encoding = self._tokenizer.encode_batch([text], add_special_tokens=add_special_tokens)[0]
        return array("I", encoding.ids), encoding.offsets

    def decode(self, ids: Sequence[int], *, skip_special_tokens: bool) -> str:
        text: str = self._tokenizer.decode(_in_range(ids), skip_special_tokens=skip_special_tokens)
        return text

    def token(self, token_id: int) -> str | None:
        token: str | None = self._tokenizer.id_to_token(token_id) if 0 <= token_id <= _LARGEST_ID else None
        return token

    def token_id(self, token: str) -> int | None:
        token_id: int | None = self._tokenizer.token_to_id(token)
        return token_id

    def vocabulary_size(self) -> int:
        size: int = self._tokenizer.get_vocab_size(with_added_tokens=True)
        return size


def _in_range(ids: Sequence[int]) -> list[int]:
    """Ids that fit the libraries' 32 bits. One that doesn't is outside every vocabulary and decodes to nothing."""
    if isinstance(ids, array):
        return ids.tolist()
    return [i for i in ids if 0 <= i <= _LARGEST_ID]
