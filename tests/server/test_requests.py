"""Bodies: what is read, what is refused, and where it is rendered."""

from __future__ import annotations

import json

import pytest
from tests.server.serving import CHAT, Obedient, Running, eventually, running, statuses

from typecase.server import rendering
from typecase.server.settings import TemplateBudget

PATHS = (CHAT, "/v1/responses/render", "/tokenize", "/detokenize")
MEDIA_TYPE = (
    b'{"error":{"message":"1 validation error:\\n  Unsupported Media Type: Only \'application/json\' is allowed",'
    b'"type":"Bad Request","param":null,"code":400}}'
)


@pytest.mark.parametrize("path", PATHS)
def test_answers(served: Running, path: str) -> None:
    answer = served.ask("POST", path, {"a": 1}, {"X-Request-Id": "mine"})
    assert answer.status == 200
    assert answer.json["request_id"] == "mine"
    assert answer.headers["content-type"] == "application/json"
    assert answer.headers["content-length"] == str(len(answer.body))


def test_any_id_reaches_the_model_as_it_is(served: Running) -> None:
    assert served.chat().json["request_id"] is None
    assert served.chat({"X-Request-Id": "a b/..%00" + "x" * 300}).json["request_id"] == "a b/..%00" + "x" * 300
    assert served.chat({"X-Request-Id": "\xe9"}).json["request_id"] == "\xe9"


@pytest.mark.parametrize("kind", ["application/json", "APPLICATION/JSON", "application/json; charset=utf-8"])
def test_good_types(served: Running, kind: str) -> None:
    assert served.chat({"Content-Type": kind}).status == 200


@pytest.mark.parametrize("kind", ["text/plain", "application/json ; x", "application/jsonx", "", "json"])
@pytest.mark.parametrize("path", [*PATHS, "/invocations"])
def test_bad_types(served: Running, path: str, kind: str) -> None:
    answer = served.ask("POST", path, b"{}", {"Content-Type": kind})
    assert (answer.status, answer.body) == (400, MEDIA_TYPE)


def test_bytes_that_are_no_text(served: Running) -> None:
    answer = served.ask("POST", CHAT, b'{"a":"\xff"}')
    assert (answer.status, answer.body) == (400, b'{"detail":"There was an error parsing the body"}')


def test_body_in_chunks(served: Running) -> None:
    head = f"POST {CHAT} HTTP/1.1\r\nHost: h\r\nConnection: close\r\nContent-Type: application/json\r\n"
    body = b'Transfer-Encoding: chunked\r\n\r\n3\r\n{"a\r\n4;x=y\r\n":1}\r\n0\r\nTrailer: t\r\n\r\n'
    answer = served.raw(head.encode() + body)
    assert statuses(answer) == [200]
    assert b'"bytes": 7' in answer


def test_short_bodies_on_the_loop_long_ones_in_threads(served: Running) -> None:
    loop = served.chat().json["thread"]
    assert served.chat(text="x" * 10_000).json["thread"] == loop
    long = served.chat(text="x" * 300_000).json
    assert (long["thread"], long["bytes"]) == ("render-0", 300_000 + len('{"text": ""}'))
    assert served.chat(chat_template="x").json["thread"] == "render-0", "a template of the request"
    assert served.chat(chat_template_kwargs={}).json["thread"] == loop
    assert served.app.in_flight.used == 0


def test_a_template_that_runs_away_costs_its_own_request_only(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(rendering, "SHARED_SECONDS", 0.1)
    model = Obedient()
    budget = TemplateBudget(steps=1 << 60, characters=1 << 60, seconds=0.5)
    with running(model, full_budget=budget) as server, server.connect() as connection:
        body = b'{"do": "run away"}'
        head = (
            f"POST {CHAT} HTTP/1.1\r\nHost: h\r\nContent-Type: application/json\r\nContent-Length: {len(body)}\r\n\r\n"
        )
        connection.sendall(head.encode() + body)
        answered = 0
        while not model.stopped.is_set() or answered < 20:
            assert server.chat().status == 200
            assert server.chat(text="x" * 20_000).json["thread"] == "render-0", "long ones have their thread back"
            answered += 1
        answer = connection.recv(1 << 16)
        assert statuses(answer) == [400]
        error = json.loads(answer.partition(b"\r\n\r\n")[2])["error"]
        assert (error["type"], error["param"]) == ("BadRequestError", None)
        assert "longer than its time limit" in error["message"]


def test_steps_end_a_template_too() -> None:
    with running(full_budget=TemplateBudget(steps=100_000, characters=1)) as server:
        answer = server.chat(do="run away")
        assert answer.status == 400
        assert "limit of 100000 steps" in answer.json["error"]["message"]


def test_nobody_works_for_a_client_that_left() -> None:
    model = Obedient()
    budget = TemplateBudget(steps=1 << 60, characters=1 << 60)  # no time limit at all
    with running(model, full_budget=budget, renderer_num_workers=2) as server:
        connection = server.connect()
        body = b'{"do": "run away", "chat_template": "x"}'
        head = (
            f"POST {CHAT} HTTP/1.1\r\nHost: h\r\nContent-Type: application/json\r\nContent-Length: {len(body)}\r\n\r\n"
        )
        connection.sendall(head.encode() + body)
        eventually(lambda: model.calls)
        connection.close()
        assert model.stopped.wait(20)
        assert server.chat(text="x" * 20_000).status == 200
