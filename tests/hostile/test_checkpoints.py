"""Checkpoints that are broken, cut or made to harm: one line of error, never anything else, and little memory."""

from __future__ import annotations

import json
import struct
import tracemalloc
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from tests.conftest import DATA
from tests.support.gguf_writer import STRING, array, gguf, scalar, string

from typecase.checkpoint.checkpoint import Checkpoint, CheckpointError, read_checkpoint
from typecase.checkpoint.gguf import Incomplete, read_metadata
from typecase.checkpoint.gguf_tokenizer import files_from_gguf
from typecase.loading.sources import Source, load_checkpoint

FILES = {path.name: path.read_bytes() for path in sorted((DATA / "tiny").iterdir())}
GGUF = (DATA / "tiny.gguf").read_bytes()
JSON_FILES = [name for name in FILES if name.endswith(".json")]

quick = settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.too_slow])


def check_line(error: CheckpointError) -> None:
    message = str(error)
    assert message
    assert message.isprintable()
    assert len(message) <= 600


def read(files: dict[str, bytes]) -> Checkpoint | None:
    try:
        return read_checkpoint(files)
    except CheckpointError as error:
        check_line(error)
        return None


def read_gguf(data: bytes) -> Checkpoint | None:
    try:
        return read_checkpoint(
            files_from_gguf(read_metadata(data, len(data), "x.gguf"), "x.gguf"), tokenizer_as_is=True
        )
    except CheckpointError as error:
        check_line(error)
        return None


@st.composite
def damaged(draw: st.DrawFn, data: bytes) -> bytes:
    """``data`` cut, with bytes changed, or with a part twice or left out."""
    result = bytearray(data)
    for _ in range(draw(st.integers(1, 4))):
        at = draw(st.integers(0, max(len(result) - 1, 0)))
        match draw(st.sampled_from(["cut", "flip", "set", "repeat", "drop"])):
            case "cut":
                del result[at:]
            case "flip" if result:
                result[at] ^= 1 << draw(st.integers(0, 7))
            case "set" if result:
                result[at] = draw(st.sampled_from(b'"\\{}[]:,0-9eE.n\x00\xff\x7f'))
            case "repeat":
                result[at:at] = result[at : at + draw(st.integers(1, 200))]
            case "drop":
                del result[at : at + draw(st.integers(1, 200))]
    return bytes(result)


json_values = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-(2**70), 2**70)
    | st.floats()
    | st.text(max_size=20)
    | st.sampled_from(["<|im_end|>", "BPE", "linear", "default", "Qwen2Tokenizer", "qwen3"]),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=10), inner, max_size=4),
    max_leaves=12,
)


@pytest.mark.parametrize("name", JSON_FILES)
def test_damaged_json_files(name: str) -> None:
    @quick
    @given(damaged(FILES[name]))
    def run(data: bytes) -> None:
        read({**FILES, name: data})

    run()


@pytest.mark.parametrize("name", [*JSON_FILES, "special_tokens_map.json", "added_tokens.json", "chat_template.json"])
def test_json_files_with_values_of_other_kinds(name: str) -> None:
    """Well-formed, but some values are not what they should be."""
    original = json.loads(FILES.get(name, b'{"eos_token": "<|im_end|>", "<new>": 1093, "chat_template": "x"}'))
    files = dict(FILES)
    if name in ("special_tokens_map.json", "added_tokens.json"):
        config = json.loads(FILES["tokenizer_config.json"])
        del config["added_tokens_decoder"]
        files["tokenizer_config.json"] = json.dumps(config).encode()
    keys = sorted({*original, "rope_scaling", "text_config", "architectures", "chat_template", "extra_special_tokens"})
    keys += ["padding", "max_position_embeddings", "tokenizer_class", "model_type", "image_token"]

    @quick
    @given(st.dictionaries(st.sampled_from(keys), json_values, min_size=1, max_size=3))
    def run(changes: dict[str, Any]) -> None:
        read({**files, name: json.dumps({**original, **changes}).encode()})

    run()


@quick
@given(st.dictionaries(st.sampled_from(["max_position_embeddings", "rope_scaling", "text_config", "x"]), json_values))
def test_overrides_of_other_kinds(overrides: dict[str, Any]) -> None:
    try:
        read_checkpoint(FILES, hf_overrides=overrides)
    except CheckpointError as error:
        check_line(error)


@quick
@given(damaged(GGUF))
def test_damaged_gguf_files(data: bytes) -> None:
    read_gguf(data)


@quick
@given(damaged(GGUF[:4000]))
def test_damaged_beginnings_of_gguf_files(data: bytes) -> None:
    """The rest is there, so counts may lie about much more."""
    try:
        read_metadata(data, 2**40, "x.gguf")
    except CheckpointError as error:
        check_line(error)
    except Incomplete as error:
        wanted = error.wanted
        assert len(data) < wanted <= 2**40


def test_every_cut_of_a_gguf_file() -> None:
    for end in [*range(400), *range(400, len(GGUF), 97)]:
        assert read_gguf(GGUF[:end]) is None


