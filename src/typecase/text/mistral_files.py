"""Mistral's tokenizer files -> the objects of mistral-common, from bytes.

The library reads from paths only; its classes take what a file says as arguments, too, and that way is used here: no
file is opened, and a file that nobody vouches for is checked before the library computes with it.
"""

from __future__ import annotations

import base64
import binascii
import re
from typing import TYPE_CHECKING, Any

import msgspec

from typecase.checkpoint.errors import CheckpointError
from typecase.checkpoint.mistral_files import MistralTokenizerFile

if TYPE_CHECKING:
    from mistral_common.tokens.tokenizers.mistral import MistralTokenizer
    from mistral_common.tokens.tokenizers.sentencepiece import SentencePieceTokenizer
    from mistral_common.tokens.tokenizers.tekken import SpecialTokenInfo, Tekkenizer, TokenInfo

__all__ = ["build_mistral_tokenizer"]

_EXTRA = "typecase's extra `mistral` is needed for Mistral's tokenizers: pip install 'typecase[mistral]'"
# Published files have 1000 special tokens and patterns of 300 characters.
_MOST_SPECIAL_TOKENS = 100_000
_LONGEST_PATTERN = 10_000
# Up to this version a file may leave its special tokens to the library.
_LAST_WITH_DEFAULTS = 7
_VERSION = re.compile(r"\.model\.v(\d+)")


class _Entry(msgspec.Struct):
    rank: int
    token_bytes: str
    token_str: str | None


class _Special(msgspec.Struct):
    rank: int
    token_str: str
    is_control: bool


class _Config(msgspec.Struct):
    pattern: str
    default_vocab_size: int
    default_num_special_tokens: int
    version: str


class _Tekken(msgspec.Struct):
    config: _Config
    vocab: list[_Entry]
    special_tokens: list[_Special] | None = None
    model_settings_builder: dict[str, Any] | None = None


def build_mistral_tokenizer(file: MistralTokenizerFile) -> MistralTokenizer[Any, Any, Any, Any, Any]:
    """mistral-common's tokenizer of ``file``, checking requests as vLLM has it do (mode ``test``).

    Raises:
        CheckpointError: the file can't be used, or the library isn't installed.
    """
    try:
        from mistral_common.tokens.tokenizers import instruct
        from mistral_common.tokens.tokenizers.base import TokenizerVersion
    except ImportError as error:
        raise CheckpointError(f"{file.name}: {_EXTRA} ({error})") from None
    from mistral_common.protocol.instruct.normalize import get_normalizer
    from mistral_common.protocol.instruct.validator import ValidationMode, get_validator
    from mistral_common.tokens.tokenizers.mistral import MistralTokenizer

    # Media are not handed to the library, so the encoders for them are left out.
    kinds = {
        TokenizerVersion.v1: instruct.InstructTokenizerV1,
        TokenizerVersion.v2: instruct.InstructTokenizerV2,
        TokenizerVersion.v3: instruct.InstructTokenizerV3,
        TokenizerVersion.v7: instruct.InstructTokenizerV7,
        TokenizerVersion.v11: instruct.InstructTokenizerV11,
        TokenizerVersion.v13: instruct.InstructTokenizerV13,
        TokenizerVersion.v15: instruct.InstructTokenizerV15,
    }
    try:
        tokenizer = _tekken(file) if file.is_tekken else _sentencepiece(file)
        kind = kinds.get(tokenizer.version)
        if kind is None:
            raise CheckpointError(f"{file.name}: version {tokenizer.version.value} of Mistral's format isn't supported")
        if not 0 <= tokenizer.bos_id < tokenizer.n_words:
            raise CheckpointError(f"{file.name}: has no token that begins a text")
        return MistralTokenizer(
            kind(tokenizer),
            validator=get_validator(tokenizer.version, mode=ValidationMode.test),
            request_normalizer=get_normalizer(tokenizer.version, tokenizer.model_settings_builder),
        )
    except CheckpointError:
        raise
    except MemoryError:
        raise
    except Exception as error:  # the libraries raise every kind, assertions included
        raise CheckpointError(f"{file.name}: can't be used: {error or type(error).__name__}") from error


