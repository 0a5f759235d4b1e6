"""Writes the metadata of a GGUF file, without tensors: enough for a tokenizer. For tests only.

``gguf_of_directory`` makes one from a model directory as llama.cpp's converter would: the vocabulary as a list of
tokens with a type each, merges as strings, special tokens by id, the chat templates.
"""

from __future__ import annotations

import json
import re
import struct
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Any

__all__ = ["BOOL", "F32", "I32", "STRING", "U32", "U64", "array", "gguf", "gguf_of_directory", "string"]

U8, I8, U16, I16, U32, I32, F32, BOOL, STRING, ARRAY, U64, I64, F64 = range(13)
_FORMATS = {U8: "B", I8: "b", U16: "H", I16: "h", U32: "I", I32: "i", F32: "f", BOOL: "?", U64: "Q", I64: "q", F64: "d"}

NORMAL, UNKNOWN, CONTROL, USER_DEFINED, UNUSED, BYTE = 1, 2, 3, 4, 5, 6

Value = tuple[int, bytes]  # type, encoded value


def scalar(kind: int, value: float) -> Value:
    return kind, struct.pack("<" + _FORMATS[kind], value)


def string(text: str | bytes) -> Value:
    data = text.encode("utf-8") if isinstance(text, str) else text
    return STRING, struct.pack("<Q", len(data)) + data


def array(kind: int, values: Iterable[Any]) -> Value:
    encode: Callable[[Any], bytes] = (
        (lambda value: string(value)[1]) if kind == STRING else (lambda value: scalar(kind, value)[1])
    )
    items = [encode(value) for value in values]
    return ARRAY, struct.pack("<IQ", kind, len(items)) + b"".join(items)


def gguf(
    metadata: Mapping[str, Value] | list[tuple[str | bytes, Value]], *, version: int = 3, tensors: int = 0
) -> bytes:
    pairs = list(metadata.items()) if isinstance(metadata, Mapping) else metadata
    parts = [b"GGUF", struct.pack("<IQQ", version, tensors, len(pairs))]
    for key, (kind, data) in pairs:
        parts += [string(key)[1], struct.pack("<I", kind), data]
    return b"".join(parts)


def gguf_of_directory(
    directory: Path, *, pre: str, model: str = "gpt2", extra: Mapping[str, Value] | None = None
) -> bytes:
    """The metadata of the checkpoint in ``directory``. ``pre``: llama.cpp's name of its pre-tokenizer."""
    tokenizer = json.loads((directory / "tokenizer.json").read_text(encoding="utf-8"))
    config = json.loads((directory / "config.json").read_text(encoding="utf-8"))
    settings = json.loads((directory / "tokenizer_config.json").read_text(encoding="utf-8"))
    text_config = config.get("text_config", config)
    arch = config["model_type"].replace("_", "")
    tokens, types = vocabulary(tokenizer, text_config.get("vocab_size", 0), sentencepiece=model == "llama")
    ids = {token: index for index, token in enumerate(tokens)}
    metadata: dict[str, Value] = {
        "general.architecture": string(arch),
        "general.name": string(directory.name),
        f"{arch}.context_length": scalar(U32, text_config.get("max_position_embeddings", 131072)),
        "tokenizer.ggml.model": string(model),
        "tokenizer.ggml.pre": string(pre),
        "tokenizer.ggml.tokens": array(STRING, tokens),
        "tokenizer.ggml.token_type": array(I32, types),
    }
    if model == "gpt2":
        merges = tokenizer["model"]["merges"]
        metadata["tokenizer.ggml.merges"] = array(
            STRING, (merge if isinstance(merge, str) else " ".join(merge) for merge in merges)
        )
    else:
        metadata["tokenizer.ggml.scores"] = array(F32, _scores(tokenizer["model"]["merges"], tokens, types))
        metadata["tokenizer.ggml.add_space_prefix"] = scalar(BOOL, "Prepend" in json.dumps(tokenizer["normalizer"]))
    for name in ("bos", "eos", "pad", "unk"):
        token = settings.get(f"{name}_token")
        token = token["content"] if isinstance(token, dict) else token
        if token in ids:
            name = {"pad": "padding", "unk": "unknown"}.get(name, name)
            metadata[f"tokenizer.ggml.{name}_token_id"] = scalar(U32, ids[token])
    for name in ("bos", "eos"):
        if isinstance(settings.get(f"add_{name}_token"), bool):
            metadata[f"tokenizer.ggml.add_{name}_token"] = scalar(BOOL, settings[f"add_{name}_token"])
    metadata |= _templates(directory, settings)
    return gguf({**metadata, **(extra or {})})


def vocabulary(tokenizer: dict[str, Any], size: int, *, sentencepiece: bool = False) -> tuple[list[str], list[int]]:
    """All tokens by id with their types, as the converter lists them; ids without a token get a name of their own."""
    by_id = {index: token for token, index in tokenizer["model"]["vocab"].items()}
    kinds = {}
    for token in tokenizer["added_tokens"]:
        by_id[token["id"]] = token["content"]
        looks_special = re.fullmatch(r"<[|｜].*[|｜]>|<unused\d+>|<pad>|<mask>|<2mass>|\[@BOS@\]", token["content"])
        kinds[token["id"]] = CONTROL if token["special"] or looks_special else USER_DEFINED
        if kinds[token["id"]] == USER_DEFINED:
            by_id[token["id"]] = token["content"].replace("\u2581", " ")
    tokens, types = [], []
    for index in range(max(size, max(by_id) + 1)):
        token = by_id.get(index, f"[PAD{index}]")
        tokens.append(token)
        if index not in by_id:
            types.append(UNUSED)
        elif sentencepiece and re.fullmatch(r"<0x[0-9A-F]{2}>", token):
            types.append(BYTE)
        elif sentencepiece and token == "<unk>":
            types.append(UNKNOWN)
        else:
            types.append(kinds.get(index, NORMAL))
    return tokens, types


def _scores(merges: list[Any], tokens: list[str], types: list[int]) -> list[float]:
    """SentencePiece scores as the model would have them: the earlier a piece was merged, the higher.

    What the user defined has 0 there; the converter writes -1000 for every added token.
    """
    scores: dict[str, float] = {}
    for merge in merges:
        piece = "".join(merge.split(" ", 1) if isinstance(merge, str) else merge)
        scores.setdefault(piece, -float(len(scores)) - 1)
    return [
        -1000.0 if kind in (CONTROL, USER_DEFINED) else scores.get(token, -1e6)
        for token, kind in zip(tokens, types, strict=True)
    ]


def _templates(directory: Path, settings: dict[str, Any]) -> dict[str, Value]:
    file = directory / "chat_template.jinja"
    template = file.read_text(encoding="utf-8") if file.exists() else settings.get("chat_template")
    if template is None:
        return {}
    if isinstance(template, str):
        return {"tokenizer.chat_template": string(template)}
    named = {item["name"]: item["template"] for item in template}
    result = {"tokenizer.chat_template": string(named.pop("default"))} if "default" in named else {}
    result |= {f"tokenizer.chat_template.{name}": string(text) for name, text in named.items()}
    return {**result, "tokenizer.chat_templates": array(STRING, named)}
