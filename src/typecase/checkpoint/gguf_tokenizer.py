"""GGUF metadata -> the files of a Hugging Face checkpoint, so that there is one loader.

llama.cpp names a tokenizer by a model (``gpt2``: byte-level BPE, ``llama``: SentencePiece) and, for the first, a
pre-tokenizer (gguf_pre_tokenizers.py).
"""

from __future__ import annotations

import re
from enum import IntEnum
from typing import Any

import msgspec

from .errors import CheckpointError
from .gguf import Metadata, Numbers
from .gguf_pre_tokenizers import PRE_TOKENIZERS
from .gguf_sentencepiece import SPACE, sentencepiece_model
from .post_processor import bos_eos

__all__ = ["files_from_gguf"]


class Kind(IntEnum):
    """Token types of GGUF."""

    NORMAL = 1
    UNKNOWN = 2
    CONTROL = 3
    USER_DEFINED = 4
    UNUSED = 5
    BYTE = 6


_ADDED = (Kind.CONTROL, Kind.USER_DEFINED, Kind.UNKNOWN)  # matched in text before anything is split
_SPECIAL_KEYS = {
    "bos_token": "bos_token_id",
    "eos_token": "eos_token_id",
    "unk_token": "unknown_token_id",
    "sep_token": "seperator_token_id",  # so it is spelled there
    "pad_token": "padding_token_id",
    "cls_token": "cls_token_id",
    "mask_token": "mask_token_id",
}
_END_KEYS = ("eos_token_id", "eot_token_id", "eom_token_id")
_PADDING = re.compile(r"\[PAD\d+\]")


def files_from_gguf(metadata: Metadata, name: str, *, tokenizer: bool = True) -> dict[str, bytes]:
    """config.json and generation_config.json; tokenizer.json and tokenizer_config.json as well, unless not wanted.

    ``name`` is used in errors.
    """
    converter = _Converter(metadata, name)
    contents = converter.configurations() | (converter.tokenizer_files() if tokenizer else {})
    return {file: msgspec.json.encode(value) for file, value in contents.items()}


