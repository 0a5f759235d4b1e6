"""Which checkpoints are read with Mistral's own tokenizer, and what their params.json says."""

from __future__ import annotations

import json
from typing import Any

import pytest

from typecase.checkpoint.checkpoint import CheckpointError, read_checkpoint
from typecase.checkpoint.mistral_files import MistralTokenizerFile, mistral_tokenizer_name
from typecase.checkpoint.mistral_params import config_from_params, is_mistral_format

WEIGHTS = "consolidated-00001-of-2.safetensors"


@pytest.mark.parametrize(
    ("names", "mode", "chosen"),
    [
        ((WEIGHTS, "tekken.json"), "auto", "tekken.json"),
        ((WEIGHTS, "tekken.json", "tokenizer.json", "config.json"), "auto", "tekken.json"),
        ((WEIGHTS, "tokenizer.model.v3"), "auto", "tokenizer.model.v3"),
        ((WEIGHTS, "tokenizer.model.v3", "tekken.json"), "auto", "tekken.json"),
        ((WEIGHTS, "tokenizer.model.v3", "tokenizer.model.v7m1", "tokenizer.model"), "auto", "tokenizer.model.v7m1"),
        ((WEIGHTS, "tokenizer.model.v7", "tokenizer.model.v11"), "auto", "tokenizer.model.v7"),  # by alphabet
        ((WEIGHTS, "tokenizer.model", "tokenizer.json"), "auto", None),
        (("tekken.json", "tokenizer.json"), "auto", None),
        (("model.safetensors", "tekken.json"), "auto", None),
        ((WEIGHTS, "tekken.json", "tokenizer.json"), "hf", None),
        ((WEIGHTS, "tekken.json", "tokenizer.json"), "deepseek_v32", None),
        (("tekken.json", "tokenizer.json"), "mistral", "tekken.json"),
        (("tokenizer.model",), "mistral", "tokenizer.model"),
    ],
)
def test_the_file_that_is_read(names: tuple[str, ...], mode: str, chosen: str | None) -> None:
    assert mistral_tokenizer_name(names, mode=mode) == chosen


@pytest.mark.parametrize(
    ("names", "mode"),
    [((WEIGHTS, "tokenizer.model.v99"), "auto"), (("tokenizer.json",), "mistral"), (("a.b.model.v3",), "mistral")],
)
def test_no_file_that_can_be_read(names: tuple[str, ...], mode: str) -> None:
    with pytest.raises(CheckpointError, match="no tokenizer file of Mistral's"):
        mistral_tokenizer_name(names, mode=mode)


def test_weights_that_are_not_listed() -> None:
    """Of a model on the hub only the front files are at hand."""
    assert mistral_tokenizer_name(("tekken.json",), mode="auto", has_weights=True) == "tekken.json"
    assert mistral_tokenizer_name((WEIGHTS, "tekken.json"), mode="auto", has_weights=False) is None


def read(params: dict[str, Any], config: dict[str, Any] | None = None) -> Any:
    files = {"params.json": json.dumps(params).encode()}
    if config is not None:
        files["config.json"] = json.dumps(config).encode()
    return read_checkpoint(files, mistral_format=True, mistral_tokenizer=MistralTokenizerFile("tekken.json", b""))


@pytest.mark.parametrize(
    ("params", "config", "length"),
    [
        ({}, None, 128_000),
        ({"max_position_embeddings": 4096}, {"max_position_embeddings": 99}, 4096),
        ({}, {"max_position_embeddings": 99}, 99),
        ({"max_seq_len": 50}, {"max_position_embeddings": 99}, 50),
        ({"yarn": {"factor": 4, "original_max_position_embeddings": 8}}, None, 128_000),
        ({"vision_encoder": {"hidden_size": 1}, "max_position_embeddings": 7}, None, 7),
    ],
)
def test_context_length(params: dict[str, Any], config: dict[str, Any] | None, length: int) -> None:
    """As ``vllm launch render`` shows it in ``/v1/models`` for directories with such files."""
    assert read(params, config).max_model_len == length


@pytest.mark.parametrize(
    ("params", "architecture", "multimodal"),
    [
        ({}, "MistralForCausalLM", False),
        ({"moe": {"num_experts": 8}}, "MixtralForCausalLM", False),
        ({"moe": {"num_shared_experts": 1}}, "MistralLarge3ForCausalLM", False),
        ({"model_type": "mamba"}, "Mamba2ForCausalLM", False),
        ({"vision_encoder": {"hidden_size": 1}}, "PixtralForConditionalGeneration", True),
        ({"multimodal": {"whisper_model_args": {"encoder_args": {"dim": 1}}}}, "VoxtralForConditionalGeneration", True),
        (
            {"multimodal": {"whisper_model_args": {"encoder_args": {"causal": True}}}},
            "VoxtralRealtimeGeneration",
            True,
        ),
    ],
)
def test_architecture(params: dict[str, Any], architecture: str, multimodal: bool) -> None:
    checkpoint = read(params)
    assert checkpoint.architectures == (architecture,)
    assert checkpoint.is_multimodal == multimodal


def test_config_json_fills_in() -> None:
    config = config_from_params(b'{"vocab_size": 5}', {"vocab_size": 7, "eos_token_id": 2, "architectures": ["X"]})
    assert (config["vocab_size"], config["eos_token_id"]) == (5, 2)
    assert config["architectures"] == ["MistralForCausalLM"]


@pytest.mark.parametrize(
    "params", [b"", b"[]", b'{"moe": 1}', b'{"max_position_embeddings": "x"}', b'{"yarn": []}', b'{"multimodal": "x"}']
)
def test_params_that_cant_be_read(params: bytes) -> None:
    with pytest.raises(CheckpointError) as caught:
        read_checkpoint(
            {"params.json": params}, mistral_format=True, mistral_tokenizer=MistralTokenizerFile("tekken.json", b"")
        )
    assert "\n" not in str(caught.value)


def test_params_json_counts_in_mistrals_format_alone() -> None:
    """Other checkpoints have such a file, too."""
    with pytest.raises(CheckpointError, match=r"config\.json: missing"):
        read_checkpoint({"params.json": b"{}"}, mistral_tokenizer=MistralTokenizerFile("tekken.json", b""))


@pytest.mark.parametrize(
    ("names", "wanted", "answer"),
    [
        (("params.json", WEIGHTS, "config.json"), "auto", True),
        (("params.json", "config.json"), "auto", False),
        ((WEIGHTS, "config.json"), "auto", False),
        (("params.json", WEIGHTS), "hf", False),
        (("params.json", "config.json"), "mistral", True),
    ],
)
def test_which_configuration_is_read(names: tuple[str, ...], wanted: str, answer: bool) -> None:
    assert is_mistral_format(names, wanted=wanted) is answer


def test_a_configuration_that_is_missing() -> None:
    with pytest.raises(CheckpointError, match=r"params\.json: missing; --config-format mistral reads it"):
        read_checkpoint({"config.json": b"{}"}, mistral_format=True)
