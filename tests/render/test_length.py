"""Truncation and length checks, against the rules of render-api 8 and what HF tokenizers do when they truncate."""

from __future__ import annotations

from array import array
from pathlib import Path

import pytest
import tokenizers
from tokenizers.processors import TemplateProcessing

from typecase.api.errors import InvalidParameter
from typecase.render.length import Tokenization
from typecase.text.tokenizer import Tokenizer, load_tokenizer

TEXT = "The quick brown fox jumps over the lazy dog, again and again."


@pytest.fixture(scope="module")
def tokenizer(tiny: Path) -> Tokenizer:
    return load_tokenizer((tiny / "tokenizer.json").read_bytes())


@pytest.fixture(scope="module")
def framed(tiny: Path) -> tokenizers.Tokenizer:
    """The tokenizer with a token before and two after each text, as command-r has."""
    reference = tokenizers.Tokenizer.from_file(str(tiny / "tokenizer.json"))
    names = ["<|im_start|>", "<|im_end|>", "<|endoftext|>"]
    reference.post_processor = TemplateProcessing(
        single="<|im_start|> $A <|im_end|> <|endoftext|>",
        pair=None,
        special_tokens=[(n, reference.token_to_id(n)) for n in names],
    )
    return reference


@pytest.mark.parametrize("keep", [3, 4, 5, 9, 1000])
def test_truncation_without_a_side_is_the_tokenizers_own(framed: tokenizers.Tokenizer, keep: int) -> None:
    ours = load_tokenizer(framed.to_str().encode())
    framed.enable_truncation(keep, direction="left")
    expected = framed.encode(TEXT)
    settings = Tokenization(max_model_len=2000, truncate=keep, add_special_tokens=True, offsets=True)
    encoded = settings.encode(ours, TEXT)
    assert encoded.ids.tolist() == expected.ids
    assert encoded.offsets == expected.offsets
    framed.no_truncation()


@pytest.mark.parametrize("side", ["left", "right"])
def test_an_explicit_side_cuts_special_tokens_too(framed: tokenizers.Tokenizer, side: str) -> None:
    ours = load_tokenizer(framed.to_str().encode())
    whole = framed.encode(TEXT).ids
    settings = Tokenization(max_model_len=2000, truncate=5, side=side, add_special_tokens=True)  # type: ignore[arg-type]
    assert settings.encode(ours, TEXT).ids.tolist() == (whole[-5:] if side == "left" else whole[:5])


def test_minus_one_keeps_the_context_less_one(tokenizer: Tokenizer) -> None:
    ids = tokenizer.encode(TEXT)
    assert Tokenization(max_model_len=8, truncate=-1).encode(tokenizer, TEXT).ids == ids[-7:]
    assert Tokenization(max_model_len=8, truncate=0).encode(tokenizer, TEXT).ids == array("I")


def test_too_long_in_tokens(tokenizer: Tokenizer) -> None:
    with pytest.raises(InvalidParameter, match=r"contains at least 6 input tokens.*value=6"):
        Tokenization(max_model_len=5).encode(tokenizer, TEXT)
    with pytest.raises(InvalidParameter, match=r"contains 9 input tokens") as refused:
        Tokenization(max_model_len=5).fit_ids(array("I", range(9)))
    assert refused.value.param == "input_tokens"


def test_too_long_in_characters(tokenizer: Tokenizer) -> None:
    most = 5 * tokenizer.max_token_characters
    text = "x" * (most + 1)
    with pytest.raises(
        InvalidParameter, match=f"contains {most + 1} characters .more than {most} characters"
    ) as refused:
        Tokenization(max_model_len=5).encode(tokenizer, text)
    assert refused.value.param == "input_text"


def test_offsets_point_into_the_whole_text_after_a_trim_on_the_left(tokenizer: Tokenizer) -> None:
    text = "é" * (3 * tokenizer.max_token_characters) + TEXT
    encoded = Tokenization(max_model_len=3, truncate=2, side="left", offsets=True).encode(tokenizer, text)
    assert encoded.offsets is not None
    assert "".join(text[s:e] for s, e in encoded.offsets) == tokenizer.decode(encoded.ids)
    assert encoded.offsets[-1][1] == len(text)


@pytest.mark.parametrize(
    ("settings", "param"),
    [
        (Tokenization(max_model_len=10, truncate=11), "truncate_prompt_tokens"),
        (Tokenization(max_model_len=10, side="middle"), "truncation_side"),  # type: ignore[arg-type]
    ],
)
def test_settings_that_cannot_work(settings: Tokenization, param: str) -> None:
    with pytest.raises(InvalidParameter) as refused:
        settings.check()
    assert refused.value.param == param
