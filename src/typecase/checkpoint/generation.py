"""Sampling defaults and end tokens of a checkpoint (generation_config.json).

The result holds what the file sets, nulls left out: in transformers 5 every default is null, so that is exactly the
"difference to the defaults" that vLLM takes. Without the file transformers builds the settings from config.json, of
which only ``min_p``, ``max_new_tokens`` and the token ids get through.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from .errors import CheckpointError
from .json_files import read_object
from .model_config import text_config

__all__ = ["SAMPLING_KEYS", "check_generation_config", "eos_token_ids", "read_generation_config"]

_NAME = "generation_config.json"
_NUMBERS = ("repetition_penalty", "presence_penalty", "frequency_penalty", "temperature", "top_p", "min_p")
_INTEGERS = ("top_k", "max_new_tokens")
# The keys that vLLM takes sampling defaults from
SAMPLING_KEYS = (*_NUMBERS, *_INTEGERS, "skip_special_tokens")
_FROM_CONFIG = ("min_p", "max_new_tokens", "bos_token_id", "eos_token_id", "pad_token_id")


def read_generation_config(files: Mapping[str, bytes], config: Mapping[str, Any]) -> dict[str, Any]:
    """The generation settings in the files of a checkpoint."""
    if _NAME in files:
        return check_generation_config(read_object(_NAME, files[_NAME]))
    text = text_config(config)
    found = {key: config.get(key, text.get(key)) for key in _FROM_CONFIG}
    return check_generation_config({key: value for key, value in found.items() if value is not None}, "config.json")


def check_generation_config(settings: Mapping[str, Any], name: str = _NAME) -> dict[str, Any]:
    """``settings`` without nulls; what a server will use must be of the right kind. ``name`` is used in errors."""
    result = {key: value for key, value in settings.items() if value is not None}
    for key in (*_NUMBERS, *_INTEGERS):
        value = result.get(key, 0)
        if isinstance(value, bool) or not isinstance(value, int if key in _INTEGERS else (int, float)):
            raise CheckpointError(f'{name}: "{key}" must be a number')
        if isinstance(value, int) and not -(2**63) <= value < 2**63:
            raise CheckpointError(f'{name}: "{key}" is out of range')
    if not isinstance(result.get("skip_special_tokens", True), bool):
        raise CheckpointError(f'{name}: "skip_special_tokens" must be true or false')
    eos_token_ids(result, name)
    return result


def eos_token_ids(settings: Mapping[str, Any], name: str = _NAME) -> tuple[int, ...]:
    """The ids that end a generation, as ``eos_token_id`` gives them: one number or a list."""
    value = settings.get("eos_token_id")
    ids = [] if value is None else value if isinstance(value, list) else [value]
    for item in ids:
        if isinstance(item, bool) or not isinstance(item, int) or not -(2**31) <= item < 2**31:
            raise CheckpointError(f'{name}: "eos_token_id" must be a token id or a list of them')
    return tuple(ids)
