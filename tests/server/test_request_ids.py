"""``--enable-request-id-headers``: an id on every answer."""

from __future__ import annotations

import re
from collections.abc import Iterator

import pytest
from tests.server.serving import CHAT, Running, running

FRESH = re.compile("[0-9a-f]{32}")


@pytest.fixture(scope="module")
def naming() -> Iterator[Running]:
    with running(enable_request_id_headers=True, api_keys=("k",), allowed_origins=("http://ok.example",)) as server:
        yield server


def test_every_answer_has_one(naming: Running) -> None:
    preflight = {"Origin": "http://ok.example", "Access-Control-Request-Method": "POST"}
    answers = [
        naming.ask("GET", "/health"),
        naming.ask("GET", "/none"),
        naming.ask("GET", "/v1/models"),
        naming.ask("DELETE", "/health"),
        naming.ask("GET", "/docs/"),
        naming.ask("POST", "/tokenize", {"do": "break"}),
        naming.ask("GET", "/health", headers={"Origin": "http://ok.example"}),
        naming.ask("OPTIONS", CHAT, headers=preflight),
    ]
    ids = [answer.headers["x-request-id"] for answer in answers]
    assert [answer.status for answer in answers] == [200, 404, 401, 405, 307, 500, 200, 200]
    assert all(FRESH.fullmatch(name) for name in ids)
    assert len(set(ids)) == len(ids)


def test_the_clients_own_comes_back(naming: Running) -> None:
    assert naming.ask("GET", "/v1/models", headers={"X-Request-Id": "a b-1"}).headers["x-request-id"] == "a b-1"


@pytest.mark.parametrize("name", ["x" * 129, "\xe9", "a\tb", ""])
def test_unless_it_is_unfit_for_a_header(naming: Running, name: str) -> None:
    answer = naming.ask("POST", "/tokenize", {}, {"X-Request-Id": name})
    assert FRESH.fullmatch(answer.headers["x-request-id"])
    assert answer.json["request_id"] == name, "inside bodies it stands as it came"


def test_without_the_flag_there_is_none(served: Running) -> None:
    assert "x-request-id" not in served.ask("GET", "/health", headers={"X-Request-Id": "a"}).headers
