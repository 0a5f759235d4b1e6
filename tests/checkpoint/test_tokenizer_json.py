"""tokenizer.json as transformers would have it: transformers itself is asked, on variations of the tiny checkpoint."""

from __future__ import annotations

import json
import logging
import random
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from tests.support.probe_texts import probe_texts
from tokenizers import Tokenizer

from typecase.checkpoint.checkpoint import read_checkpoint
from typecase.checkpoint.errors import CheckpointError
from typecase.checkpoint.tokenizer_json import effective_tokenizer

# Combinations of which all versions of transformers 5 make the same
CLASSES = (
    "Qwen2Tokenizer", "Qwen2TokenizerFast", "Qwen3_5Tokenizer", "GPT2Tokenizer", "GPTNeoXTokenizerFast",
    "GemmaTokenizer", "CohereTokenizerFast", "CodeLlamaTokenizer", "PreTrainedTokenizerFast", "TokenizersBackend",
    "OfTomorrow", None,
)  # fmt: skip
MODEL_TYPES = (
    "llama", "qwen2", "qwen3", "gemma3", "phi3", "gpt2", "gpt_neox", "cohere", "qwen3_5", "glm4", "starcoder2",
)  # fmt: skip
NAMED = ("bos_token", "eos_token", "unk_token", "pad_token", "cls_token", "mask_token", "image_token")
SPECIAL_MAPS = (
    {
        "eos_token": "<|im_end|>",
        "pad_token": {"content": "<pad>", "lstrip": False, "normalized": False, "rstrip": True},
    },
    {"bos_token": "<extra>", "additional_special_tokens": ["<z>", "<|im_start|>"]},
    {"unk_token": "<|endoftext|>", "image_token": "<img>"},
)


def variation(files: dict[str, bytes], chance: random.Random) -> dict[str, bytes]:
    """A checkpoint like ``files`` with another class, other special tokens, in the one or the other layout."""
    tokenizer = json.loads(files["tokenizer.json"])
    settings = json.loads(files["tokenizer_config.json"])
    result = dict(files)
    settings["tokenizer_class"] = chance.choice(CLASSES)
    if settings["tokenizer_class"] is None:
        del settings["tokenizer_class"]
    for name in NAMED:
        kind = chance.random()
        if kind < 0.25:
            settings.pop(name, None)
        elif kind < 0.4 and name != "unk_token":
            settings[name] = None
        elif kind < 0.6:
            settings[name] = chance.choice(["<|endoftext|>", "<|im_end|>", "<extra>", "<new>", "the", "<think>"])
        elif kind < 0.7:
            flags = {"lstrip": chance.random() < 0.5, "normalized": chance.random() < 0.5, "rstrip": False}
            content = chance.choice(["<|im_start|>", "<X>"])
            settings[name] = {"__type": "AddedToken", "content": content, "single_word": False, **flags}
    kind = chance.random()
    if kind < 0.3:
        settings["additional_special_tokens"] = chance.sample(["<|im_start|>", "<extra>", "<new>", "<think>", "<q>"], 2)
    elif kind < 0.5:
        settings["extra_special_tokens"] = chance.choice([["<e>", "<|im_end|>"], {"boi_token": "<extra>"}, {}])
    elif kind < 0.7:
        settings.pop("additional_special_tokens", None)
    if chance.random() < 0.3:
        del settings["added_tokens_decoder"]
        if chance.random() < 0.6:
            result["special_tokens_map.json"] = json.dumps(chance.choice(SPECIAL_MAPS)).encode()
        if chance.random() < 0.5:
            result["added_tokens.json"] = b'{"<new>": 1093, "<extra>": 1094}'
    else:
        listed = settings["added_tokens_decoder"]
        if chance.random() < 0.4:
            flags = {name: chance.random() < 0.4 for name in ("lstrip", "rstrip", "normalized", "special")}
            listed["1093"] = {"content": "<new>", "single_word": False, **flags}
        if chance.random() < 0.3:
            listed["1089"]["special"] = True
        if chance.random() < 0.3:
            listed.pop(chance.choice(list(listed)))
        if chance.random() < 0.2:
            listed["5"] = {"content": "the", "special": True}
    if chance.random() < 0.3:
        settings["add_prefix_space"] = chance.choice([True, False])
    if chance.random() < 0.3:
        settings["add_bos_token"] = chance.choice([True, False])
    if chance.random() < 0.2:
        tokenizer["padding"] = {"strategy": "BatchLongest", "direction": "Left", "pad_to_multiple_of": None}
        tokenizer["padding"] |= {"pad_id": 1086, "pad_type_id": 0, "pad_token": "<|endoftext|>"}
    if chance.random() < 0.2:
        tokenizer["truncation"] = {"direction": "Right", "max_length": 8, "strategy": "LongestFirst", "stride": 0}
    if chance.random() < 0.2:
        tokenizer["model"]["ignore_merges"] = True
    if chance.random() < 0.2:
        tokenizer["added_tokens"].pop()
    config = {
        "model_type": chance.choice(MODEL_TYPES),
        "max_position_embeddings": 4096,
        "transformers_version": "5.1.0",
    }
    result["tokenizer.json"] = json.dumps(tokenizer).encode()
    result["tokenizer_config.json"] = json.dumps(settings).encode()
    result["config.json"] = json.dumps(config).encode()
    return result


