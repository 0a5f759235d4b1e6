"""The routes over a real checkpoint: the small one of the tests."""

from __future__ import annotations

import json
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from tests.server.serving import CHAT, Answer, Running, eventually, running, statuses

import typecase
from typecase.server import rendering
from typecase.server.settings import TemplateBudget

MESSAGES = [{"role": "user", "content": "Hello there"}]
RUNAWAYS = {
    "endless loop": "{% for a in range(99999) %}{% for b in range(99999) %}{% endfor %}{% endfor %}",
    "power": "{{ 9**(9**9) }}",
    "long text": "{{ 'a' * 10**9 }}",
    "long list": "{{ ([0] * 10**9) | length }}",
    "padding": "{{ 'a' | center(10**9) }}",
    "growth": "{% set n = namespace(t='ab') %}{% for i in range(64) %}{% set n.t = n.t ~ n.t %}{% endfor %}{{ n.t }}",
    "recursion": "{% macro m(n) %}{{ m(n) }}{{ m(n) }}{% endmacro %}{{ m(1) }}",
}


@pytest.fixture(scope="module")
def real(tiny: Path) -> Iterator[Running]:
    model = typecase.load(tiny, served_model_names=("tiny", "alias"), trust_request_chat_template=True)
    budget = TemplateBudget(steps=300_000, characters=1_000_000, seconds=5)
    with running(model, full_budget=budget, enable_tokenizer_info_endpoint=True) as server:
        yield server


def error(answer: Answer) -> dict[str, Any]:
    found: dict[str, Any] = answer.json["error"]
    assert set(found) == {"message", "type", "param", "code"}
    assert found["code"] == answer.status
    return found


def test_a_chat_and_back(real: Running) -> None:
    rendered = real.chat({"X-Request-Id": "mine"}, model="alias", messages=MESSAGES).json
    assert rendered["request_id"] == "chatcmpl-mine"
    assert rendered["model"] == "alias"
    text = real.ask("POST", "/detokenize", {"tokens": rendered["token_ids"]}).json["prompt"]
    assert "Hello there" in text
    again = real.ask("POST", "/tokenize", {"messages": MESSAGES}).json
    assert again["tokens"] == rendered["token_ids"]
    assert again["count"] == len(rendered["token_ids"])


def test_a_completion_and_back(real: Running) -> None:
    body = {"prompt": ["Hello there", "x"], "request_id": "theirs", "return_token_offsets": True}
    first, second = real.ask("POST", "/v1/completions/render", body, {"X-Request-Id": "mine"}).json
    assert (first["request_id"], second["request_id"]) == ("cmpl-mine-0", "cmpl-mine-1")
    assert real.ask("POST", "/detokenize", {"tokens": first["token_ids"]}).json["prompt"] == "Hello there"
    assert first["token_offsets"][-1][1] == len("Hello there")
    assert real.ask("POST", "/tokenize", {"prompt": "x"}).json["tokens"] == second["token_ids"]


def test_short_and_long_requests_give_the_same(real: Running) -> None:
    text = "The same words. " * 1500  # past what is rendered on the event loop
    long = real.ask("POST", "/tokenize", {"prompt": text}).json["tokens"]
    parts = [real.ask("POST", "/tokenize", {"prompt": text[:8000]}).json["tokens"]]
    assert long[: len(parts[0]) - 5] == parts[0][:-5]


def test_models_and_tokenizer_info(real: Running, tiny: Path) -> None:
    cards = real.ask("GET", "/v1/models").json["data"]
    assert [(card["id"], card["root"]) for card in cards] == [("tiny", str(tiny)), ("alias", str(tiny))]
    assert "tokenizer_class" in real.ask("GET", "/tokenizer_info").json


def test_an_unknown_model(real: Running) -> None:
    found = error(real.chat(model="nope", messages=MESSAGES))
    assert (found["type"], found["param"], found["code"]) == ("NotFoundError", "model", 404)


