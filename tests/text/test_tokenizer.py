"""The tokenizer on the committed checkpoint: both libraries, the cache, offsets, bad input."""

from __future__ import annotations

from array import array
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from typecase.text.backends import UnloadableTokenizer
from typecase.text.pipeline import read_pipeline
from typecase.text.probes import probes
from typecase.text.tokenizer import Tokenizer, load_tokenizer

MARKERS = [
    "<|im_start|>",
    "<|im_end|>",
    "<|endoftext|>",
    "<think>",
    "</think>",
    "<tool_call>",
    "<|im_",
    "im_end|>",
    "<",
]


@pytest.fixture(scope="module")
def json_bytes(tiny: Path) -> bytes:
    return (tiny / "tokenizer.json").read_bytes()


@pytest.fixture(scope="module")
def fast(json_bytes: bytes) -> Tokenizer:
    return load_tokenizer(json_bytes, choice="fastokens", cache_bytes=1 << 20)


@pytest.fixture(scope="module")
def reference(json_bytes: bytes) -> Tokenizer:
    return load_tokenizer(json_bytes, choice="tokenizers")


@pytest.fixture(scope="module")
def cached(json_bytes: bytes) -> Tokenizer:
    return load_tokenizer(json_bytes, choice="tokenizers", cache_bytes=1 << 20)


texts = st.lists(st.one_of(st.text(st.characters(codec="utf-8")), st.sampled_from(MARKERS)), max_size=12).map("".join)


@given(text=texts)
def test_libraries_and_caches_give_the_same_ids(
    fast: Tokenizer, reference: Tokenizer, cached: Tokenizer, text: str
) -> None:
    ids = reference.encode(text)
    for _ in range(2):  # the second time from the caches
        assert fast.encode(text) == ids
        assert cached.encode(text) == ids
    with_offsets, offsets = fast.encode_with_offsets(text)
    assert with_offsets == ids
    assert len(offsets) == len(ids)
    assert fast.decode(ids) == reference.decode(ids)


def test_fallback_cache_is_in_use(cached: Tokenizer) -> None:
    assert cached._segments is not None
    assert cached.backend == "tokenizers"


def test_probes_agree(fast: Tokenizer, reference: Tokenizer) -> None:
    for text in probes(MARKERS):
        assert fast.encode(text) == reference.encode(text), text


def test_ids_are_a_flat_array(fast: Tokenizer, cached: Tokenizer) -> None:
    for tokenizer in (fast, cached):
        ids = tokenizer.encode("hello <|im_end|> there")
        assert isinstance(ids, array)
        assert ids.typecode == "I"


def test_ids_outside_the_vocabulary_decode_to_nothing(fast: Tokenizer, reference: Tokenizer) -> None:
    ids = reference.encode("Hello")
    for tokenizer in (fast, reference):
        assert tokenizer.decode([10**6, *ids, 2**32, 2**63 - 1]) == "Hello"


def test_special_tokens_are_skipped_only_on_request(fast: Tokenizer) -> None:
    ids = fast.encode("a<|im_end|><think>b")
    assert fast.decode(ids) == "a<|im_end|><think>b"
    assert fast.decode(ids, skip_special_tokens=True) == "a<think>b"


@pytest.mark.parametrize("choice", ["fastokens", "tokenizers"])
@pytest.mark.parametrize("text", ["\ud800", "a\udfffb", "<|im_end|>\ud83d"])
def test_lone_surrogate_is_refused_alike(json_bytes: bytes, choice: str, text: str) -> None:
    tokenizer = load_tokenizer(json_bytes, choice=choice, cache_bytes=1 << 16)  # type: ignore[arg-type]
    with pytest.raises(UnicodeEncodeError):
        tokenizer.encode(text)
    with pytest.raises(UnicodeEncodeError):
        tokenizer.encode_with_offsets(text)


def test_longest_token(fast: Tokenizer, reference: Tokenizer) -> None:
    longest = max(len(reference.token(i) or "") for i in range(reference.max_token_id + 1))
    assert fast.max_token_characters == longest


def test_fallback_cache_stays_within_its_bound(json_bytes: bytes) -> None:
    tokenizer = load_tokenizer(json_bytes, choice="tokenizers", cache_bytes=20_000)
    segments = tokenizer._segments
    assert segments is not None
    for i in range(500):
        tokenizer.encode(f"text number {i}<|im_end|>")
    assert 0 < segments._bytes <= 20_000
    assert segments._bytes >= sum(4 * len(t) + 4 * len(ids) for t, ids in segments._entries.items())


@pytest.mark.parametrize("content", [b"", b"{}", b"[]", b"{", b'{"model": 5}', b'{"model": {"type": "BPE"}}', b"\xff"])
def test_no_tokenizer_at_all(content: bytes) -> None:
    with pytest.raises(UnloadableTokenizer):
        load_tokenizer(content)


def test_fingerprint_is_of_rules_not_tables(json_bytes: bytes) -> None:
    fingerprint = read_pipeline(json_bytes).fingerprint
    renamed = json_bytes.replace(b"<|endoftext|>", b"<|endofwords|>")
    assert read_pipeline(renamed).fingerprint == fingerprint
    assert read_pipeline(json_bytes.replace(b'"special":false', b'"special":true')).fingerprint != fingerprint


@given(texts)
def test_ordinary_text_holds_no_added_token(fast: Tokenizer, reference: Tokenizer, text: str) -> None:
    ids = fast.encode_ordinary(text)
    assert ids == reference.encode_ordinary(text)
    assert not {token.id for token in fast.pipeline.added_tokens}.intersection(ids)


def test_ordinary_text_refuses_a_lone_surrogate(fast: Tokenizer, reference: Tokenizer) -> None:
    for tokenizer in (fast, reference):
        with pytest.raises(UnicodeEncodeError):
            tokenizer.encode_ordinary("a\ud800")
