"""From what the user names to a ``Checkpoint``: a directory, a GGUF file or a hub id; files from several places."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from fnmatch import fnmatch
from pathlib import Path
from typing import Any

from typecase.checkpoint.checkpoint import Checkpoint, CheckpointError, read_checkpoint
from typecase.checkpoint.gguf_tokenizer import files_from_gguf
from typecase.checkpoint.vocab_files import check_tokenizer_files

from .files import MISTRAL_PATTERNS, MISTRAL_WEIGHTS, read_directory, read_gguf
from .hub import is_hub_id, snapshot

__all__ = ["CheckpointError", "Source", "load_checkpoint"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Source:
    """Where a checkpoint's files are. The fields are vLLM's flags of the same names."""

    model: str
    revision: str | None = None
    tokenizer: str | None = None  # another place for the tokenizer's files and the templates
    tokenizer_revision: str | None = None  # as ``revision`` when not given
    hf_config_path: str | None = None  # another place for config.json and generation_config.json
    hf_overrides: Mapping[str, Any] = field(default_factory=dict)
    hf_token: str | bool | None = None  # True: the one that `hf auth login` stored
    download_dir: str | None = None  # the hub's cache
    tokenizer_mode: str = "auto"  # "hf": use tokenizer.json even if Mistral's own tokenizer files are there


@dataclass(frozen=True, slots=True)
class _Place:
    """The files of one place, and whether they are ours, made from a GGUF file."""

    files: Mapping[str, bytes]
    names: frozenset[str]
    made: bool = False


def load_checkpoint(source: Source) -> Checkpoint:
    """Read the front part of a checkpoint. Raises ``CheckpointError``, in one line, for whatever is wrong with it."""
    other = source.tokenizer is not None and source.tokenizer != source.model
    model = _place(source, source.model, source.revision, tokenizer=not other)
    config = model
    if source.hf_config_path is not None and source.hf_config_path != source.model:
        config = _place(source, source.hf_config_path, source.revision, tokenizer=False)
    tokenizer = model
    if other:
        tokenizer = _place(source, source.tokenizer or "", source.tokenizer_revision or source.revision)
    check_tokenizer_files(tokenizer.names)
    return read_checkpoint(
        config.files,
        tokenizer_files=tokenizer.files,
        hf_overrides=source.hf_overrides,
        tokenizer_as_is=tokenizer.made,
    )


def _place(source: Source, name: str, revision: str | None, *, tokenizer: bool = True) -> _Place:
    """``tokenizer``: is the tokenizer taken from here? If not, one that can't be used is no error."""
    path = Path(name).expanduser()
    try:
        is_directory, is_file = bool(name) and path.is_dir(), path.is_file()
    except (OSError, ValueError):
        is_directory = is_file = False  # a name that no path can have
    if is_file:
        if path.suffix.lower() != ".gguf":
            raise CheckpointError(
                f"{name}: is a file; a directory with a checkpoint, a .gguf file or a hub id is wanted"
            )
        files = files_from_gguf(read_gguf(path), path.name, tokenizer=tokenizer)
        return _Place(files, frozenset(files), made=True)
    if not is_directory:
        if not is_hub_id(name) or path.suffix.lower() == ".gguf":
            raise CheckpointError(
                f"{name!r}: no such directory or file; give a directory, a .gguf file or a hub id (owner/name)"
            )
        path = snapshot(name, revision=revision, token=source.hf_token, cache=source.download_dir)
    contents, names = read_directory(path)
    if tokenizer and source.tokenizer_mode == "auto":
        _refuse_mistral(name, names, from_hub=not is_directory)
    return _Place(contents, names)


def _refuse_mistral(name: str, names: frozenset[str], *, from_hub: bool) -> None:
    """vLLM would use Mistral's tokenizer here; another one would give other ids without a word."""
    # Of a hub model only the front files are here, but params.json comes with no other format.
    has_weights = any(fnmatch(file, MISTRAL_WEIGHTS) for file in names) or (from_hub and "params.json" in names)
    has_tokenizer = from_hub or any(fnmatch(file, pattern) for file in names for pattern in MISTRAL_PATTERNS)
    if has_weights and has_tokenizer:
        advice = "; with --tokenizer-mode hf its tokenizer.json is used" if "tokenizer.json" in names else ""
        raise CheckpointError(
            f"{name}: is in Mistral's own format (params.json, tekken.json or tokenizer.model.v*), and its tokenizers "
            f"are not supported yet{advice}"
        )
