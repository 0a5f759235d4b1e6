from __future__ import annotations

import json
import os
import shutil
from pathlib import Path
from typing import Any

import pytest
from tests.support.gguf_writer import U32, gguf_of_directory, scalar

from typecase.checkpoint.errors import CheckpointError
from typecase.checkpoint.mistral_files import MistralTokenizerFile
from typecase.loading import files as loading_files
from typecase.loading.sources import Source, load_checkpoint


def load(model: Path | str, **options: Any) -> Any:
    return load_checkpoint(Source(model=str(model), **options))


@pytest.fixture
def copy(tiny: Path, tmp_path: Path) -> Path:
    return Path(shutil.copytree(tiny, tmp_path / "model"))


def refused(model: Path | str, **options: Any) -> str:
    with pytest.raises(CheckpointError) as caught:
        load(model, **options)
    message = str(caught.value)
    assert message.isprintable()
    return message


def test_a_directory(tiny: Path) -> None:
    checkpoint = load(tiny)
    assert checkpoint.tokenizer_json == (tiny / "tokenizer.json").read_bytes()
    assert checkpoint.max_model_len == 4096


def test_a_gguf_file(tiny: Path) -> None:
    checkpoint = load(tiny.parent / "tiny.gguf")
    assert checkpoint.templates == load(tiny).templates
    assert checkpoint.tokenizer.class_name == "TokenizersBackend"


def test_a_gguf_file_with_weights_behind(tiny: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Metadata that is larger than the first read, and much after it."""
    file = tmp_path / "m.GGUF"
    data = (tiny.parent / "tiny.gguf").read_bytes()
    file.write_bytes(data)
    os.truncate(file, 2**34)
    for first in (24, 1000, len(data) - 1, len(data), 2**20):
        monkeypatch.setattr(loading_files, "_FIRST_READ", first)
        assert load(file).max_model_len == 4096


def test_overrides(tiny: Path) -> None:
    assert load(tiny, hf_overrides={"max_position_embeddings": 64}).max_model_len == 64
    assert load(tiny.parent / "tiny.gguf", hf_overrides={"max_position_embeddings": 64}).max_model_len == 64


def test_additional_templates(copy: Path) -> None:
    (copy / "additional_chat_templates").mkdir()
    (copy / "additional_chat_templates" / "rag.jinja").write_text("rag")
    (copy / "additional_chat_templates" / "notes.txt").write_text("not a template")
    assert sorted(load(copy).templates) == ["default", "rag"]


def test_config_from_elsewhere(tiny: Path, copy: Path) -> None:
    (copy / "config.json").write_text('{"model_type": "llama", "max_position_embeddings": 77}')
    (copy / "generation_config.json").write_text('{"temperature": 0.25}')
    checkpoint = load(tiny, hf_config_path=str(copy))
    assert (checkpoint.max_model_len, checkpoint.model_type) == (77, "llama")
    assert checkpoint.generation_config == {"temperature": 0.25}
    assert checkpoint.tokenizer == load(tiny).tokenizer
    (copy / "config.json").unlink()
    assert load(copy, hf_config_path=str(tiny)).max_model_len == 4096
    assert refused(copy).startswith("config.json: missing; copy it from the model it belongs to, or say where it is")


def test_tokenizer_from_elsewhere(tiny: Path, copy: Path) -> None:
    (copy / "chat_template.jinja").write_text("other")
    (copy / "config.json").unlink()
    for tokenizer in (copy, tiny.parent / "tiny.gguf"):
        checkpoint = load(tiny, tokenizer=str(tokenizer))
        assert checkpoint.templates == load(tokenizer, hf_config_path=str(tiny)).templates
        assert checkpoint.max_model_len == 4096
    (copy / "tokenizer.json").unlink()
    assert "tokenizer.json: missing" in refused(tiny, tokenizer=str(copy))


def test_a_gguf_file_whose_tokenizer_is_taken_from_elsewhere(tiny: Path, tmp_path: Path) -> None:
    file = tmp_path / "m.gguf"
    extra = {"qwen3.context_length": scalar(U32, 99)}
    file.write_bytes(gguf_of_directory(tiny, pre="of-tomorrow", extra=extra))
    assert "'of-tomorrow'" in refused(file)
    checkpoint = load(file, tokenizer=str(tiny))
    assert checkpoint.max_model_len == 99
    assert checkpoint.tokenizer_json == load(tiny).tokenizer_json


def test_links_are_followed(tiny: Path, tmp_path: Path) -> None:
    """The hub's cache is made of them."""
    for path in tiny.iterdir():
        (tmp_path / path.name).symlink_to(path)
    assert load(tmp_path).tokenizer_json == load(tiny).tokenizer_json
    (tmp_path / "added_tokens.json").symlink_to(tmp_path / "nowhere")
    assert refused(tmp_path).startswith("added_tokens.json: can't be read: No such file or directory")


@pytest.mark.parametrize(
    "name",
    ["/no/such/place", "./nothing-here", "missing.gguf", "a/b/c", "s3://bucket/model", "", "a\0b", "x" * 300, "a\nb"],
)
def test_places_that_are_none(name: str) -> None:
    message = refused(name)
    assert message == f"{name!r}: no such directory or file; give a directory, a .gguf file or a hub id (owner/name)"


def test_a_file_of_another_kind(tiny: Path) -> None:
    message = refused(tiny / "tokenizer.json")
    assert message.endswith(
        "tokenizer.json: is a file; a directory with a checkpoint, a .gguf file or a hub id is wanted"
    )


def test_an_empty_directory(tmp_path: Path) -> None:
    assert refused(tmp_path) == (
        "tokenizer.json: missing; save the tokenizer beside the model, or name one with --tokenizer"
    )


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("tekken.json", "there is only Mistral's tokenizer (tekken.json), which --tokenizer-mode mistral reads"),
        ("tokenizer.model.v3", "Mistral's tokenizer (tokenizer.model.v*), which --tokenizer-mode mistral reads"),
        ("tokenizer.model", "there is only a SentencePiece model (tokenizer.model), which is not supported without"),
        ("qwen.tiktoken", "there is only a tiktoken file, which is not supported"),
        ("vocab.txt", "there is only a WordPiece vocabulary (vocab.txt), which is not supported without"),
        ("vocab.json", "there is only a vocab.json without merges.txt"),
    ],
)
def test_other_tokenizers_are_named(copy: Path, name: str, message: str) -> None:
    (copy / "tokenizer.json").unlink()
    (copy / name).write_text("{}")
    assert message in refused(copy)


