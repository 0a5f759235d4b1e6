"""Mistral's own tokenizers: encoding, decoding, files that can't be used, and the library that may be missing."""

from __future__ import annotations

import json
import subprocess
import sys
from array import array
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from tests.support.tiny_mistral import SPECIAL, SPECIAL_COUNT, checkpoint, sentencepiece, tekken

import typecase
from typecase.checkpoint.checkpoint import CheckpointError
from typecase.checkpoint.mistral_files import MistralTokenizerFile
from typecase.text.tokenizer import Tokenizer, load_mistral_tokenizer


def load(file: dict[str, Any] | bytes, name: str = "tekken.json") -> Tokenizer:
    return load_mistral_tokenizer(
        MistralTokenizerFile(name, file if isinstance(file, bytes) else json.dumps(file).encode())
    )


@pytest.fixture(scope="module")
def tokenizer() -> Tokenizer:
    return load(tekken())


@pytest.fixture(scope="module")
def pieces() -> Tokenizer:
    return load(sentencepiece(), "tokenizer.model.v3")


def test_tekken(tokenizer: Tokenizer) -> None:
    first = SPECIAL_COUNT + 256
    assert tokenizer.encode("Hello world") == array("I", [first + 4, first + 9])
    assert tokenizer.encode("Hello", add_special_tokens=True) == array("I", [1, first + 4])
    assert tokenizer.decode([1, first + 4, first + 9, 2]) == "<s>Hello world</s>"
    assert tokenizer.decode([1, first + 4, first + 9, 2], skip_special_tokens=True) == "Hello world"
    assert tokenizer.special_around == (1, 0)
    assert tokenizer.backend == "mistral-common"
    assert tokenizer.max_token_id == SPECIAL_COUNT + len(tekken()["vocab"]) - 1
    assert tokenizer.max_token_characters == len("[/AVAILABLE_TOOLS]")


def test_special_tokens_in_text_are_text(tokenizer: Tokenizer, pieces: Tokenizer) -> None:
    for text in ("<s>", "[INST] x [/INST]", "</s>"):
        for one in (tokenizer, pieces):
            assert not set(one.encode(text)) & {t.id for t in one.pipeline.added_tokens}
            assert one.encode_ordinary(text) == one.encode(text)


def test_tokens_by_spelling(tokenizer: Tokenizer, pieces: Tokenizer) -> None:
    assert [tokenizer.token(i) for i in range(3)] == ["<unk>", "<s>", "</s>"]
    assert tokenizer.token(len(SPECIAL)) == f"<SPECIAL_{len(SPECIAL)}>"
    assert tokenizer.token(SPECIAL_COUNT + 0xC3) == "\ufffd"
    assert tokenizer.token_id("\ufffd") == SPECIAL_COUNT + 0x80  # the first of many
    assert tokenizer.token_id("[TOOL_CALLS]") == 9
    assert tokenizer.token_id("[THINK]") is None
    assert pieces.token_id("[TOOL_CALLS]") is not None
    assert pieces.token_id("no such piece") is None


def test_ids_beyond_the_vocabulary(tokenizer: Tokenizer, pieces: Tokenizer) -> None:
    """mistral-common raises, and vLLM answers 500."""
    for one in (tokenizer, pieces):
        assert one.decode([1, one.max_token_id + 1, 2**31, 2**32]) == "<s>"
        assert one.token(one.max_token_id + 1) is None
        assert one.token(one.max_token_id) is not None


def test_lone_surrogates(tokenizer: Tokenizer, pieces: Tokenizer) -> None:
    """tiktoken takes U+FFFD for one; a SentencePiece model can't take it at all."""
    assert tokenizer.encode("a\ud800b") == tokenizer.encode("a\ufffdb")
    with pytest.raises(UnicodeEncodeError):
        pieces.encode("a\ud800b")


def test_sentencepiece(pieces: Tokenizer) -> None:
    ids = pieces.encode("Hello 🐘", add_special_tokens=True)
    assert ids[0] == 1
    assert pieces.decode(ids, skip_special_tokens=True) == "Hello 🐘"
    # As vLLM's /detokenize: with special tokens, spellings are joined.
    assert pieces.decode(ids) == "<s>" + "".join(pieces.token(i) or "" for i in ids[1:])
    assert "<0xF0>" in pieces.decode(ids)


def test_blanks_without_end(tokenizer: Tokenizer) -> None:
    """The pattern gives up; vLLM answers 400 with these words."""
    with pytest.raises(typecase.RequestError, match="Regex error while tokenizing"):
        tokenizer.encode(" " * 1_000_000)


def test_versions() -> None:
    for version in ("v1", "v2", "v3", "v7", "v11", "v13"):
        assert load(tekken(version)).mistral is not None
    effort = {"type": "enum", "accepts_none": True, "default": "high", "values": ["high"]}
    backend = load(tekken("v15", model_settings_builder={"reasoning_effort": effort})).mistral
    assert backend is not None
    assert backend.version == 15
    assert backend.has_grammars


