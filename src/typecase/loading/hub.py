"""A model of the Hugging Face hub: its front files, downloaded into the cache or found there.

``huggingface_hub`` does the work and reads its own variables (``HF_HOME``, ``HF_TOKEN``, ``HF_ENDPOINT``...); with
``HF_HUB_OFFLINE=1`` or without a network the cache alone is used. Here its errors become one line that says what to do.
"""

from __future__ import annotations

import re
from pathlib import Path

from typecase.checkpoint.checkpoint import FRONT_FILES, CheckpointError
from typecase.checkpoint.mistral_files import MISTRAL_FILES
from typecase.checkpoint.templates import ADDITIONAL

__all__ = ["is_hub_id", "snapshot"]

_PATTERNS = (*FRONT_FILES, ADDITIONAL + "*.jinja", *MISTRAL_FILES)
_PART = r"\w(?:[\w.-]*\w)?"  # huggingface_hub's rule: no dot or dash at an end
_HUB_ID = re.compile(f"{_PART}(?:/{_PART})?", re.ASCII)


def is_hub_id(text: str) -> bool:
    """Could ``text`` be the id of a model, ``name`` or ``owner/name``?"""
    return len(text) <= 96 and _HUB_ID.fullmatch(text) is not None and ".." not in text and "--" not in text


def snapshot(model: str, *, revision: str | None, token: str | bool | None, cache: str | None) -> Path:
    """The directory in the cache that holds the front files of ``model`` at ``revision`` (default: main)."""
    from huggingface_hub import errors, snapshot_download

    named = f"{model!r}" if revision is None else f"{model!r} (revision {revision!r})"
    try:
        path = snapshot_download(model, revision=revision, token=token, cache_dir=cache, allow_patterns=list(_PATTERNS))
    except errors.GatedRepoError:
        raise CheckpointError(
            f"{named} is gated: ask for access on its page on the hub, then give a token with --hf-token or HF_TOKEN"
        ) from None
    except errors.RevisionNotFoundError:
        raise CheckpointError(f"{named}: the hub knows the model but not this revision") from None
    except errors.RepositoryNotFoundError:
        raise CheckpointError(
            f"{named} is no directory or file here and no model on the hub; for a private model give a token with "
            "--hf-token or HF_TOKEN"
        ) from None
    except errors.LocalEntryNotFoundError as error:
        partly = "only partly" if getattr(error, "snapshot_path", None) else "not"
        raise CheckpointError(
            f"{named} is no directory or file here, is {partly} in the cache of the hub"
            f"{f' at {cache}' if cache else ''}, and the hub can't be asked (offline mode or no network)"
        ) from None
    except errors.LocalTokenNotFoundError:
        raise CheckpointError(
            f"{named}: --hf-token without a value takes the token of `hf auth login`, and there is none"
        ) from None
    except (errors.HfHubHTTPError, errors.HFValidationError, OSError, ValueError) as error:
        raise CheckpointError(f"{named} can't be fetched from the hub: {error}") from None
    return Path(path)
