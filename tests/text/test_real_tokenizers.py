"""fastokens against HF tokenizers on every real tokenizer at hand, and the list of proved pipelines."""

from __future__ import annotations

import json
import random
from collections.abc import Iterator
from importlib.resources import files
from pathlib import Path

import pytest
from tests.conftest import models_folder

from typecase.loading.sources import Source, load_checkpoint
from typecase.text.probes import probes
from typecase.text.tokenizer import load_tokenizer

pytestmark = pytest.mark.network

NAMES = sorted(p.parent.name for p in (models_folder() or Path("/nonexistent")).glob("*/tokenizer.json"))


def salads(markers: list[str], count: int) -> Iterator[str]:
    """Random texts from scripts and blocks that tokenizers treat differently, markers whole and cut among them."""
    chance = random.Random(20260115)
    starts = "20 A0 300 400 590 600 900 E00 1100 2000 3000 4E00 AC00 FE00 1F300 1F600"
    blocks = [(start, start + 0x60) for start in (int(hexadecimal, 16) for hexadecimal in starts.split())]
    spices = [
        " ",
        "  ",
        "\n",
        "\n\n",
        "\t",
        "\r\n",
        "'s",
        "'LL",
        "123",
        "½",
        "\u200d",
        "\ufe0f",
        "▁",
        "<",
        "|>",
        *markers[:30],
    ]
    for _ in range(count):
        pieces = []
        for _ in range(chance.randint(1, 12)):
            if chance.random() < 0.4:
                pieces.append(chance.choice(spices))
            else:
                low, high = chance.choice(blocks)
                pieces.append("".join(chr(chance.randrange(low, high)) for _ in range(chance.randint(1, 6))))
        yield "".join(pieces)


@pytest.mark.parametrize("name", NAMES)
def test_chosen_library_equals_tokenizers(models: Path, name: str) -> None:
    checkpoint = load_checkpoint(Source(model=str(models / name)))
    fast = load_tokenizer(checkpoint.tokenizer_json, cache_bytes=1 << 22)
    reference = load_tokenizer(checkpoint.tokenizer_json, choice="tokenizers")
    markers = [t.content for t in fast.pipeline.added_tokens]
    for text in [*probes(markers), *salads(markers, 1500)]:
        for special in (False, True):
            ids = reference.encode(text, add_special_tokens=special)
            assert fast.encode(text, add_special_tokens=special) == ids, text
        assert fast.decode(ids) == reference.decode(ids), text
        assert fast.decode(ids, skip_special_tokens=True) == reference.decode(ids, skip_special_tokens=True), text


# How those start that the list can't help: a pre-tokenizer that fastokens doesn't know, a vocabulary without some
# bytes.
STARTS = {"llama2": "fastokens can't read", "smollm2": "agrees with tokenizers on the start-up probes"}


@pytest.mark.parametrize("name", NAMES)
def test_pipeline_is_listed_as_proved(models: Path, name: str) -> None:
    """A real tokenizer must start without a second load; the list names where each pipeline was proved."""
    checkpoint = load_checkpoint(Source(model=str(models / name)))
    tokenizer = load_tokenizer(checkpoint.tokenizer_json)
    assert STARTS.get(name, "agreement with tokenizers is proved") in tokenizer.why
    if name not in STARTS:
        listed = json.loads(files("typecase.text").joinpath("proved.json").read_bytes())["pipelines"]
        assert name in listed[tokenizer.pipeline.fingerprint]


@pytest.mark.parametrize("name", ["qwen3", "llama3_1", "gemma3", "llama2", "mistral_nemo"])
def test_fallback_cache_is_exact_or_off(models: Path, name: str) -> None:
    checkpoint = load_checkpoint(Source(model=str(models / name)))
    cached = load_tokenizer(checkpoint.tokenizer_json, choice="tokenizers", cache_bytes=1 << 22)
    plain = load_tokenizer(checkpoint.tokenizer_json, choice="tokenizers")
    markers = [t.content for t in plain.pipeline.added_tokens]
    for text in salads(markers, 400):
        assert cached.encode(text) == plain.encode(text), text
