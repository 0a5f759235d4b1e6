"""Reading the front files of one place on disk: a directory, or the metadata of a GGUF file.

Only files with known names are opened, only regular ones (symbolic links to them, as caches have, are fine), and only
up to a size: 512 MB for tokenizer.json, the largest known being 35 MB, and 64 MB for every other.
"""

from __future__ import annotations

import os
import stat
from fnmatch import fnmatch
from pathlib import Path
from typing import BinaryIO

from typecase.checkpoint.checkpoint import FRONT_FILES, CheckpointError
from typecase.checkpoint.gguf import Incomplete, Metadata, read_metadata
from typecase.checkpoint.templates import ADDITIONAL

__all__ = ["read_directory", "read_file", "read_gguf"]

_LIMITS = {"tokenizer.json": 512 << 20}
_LIMIT = 64 << 20
_MOST_TEMPLATES = 64
_FIRST_READ = 32 << 20  # holds the metadata of every GGUF file known


def read_directory(path: Path) -> tuple[dict[str, bytes], frozenset[str]]:
    """(the front files by name, the names of all files there)."""
    try:
        names = frozenset(os.listdir(path))
    except OSError as error:
        raise CheckpointError(f"{path}: can't be read: {error.strerror}") from None
    files = {name: read_file(path / name, name) for name in FRONT_FILES if name in names}
    templates = path / ADDITIONAL
    if ADDITIONAL.rstrip("/") in names and templates.is_dir():
        found = sorted(name for name in os.listdir(templates) if fnmatch(name, "*.jinja"))
        if len(found) > _MOST_TEMPLATES:
            raise CheckpointError(f"{templates}: holds {len(found)} templates, more than {_MOST_TEMPLATES}")
        files |= {ADDITIONAL + name: read_file(templates / name, ADDITIONAL + name) for name in found}
    return files, names


def read_gguf(path: Path) -> Metadata:
    """The metadata of a GGUF file. Its weights aren't read."""
    with _open(path, path.name) as file:
        size = os.fstat(file.fileno()).st_size
        wanted = _FIRST_READ
        while True:
            file.seek(0)
            try:
                return read_metadata(file.read(wanted), size, path.name)
            except Incomplete as more:
                wanted = max(2 * wanted, more.wanted)


def read_file(path: Path, name: str) -> bytes:
    """The bytes of a file of a checkpoint, called ``name`` in errors."""
    limit = _LIMITS.get(name, _LIMIT)
    with _open(path, name) as file:
        data = file.read(limit + 1)
    if len(data) > limit:
        raise CheckpointError(f"{name}: larger than {limit >> 20} MB, which no such file is")
    return data


def _open(path: Path, name: str) -> BinaryIO:
    try:
        # A pipe would block the plain open; what it is can be told only of the opened file.
        descriptor = os.open(path, os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0))
    except OSError as error:
        raise CheckpointError(f"{name}: can't be read: {error.strerror} ({path})") from None
    if not stat.S_ISREG(os.fstat(descriptor).st_mode):
        os.close(descriptor)
        raise CheckpointError(f"{name}: is no regular file ({path})")
    return os.fdopen(descriptor, "rb")
