"""The proof of every supported kind of GGUF tokenizer: a real checkpoint is written as GGUF metadata, converted back,
and must give the same ids."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from tests.support.gguf_writer import gguf_of_directory
from tests.support.probe_texts import probe_texts
from tokenizers import Tokenizer

from typecase.checkpoint.gguf_pre_tokenizers import PRE_TOKENIZERS
from typecase.loading.sources import Source, load_checkpoint

pytestmark = pytest.mark.network

PROOFS = [
    ("qwen2_5", "qwen2"),
    ("qwen3", "qwen2"),
    ("standin_glm45", "qwen2"),
    ("qwen3_5", "qwen35"),
    ("llama3", "llama-bpe"),
    ("llama3_1", "llama-bpe"),
    ("llama3_2", "llama3"),
    ("llama3_1", "llama-v3"),
    ("deepseek_v3", "deepseek-v3"),
    ("deepseek_r1", "deepseek-v3"),
    ("deepseek_v4", "deepseek-v3"),
    ("mistral_nemo", "tekken"),
    ("command_r_plus", "command-r"),
    ("gptoss", "gpt-4o"),
    ("smollm2", "smollm"),
    ("llama2", "llama"),
    ("gemma3", "llama"),
]


def test_every_name_is_proved() -> None:
    assert {pre for _, pre in PROOFS} - {"llama"} == set(PRE_TOKENIZERS)


@pytest.mark.parametrize(("name", "pre"), PROOFS)
def test_ids_survive_the_way_through_gguf(models: Path, tmp_path: Path, name: str, pre: str) -> None:
    directory = models / name
    sentencepiece = pre == "llama"
    file = tmp_path / f"{name}.gguf"
    file.write_bytes(
        gguf_of_directory(
            directory, pre="default" if sentencepiece else pre, model="llama" if sentencepiece else "gpt2"
        )
    )
    checkpoint = load_checkpoint(Source(model=str(file)))
    original = json.loads((directory / "tokenizer.json").read_bytes())
    theirs = Tokenizer.from_str(json.dumps(original))
    ours = Tokenizer.from_str(checkpoint.tokenizer_json.decode())

    added = [token["content"] for token in original["added_tokens"]]
    framed = "TemplateProcessing" in json.dumps(original["post_processor"]) and name != "command_r_plus"
    for text in probe_texts(added[:12] + added[-12:], count=400):
        encoding = ours.encode(text, add_special_tokens=False)
        assert encoding.ids == theirs.encode(text, add_special_tokens=False).ids, text
        assert encoding.offsets == theirs.encode(text, add_special_tokens=False).offsets, text
        if framed:
            assert ours.encode(text).ids == theirs.encode(text).ids, text
        assert ours.decode(encoding.ids, skip_special_tokens=False) == theirs.decode(
            encoding.ids, skip_special_tokens=False
        ), text
    assert {token: ours.token_to_id(token) for token in added} == {token: theirs.token_to_id(token) for token in added}

    settings = load_checkpoint(Source(model=str(directory)))
    assert checkpoint.templates == settings.templates
    for key in ("bos_token", "eos_token"):
        assert checkpoint.special_tokens.get(key) == settings.special_tokens.get(key)


def test_the_published_smollm2_file(models: Path) -> None:
    (file,) = (models / "smollm2_gguf").glob("*.gguf")
    checkpoint = load_checkpoint(Source(model=str(file)))
    ours = Tokenizer.from_str(checkpoint.tokenizer_json.decode())
    theirs = Tokenizer.from_file(str(models / "smollm2" / "tokenizer.json"))
    special = ["<|im_start|>", "<|im_end|>", "<|endoftext|>", "<repo_name>"]
    for text in probe_texts(special, count=600):
        assert ours.encode(text).ids == theirs.encode(text).ids, text
    directory = load_checkpoint(Source(model=str(models / "smollm2")))
    assert checkpoint.templates == directory.templates
    assert checkpoint.special_tokens == directory.special_tokens
    assert checkpoint.max_model_len == directory.max_model_len == 8192
    assert checkpoint.eos_token_ids == (2,)
