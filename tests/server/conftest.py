"""One server with the usual settings for all tests that change nothing about it."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from tests.server.serving import Obedient, Running, running


@pytest.fixture(scope="module")
def served() -> Iterator[Running]:
    """A server without keys."""
    with running(Obedient("tiny", "small"), enable_tokenizer_info_endpoint=True) as server:
        yield server


@pytest.fixture(scope="module")
def guarded() -> Iterator[Running]:
    """A server with two API keys."""
    with running(api_keys=("secret-1", "secret-2", ""), allowed_origins=("http://ok.example",)) as server:
        yield server
