"""Real checkpoints: what is read here against what transformers and vLLM make of them."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.conftest import models_folder
from tests.support.probe_texts import probe_texts
from tokenizers import Tokenizer

from typecase.checkpoint.checkpoint import Checkpoint
from typecase.loading.sources import Source, load_checkpoint

pytestmark = pytest.mark.network

# What vLLM 0.33 derives: context length, class of the tokenizer, media inputs
VLLM = {
    "command_r_plus": (131072, "CohereTokenizer", False),
    "deepseek_r1": (163840, "TokenizersBackend", False),
    "deepseek_v3": (163840, "TokenizersBackend", False),
    "deepseek_v31": (163840, "TokenizersBackend", False),
    "deepseek_v32": (163840, "TokenizersBackend", False),
    "deepseek_v4": (1048576, "TokenizersBackend", False),
    "gemma3": (32768, "GemmaTokenizer", False),
    "gemma3_vl": (131072, "GemmaTokenizer", True),
    "gptoss": (131072, "TokenizersBackend", False),
    "llama2": (4096, "LlamaTokenizer", False),
    "llama3": (8192, "TokenizersBackend", False),
    "llama3_1": (131072, "TokenizersBackend", False),
    "llama3_2": (131072, "TokenizersBackend", False),
    "llava_1_5": (4096, "TokenizersBackend", True),
    "mistral_nemo": (131072, "TokenizersBackend", False),
    "qwen2_5": (32768, "Qwen2Tokenizer", False),
    "qwen2_5_vl": (128000, "Qwen2Tokenizer", True),
    "qwen2_vl": (32768, "Qwen2Tokenizer", True),
    "qwen3": (40960, "Qwen2Tokenizer", False),
    "qwen3_5": (262144, "Qwen3_5Tokenizer", True),
    "qwen3_vl": (262144, "Qwen2Tokenizer", True),
    "smollm2": (8192, "GPT2Tokenizer", False),
    "standin_glm45": (131072, "Qwen2Tokenizer", False),
    "standin_kimi_k2": (131072, "Qwen2Tokenizer", False),
    "standin_minimax_m2": (131072, "Qwen2Tokenizer", False),
}
FOLDER = models_folder() or Path("/nonexistent")
NAMES = sorted(name for name in VLLM if (FOLDER / name / "tokenizer.json").exists())


def load(folder: Path, name: str) -> Checkpoint:
    return load_checkpoint(Source(model=str(folder / name)))


@pytest.mark.parametrize("name", NAMES)
def test_facts_are_those_of_vllm(models: Path, name: str) -> None:
    checkpoint = load(models, name)
    assert (checkpoint.max_model_len, checkpoint.tokenizer.class_name, checkpoint.is_multimodal) == VLLM[name]
    assert checkpoint.warnings == ()


@pytest.mark.parametrize("name", NAMES)
def test_ids_are_those_of_auto_tokenizer(models: Path, name: str) -> None:
    from transformers import AutoTokenizer

    checkpoint = load(models, name)
    theirs = AutoTokenizer.from_pretrained(str(models / name), truncation_side="left", mistral_format=False)
    ours = Tokenizer.from_str(checkpoint.tokenizer_json.decode())

    assert dict(checkpoint.special_tokens) == theirs.special_tokens_map
    assert list(checkpoint.tokenizer.all_special_tokens) == theirs.all_special_tokens
    assert checkpoint.tokenizer.truncation_side == theirs.truncation_side
    assert checkpoint.tokenizer.padding_side == theirs.padding_side
    template = theirs.chat_template or {}
    assert dict(checkpoint.templates) == ({"default": template} if isinstance(template, str) else template)
    added = theirs.added_tokens_decoder
    assert {index: str(token) for index, token in added.items()} == {
        index: str(token) for index, token in ours.get_added_tokens_decoder().items()
    }

    special = [str(token) for token in added.values()]
    for text in probe_texts(special[:12] + special[-12:]):
        for with_special in (False, True):
            ids = theirs.encode(text, add_special_tokens=with_special)
            assert ours.encode(text, add_special_tokens=with_special).ids == ids, text
        assert ours.decode(ids, skip_special_tokens=True) == theirs.decode(ids, skip_special_tokens=True), text
        assert ours.decode(ids, skip_special_tokens=False) == theirs.decode(ids, skip_special_tokens=False), text


def test_unchanged_files_are_passed_on_as_they_are(models: Path) -> None:
    """Rewriting a tokenizer.json costs start-up time; where transformers changes nothing, nothing is rewritten."""
    for name in ("qwen3", "llama3_1", "mistral_nemo", "deepseek_v3"):
        assert load(models, name).tokenizer_json == (models / name / "tokenizer.json").read_bytes()


@pytest.mark.parametrize(
    ("name", "file", "length"),
    [
        ("mistral_nemo_tekken", "tekken.json", 131072),
        ("mistral_7b_v03_sp", "tokenizer.model.v3", 32768),
        ("mistral_large_2411_sp", "tokenizer.model.v7", 131072),
    ],
)
def test_mistrals_own_format(models: Path, name: str, file: str, length: int) -> None:
    checkpoint = load(models, name)
    assert checkpoint.mistral_tokenizer is not None
    assert checkpoint.mistral_tokenizer.name == file
    assert (checkpoint.max_model_len, checkpoint.architectures) == (length, ("MistralForCausalLM",))