@pytest.fixture(scope="module")
def auto_tokenizer() -> Iterator[Any]:
    transformers = pytest.importorskip("transformers")
    transformers.logging.set_verbosity_error()
    logging.getLogger("transformers").setLevel(logging.CRITICAL)
    return transformers.AutoTokenizer


@pytest.mark.parametrize("seed", range(8))
def test_equals_transformers(tiny: Path, tmp_path: Path, auto_tokenizer: Any, seed: int) -> None:
    chance = random.Random(seed)
    files = {path.name: path.read_bytes() for path in tiny.iterdir()}
    texts = [
        "<extra> <X> y <extra>z<pad>",
        "x<new>y <e>",
        *probe_texts(["<|im_start|>", "<think>", "<new>"], count=4)[12:],
    ]
    for number in range(12):
        changed = variation(files, chance)
        directory = tmp_path / str(number)
        directory.mkdir()
        for name, data in changed.items():
            (directory / name).write_bytes(data)
        theirs = auto_tokenizer.from_pretrained(str(directory), truncation_side="left")
        checkpoint = read_checkpoint(changed)
        ours = Tokenizer.from_str(checkpoint.tokenizer_json.decode())
        case = (changed["tokenizer_config.json"], changed["config.json"])

        assert dict(checkpoint.special_tokens) == theirs.special_tokens_map, case
        assert list(checkpoint.tokenizer.all_special_tokens) == theirs.all_special_tokens, case
        assert checkpoint.tokenizer.class_name == type(theirs).__name__, case
        assert [repr(token) for token in ours.get_added_tokens_decoder().values()] == [
            repr(token) for token in theirs.added_tokens_decoder.values()
        ], case
        for text in texts:
            for special in (False, True):
                try:
                    ids = theirs.encode(text, add_special_tokens=special)
                except Exception:  # the variation made a tokenizer whose unknown token is unknown
                    continue
                assert ours.encode(text, add_special_tokens=special).ids == ids, (text, *case)
                decoded = theirs.decode(ids, skip_special_tokens=special)
                assert ours.decode(ids, skip_special_tokens=special) == decoded, (text, *case)


@pytest.mark.parametrize("frame", [{}, {"add_bos_token": True, "bos_token": "<|im_start|>"}, {"add_eos_token": True}])
@pytest.mark.parametrize("name", ["GPT2Tokenizer", "Qwen2Tokenizer"])
def test_vocab_and_merges_files(
    tiny: Path, tmp_path: Path, auto_tokenizer: Any, name: str, frame: dict[str, Any]
) -> None:
    """The old layout, without a tokenizer.json."""
    model = json.loads((tiny / "tokenizer.json").read_bytes())["model"]
    settings = json.loads((tiny / "tokenizer_config.json").read_bytes()) | {"tokenizer_class": name, **frame}
    files = {
        "config.json": (tiny / "config.json").read_bytes(),
        "tokenizer_config.json": json.dumps(settings).encode(),
        "vocab.json": json.dumps(model["vocab"]).encode(),
        "merges.txt": ("#version: 0.2\n" + "".join(f"{a} {b}\n" for a, b in model["merges"])).encode(),
    }
    for file, data in files.items():
        (tmp_path / file).write_bytes(data)
    theirs = auto_tokenizer.from_pretrained(str(tmp_path))
    assert type(theirs).__name__ == name
    ours = Tokenizer.from_str(read_checkpoint(files).tokenizer_json.decode())
    for text in probe_texts(["<|im_start|>", "<think>"], count=40):
        assert ours.encode(text).ids == theirs.encode(text), text


def test_nothing_is_rewritten_without_need(tiny: Path) -> None:
    files = {path.name: path.read_bytes() for path in tiny.iterdir()}
    assert read_checkpoint(files).tokenizer_json is files["tokenizer.json"]
    settings = json.loads(files["tokenizer_config.json"])
    settings["additional_special_tokens"] = ["<|im_start|>", "<think>"]
    files["tokenizer_config.json"] = json.dumps(settings).encode()
    assert read_checkpoint(files).tokenizer_json != files["tokenizer.json"]


def test_llama_class_with_a_byte_level_file_is_used_as_it_is(tiny: Path) -> None:
    """The class would put SentencePiece's spaces into a byte-level vocabulary."""
    files = {path.name: path.read_bytes() for path in tiny.iterdir()}
    settings = json.loads(files["tokenizer_config.json"]) | {"tokenizer_class": "LlamaTokenizerFast"}
    files["tokenizer_config.json"] = json.dumps(settings).encode()
    files["config.json"] = b'{"model_type": "llama", "max_position_embeddings": 64}'
    checkpoint = read_checkpoint(files)
    assert checkpoint.tokenizer.class_name == "TokenizersBackend"
    assert checkpoint.tokenizer_json is files["tokenizer.json"]


