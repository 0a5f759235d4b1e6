from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest
from tests.support.gguf_writer import BOOL, F32, I32, STRING, U32, Value, array, gguf, gguf_of_directory, scalar, string
from tests.support.probe_texts import probe_texts
from tokenizers import Tokenizer

from typecase.checkpoint.checkpoint import Checkpoint, read_checkpoint
from typecase.checkpoint.errors import CheckpointError
from typecase.checkpoint.gguf import read_metadata
from typecase.checkpoint.gguf_pre_tokenizers import PRE_TOKENIZERS
from typecase.checkpoint.gguf_tokenizer import files_from_gguf


def files(data: bytes, **options: Any) -> dict[str, bytes]:
    return files_from_gguf(read_metadata(data, len(data), "x.gguf"), "x.gguf", **options)


def read(data: bytes) -> Checkpoint:
    return read_checkpoint(files(data), tokenizer_as_is=True)


SMALL: dict[str, Value] = {
    "general.architecture": string("llama"),
    "llama.context_length": scalar(U32, 128),
    "tokenizer.ggml.model": string("gpt2"),
    "tokenizer.ggml.pre": string("qwen2"),
    "tokenizer.ggml.tokens": array(STRING, ["a", "b", "ab", "<s>", "</s>", "<u>", "[PAD6]", ""]),
    "tokenizer.ggml.token_type": array(I32, [1, 1, 1, 3, 3, 4, 5, 1]),
    "tokenizer.ggml.merges": array(STRING, ["a b"]),
    "tokenizer.ggml.bos_token_id": scalar(U32, 3),
    "tokenizer.ggml.eos_token_id": scalar(U32, 4),
}


def test_the_committed_file_is_that_of_the_directory(tiny: Path) -> None:
    data = (tiny.parent / "tiny.gguf").read_bytes()
    assert data == gguf_of_directory(tiny, pre="qwen2"), "run python -m tests.support.train_tiny"
    checkpoint = read(data)
    original = read_checkpoint({path.name: path.read_bytes() for path in tiny.iterdir()})
    ours = Tokenizer.from_str(checkpoint.tokenizer_json.decode())
    theirs = Tokenizer.from_str(original.tokenizer_json.decode())
    for text in probe_texts(["<|im_start|>", "<|im_end|>", "<think>", "</tool_call>"]):
        assert ours.encode(text).ids == theirs.encode(text).ids, text
    assert json.loads(checkpoint.tokenizer_json)["added_tokens"] == json.loads(original.tokenizer_json)["added_tokens"]
    assert checkpoint.templates == original.templates
    assert checkpoint.special_tokens == original.special_tokens
    assert (checkpoint.max_model_len, checkpoint.model_type) == (4096, "qwen3")
    assert checkpoint.tokenizer.class_name == "TokenizersBackend"
    assert checkpoint.warnings == ()


def test_a_small_file() -> None:
    checkpoint = read(gguf(SMALL))
    tokenizer = Tokenizer.from_str(checkpoint.tokenizer_json.decode())
    assert tokenizer.encode("ab<s>a<u></s>").ids == [2, 3, 0, 5, 4]
    assert tokenizer.decode([3, 2, 5, 4]) == "ab<u>"
    assert tokenizer.token_to_id("[PAD6]") is None
    assert checkpoint.special_tokens == {"bos_token": "<s>", "eos_token": "</s>"}
    assert checkpoint.templates == {}
    assert (checkpoint.model_type, checkpoint.max_model_len, checkpoint.eos_token_ids) == ("llama", 128, (4,))
    assert checkpoint.config["vocab_size"] == 8


@pytest.mark.parametrize(
    ("pre", "extra", "expected"),
    [
        ("qwen2", {}, [2]),
        ("qwen2", {"tokenizer.ggml.add_bos_token": scalar(BOOL, True)}, [3, 2]),
        ("qwen2", {"tokenizer.ggml.add_eos_token": scalar(BOOL, True)}, [2, 4]),
        ("llama-bpe", {}, [3, 2]),
        ("llama-bpe", {"tokenizer.ggml.add_bos_token": scalar(BOOL, False)}, [2]),
    ],
)
def test_what_is_put_around_a_text(pre: str, extra: dict[str, Value], expected: list[int]) -> None:
    checkpoint = read(gguf({**SMALL, "tokenizer.ggml.pre": string(pre), **extra}))
    tokenizer = Tokenizer.from_str(checkpoint.tokenizer_json.decode())
    assert tokenizer.encode("ab").ids == expected
    assert tokenizer.encode("ab", add_special_tokens=False).ids == [2]


def test_templates_and_end_tokens() -> None:
    named = {
        "tokenizer.chat_template": string("usual"),
        "tokenizer.chat_template.tool_use": string("tools"),
        "tokenizer.chat_templates": array(STRING, ["tool_use"]),
        "tokenizer.ggml.eot_token_id": scalar(U32, 5),
        "tokenizer.ggml.eom_token_id": scalar(U32, 4),
    }
    checkpoint = read(gguf({**SMALL, **named}))
    assert checkpoint.templates == {"default": "usual", "tool_use": "tools"}
    assert checkpoint.eos_token_ids == (4, 5)