def test_mistrals_own_tokenizer(copy: Path) -> None:
    (copy / "consolidated.safetensors").touch()
    assert load(copy).mistral_tokenizer is None
    (copy / "tekken.json").write_bytes(b"{}")
    found = load(copy)
    assert found.mistral_tokenizer == MistralTokenizerFile("tekken.json", b"{}")
    assert (found.tokenizer_json, dict(found.templates), found.max_model_len) == (b"", {}, 4096)
    assert load(copy, tokenizer_mode="hf").mistral_tokenizer is None
    (copy / "params.json").write_text('{"max_position_embeddings": 512}')
    assert load(copy).max_model_len == 512
    assert load(copy, tokenizer_mode="hf").max_model_len == 512  # another flag's matter
    (copy / "config.json").unlink()
    assert load(copy).max_model_len == 512
    (copy / "consolidated.safetensors").unlink()
    assert "config.json: missing" in refused(copy)


def test_mistrals_tokenizer_on_demand(copy: Path, tmp_path: Path) -> None:
    assert "no tokenizer file of Mistral's" in refused(copy, tokenizer_mode="mistral")
    other = tmp_path / "other"
    other.mkdir()
    (other / "tokenizer.model").write_bytes(b"x")
    found = load(copy, tokenizer=str(other), tokenizer_mode="mistral")
    assert found.mistral_tokenizer == MistralTokenizerFile("tokenizer.model", b"x")
    os.truncate(other / "tokenizer.model", 65 << 20)
    message = refused(copy, tokenizer=str(other), tokenizer_mode="mistral")
    assert message == "tokenizer.model: larger than 64 MB, which no such file is"


def test_vocab_files_need_a_class_that_knows_the_rest(copy: Path) -> None:
    model = json.loads((copy / "tokenizer.json").read_bytes())["model"]
    (copy / "tokenizer.json").unlink()
    (copy / "vocab.json").write_text(json.dumps(model["vocab"]))
    (copy / "merges.txt").write_text("#version: 0.2\n" + "\n".join(" ".join(pair) for pair in model["merges"]))
    assert load(copy).tokenizer.class_name == "Qwen2Tokenizer"
    (copy / "merges.txt").write_text("a b\nc\n")
    assert refused(copy) == "merges.txt: line 2 is no pair of tokens"
    settings = json.loads((copy / "tokenizer_config.json").read_bytes()) | {
        "tokenizer_class": "PreTrainedTokenizerFast"
    }
    (copy / "tokenizer_config.json").write_text(json.dumps(settings))
    assert "how TokenizersBackend splits text can't be told from them" in refused(copy)


def test_files_that_are_too_large(copy: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    os.truncate(copy / "generation_config.json", 65 << 20)
    assert refused(copy) == "generation_config.json: larger than 64 MB, which no such file is"
    (copy / "generation_config.json").unlink()
    monkeypatch.setattr(loading_files, "_LIMITS", {"tokenizer.json": 1 << 10})
    assert refused(copy).startswith("tokenizer.json: larger than 0 MB")


def test_only_regular_files_are_opened(copy: Path) -> None:
    """A pipe without a writer would block for ever."""
    (copy / "generation_config.json").unlink()
    os.mkfifo(copy / "generation_config.json")
    assert refused(copy).startswith("generation_config.json: is no regular file")
    (copy / "generation_config.json").unlink()
    (copy / "generation_config.json").mkdir()
    assert refused(copy).startswith("generation_config.json: is no regular file")


def test_too_many_templates(copy: Path) -> None:
    (copy / "additional_chat_templates").mkdir()
    for number in range(65):
        (copy / "additional_chat_templates" / f"{number}.jinja").touch()
    assert "holds 65 templates, more than 64" in refused(copy)
