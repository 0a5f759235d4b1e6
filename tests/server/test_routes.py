"""The service routes, and what FastAPI says where there is no route: as recorded from vLLM 0.33."""

from __future__ import annotations

import re

import pytest
from tests.server.serving import CHAT, Obedient, Running, running

NOT_FOUND = b'{"detail":"Not Found"}'
NOT_ALLOWED = b'{"detail":"Method Not Allowed"}'


@pytest.mark.parametrize(
    ("method", "path", "body"),
    [
        ("GET", "/version", b'{"version":"0.33.0"}'),
        ("GET", "/load", b'{"server_load":0}'),
        ("GET", "/kv_event_sources", b"{}"),
        ("GET", "/tokenizer_info", b'{"tokenizer_class":"Obedient"}'),
    ],
)
def test_constant_answers(served: Running, method: str, path: str, body: bytes) -> None:
    answer = served.ask(method, path)
    assert (answer.status, answer.body) == (200, body)
    assert answer.headers["content-type"] == "application/json"
    assert answer.headers["vary"] == "Origin"


@pytest.mark.parametrize(("method", "path"), [("GET", "/health"), ("GET", "/ping"), ("POST", "/ping")])
def test_health_has_neither_body_nor_type(served: Running, method: str, path: str) -> None:
    answer = served.ask(method, path)
    assert (answer.status, answer.body) == (200, b"")
    assert "content-type" not in answer.headers
    assert answer.headers["content-length"] == "0"


def test_models(served: Running) -> None:
    first, second = (served.ask("GET", "/v1/models") for _ in range(2))
    text = re.sub(rb'"created":\d+', b'"created":0', first.body)
    text = re.sub(rb"modelperm-[0-9a-f]{16}", b"modelperm-x", text)
    card = (
        '{"id":"%s","object":"model","created":0,"owned_by":"vllm","root":"models/tiny","parent":null,'
        '"max_model_len":512,"permission":[{"id":"modelperm-x","object":"model_permission","created":0,'
        '"allow_create_engine":false,"allow_sampling":true,"allow_logprobs":true,"allow_search_indices":false,'
        '"allow_view":true,"allow_fine_tuning":false,"organization":"*","group":null,"is_blocking":false}]}'
    )
    assert text.decode() == f'{{"object":"list","data":[{card % "tiny"},{card % "small"}]}}'
    assert first.body != second.body, "ids are fresh"


@pytest.mark.parametrize(
    "path",
    [
        "/", "/none", "/v1/nothing", "/v1/models/tiny", "/v1/chat/completions", "/v1/responses", "/v1/messages",
        "/inference/v1/generate", "/v1/systemone", "/v1/decisions", "//v1/models", "/health//x", "/server_info",
    ],
)  # fmt: skip
def test_unknown_paths(served: Running, path: str) -> None:
    for method in ("GET", "POST", "OPTIONS"):
        answer = served.ask(method, path)
        assert (answer.status, answer.body) == (404, NOT_FOUND)
        assert answer.headers["content-type"] == "application/json"


@pytest.mark.parametrize(
    ("method", "path", "allow"),
    [
        ("GET", CHAT, "POST"),
        ("OPTIONS", CHAT, "POST"),
        ("DELETE", "/v1/models", "GET"),
        ("PUT", "/tokenize", "POST"),
        ("DELETE", "/ping", "GET"),
        ("PROPFIND", "/health", "GET"),
        ("POST", "/docs", "GET, HEAD"),
    ],
)
def test_wrong_methods(served: Running, method: str, path: str, allow: str) -> None:
    answer = served.ask(method, path)
    assert (answer.status, answer.body, answer.headers["allow"]) == (405, NOT_ALLOWED, allow)


def test_head_is_for_the_docs_only(served: Running) -> None:
    answer = served.ask("HEAD", "/health")
    assert (answer.status, answer.body, answer.headers["allow"]) == (405, b"", "GET")
    for path in ("/docs", "/redoc", "/openapi.json"):
        answer = served.ask("HEAD", path)
        assert (answer.status, answer.body) == (200, b"")
        assert int(answer.headers["content-length"]) > 100


