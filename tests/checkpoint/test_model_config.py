from __future__ import annotations

from typing import Any

import pytest

from typecase.checkpoint.errors import CheckpointError
from typecase.checkpoint.model_config import apply_overrides, architectures, is_multimodal, max_model_len

LINEAR = {"type": "linear", "factor": 4.0}
SHORT = {"model_type": "llama", "max_position_embeddings": 4096}

# Values of vLLM 0.33's own function on configs of this content
LENGTHS: list[tuple[dict[str, Any], int | None]] = [
    ({"model_type": "llama", "max_position_embeddings": 8192}, 8192),
    ({"model_type": "llama"}, 2048),
    ({"model_type": "qwen2"}, 32768),
    ({"model_type": "gpt2", "n_positions": 1024}, 1024),
    ({"model_type": "gpt2", "n_positions": 4096}, 4096),
    ({"model_type": "gpt2", "max_position_embeddings": 4096}, 4096),
    ({"model_type": "mpt", "max_seq_len": 65536}, 65536),
    ({"model_type": "chatglm", "seq_length": 131072}, 2048),
    ({"model_type": "cohere", "max_position_embeddings": 8192, "model_max_length": 131072}, 131072),
    ({"model_type": "llama", "max_position_embeddings": 8192, "max_sequence_length": 4096}, 4096),
    ({**SHORT, "rope_scaling": LINEAR}, 16384),
    ({**SHORT, "rope_scaling": {"type": "dynamic", "factor": 2}}, 8192),
    ({**SHORT, "rope_scaling": {"rope_type": "yarn", "factor": 4}}, 4096),
    ({**SHORT, "rope_scaling": {"rope_type": "llama3", "factor": 8}}, 4096),
    ({**SHORT, "rope_scaling": {"type": "linear", "factor": None}}, 4096),
    ({"model_type": "qwen2_vl", "max_position_embeddings": 32768, "rope_scaling": {"type": "mrope"}}, 32768),
    ({"model_type": "phi3", "max_position_embeddings": 131072, "rope_scaling": {"type": "longrope"}}, 4096),
    (
        {
            "model_type": "phi3",
            "max_position_embeddings": 131072,
            "original_max_position_embeddings": 8192,
            "rope_scaling": {"type": "su"},
        },
        8192,
    ),
    ({"model_type": "gemma3", "text_config": {"model_type": "gemma3_text"}}, 131072),
    ({"model_type": "gemma3", "text_config": {"model_type": "gemma3_text", "rope_scaling": LINEAR}}, 131072),
    ({"model_type": "llava", "text_config": {"model_type": "mistral", "max_position_embeddings": 32768}}, 32768),
    ({"model_type": "x", "llm_config": {"max_position_embeddings": 40960}, "max_position_embeddings": 5}, 40960),
    ({"model_type": "qwen2_5_omni", "thinker_config": {"text_config": {"max_position_embeddings": 32768}}}, 32768),
    (
        {
            "model_type": "gemma3_text",
            "max_position_embeddings": 32768,
            "rope_parameters": {"full_attention": {"rope_type": "linear", "factor": 8.0}, "sliding_attention": None},
        },
        32768,
    ),
    (
        {
            "model_type": "mellum",
            "max_position_embeddings": 4096,
            "rope_parameters": {"full_attention": {"rope_type": "linear", "factor": 2.0}, "sliding_attention": {}},
        },
        8192,
    ),
    ({"model_type": "of_tomorrow"}, None),
    ({}, None),
]


@pytest.mark.parametrize(("config", "expected"), LENGTHS)
def test_max_model_len(config: dict[str, Any], expected: int | None) -> None:
    assert max_model_len(config) == expected


@pytest.mark.parametrize(
    "config",
    [
        {"max_position_embeddings": "4096"},
        {"max_position_embeddings": True},
        {"max_position_embeddings": [4096]},
        {"max_position_embeddings": 0},
        {"max_position_embeddings": -5},
        {"max_position_embeddings": float("nan")},
        {"max_position_embeddings": float("inf")},
        {"max_position_embeddings": 10**400},
        {"max_position_embeddings": 4096, "rope_scaling": {"type": "linear", "factor": "4"}},
        {"max_position_embeddings": 4096, "rope_scaling": {"type": "linear", "factor": 1e300}},
    ],
)
def test_lengths_that_are_none(config: dict[str, Any]) -> None:
    with pytest.raises(CheckpointError, match=r"^config.json: "):
        max_model_len(config)


def test_overrides() -> None:
    config = {
        "model_type": "x",
        "max_position_embeddings": 4096,
        "rope_scaling": {"type": "linear", "factor": 2.0},
        "text_config": {"hidden_size": 8, "rope_scaling": {"factor": 2.0, "type": "linear"}},
    }
    assert apply_overrides(config, {}) == config
    assert apply_overrides(config, {"max_position_embeddings": 8})["max_position_embeddings"] == 8
    assert apply_overrides(config, {"rope_scaling": {"type": "yarn"}})["rope_scaling"] == {"type": "yarn"}
    assert "rope_scaling" not in apply_overrides(config, {"rope_parameters": {"rope_type": "yarn"}})
    merged = apply_overrides(config, {"text_config": {"rope_scaling": {"factor": 4.0}, "vocab_size": 9}})
    assert merged["text_config"] == {
        "hidden_size": 8,
        "rope_scaling": {"factor": 4.0, "type": "linear"},
        "vocab_size": 9,
    }
    assert config["text_config"] == {"hidden_size": 8, "rope_scaling": {"factor": 2.0, "type": "linear"}}


@pytest.mark.parametrize(
    ("config", "expected"),
    [
        ({"architectures": ["Qwen3ForCausalLM"]}, False),
        ({"architectures": ["Qwen3VLForConditionalGeneration"]}, True),
        ({"architectures": ["Gemma3ForCausalLM"], "vision_config": {}}, False),
        ({"architectures": ["Gemma3ForConditionalGeneration"]}, True),
        ({"architectures": ["OfTomorrowForConditionalGeneration"], "vision_config": {"a": 1}}, True),
        ({"architectures": ["OfTomorrowForConditionalGeneration"]}, False),
        ({"architectures": ["DeepseekV4ForCausalLM"]}, False),
        ({"architectures": ["DeepseekV4ForCausalLM"], "vision_n_layers": 12}, True),
        ({"model_type": "mimo_v2", "architectures": ["MiMoV2ForCausalLM"], "vision_config": {"a": 1}}, True),
        ({}, False),
    ],
)
def test_is_multimodal(config: dict[str, Any], expected: bool) -> None:
    assert is_multimodal(config) is expected


@pytest.mark.parametrize("value", ["Qwen3ForCausalLM", [1], {}])
def test_architectures_of_a_wrong_kind(value: Any) -> None:
    with pytest.raises(CheckpointError, match=r'config.json: "architectures" must be a list of strings'):
        architectures({"architectures": value})