def test_sentencepiece_scores_become_merges() -> None:
    """The piece with the best score is made first, whatever its place."""
    tokens = ["<unk>", "<s>", "<0x0A>", "▁", "a", "b", "c", "ab", "bc", "▁ab", "  "]
    data = {
        **SMALL,
        "tokenizer.ggml.model": string("llama"),
        "tokenizer.ggml.tokens": array(STRING, tokens),
        "tokenizer.ggml.token_type": array(I32, [2, 3, 6, 1, 1, 1, 1, 1, 1, 1, 4]),
        "tokenizer.ggml.scores": array(F32, [0, 0, 0, -9, -9, -9, -9, -2, -1, -3, -1000]),
        "tokenizer.ggml.bos_token_id": scalar(U32, 1),
        "tokenizer.ggml.eos_token_id": scalar(U32, 1),
    }
    tokenizer = Tokenizer.from_str(read(gguf(data)).tokenizer_json.decode())
    assert tokenizer.encode("ab").tokens == ["<s>", "▁ab"]
    assert tokenizer.encode("abc", add_special_tokens=False).tokens == ["▁", "a", "bc"]
    assert tokenizer.encode("\n", add_special_tokens=False).tokens == ["▁", "<0x0A>"]
    assert tokenizer.token_to_id("▁▁") == 10
    data["tokenizer.ggml.add_space_prefix"] = scalar(BOOL, False)
    tokenizer = Tokenizer.from_str(read(gguf(data)).tokenizer_json.decode())
    assert tokenizer.encode("ab", add_special_tokens=False).tokens == ["ab"]
    assert tokenizer.decode([7]) == "ab"


def test_an_ordinary_token_as_padding_stays_ordinary() -> None:
    checkpoint = read(gguf({**SMALL, "tokenizer.ggml.padding_token_id": scalar(U32, 0)}))
    assert "pad_token" not in checkpoint.special_tokens
    assert Tokenizer.from_str(checkpoint.tokenizer_json.decode()).encode("ab").ids == [2]


def test_the_context_length_is_the_files_alone() -> None:
    """Whatever a Hugging Face model type of that name would say."""
    for architecture in ("chatglm", "gpt2", "gemma3", "mpt", "of-tomorrow"):
        names = {"general.architecture": string(architecture), f"{architecture}.context_length": scalar(U32, 9000)}
        assert read(gguf({**SMALL, **names})).max_model_len == 9000


def test_a_config_can_be_read_where_the_tokenizer_cannot() -> None:
    data = gguf({**SMALL, "tokenizer.ggml.pre": string("of-tomorrow")})
    assert set(files(data, tokenizer=False)) == {"config.json", "generation_config.json"}
    with pytest.raises(CheckpointError, match="of-tomorrow"):
        files(data)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"tokenizer.ggml.model": None}, "has no tokenizer (no tokenizer.ggml.model)"),
        ({"tokenizer.ggml.model": string("bert")}, "has a tokenizer of the kind 'bert' (tokenizer.ggml.model)"),
        ({"tokenizer.ggml.model": scalar(U32, 1)}, "tokenizer.ggml.model must be a string"),
        ({"tokenizer.ggml.model": string(b"\xff")}, "tokenizer.ggml.model is not UTF-8"),
        ({"tokenizer.ggml.model": string("llama")}, "has no tokenizer.ggml.scores"),
        ({"tokenizer.ggml.pre": None}, "has the pre-tokenizer None (tokenizer.ggml.pre), which is not supported"),
        ({"tokenizer.ggml.pre": string("falcon")}, "has the pre-tokenizer 'falcon' (tokenizer.ggml.pre)"),
        ({"tokenizer.ggml.tokens": None}, "has no tokenizer.ggml.tokens"),
        ({"tokenizer.ggml.tokens": array(U32, [1])}, "tokenizer.ggml.tokens must be a list of strings"),
        ({"tokenizer.ggml.tokens": array(STRING, [b"\xff"])}, "tokenizer.ggml.tokens holds a string that is not UTF-8"),
        ({"tokenizer.ggml.tokens": array(STRING, ["a"] * 8)}, "tokenizer.ggml.tokens holds a token twice"),
        ({"tokenizer.ggml.token_type": array(I32, [1])}, "tokenizer.ggml.token_type must be a list of 8 numbers"),
        ({"tokenizer.ggml.merges": None}, "has no tokenizer.ggml.merges"),
        ({"tokenizer.ggml.merges": array(STRING, ["a c"])}, "has a merge of tokens that it doesn't have: 'a' and 'c'"),
        ({"tokenizer.ggml.merges": array(STRING, ["ab"])}, "has a merge of tokens that it doesn't have: 'ab' and ''"),
        ({"tokenizer.ggml.bos_token_id": scalar(U32, 8)}, "tokenizer.ggml.bos_token_id is no id of its 8 tokens"),
        ({"tokenizer.ggml.bos_token_id": string("3")}, "tokenizer.ggml.bos_token_id is no id of its 8 tokens"),
        ({"tokenizer.ggml.add_bos_token": scalar(U32, 1)}, "tokenizer.ggml.add_bos_token must be a boolean"),
        ({"general.architecture": None}, "has no general.architecture"),
        ({"llama.context_length": None}, "has no llama.context_length"),
        ({"llama.context_length": scalar(U32, 0)}, "has no llama.context_length"),
        ({"tokenizer.chat_template": scalar(U32, 0)}, "tokenizer.chat_template must be a string"),
    ],
)  # fmt: skip
def test_what_cannot_be_read(change: dict[str, Value | None], message: str) -> None:
    data = {key: value for key, value in {**SMALL, **change}.items() if value is not None}
    with pytest.raises(CheckpointError, match=re.escape(f"x.gguf: {message}")):
        files(gguf(data))


def test_the_message_lists_what_is_supported() -> None:
    with pytest.raises(CheckpointError) as caught:
        files(gguf({**SMALL, "tokenizer.ggml.pre": string("x")}))
    assert all(name in str(caught.value) for name in PRE_TOKENIZERS)