@pytest.mark.parametrize(
    ("method", "path", "location"),
    [
        ("GET", "/v1/models/", "/v1/models"),
        ("GET", "/v1/models//?a=b", "/v1/models?a=b"),
        ("POST", CHAT + "/", CHAT),
        ("PUT", "/tokenize/", "/tokenize"),
        ("GET", "/docs/", "/docs"),
    ],
)
def test_slash_at_the_end(served: Running, method: str, path: str, location: str) -> None:
    answer = served.ask(method, path, headers={"Host": "h.example:1"})
    assert (answer.status, answer.body) == (307, b"")
    assert answer.headers["location"] == f"http://h.example:1{location}"
    assert "content-type" not in answer.headers


@pytest.mark.parametrize(
    ("body", "message"),
    [
        (b"{}", "Cannot find suitable handler for request. Expected one of: []"),
        (b'{"prompt":"x"}', "Cannot find suitable handler for request. Expected one of: []"),
        (b"", "JSON decode error: Expecting value: line 1 column 1 (char 0)"),
        (b"{", "JSON decode error: Expecting property name enclosed in double quotes: line 1 column 2 (char 1)"),
    ],
)
def test_invocations(served: Running, body: bytes, message: str) -> None:
    answer = served.ask("POST", "/invocations", body)
    kind = "Bad Request" if "decode" in message else "BadRequestError"
    assert answer.status == 400
    assert answer.json == {"error": {"message": message, "type": kind, "param": None, "code": 400}}


def test_openapi_lists_routes_and_methods(served: Running) -> None:
    schema = served.ask("GET", "/openapi.json").json
    assert set(schema["paths"]["/ping"]) == {"get", "post"}
    assert schema["paths"][CHAT]["post"]["requestBody"]["required"]
    assert {"/tokenize", "/detokenize", "/v1/models", "/v1/responses/render", "/metrics"} <= set(schema["paths"])
    assert not {"/docs", "/openapi.json"} & set(schema["paths"])
    page = served.ask("GET", "/docs")
    assert page.headers["content-type"] == "text/html; charset=utf-8"
    assert CHAT.encode() in page.body
    loading = re.compile(rb"<(script|link|img|iframe)|src=|url\(|@import|href=.https?:")
    assert not loading.search(page.body), "the page loads nothing from elsewhere"


def test_switches() -> None:
    with running(disable_fastapi_docs=True) as server:
        for path in ("/docs", "/redoc", "/openapi.json", "/docs/oauth2-redirect", "/tokenizer_info"):
            assert server.ask("GET", path).body == NOT_FOUND
    with running(enable_offline_docs=True) as server:
        assert server.ask("GET", "/docs").status == 200
        assert server.ask("GET", "/redoc").status == 404


def test_root_path_is_optional_in_requests() -> None:
    with running(root_path="/api/", api_keys=("k",)) as server:
        key = {"Authorization": "Bearer k"}
        for path in ("/v1/models", "/api/v1/models"):
            assert server.ask("GET", path, headers=key).status == 200
            assert server.ask("GET", path).status == 401
        assert server.ask("GET", "/api/health").status == 200
        assert server.ask("GET", "/apihealth").status == 404
        assert server.ask("GET", "/api/v1/models/", headers=key).headers["location"].endswith("/api/v1/models")
        assert server.ask("GET", "/openapi.json").json["servers"] == [{"url": "/api"}]


def test_a_root_path_of_one_slash_opens_nothing() -> None:
    with running(root_path="/", api_keys=("k",)) as server:
        assert server.ask("GET", "/v1/models").status == 401


def test_several_models() -> None:
    with running(Obedient("a", "b"), Obedient("c")) as server:
        assert [card["id"] for card in server.ask("GET", "/v1/models").json["data"]] == ["a", "b", "c"]
        assert [server.chat(model=name).json["by"] for name in ("a", "b", "c", "none", "")] == ["a", "a", "c", "a", "a"]
        assert server.chat().json["by"] == "a"
        assert server.ask("POST", CHAT, b"{").status == 400