class _Converter:
    def __init__(self, metadata: Metadata, name: str):
        self._metadata = metadata
        self._name = name

    def configurations(self) -> dict[str, Any]:
        architecture = self._text("general.architecture")
        if architecture is None:
            raise self._error("has no general.architecture")
        length = self._length(architecture)
        tokens = self._metadata.get("tokenizer.ggml.tokens")
        ends = [self._metadata.get(f"tokenizer.ggml.{key}") for key in _END_KEYS]
        return {
            "config.json": {
                "model_type": architecture,
                "max_position_embeddings": length,
                # Nulls hide what a Hugging Face model type of this name would have by default.
                "seq_length": None,
                "max_seq_len": None,
                "vocab_size": len(tokens) if isinstance(tokens, list) else 0,
                "transformers_version": "5.0.0",
            },
            "generation_config.json": {
                "eos_token_id": list(dict.fromkeys(end for end in ends if isinstance(end, int)))
            },
        }

    def tokenizer_files(self) -> dict[str, Any]:
        model = self._text("tokenizer.ggml.model")
        if model is None:
            raise self._error("has no tokenizer (no tokenizer.ggml.model); a GGUF file of a whole model is wanted")
        tokens = self._tokens(sentencepiece=model == "llama")
        return {
            "tokenizer.json": self._tokenizer(model, tokens),
            "tokenizer_config.json": {
                "tokenizer_class": "TokenizersBackend",
                "model_max_length": self._length(self._text("general.architecture") or ""),
                **self._special_tokens(tokens),
                **self._templates(),
            },
        }

    def _length(self, architecture: str) -> int:
        length = self._metadata.get(f"{architecture}.context_length")
        if isinstance(length, bool) or not isinstance(length, int) or length < 1:
            raise self._error(f"has no {architecture}.context_length")
        return length

    def _error(self, what: str) -> CheckpointError:
        return CheckpointError(f"{self._name}: {what}")

    def _text(self, key: str) -> str | None:
        value = self._metadata.get(key)
        if value is None:
            return None
        if not isinstance(value, bytes):
            raise self._error(f"{key} must be a string")
        try:
            return value.decode("utf-8")
        except UnicodeDecodeError:
            raise self._error(f"{key} is not UTF-8") from None

    def _strings(self, key: str) -> list[str]:
        value = self._metadata.get(key)
        if value is None:
            raise self._error(f"has no {key}")
        if not isinstance(value, list):
            raise self._error(f"{key} must be a list of strings")
        try:
            return [item.decode("utf-8") for item in value]  # type: ignore[union-attr]
        except UnicodeDecodeError:
            raise self._error(f"{key} holds a string that is not UTF-8") from None
        except AttributeError:
            raise self._error(f"{key} must be a list of strings") from None

    def _numbers(self, key: str, count: int) -> list[float] | None:
        value = self._metadata.get(key)
        if value is None:
            return None
        if not isinstance(value, Numbers) or len(value) != count:
            raise self._error(f"{key} must be a list of {count} numbers, one for each token")
        return value.tolist()

    def _flag(self, key: str, default: bool) -> bool:
        value = self._metadata.get(f"tokenizer.ggml.{key}", default)
        if not isinstance(value, bool):
            raise self._error(f"tokenizer.ggml.{key} must be a boolean")
        return value

    def _tokens(self, *, sentencepiece: bool) -> list[tuple[str, int]]:
        """(text, type) of each id."""
        texts = self._strings("tokenizer.ggml.tokens")
        kinds = self._numbers("tokenizer.ggml.token_type", len(texts)) or [Kind.NORMAL] * len(texts)
        if sentencepiece:
            # The converter writes the spaces of user-defined tokens as spaces, the tokenizer wants its own mark
            texts = [
                text.replace(" ", SPACE) if kind == Kind.USER_DEFINED else text
                for text, kind in zip(texts, kinds, strict=True)
            ]
        if len(set(texts)) != len(texts):
            raise self._error("tokenizer.ggml.tokens holds a token twice")
        return list(zip(texts, map(int, kinds), strict=True))

    def _tokenizer(self, model: str, tokens: list[tuple[str, int]]) -> dict[str, Any]:
        added = self._added(tokens)
        vocabulary = {
            text: index
            for index, (text, kind) in enumerate(tokens)
            if text and not (kind == Kind.UNUSED and _PADDING.fullmatch(text))
        }
        if model == "gpt2":
            parts, adds_bos = self._byte_level(vocabulary, added)
        elif model == "llama":
            scores = self._numbers("tokenizer.ggml.scores", len(tokens))
            if scores is None:
                raise self._error("has no tokenizer.ggml.scores, without which a SentencePiece tokenizer can't be made")
            if self._flag("remove_extra_whitespaces", False):
                raise self._error("asks for extra spaces to be removed, which is not supported")
            ranked = {
                text: 0.0 if kind == Kind.USER_DEFINED else scores[index]
                for index, (text, kind) in enumerate(tokens)
                if kind in (Kind.NORMAL, Kind.USER_DEFINED)
            }
            unknown = next((text for text, kind in tokens if kind == Kind.UNKNOWN), None)
            prefix = self._flag("add_space_prefix", True)
            parts, adds_bos = sentencepiece_model(vocabulary, ranked, unknown=unknown, adds_prefix=prefix), True
        else:
            raise self._error(
                f"has a tokenizer of the kind {model!r} (tokenizer.ggml.model); gpt2 and llama are supported"
            )
        return {
            "version": "1.0",
            "truncation": None,
            "padding": None,
            "added_tokens": added,
            **parts,
            "post_processor": self._post_processor(tokens, adds_bos),
        }

    def _added(self, tokens: list[tuple[str, int]]) -> list[dict[str, Any]]:
        plain = {"single_word": False, "lstrip": False, "rstrip": False, "normalized": False}
        return [
            {"id": index, "content": text, **plain, "special": kind != Kind.USER_DEFINED}
            for index, (text, kind) in enumerate(tokens)
            if text and kind in _ADDED
        ]

    def _byte_level(self, vocabulary: dict[str, int], added: list[dict[str, Any]]) -> tuple[dict[str, Any], bool]:
        name = self._text("tokenizer.ggml.pre")
        pre = PRE_TOKENIZERS.get(name or "")
        if pre is None:
            raise self._error(
                f"has the pre-tokenizer {name!r} (tokenizer.ggml.pre), which is not supported; "
                f"supported are {', '.join(PRE_TOKENIZERS)}. Use the original checkpoint for --tokenizer"
            )
        merges = [_pair(merge) for merge in self._strings("tokenizer.ggml.merges")]
        for first, second in merges:
            if first not in vocabulary or second not in vocabulary or first + second not in vocabulary:
                raise self._error(f"has a merge of tokens that it doesn't have: {first!r} and {second!r}")
        _keep_out(vocabulary, added)
        return {
            **pre.components(),
            "decoder": {"type": "ByteLevel", "add_prefix_space": True, "trim_offsets": True, "use_regex": True},
            "model": {
                "type": "BPE",
                "dropout": None,
                "unk_token": None,
                "continuing_subword_prefix": None,
                "end_of_word_suffix": None,
                "fuse_unk": False,
                "byte_fallback": False,
                "ignore_merges": pre.ignore_merges,
                "vocab": vocabulary,
                "merges": merges,
            },
        }, pre.adds_bos

    def _post_processor(self, tokens: list[tuple[str, int]], adds_bos: bool) -> dict[str, Any] | None:
        bos = self._token("bos_token_id", tokens) if self._flag("add_bos_token", adds_bos) else None
        eos = self._token("eos_token_id", tokens) if self._flag("add_eos_token", False) else None
        return bos_eos(bos, eos)

    def _token(self, key: str, tokens: list[tuple[str, int]]) -> tuple[str, int] | None:
        index = self._metadata.get(f"tokenizer.ggml.{key}")
        if index is None:
            return None
        if isinstance(index, bool) or not isinstance(index, int) or not 0 <= index < len(tokens):
            raise self._error(f"tokenizer.ggml.{key} is no id of its {len(tokens)} tokens")
        text = tokens[index][0]
        return (text, index) if text else None

    def _special_tokens(self, tokens: list[tuple[str, int]]) -> dict[str, str]:
        """Named special tokens. A name makes a token special in text, so an ordinary one only counts as bos or eos.

        (Some files give 0, an exclamation mark, as the id of the padding.)
        """
        found = {}
        for name, key in _SPECIAL_KEYS.items():
            token = self._token(key, tokens)
            if token is not None and (name in ("bos_token", "eos_token") or tokens[token[1]][1] in _ADDED):
                found[name] = token[0]
        return found

    def _templates(self) -> dict[str, Any]:
        """The chat template, or the list of them as tokenizer_config.json has it."""
        usual = self._text("tokenizer.chat_template")
        prefix = "tokenizer.chat_template."
        named = {key.removeprefix(prefix): self._text(key) for key in self._metadata if key.startswith(prefix)}
        if not named:
            return {"chat_template": usual} if usual is not None else {}
        if usual is not None:
            named = {"default": usual, **named}
        return {"chat_template": [{"name": name, "template": text} for name, text in named.items()]}


def _pair(merge: str) -> tuple[str, str]:
    first, _, second = merge.partition(" ")
    return first, second


def _keep_out(vocabulary: dict[str, int], added: list[dict[str, Any]]) -> None:
    """Takes the added tokens that follow the vocabulary out of it, as tokenizer.json files have it.

    Only a run at the end, after a vocabulary without gaps, can be left out: its ids are then given by counting.
    """
    count = len(vocabulary)
    if sorted(vocabulary.values()) != list(range(count)):
        return
    for token in reversed(added):
        if token["id"] != count - 1:
            return
        del vocabulary[token["content"]]
        count -= 1