@pytest.mark.parametrize(
    ("body", "param"),
    [
        (b"", "body"),
        (b"null", "body"),
        (b"[]", "body"),
        (b'"x"', "body"),
        (b"{", "body.1"),
        (b"{}", "body.messages"),
        (b'{"messages": null}', None),
        (b'{"messages": []}', None),
        (b'{"messages": [{"role": "user", "content": "x"}], "temperature": NaN}', "temperature"),
        (b'{"messages": [{"role": "user", "content": "x"}], "max_tokens": 0}', "max_tokens"),
        (b'{"messages": [{"role": "user", "content": "\\ud800"}]}', None),
        (b'{"messages": [{"role": "user", "content": "x"}], "n": ' + b"9" * 5000 + b"}", None),
        (b"[" * 100_000, "body"),
        (b'{"messages": ' + b"[" * 100_000 + b"]" * 100_000 + b"}", "body"),
        (b'{"messages": [{"role": "user", "content": ' + b'{"a":' * 900 + b"1" + b"}" * 900 + b"}]}", None),
    ],
)
def test_bad_bodies(real: Running, body: bytes, param: str | None) -> None:
    answer = real.ask("POST", CHAT, body)
    assert answer.status == 400
    if param is not None and "detail" not in answer.json:
        assert error(answer)["param"] == param


@pytest.mark.parametrize("template", RUNAWAYS.values(), ids=RUNAWAYS.keys())
def test_a_template_that_runs_away_is_stopped(real: Running, template: str) -> None:
    for path in (CHAT, "/tokenize"):
        answer = real.ask("POST", path, {"messages": MESSAGES, "chat_template": template})
        assert error(answer)["type"] == "BadRequestError"
        assert answer.status == 400
    assert real.chat(messages=MESSAGES).status == 200


def test_others_are_served_while_one_runs(tiny: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(rendering, "SHARED_SECONDS", 0.1)
    model = typecase.load(tiny, trust_request_chat_template=True)
    budget = TemplateBudget(steps=1 << 60, characters=1 << 40, seconds=1.5)
    with running(model, full_budget=budget) as server, server.connect() as connection:
        data = json.dumps({"messages": MESSAGES, "chat_template": RUNAWAYS["endless loop"]}).encode()
        head = (
            f"POST {CHAT} HTTP/1.1\r\nHost: h\r\nContent-Type: application/json\r\nContent-Length: {len(data)}\r\n\r\n"
        )
        connection.sendall(head.encode() + data)
        eventually(lambda: server.app.in_flight.used)
        served = 0
        while server.app.in_flight.used:
            assert server.chat(messages=MESSAGES).status == 200
            assert server.ask("POST", "/tokenize", {"prompt": "long " * 5000}).status == 200
            served += 1
        assert served > 1
        assert statuses(connection.recv(1 << 16)) == [400]


def test_a_template_that_refuses(real: Running) -> None:
    template = "{{ raise_exception('Roles must alternate') }}"
    assert error(real.chat(messages=MESSAGES, chat_template=template))["message"] == "Roles must alternate"


COMMAND = [
    "curl", "--fail", "--silent", "--show-error", "{url}/v1/responses/render", "-H", "Content-Type: application/json",
    "-d", '{"model": "tiny", "input": "Explain prefix caching in one sentence.", "max_output_tokens": 32}',
]  # fmt: skip


@pytest.mark.parametrize("more", [[], ["-H", "Authorization: Bearer anything"]])
def test_the_documented_command(real: Running, more: list[str]) -> None:
    if shutil.which("curl") is None:
        answer = real.ask("POST", "/v1/responses/render", json.loads(COMMAND[-1])).body
    else:
        command = [part.format(url=f"http://127.0.0.1:{real.port}") if "{url}" in part else part for part in COMMAND]
        answer = subprocess.run([*command, *more], check=True, capture_output=True).stdout
    ids = json.loads(answer)["token_ids"]
    assert len(ids) > 5
    if shutil.which("jq") is not None:
        jq = ["jq", "-c", ".token_ids"]
        assert json.loads(subprocess.run(jq, check=True, capture_output=True, input=answer).stdout) == ids
        jq = ["jq", ".token_ids | length"]
        assert int(subprocess.run(jq, check=True, capture_output=True, input=answer).stdout) == len(ids)
