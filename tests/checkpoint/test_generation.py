from __future__ import annotations

import json
from typing import Any

import pytest

from typecase.checkpoint.errors import CheckpointError
from typecase.checkpoint.generation import check_generation_config, eos_token_ids, read_generation_config


def files(**settings: Any) -> dict[str, bytes]:
    return {"generation_config.json": json.dumps(settings).encode()}


def test_the_file_counts_without_its_nulls() -> None:
    settings = read_generation_config(
        files(temperature=1.0, top_k=50, top_p=None, presence_penalty=0.5, foo=1), {"min_p": 0.5, "eos_token_id": 7}
    )
    assert settings == {"temperature": 1.0, "top_k": 50, "presence_penalty": 0.5, "foo": 1}


def test_without_the_file_a_few_settings_of_the_config_count() -> None:
    config = {
        "temperature": 0.7,
        "top_k": 5,
        "min_p": 0.1,
        "max_new_tokens": 77,
        "text_config": {"eos_token_id": [2, 7]},
    }
    assert read_generation_config({}, config) == {"min_p": 0.1, "max_new_tokens": 77, "eos_token_id": [2, 7]}
    assert read_generation_config({}, {"eos_token_id": 2, "text_config": {"eos_token_id": 3}}) == {"eos_token_id": 2}


def test_end_tokens() -> None:
    assert eos_token_ids({}) == ()
    assert eos_token_ids({"eos_token_id": None}) == ()
    assert eos_token_ids({"eos_token_id": 0}) == (0,)
    assert eos_token_ids({"eos_token_id": [5, 3]}) == (5, 3)


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"temperature": "x"}, '"temperature" must be a number'),
        ({"temperature": True}, '"temperature" must be a number'),
        ({"top_k": 1.5}, '"top_k" must be a number'),
        ({"top_k": 10**30}, '"top_k" is out of range'),
        ({"skip_special_tokens": 1}, '"skip_special_tokens" must be true or false'),
        ({"eos_token_id": "</s>"}, '"eos_token_id" must be a token id or a list of them'),
        ({"eos_token_id": [[1]]}, '"eos_token_id" must be a token id or a list of them'),
        ({"eos_token_id": 2**40}, '"eos_token_id" must be a token id or a list of them'),
    ],
)
def test_wrong_kinds_are_told(settings: dict[str, Any], message: str) -> None:
    with pytest.raises(CheckpointError) as caught:
        read_generation_config(files(**settings), {})
    assert str(caught.value) == f"generation_config.json: {message}"
    with pytest.raises(CheckpointError) as caught:
        check_generation_config(settings, "--override-generation-config")
    assert str(caught.value) == f"--override-generation-config: {message}"