def _tekken(file: MistralTokenizerFile) -> Tekkenizer:
    from mistral_common.tokens.tokenizers.base import TokenizerVersion
    from mistral_common.tokens.tokenizers.model_settings_builder import ModelSettingsBuilder
    from mistral_common.tokens.tokenizers.tekken import Tekkenizer

    try:
        data = msgspec.json.decode(file.data, type=_Tekken)
    except (msgspec.DecodeError, RecursionError, UnicodeError) as error:
        raise CheckpointError(f"{file.name}: {error}") from None
    config = data.config
    if config.version not in TokenizerVersion.__members__:
        raise CheckpointError(f"{file.name}: {config.version!r} is no version of Mistral's format that is known")
    version = TokenizerVersion(config.version)
    special = _special_tokens(file.name, data, version=int(config.version.removeprefix("v")))
    count = config.default_num_special_tokens
    if not len(special) <= count <= _MOST_SPECIAL_TOKENS:
        raise CheckpointError(f"{file.name}: default_num_special_tokens is {count}, which can't be")
    if not count + 256 <= config.default_vocab_size <= count + len(data.vocab):
        raise CheckpointError(
            f"{file.name}: default_vocab_size is {config.default_vocab_size}, which {len(data.vocab)} tokens and "
            f"{count} special ones don't make up"
        )
    if len(config.pattern) > _LONGEST_PATTERN:
        raise CheckpointError(f"{file.name}: the pattern is longer than {_LONGEST_PATTERN} characters")
    settings = data.model_settings_builder
    return Tekkenizer(
        vocab=_vocabulary(file.name, data),
        special_tokens=special,
        pattern=config.pattern,
        vocab_size=config.default_vocab_size,
        num_special_tokens=count,
        version=version,
        name="tekken",
        model_settings_builder=None if settings is None else ModelSettingsBuilder.model_validate(settings),
    )


def _vocabulary(name: str, data: _Tekken) -> list[TokenInfo]:
    for i, entry in enumerate(data.vocab):
        try:
            token = base64.b64decode(entry.token_bytes, validate=True)
        except (binascii.Error, ValueError):
            raise CheckpointError(f"{name}: vocab[{i}].token_bytes is no base64") from None
        if entry.rank != i or not token:
            raise CheckpointError(f"{name}: vocab[{i}] must have rank {i} and at least one byte")
    return [{"rank": e.rank, "token_bytes": e.token_bytes, "token_str": e.token_str} for e in data.vocab]


def _special_tokens(name: str, data: _Tekken, *, version: int) -> list[SpecialTokenInfo]:
    from mistral_common.tokens.tokenizers.tekken import Tekkenizer

    if data.special_tokens is None:
        if version > _LAST_WITH_DEFAULTS:
            raise CheckpointError(f"{name}: special_tokens are missing, which version {version} must have")
        return list(Tekkenizer.DEPRECATED_SPECIAL_TOKENS)
    for i, token in enumerate(data.special_tokens):
        if token.rank != i:
            raise CheckpointError(f"{name}: special_tokens[{i}] has rank {token.rank}")
    return [{"rank": t.rank, "token_str": t.token_str, "is_control": t.is_control} for t in data.special_tokens]


def _sentencepiece(file: MistralTokenizerFile) -> SentencePieceTokenizer:
    try:
        from sentencepiece import SentencePieceProcessor
    except ImportError as error:
        raise CheckpointError(f"{file.name}: {_EXTRA} ({error})") from None
    from mistral_common.tokens.tokenizers.base import TokenizerVersion
    from mistral_common.tokens.tokenizers.sentencepiece import SentencePieceTokenizer

    class FromBytes(SentencePieceTokenizer):
        """The library's class over a model that is at hand. Its own constructor opens a file."""

        def __init__(self, model: Any, version: TokenizerVersion):
            self._model = model
            self._version = version
            self._vocab = [model.id_to_piece(i) for i in range(model.vocab_size())]

    named = _VERSION.search(file.name)
    version = TokenizerVersion(f"v{named[1]}" if named else "v1")
    return FromBytes(SentencePieceProcessor(model_proto=file.data), version)
