"""From what the user names to a ``Checkpoint``: a directory, a GGUF file or a hub id; files from several places."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from typecase.checkpoint.checkpoint import Checkpoint, CheckpointError, read_checkpoint
from typecase.checkpoint.gguf_tokenizer import files_from_gguf
from typecase.checkpoint.mistral_files import MistralTokenizerFile, mistral_tokenizer_name
from typecase.checkpoint.mistral_params import PARAMS, is_mistral_format
from typecase.checkpoint.vocab_files import check_tokenizer_files

from .files import read_directory, read_file, read_gguf
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
    config_format: str = "auto"  # "mistral": params.json; "hf": config.json; "auto" as vLLM
    tokenizer_mode: str = "auto"  # vLLM's modes; "auto" takes Mistral's own tokenizer where vLLM does, "hf" doesn't


@dataclass(frozen=True, slots=True)
class _Place:
    """The files of one place, and whether they are ours, made from a GGUF file."""

    files: Mapping[str, bytes]
    names: frozenset[str]
    made: bool = False
    mistral_format: bool = False
    mistral_tokenizer: MistralTokenizerFile | None = None


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
    if tokenizer.mistral_tokenizer is None:
        check_tokenizer_files(tokenizer.names)
    return read_checkpoint(
        config.files,
        tokenizer_files=tokenizer.files,
        hf_overrides=source.hf_overrides,
        tokenizer_as_is=tokenizer.made,
        mistral_format=config.mistral_format,
        mistral_tokenizer=tokenizer.mistral_tokenizer,
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
    # Of a hub model only the front files are here; params.json comes with no other format than Mistral's.
    in_hub = None if is_directory else PARAMS in names
    chosen = mistral_tokenizer_name(names, mode=source.tokenizer_mode, has_weights=in_hub) if tokenizer else None
    return _Place(
        contents,
        names,
        mistral_format=is_mistral_format(names, wanted=source.config_format, has_weights=in_hub),
        mistral_tokenizer=MistralTokenizerFile(chosen, read_file(path / chosen, chosen)) if chosen else None,
    )