def test_the_split_of_early_mistral_files_is_mended_when_asked_for() -> None:
    vocabulary = {f"t{index}": index for index in range(100_001)}
    split = {"type": "Split", "pattern": {"Regex": "x"}, "behavior": "Isolated", "invert": False}
    byte_level = {"type": "ByteLevel", "add_prefix_space": False, "trim_offsets": True, "use_regex": False}
    file = {
        "added_tokens": [],
        "pre_tokenizer": {"type": "Sequence", "pretokenizers": [split, byte_level]},
        "model": {"type": "BPE", "vocab": vocabulary, "merges": []},
    }

    def steps(fixes: bool) -> list[dict[str, Any]]:
        made = effective_tokenizer(
            json.dumps(file).encode(), class_name="TokenizersBackend", tokenizer_config={}, fixes_mistral_split=fixes
        )
        return list(json.loads(made.data)["pre_tokenizer"]["pretokenizers"])

    assert steps(False) == [split, byte_level]
    mended, kept = steps(True)
    assert kept == byte_level
    assert mended["pattern"]["Regex"].startswith(r"[^\r\n\p{L}\p{N}]?[\p{Lu}")


def test_classes_that_are_not_followed_are_told(tiny: Path) -> None:
    files = {path.name: path.read_bytes() for path in tiny.iterdir()}
    settings = json.loads(files["tokenizer_config.json"]) | {"tokenizer_class": "BertTokenizer"}
    files["tokenizer_config.json"] = json.dumps(settings).encode()
    files["config.json"] = b'{"model_type": "bert", "max_position_embeddings": 64}'
    (warning,) = read_checkpoint(files).warnings
    assert "BertTokenizer changes parts of it" in warning


MODEL = '"model": {"type": "BPE", "vocab": {"a": 0}, "merges": []}'


@pytest.mark.parametrize(
    ("data", "message"),
    [
        ("", "not valid JSON: Expecting value at line 1 column 1"),
        ("[]", "is no tokenizer: Expected `object`, got `array`"),
        ("{}", '"model": is no tokenizer: Expected `object`, got `null`'),
        ('{"model": {}}', 'has no "model" with a "vocab", so it is no tokenizer'),
        ('{"model": {"vocab": {}}, "added_tokens": [{"content": 1}]}', "is no tokenizer: Expected `str`, got `int`"),
        ('{"added_tokens": [{"content": "a"}], ' + MODEL + "}", 'every one of the "added_tokens" must have an "id"'),
        ('{"added_tokens": [{"content": "a", "id": -1}], ' + MODEL + "}", 'every one of the "added_tokens" must have'),
        ('{"added_tokens": [{"content": "a", "id": 1e99}], ' + MODEL + "}", "is no tokenizer: Expected `int | null`"),
        (
            '{"model": {"type": "BPE", "vocab": [1], "merges": []}}',
            '"model": "vocab" is no vocabulary: Expected `array`',
        ),
        ('{"model": {"type": 1, "vocab": {}}}', '"model": is no tokenizer: Expected `str | null`, got `int`'),
        ('{"model": ' + "[" * 100_000, "nested too deeply"),
    ],
)
def test_what_is_no_tokenizer(data: str, message: str) -> None:
    with pytest.raises(CheckpointError) as caught:
        effective_tokenizer(
            data.encode(), class_name="TokenizersBackend", tokenizer_config={"additional_special_tokens": ["<x>"]}
        )
    assert str(caught.value).startswith(f"tokenizer.json: {message}")


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"eos_token": 5}, 'tokenizer_config.json: "eos_token" must be a token'),
        ({"eos_token": {"content": 5}}, 'tokenizer_config.json: "eos_token" must be a token'),
        ({"eos_token": {"content": "a", "lstrip": "yes"}}, 'tokenizer_config.json: "eos_token": the flags of a token'),
        ({"added_tokens_decoder": []}, 'tokenizer_config.json: "added_tokens_decoder" must be an object'),
        ({"added_tokens_decoder": {"x": {}}}, 'tokenizer_config.json: "added_tokens_decoder" must be an object'),
        ({"added_tokens_decoder": {"1": {}}}, 'tokenizer_config.json: "added_tokens_decoder", 1 must be a token'),
        ({"added_tokens_decoder": {"1": "a"}}, 'tokenizer_config.json: "added_tokens_decoder" must be an object'),
        ({"additional_special_tokens": "<x>"}, "tokenizer_config.json: the extra (or additional) special tokens"),
        ({"extra_special_tokens": [1]}, "tokenizer_config.json: the extra special tokens must be a token"),
        ({"extra_special_tokens": {"x": []}}, 'tokenizer_config.json: "x" must be a token'),
    ],
)
def test_special_tokens_of_a_wrong_kind(settings: dict[str, Any], message: str) -> None:
    with pytest.raises(CheckpointError) as caught:
        effective_tokenizer(("{" + MODEL + "}").encode(), class_name="TokenizersBackend", tokenizer_config=settings)
    assert str(caught.value).startswith(message)
