"""API keys: the cases recorded from vLLM 0.33, and ways around the check that must not exist."""

from __future__ import annotations

import pytest
from tests.server.serving import CHAT, Running, running, statuses

from typecase.server.auth import KeyGuard

UNAUTHORIZED = b'{"error":"Unauthorized"}'
KEY = {"Authorization": "Bearer secret-2"}


@pytest.mark.parametrize(
    "value",
    [
        "", "secret-1", "Bearer", "Bearer ", "Bearer nope", "Bearer  secret-1", "Basic secret-1", "Bearer secret-1 x",
        "Bearer secret",
    ],
)  # fmt: skip
def test_refused(guarded: Running, value: str) -> None:
    answer = guarded.chat({"Authorization": value})
    assert (answer.status, answer.body) == (401, UNAUTHORIZED)
    assert answer.headers["content-type"] == "application/json"
    assert not {"vary", "www-authenticate", "access-control-allow-origin"} & set(answer.headers)


@pytest.mark.parametrize("value", ["Bearer secret-1", "bearer secret-1", "BEARER secret-2"])
def test_admitted(guarded: Running, value: str) -> None:
    assert guarded.chat({"Authorization": value}).status == 200


def test_another_header_is_no_key(guarded: Running) -> None:
    assert guarded.chat({"X-Api-Key": "secret-1"}).status == 401


@pytest.mark.parametrize(
    "path",
    ["/v1/models", "/v1/none", "/v1x", "/v2/x", "/inference/x", "/cohere/v2/chat", "/v1%2Fmodels", "/v1/models/"],
)
def test_guarded_before_routing(guarded: Running, path: str) -> None:
    for method in ("GET", "HEAD", "POST", "DELETE"):
        assert guarded.ask(method, path).status == 401
    assert guarded.ask("GET", path, headers=KEY).status in (200, 307, 404)
    assert guarded.ask("OPTIONS", path).status in (307, 404, 405), "OPTIONS needs no key"


@pytest.mark.parametrize(
    "path",
    ["/health", "/ping", "/version", "/load", "/metrics", "/kv_event_sources", "/docs", "/redoc", "/openapi.json"],
)
def test_open_to_everybody(guarded: Running, path: str) -> None:
    assert guarded.ask("GET", path).status == 200


def test_open_posts(guarded: Running) -> None:
    for path in ("/tokenize", "/detokenize"):
        assert guarded.ask("POST", path, {}).status == 200
    assert guarded.ask("POST", "/invocations", {}).status == 400
    assert guarded.ask("GET", "/none").status == 404


@pytest.mark.parametrize("path", ["//v1/models", "/V1/models", "/./v1/models", "/x/../v1/models", "/v1;/models"])
def test_no_other_spelling_reaches_a_guarded_route(guarded: Running, path: str) -> None:
    assert guarded.ask("GET", path).status in (401, 404)


def test_of_two_headers_the_first_counts(guarded: Running) -> None:
    request = "GET /v1/models HTTP/1.1\r\nHost: h\r\nConnection: close\r\n"
    good, bad = "Authorization: Bearer secret-1\r\n", "Authorization: Bearer no\r\n"
    assert statuses(guarded.raw(f"{request}{good}{bad}\r\n".encode())) == [200]
    assert statuses(guarded.raw(f"{request}{bad}{good}\r\n".encode())) == [401]


def test_an_upgrade_is_checked_too(guarded: Running) -> None:
    upgrade = "Host: h\r\nConnection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\n\r\n"
    assert UNAUTHORIZED in guarded.raw(f"GET /v1/models HTTP/1.1\r\n{upgrade}".encode())


def test_401_for_a_body_that_is_not_read(guarded: Running) -> None:
    assert guarded.ask("POST", CHAT, b"x" * 3_000_000).status == 401


def test_keys_that_are_nothing() -> None:
    with running(api_keys=("", "")) as server:
        assert server.ask("GET", "/v1/models").status == 200


def test_keys_beyond_ascii() -> None:
    guard = KeyGuard(["schl\xfcssel", "k"])
    assert len(guard) == 2
    assert guard.admits("Bearer schl\xfcssel".encode())
    assert guard.admits("Bearer schl\xfcssel".encode("latin-1")), "as vLLM reads it"
    assert not guard.admits(b"Bearer schl\xff")
    assert not guard.admits(None)
