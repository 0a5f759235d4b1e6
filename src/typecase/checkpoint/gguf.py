"""The metadata of a GGUF file (versions 2 and 3, little-endian), read without trusting it.

``read_metadata`` is given the beginning of a file and the size of the whole; weights, which come after the metadata,
are never looked at. Each count and length is compared with what the file can hold before anything is made of that
size. Strings stay bytes and arrays of numbers stay undecoded until somebody wants them.
"""

from __future__ import annotations

import struct
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TypeAlias

from .errors import CheckpointError

__all__ = ["MAX_METADATA", "Incomplete", "Metadata", "Numbers", "Value", "read_metadata"]

MAX_METADATA = 128 << 20  # bytes of metadata; the largest known is 30 MB
_MAX_ITEMS = 4 << 20  # strings and inner arrays; the largest known vocabulary and its merges are under a million
_MAX_KEYS = 65_536
_MAX_KEY_LENGTH = 65_535
_MAX_DEPTH = 4  # of arrays in arrays

_STRING, _ARRAY = 8, 9
_SCALARS: Mapping[int, struct.Struct] = {
    kind: struct.Struct("<" + code)
    for kind, code in {
        0: "B",
        1: "b",
        2: "H",
        3: "h",
        4: "I",
        5: "i",
        6: "f",
        7: "B",
        10: "Q",
        11: "q",
        12: "d",
    }.items()
}
_BOOL = 7
_U32 = struct.Struct("<I")
_U64 = struct.Struct("<Q")


@dataclass(frozen=True, slots=True)
class Numbers:
    """An array of numbers (or booleans), still as it lies in the file."""

    kind: int
    data: bytes

    def __len__(self) -> int:
        return len(self.data) // _SCALARS[self.kind].size

    def tolist(self) -> list[float]:
        return [value for (value,) in _SCALARS[self.kind].iter_unpack(self.data)]


Value: TypeAlias = "bool | int | float | bytes | Numbers | list[bytes] | list[Value]"
Metadata: TypeAlias = "dict[str, Value]"


class Incomplete(Exception):
    """The metadata goes on after the bytes that were given; ``wanted`` are needed at least."""

    def __init__(self, wanted: int):
        super().__init__(wanted)
        self.wanted = wanted


def read_metadata(head: bytes, file_size: int, name: str) -> Metadata:
    """All keys and values. ``name`` is used in errors. When the metadata goes on after ``head``: ``Incomplete``."""
    return _Reader(head, file_size, name).read()


class _Reader:
    def __init__(self, head: bytes, file_size: int, name: str):
        self._head = head
        self._size = file_size
        self._name = name
        self._at = 0
        self._items = 0

    def read(self) -> Metadata:
        if self._size < 24:
            raise self._error("is too short to be a GGUF file")
        if self._take(4) != b"GGUF":
            raise self._error('is no GGUF file: it doesn\'t begin with "GGUF"')
        version = self._number(_U32)
        if version not in (2, 3):
            if version and version % 65536 == 0:
                raise self._error("is a big-endian GGUF file, which is not supported")
            raise self._error(f"has GGUF version {version}; versions 2 and 3 are supported")
        self._number(_U64)  # tensors
        count = self._number(_U64)
        if count > _MAX_KEYS:
            raise self._error(f"claims to have {count} metadata keys")
        metadata: Metadata = {}
        for _ in range(count):
            key = self._key()
            if key in metadata:
                raise self._error(f"has the metadata key {key!r} twice")
            metadata[key] = self._value(key, self._number(_U32), 0)
        return metadata

    def _error(self, what: str) -> CheckpointError:
        return CheckpointError(f"{self._name}: {what}")

    def _reach(self, length: int) -> int:
        """Where the next ``length`` bytes end, after a check that the file has them and that they are at hand."""
        end = self._at + length
        if end > self._size:
            raise self._error(f"is truncated or broken: {length} bytes are wanted at {self._at} of {self._size}")
        if end > MAX_METADATA:
            raise self._error(f"has more than {MAX_METADATA >> 20} MB of metadata")
        if end > len(self._head):
            raise Incomplete(end)
        return end

    def _take(self, length: int) -> bytes:
        end = self._reach(length)
        data = self._head[self._at : end]
        self._at = end
        return data

    def _number(self, kind: struct.Struct) -> int:
        end = self._reach(kind.size)
        (value,) = kind.unpack_from(self._head, self._at)
        self._at = end
        return int(value)

    def _key(self) -> str:
        length = self._number(_U64)
        if length > _MAX_KEY_LENGTH:
            raise self._error(f"has a metadata key of {length} bytes")
        try:
            return self._take(length).decode("utf-8")
        except UnicodeDecodeError:
            raise self._error("has a metadata key that is not UTF-8") from None

    def _value(self, key: str, kind: int, depth: int) -> Value:
        if kind == _STRING:
            return self._take(self._number(_U64))
        if kind == _ARRAY:
            return self._array(key, depth)
        scalar = _SCALARS.get(kind)
        if scalar is None:
            raise self._error(f"has a value of unknown type {kind} under {key!r}")
        (value,) = scalar.unpack(self._take(scalar.size))
        return bool(value) if kind == _BOOL else value

    def _array(self, key: str, depth: int) -> Value:
        if depth == _MAX_DEPTH:
            raise self._error(f"has arrays nested too deeply under {key!r}")
        kind = self._number(_U32)
        count = self._number(_U64)
        scalar = _SCALARS.get(kind)
        if scalar is not None:
            return Numbers(kind, self._take(scalar.size * count))
        if kind not in (_STRING, _ARRAY):
            raise self._error(f"has an array of unknown type {kind} under {key!r}")
        smallest = 8 if kind == _STRING else 12
        self._items += count
        if self._items > _MAX_ITEMS or count * smallest > self._size - self._at:
            raise self._error(f"claims {count} items under {key!r}, more than can be")
        if kind == _ARRAY:
            return [self._array(key, depth + 1) for _ in range(count)]
        return self._strings(count)

    def _strings(self, count: int) -> list[bytes]:
        # Hundreds of thousands of strings: the checks of _take, written out
        head, at, limit, unpack = self._head, self._at, len(self._head), _U64.unpack_from
        result = []
        for _ in range(count):
            if at + 8 > limit:
                self._at = at
                self._reach(8)
            end = at + 8 + unpack(head, at)[0]
            if end > limit:
                self._at = at
                self._reach(end - at)
            result.append(head[at + 8 : end])
            at = end
        self._at = at
        return result
