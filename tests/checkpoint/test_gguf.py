from __future__ import annotations

import struct

import pytest
from tests.support.gguf_writer import BOOL, F32, STRING, U32, array, gguf, scalar, string

from typecase.checkpoint.errors import CheckpointError
from typecase.checkpoint.gguf import MAX_METADATA, Incomplete, Metadata, Numbers, read_metadata


def read(data: bytes, size: int | None = None) -> Metadata:
    return read_metadata(data, len(data) if size is None else size, "x.gguf")


def pair(kind: int, value: bytes, key: str = "k") -> bytes:
    return gguf([(key, (kind, value))])


def test_every_type() -> None:
    kinds = {
        0: 200,
        1: -5,
        2: 60000,
        3: -30000,
        4: 4 * 10**9,
        5: -(2**31),
        6: 0.5,
        7: True,
        10: 2**63,
        11: -(2**63),
        12: 0.1,
    }
    metadata = read(gguf({str(kind): scalar(kind, value) for kind, value in kinds.items()} | {"s": string("é")}))
    assert metadata == {**{str(kind): value for kind, value in kinds.items()}, "s": "é".encode()}
    arrays = read(
        gguf({"u": array(U32, [1, 2]), "f": array(F32, [0.5]), "b": array(BOOL, [True]), "s": array(STRING, ["", "a"])})
    )
    numbers = arrays["u"]
    assert isinstance(numbers, Numbers)
    assert (len(numbers), numbers.tolist()) == (2, [1, 2])
    assert arrays["s"] == [b"", b"a"]


def test_arrays_of_arrays() -> None:
    inner = array(U32, [7])[1]
    metadata = read(pair(9, struct.pack("<IQ", 9, 2) + inner + inner))
    (first, _) = metadata["k"]  # type: ignore[misc]
    assert isinstance(first, Numbers)
    assert first.tolist() == [7]


def test_both_versions_and_what_follows() -> None:
    for version in (2, 3):
        assert read(gguf({"a": scalar(U32, 1)}, version=version, tensors=5) + b"tensors, weights") == {"a": 1}


def test_the_reader_asks_for_more_bytes() -> None:
    data = gguf({"a": array(STRING, ["x" * 10] * 100), "b": array(U32, range(100)), "c": string("y" * 100)})
    for cut in range(24, len(data), 7):
        with pytest.raises(Incomplete) as caught:
            read(data[:cut], len(data))
        assert cut < caught.value.wanted <= len(data)


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (b"", "is too short to be a GGUF file"),
        (b"GGUF" + b"\0" * 19, "is too short to be a GGUF file"),
        (b"PK\3\4" + b"\0" * 30, 'is no GGUF file: it doesn\'t begin with "GGUF"'),
        (gguf({}, version=1), "has GGUF version 1; versions 2 and 3 are supported"),
        (gguf({}, version=4), "has GGUF version 4; versions 2 and 3 are supported"),
        (b"GGUF" + struct.pack(">I", 3) + b"\0" * 16, "is a big-endian GGUF file, which is not supported"),
        (b"GGUF" + struct.pack("<IQQ", 3, 0, 2**60), f"claims to have {2**60} metadata keys"),
        (b"GGUF" + struct.pack("<IQQ", 3, 0, 5), "is truncated or broken: 8 bytes are wanted at 24 of 24"),
        (gguf([("a", scalar(U32, 1)), ("a", scalar(U32, 1))]), "has the metadata key 'a' twice"),
        (pair(13, b""), "has a value of unknown type 13 under 'k'"),
        (pair(9, struct.pack("<IQ", 77, 0)), "has an array of unknown type 77 under 'k'"),
        (pair(8, struct.pack("<Q", 2**63)), f"is truncated or broken: {2**63} bytes are wanted at 45 of 45"),
        (pair(9, struct.pack("<IQ", 4, 2**62)), f"is truncated or broken: {2**64} bytes are wanted at 49 of 49"),
        (pair(9, struct.pack("<IQ", 8, 2**40)), f"claims {2**40} items under 'k', more than can be"),
        (pair(9, struct.pack("<IQ", 8, 3) + b"\0" * 8), "claims 3 items under 'k', more than can be"),
        (pair(9, struct.pack("<IQ", 9, 1) * 6), "has arrays nested too deeply under 'k'"),
        (gguf([("k" * 70_000, scalar(U32, 1))]), "has a metadata key of 70000 bytes"),
        (gguf([(b"\xff", scalar(U32, 1))]), "has a metadata key that is not UTF-8"),
    ],
)  # fmt: skip
def test_broken_files(data: bytes, message: str) -> None:
    with pytest.raises(CheckpointError) as caught:
        read(data)
    assert str(caught.value) == f"x.gguf: {message}"


def test_metadata_without_end() -> None:
    head = pair(8, struct.pack("<Q", MAX_METADATA + 1))
    with pytest.raises(CheckpointError, match="has more than 128 MB of metadata"):
        read(head, 2**40)
