"""Cross-origin requests, as Starlette's middleware answers them on vLLM's server."""

from __future__ import annotations

from tests.server.serving import CHAT, Running, running

KEY = {"Authorization": "Bearer secret-1"}
PREFLIGHT_VARY = (
    "Origin, Access-Control-Request-Method, Access-Control-Request-Headers, Access-Control-Request-Private-Network"
)


def test_preflight(guarded: Running) -> None:
    headers = {
        "Origin": "http://ok.example",
        "Access-Control-Request-Method": "POST",
        "Access-Control-Request-Headers": "X-A, content-type",
    }
    answer = guarded.ask("OPTIONS", CHAT, headers=headers)
    assert (answer.status, answer.body) == (200, b"OK")
    assert answer.headers["access-control-allow-origin"] == "http://ok.example"
    assert answer.headers["access-control-allow-headers"] == "X-A, content-type"
    assert answer.headers["access-control-max-age"] == "600"
    assert {"GET", "POST", "OPTIONS"} <= set(answer.headers["access-control-allow-methods"].split(", "))
    assert answer.headers["vary"] == PREFLIGHT_VARY


def test_preflight_refused(guarded: Running) -> None:
    headers = {"Origin": "http://no.example", "Access-Control-Request-Method": "BREW"}
    answer = guarded.ask("OPTIONS", "/none", headers=headers)
    assert (answer.status, answer.body) == (400, b"Disallowed CORS origin, method")
    assert answer.headers["content-type"] == "text/plain; charset=utf-8"
    assert "access-control-allow-origin" not in answer.headers


def test_an_allowed_origin(guarded: Running) -> None:
    answer = guarded.chat({**KEY, "Origin": "http://ok.example"})
    assert answer.status == 200
    assert answer.headers["access-control-allow-origin"] == "http://ok.example"
    assert answer.headers["vary"] == "Origin"


def test_another_origin_is_served_without_the_header(guarded: Running) -> None:
    answer = guarded.chat({**KEY, "Origin": "http://no.example"})
    assert answer.status == 200
    assert "access-control-allow-origin" not in answer.headers
    assert answer.headers["vary"] == "Origin"


def test_errors_have_the_headers_too(guarded: Running) -> None:
    answer = guarded.ask("GET", "/none", headers={"Origin": "http://ok.example"})
    assert (answer.status, answer.headers["access-control-allow-origin"]) == (404, "http://ok.example")
    plain = guarded.ask("OPTIONS", "/health", headers={"Origin": "http://ok.example"})
    assert (plain.status, plain.headers["allow"]) == (405, "GET")


def test_every_origin_with_credentials() -> None:
    with running(allowed_origins=("*",), allow_credentials=True, allowed_methods=("GET",)) as server:
        answer = server.ask("GET", "/health", headers={"Origin": "http://a.example"})
        assert answer.headers["access-control-allow-origin"] == "http://a.example"
        assert answer.headers["access-control-allow-credentials"] == "true"
        refused = server.ask(
            "OPTIONS", CHAT, headers={"Origin": "http://a.example", "Access-Control-Request-Method": "POST"}
        )
        assert (refused.status, refused.body) == (400, b"Disallowed CORS method")