def peak(data: bytes, size: int) -> int:
    tracemalloc.start()
    try:
        read_metadata(data, size, "x.gguf")
    except (CheckpointError, Incomplete):
        pass
    finally:
        _, highest = tracemalloc.get_traced_memory()
        tracemalloc.stop()
    return highest


@pytest.mark.parametrize("count", [2**20, 2**31, 2**40, 2**63, 2**64 - 1])
@pytest.mark.parametrize("kind", [0, 4, 8, 9, 12])
def test_huge_counts_cost_no_memory(kind: int, count: int) -> None:
    data = gguf([("k", (9, struct.pack("<IQ", kind, count)))])
    assert peak(data, 2**45) < 2**20
    assert peak(gguf([("k", (8, struct.pack("<Q", count)))]), 2**45) < 2**20
    assert peak(gguf([("k" * 10, scalar(4, 1))])[:16] + struct.pack("<Q", count), 2**45) < 2**20


def test_many_small_arrays_are_bounded() -> None:
    inner = struct.pack("<IQ", 0, 0)
    for data in (inner * 2_000, struct.pack("<Q", 0) * 2_000):
        kind = 9 if data.startswith(inner) else STRING
        head = gguf([("k", (9, struct.pack("<IQ", kind, 5 << 20) + data))])
        with pytest.raises(CheckpointError, match="more than can be"):
            read_metadata(head, 2**40, "x.gguf")


def test_a_gguf_file_cannot_reach_the_terminal() -> None:
    evil = "\x1b[2J\n\u202eevil"
    for key in ("tokenizer.ggml.model", "tokenizer.ggml.pre", "general.architecture"):
        pairs = {"tokenizer.ggml.model": string("gpt2"), "tokenizer.ggml.tokens": array(STRING, ["a"])}
        assert read_gguf(gguf({**pairs, key: string(evil)})) is None
        assert read_gguf(gguf({key + evil: string("x")})) is None


def nested(depth: int) -> bytes:
    return b'{"a":' * depth + b"1" + b"}" * depth


@pytest.mark.parametrize("name", [*JSON_FILES, "special_tokens_map.json", "added_tokens.json", "chat_template.json"])
@pytest.mark.parametrize("depth", [101, 900, 3_000, 200_000])
def test_deep_nesting(name: str, depth: int) -> None:
    if name != "tokenizer.json":
        with pytest.raises(CheckpointError, match=f"^{name}: nested"):
            read_checkpoint({**FILES, name: nested(depth)})
    for key in ("rope_scaling", "added_tokens_decoder", "normalizer", "padding", "model", "extra_special_tokens"):
        read({**FILES, name: b'{"%s": %s}' % (key.encode(), nested(depth))})


def test_tokenizers_that_cannot_be_loaded_are_no_crash(tmp_path: Path) -> None:
    """What only the tokenizers library can tell is told when the model is made, in one line too."""
    from typecase.model import load

    for path in (DATA / "tiny").iterdir():
        (tmp_path / path.name).write_bytes(path.read_bytes())
    (tmp_path / "tokenizer_config.json").write_text('{"tokenizer_class": "TokenizersBackend"}')
    model = json.loads(FILES["tokenizer.json"])
    changes: list[dict[str, Any]] = [
        {"normalizer": {"type": "OfTomorrow"}},
        {"pre_tokenizer": {"type": "Split", "pattern": {"Regex": "("}, "behavior": "Isolated", "invert": False}},
        {"model": model["model"] | {"merges": [["no", "such"]]}},
        {"model": model["model"] | {"type": "OfTomorrow"}},
        {"added_tokens": [{"id": 0, "content": "x"}], "post_processor": {"type": "TemplateProcessing"}},
    ]
    for change in changes:
        (tmp_path / "tokenizer.json").write_text(json.dumps(model | change))
        with pytest.raises(CheckpointError) as caught:
            load(tmp_path)
        check_line(caught.value)
        assert "tokenizer.json" in str(caught.value)


def test_no_file_outside_the_directory_is_named_by_one_inside(tmp_path: Path) -> None:
    """tokenizer_config.json may hold paths; none of them is opened."""
    config = json.loads(FILES["tokenizer_config.json"])
    for key in ("tokenizer_file", "vocab_file", "merges_file", "fast_tokenizer_files", "name_or_path"):
        config[key] = "/dev/zero"
    for name, data in FILES.items():
        (tmp_path / name).write_bytes(data)
    (tmp_path / "tokenizer_config.json").write_text(json.dumps(config))
    assert load_checkpoint(Source(model=str(tmp_path))).tokenizer_json == FILES["tokenizer.json"]


def test_pickles_beside_the_model_are_not_touched(tmp_path: Path) -> None:
    for name, data in FILES.items():
        (tmp_path / name).write_bytes(data)
    for name in ("pytorch_model.bin", "training_args.bin", "tokenizer.pkl", "modeling_evil.py", "tokenization_evil.py"):
        (tmp_path / name).write_bytes(b"cos\nsystem\n(S'false'\ntR.")
        (tmp_path / name).chmod(0)
    load_checkpoint(Source(model=str(tmp_path)))
