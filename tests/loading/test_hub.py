"""The hub's cache, made by hand as huggingface_hub lays it out. Nothing here asks the network."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from typecase.checkpoint.errors import CheckpointError
from typecase.loading.hub import is_hub_id, snapshot

COMMIT = "0123456789abcdef0123456789abcdef01234567"
OTHER = "fedcba9876543210fedcba9876543210fedcba98"


def fill(cache: Path, model: str, directory: Path, *, commit: str = COMMIT, ref: str = "main") -> Path:
    """Put ``directory`` into the cache as the files of ``model``: blobs, links to them, and a reference."""
    place = cache / ("models--" + model.replace("/", "--"))
    (place / "blobs").mkdir(parents=True, exist_ok=True)
    (place / "refs").mkdir(exist_ok=True)
    (place / "refs" / ref).write_text(commit)
    there = place / "snapshots" / commit
    there.mkdir(parents=True)
    for number, path in enumerate(sorted(directory.iterdir())):
        blob = place / "blobs" / f"{commit[:8]}{number}"
        shutil.copy(path, blob)
        (there / path.name).symlink_to(os.path.relpath(blob, there))
    return there


# huggingface_hub reads its variables when it is imported, so each case has a process of its own.
SCRIPT = """
import json, sys
from typecase.loading.sources import CheckpointError, Source, load_checkpoint
try:
    checkpoint = load_checkpoint(Source(**json.loads(sys.argv[1])))
    print(json.dumps([checkpoint.max_model_len, sorted(checkpoint.templates), checkpoint.special_tokens]))
except CheckpointError as error:
    print(json.dumps(str(error)))
"""


def load(cache: Path | None, **source: Any) -> Any:
    environment = {name: value for name, value in os.environ.items() if not name.startswith("HF_")}
    environment |= {"HF_HUB_OFFLINE": "1", "HF_HOME": "/nonexistent"}
    if cache is not None:
        environment["HF_HUB_CACHE"] = str(cache)
    run = subprocess.run(
        [sys.executable, "-c", SCRIPT, json.dumps(source)], env=environment, capture_output=True, text=True, check=True
    )
    return json.loads(run.stdout)


EXPECTED = [4096, ["default"], {"eos_token": "<|im_end|>", "pad_token": "<|endoftext|>"}]


def test_a_model_in_the_cache(tiny: Path, tmp_path: Path) -> None:
    fill(tmp_path, "owner/tiny", tiny)
    assert load(tmp_path, model="owner/tiny") == EXPECTED
    assert load(None, model="owner/tiny", download_dir=str(tmp_path)) == EXPECTED
    assert load(tmp_path, model="owner/tiny", revision=COMMIT) == EXPECTED


def test_revisions_and_other_places(tiny: Path, tmp_path: Path) -> None:
    changed = Path(shutil.copytree(tiny, tmp_path / "changed"))
    (changed / "config.json").write_text('{"model_type": "llama", "max_position_embeddings": 77}')
    cache = tmp_path / "cache"
    fill(cache, "owner/tiny", tiny)
    fill(cache, "owner/tiny", changed, commit=OTHER, ref="v2")
    fill(cache, "gpt2", changed)
    assert load(cache, model="owner/tiny", revision="v2")[0] == 77
    assert load(cache, model="gpt2")[0] == 77
    assert load(cache, model="owner/tiny", tokenizer="gpt2") == EXPECTED
    assert load(cache, model="gpt2", tokenizer="owner/tiny", tokenizer_revision="v2")[0] == 77
    assert load(cache, model=str(tiny), hf_config_path="gpt2")[0] == 77
    assert "'gpt2' (revision 'v2')" in load(cache, model="owner/tiny", revision="v2", tokenizer="gpt2")


def test_models_that_are_not_in_the_cache(tiny: Path, tmp_path: Path) -> None:
    fill(tmp_path, "owner/tiny", tiny)
    assert load(tmp_path, model="owner/other") == (
        "'owner/other' is no directory or file here, is not in the cache of the hub, "
        "and the hub can't be asked (offline mode or no network)"
    )
    assert "(revision 'v9')" in load(tmp_path, model="owner/tiny", revision="v9")


def test_mistral_format_on_the_hub(tiny: Path, tmp_path: Path) -> None:
    changed = Path(shutil.copytree(tiny, tmp_path / "changed"))
    (changed / "params.json").write_text('{"max_position_embeddings": 55}')
    fill(tmp_path / "cache", "owner/hf", changed)
    assert load(tmp_path / "cache", model="owner/hf")[0] == 55
    (changed / "tokenizer.model.v99").touch()
    fill(tmp_path / "cache", "owner/m", changed)
    assert "no tokenizer file of Mistral's" in load(tmp_path / "cache", model="owner/m")
    assert load(tmp_path / "cache", model="owner/m", tokenizer_mode="hf")[0] == 55


def test_hub_ids() -> None:
    assert all(map(is_hub_id, ("gpt2", "Qwen/Qwen3-0.6B", "a.b/c_d-e", "x" * 96)))
    assert not any(
        map(
            is_hub_id,
            (
                "",
                ".",
                "..",
                "/",
                "a/",
                "/a",
                "a/b/c",
                "a b",
                "a:b",
                "ä/b",
                "../a",
                "a--b/c",
                "a\n",
                "-a",
                "a.",
                "x" * 97,
            ),
        )
    )


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("GatedRepoError", "'owner/x' is gated: ask for access on its page on the hub"),
        ("RepositoryNotFoundError", "'owner/x' is no directory or file here and no model on the hub"),
        ("RevisionNotFoundError", "'owner/x': the hub knows the model but not this revision"),
        ("HfHubHTTPError", "'owner/x' can't be fetched from the hub: several lines"),
        ("LocalTokenNotFoundError", "'owner/x': --hf-token without a value takes the token of `hf auth login`"),
        ("OSError", "'owner/x' can't be fetched from the hub: several lines"),
    ],
)
def test_errors_of_the_hub_are_one_line(monkeypatch: pytest.MonkeyPatch, name: str, words: str) -> None:
    import huggingface_hub
    from huggingface_hub import errors

    kind = getattr(errors, name, OSError)

    def fail(*_: Any, **__: Any) -> str:
        if issubclass(kind, errors.HfHubHTTPError):
            client = sys.modules[errors.Response.__module__.partition(".")[0]]  # httpx or, since hub 2, httpx2
            request = client.Request("GET", "https://hub.example")
            raise kind("several\n\nlines", response=client.Response(404, request=request))
        raise kind("several\n\nlines")

    monkeypatch.setattr(huggingface_hub, "snapshot_download", fail)
    with pytest.raises(CheckpointError) as caught:
        snapshot("owner/x", revision=None, token=None, cache=None)
    assert str(caught.value).startswith(words)
    assert str(caught.value).isprintable()
