from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from typecase.checkpoint.checkpoint import CheckpointError, read_checkpoint


@pytest.fixture
def files(tiny: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in tiny.iterdir()}


def with_settings(files: dict[str, bytes], name: str, **settings: Any) -> dict[str, bytes]:
    return {**files, name: json.dumps(json.loads(files[name]) | settings).encode()}


def test_the_tiny_checkpoint(files: dict[str, bytes]) -> None:
    checkpoint = read_checkpoint(files)
    assert checkpoint.templates == {"default": files["chat_template.jinja"].decode()}
    assert checkpoint.processor_template is None
    assert checkpoint.special_tokens == {"eos_token": "<|im_end|>", "pad_token": "<|endoftext|>"}
    assert checkpoint.tokenizer.class_name == "Qwen2Tokenizer"
    assert checkpoint.tokenizer.all_special_tokens == ("<|im_end|>", "<|endoftext|>", "<|im_start|>")
    assert checkpoint.tokenizer.model_max_length == 4096
    assert checkpoint.tokenizer.truncation_side == "left"
    assert (checkpoint.model_type, checkpoint.architectures) == ("qwen3", ("Qwen3ForCausalLM",))
    assert (checkpoint.max_model_len, checkpoint.is_multimodal) == (4096, False)
    assert checkpoint.generation_config["temperature"] == 0.6
    assert checkpoint.eos_token_ids == (1088, 1086)
    assert checkpoint.warnings == ()


def test_the_committed_files_stay_small(tiny: Path) -> None:
    assert sum(path.stat().st_size for path in [*tiny.iterdir(), tiny.parent / "tiny.gguf"]) < 200_000


def test_overrides_change_the_config_alone(files: dict[str, bytes]) -> None:
    checkpoint = read_checkpoint(files, hf_overrides={"max_position_embeddings": 100, "model_type": "gpt2"})
    assert (checkpoint.max_model_len, checkpoint.model_type) == (100, "gpt2")
    assert checkpoint.tokenizer.class_name == "Qwen2Tokenizer"


def test_a_tokenizer_from_elsewhere(files: dict[str, bytes]) -> None:
    config = {"config.json": b'{"model_type": "llama", "max_position_embeddings": 77}', "generation_config.json": b"{}"}
    checkpoint = read_checkpoint(config, tokenizer_files=files)
    assert (checkpoint.model_type, checkpoint.max_model_len, checkpoint.eos_token_ids) == ("llama", 77, ())
    assert checkpoint.templates
    assert checkpoint.tokenizer.class_name == "Qwen2Tokenizer"
    without_config = {name: data for name, data in files.items() if name != "config.json"}
    assert read_checkpoint(config, tokenizer_files=without_config).tokenizer == checkpoint.tokenizer


def test_a_config_without_a_length(files: dict[str, bytes]) -> None:
    checkpoint = read_checkpoint({**files, "config.json": b'{"model_type": "of_tomorrow"}'})
    assert checkpoint.max_model_len == 2048
    assert checkpoint.warnings == ("config.json: says nothing about the context length; 2048 tokens are assumed",)


def test_code_is_not_run_and_that_is_told(files: dict[str, bytes]) -> None:
    code = {"auto_map": {"AutoConfig": "evil.Config", "AutoTokenizer": ["evil.Tokenizer", None]}}
    files = with_settings(with_settings(files, "config.json", **code), "tokenizer_config.json", **code)
    assert read_checkpoint(files).warnings == (
        'config.json: "auto_map" names code of the checkpoint, which is not run',
        'tokenizer_config.json: "auto_map" names code of the checkpoint, which is not run',
    )


def test_split_special_tokens_is_told(files: dict[str, bytes]) -> None:
    checkpoint = read_checkpoint(with_settings(files, "tokenizer_config.json", split_special_tokens=True))
    assert checkpoint.tokenizer.split_special_tokens
    assert "split_special_tokens" in checkpoint.warnings[0]


def test_the_processor_template_of_a_multimodal_model(files: dict[str, bytes]) -> None:
    files["chat_template.json"] = b'{"chat_template": "of the processor"}'
    assert read_checkpoint(files).processor_template is None
    files = with_settings(files, "config.json", architectures=["Qwen2VLForConditionalGeneration"])
    checkpoint = read_checkpoint(files)
    assert checkpoint.processor_template == "of the processor"
    assert checkpoint.templates == {"default": files["chat_template.jinja"].decode()}


@pytest.mark.parametrize(
    ("missing", "message"),
    [
        ("config.json", "config.json: missing; copy it from the model it belongs to"),
        ("tokenizer.json", "tokenizer.json: missing; save the tokenizer beside the model"),
    ],
)
def test_missing_files(files: dict[str, bytes], missing: str, message: str) -> None:
    del files[missing]
    with pytest.raises(CheckpointError) as caught:
        read_checkpoint(files)
    assert str(caught.value).startswith(message)


def test_what_is_not_needed_may_be_missing(files: dict[str, bytes]) -> None:
    checkpoint = read_checkpoint({name: files[name] for name in ("config.json", "tokenizer.json")})
    assert checkpoint.templates == {}
    assert checkpoint.generation_config["eos_token_id"] == 1088
    assert checkpoint.special_tokens["eos_token"] == "<|endoftext|>"


@pytest.mark.parametrize(
    "name",
    ["config.json", "tokenizer_config.json", "generation_config.json", "special_tokens_map.json", "added_tokens.json"],
)
@pytest.mark.parametrize("data", [b"", b"{", b"[1]", b"\xff", b"[" * 10_000])
def test_broken_files_are_named(files: dict[str, bytes], name: str, data: bytes) -> None:
    with pytest.raises(CheckpointError, match=f"^{name}: "):
        read_checkpoint({**files, name: data})