def change(path: str, value: Any) -> dict[str, Any]:
    """A tekken.json with the value at a dotted path replaced."""
    file = tekken()
    *parents, last = path.split(".")
    place: Any = file
    for key in parents:
        place = place[int(key) if isinstance(place, list) else key]
    place[int(last) if isinstance(place, list) else last] = value
    return file


@pytest.mark.parametrize(
    "file",
    [
        b"",
        b"[]",
        b"{}",
        b'{"config": ' * 5000,
        b"\xff\xfe",
        change("config.version", "v99"),
        change("config.version", 3),
        change("config.pattern", "("),
        change("config.pattern", "x" * 20_000),
        change("config.pattern", "(?P<a>"),
        change("config.default_vocab_size", 10**12),
        change("config.default_vocab_size", -1),
        change("config.default_vocab_size", SPECIAL_COUNT + 5),
        change("config.default_num_special_tokens", 10**9),
        change("config.default_num_special_tokens", 2),
        change("config.default_num_special_tokens", -5),
        change("vocab", []),
        change("vocab", 5),
        change("vocab.0.rank", 5),
        change("vocab.0.rank", 10**30),
        change("vocab.3.token_bytes", "!!"),
        change("vocab.3.token_bytes", ""),
        change("vocab.3.token_bytes", "AA=="),
        change("vocab.3.token_bytes", None),
        change("special_tokens", []),
        change("special_tokens.1.rank", 2**40),
        change("special_tokens.1.token_str", "<unk>"),
        change("special_tokens.1.token_str", "renamed"),
        change("special_tokens.3.token_str", "renamed"),
        change("special_tokens", None) | {"config": tekken("v11")["config"]},
        tekken(model_settings_builder={}),
        tekken("v15", model_settings_builder={"reasoning_effort": 5}),
    ],
)
def test_tekken_files_that_cant_be_used(file: dict[str, Any] | bytes) -> None:
    with pytest.raises(CheckpointError) as caught:
        load(file)
    assert str(caught.value).startswith("tekken.json: ")
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("cut", [lambda b: b"", lambda b: b[:100], lambda b: b[: len(b) // 2], lambda b: b"x" * 5000])
def test_sentencepiece_files_that_cant_be_used(cut: Callable[[bytes], bytes]) -> None:
    with pytest.raises(CheckpointError) as caught:
        load(cut(sentencepiece()), "tokenizer.model.v3")
    assert str(caught.value).startswith("tokenizer.model.v3: ")
    assert "\n" not in str(caught.value)


def test_sentencepiece_without_the_tokens_of_its_version() -> None:
    with pytest.raises(CheckpointError, match=r"^tokenizer.model.v15: "):
        load(sentencepiece(), "tokenizer.model.v15")


def test_the_extra_is_named_when_it_is_missing(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    for module in [name for name in sys.modules if name.startswith("mistral_common")]:
        monkeypatch.delitem(sys.modules, module)
    monkeypatch.setitem(sys.modules, "mistral_common", None)
    with pytest.raises(CheckpointError, match=r"^tekken.json: .*pip install 'typecase\[mistral\]'"):
        typecase.load(checkpoint(tmp_path))


def test_sentencepiece_is_named_when_it_is_missing(monkeypatch: pytest.MonkeyPatch) -> None:
    data = sentencepiece()
    monkeypatch.setitem(sys.modules, "sentencepiece", None)
    with pytest.raises(CheckpointError, match=r"^tokenizer.model.v3: .*pip install 'typecase\[mistral\]'"):
        load(data, "tokenizer.model.v3")


def test_the_library_is_loaded_for_such_checkpoints_only(tiny: Path) -> None:
    code = (
        "import sys, typecase\n"
        f"typecase.load({str(tiny)!r}).render_chat({{'messages': [{{'role': 'user', 'content': 'x'}}]}})\n"
        "print([m for m in sys.modules if m.split('.')[0] in ('mistral_common', 'pydantic', 'numpy', 'tiktoken')])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


@pytest.mark.network
@pytest.mark.parametrize("name", ["mistral_nemo_tekken", "mistral_7b_v03_sp", "mistral_large_2411_sp"])
def test_bytes_and_files_make_the_same_tokenizer(models: Path, name: str) -> None:
    from mistral_common.tokens.tokenizers.mistral import MistralTokenizer
    from mistral_common.tokens.tokenizers.utils import get_one_valid_tokenizer_file
    from tests.support.probe_texts import probe_texts

    folder = models / name
    ours = typecase.load(folder).front.tokenizer
    chosen = get_one_valid_tokenizer_file([path.name for path in folder.iterdir()])
    theirs = MistralTokenizer.from_file(folder / chosen).instruct_tokenizer.tokenizer
    for text in probe_texts(["[INST]", "<s>", "[TOOL_CALLS]"]):
        assert ours.encode(text, add_special_tokens=True).tolist() == theirs.encode(text, bos=True, eos=False)
    vocabulary = theirs.vocab()
    assert [ours.token(i) for i in range(theirs.n_words)] == vocabulary
    assert ours.max_token_characters == max(map(len, vocabulary))
