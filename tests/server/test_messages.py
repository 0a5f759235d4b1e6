"""The routes of Anthropic's API over a real checkpoint, with Anthropic's own client where it has the route."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import anthropic
import pytest
from tests.server.serving import Answer, Obedient, Running, running

import typecase

COUNT = "/v1/messages/count_tokens"
RENDER = "/v1/messages/render"
USER: Any = {"role": "user", "content": "Hello there"}
TOOL: Any = {"name": "f", "description": "d", "input_schema": {"type": "object", "properties": {}}}


@pytest.fixture(scope="module")
def real(tiny: Path) -> Iterator[Running]:
    with running(typecase.load(tiny, served_model_names=("tiny",)), max_body_bytes=20_000) as server:
        yield server


def client(server: Running, **credentials: Any) -> anthropic.Anthropic:
    given = credentials or {"api_key": "any"}
    return anthropic.Anthropic(base_url=f"http://127.0.0.1:{server.port}", max_retries=0, **given)


def error(answer: Answer) -> dict[str, str]:
    """The error, which must have the shape of Anthropic's API."""
    assert answer.headers["content-type"] == "application/json"
    assert answer.headers["content-length"] == str(len(answer.body))
    assert set(answer.json) == {"type", "error"}
    assert answer.json["type"] == "error"
    found: dict[str, str] = answer.json["error"]
    assert set(found) == {"type", "message"}
    return found


def test_rendering(real: Running) -> None:
    body = {"model": "tiny", "max_tokens": 5, "messages": [USER]}
    rendered = real.ask("POST", RENDER, body, {"X-Request-Id": "mine"}).json
    assert rendered["request_id"] == "chatcmpl-mine"
    assert rendered["token_ids"] == real.ask("POST", "/tokenize", {"messages": [USER]}).json["tokens"]


def test_counting_with_anthropics_client(real: Running) -> None:
    with client(real) as asking:
        plain = asking.messages.count_tokens(model="tiny", messages=[USER])
        assert plain.input_tokens == real.ask("POST", "/tokenize", {"messages": [USER]}).json["count"]
        more = asking.messages.count_tokens(
            model="tiny",
            messages=[
                USER,
                {"role": "assistant", "content": [{"type": "tool_use", "id": "t", "name": "f", "input": {"a": 1}}]},
                {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "t", "content": "cold"}]},
            ],
            system=[{"type": "text", "text": "Be kind.", "cache_control": {"type": "ephemeral"}}],
            tools=[TOOL],
            tool_choice={"type": "none"},
            thinking={"type": "disabled"},
        )
        assert more.input_tokens > plain.input_tokens


def test_the_whole_answer(real: Running) -> None:
    answer = real.ask("POST", COUNT, {"model": "tiny", "messages": [USER]}).json
    count = answer["input_tokens"]
    assert answer == {"input_tokens": count, "context_management": {"original_input_tokens": count}}


def test_refusals_reach_anthropics_client(real: Running) -> None:
    with client(real) as asking:
        with pytest.raises(anthropic.NotFoundError) as unknown:
            asking.messages.count_tokens(model="other", messages=[USER])
        assert unknown.value.body == {
            "type": "error",
            "error": {
                "type": "not_found_error",
                "message": "The model `other` does not exist. Valid aliases: tiny.",
            },
        }
        with pytest.raises(anthropic.BadRequestError, match=r"invalid_request_error.*requires --enable-auto-tool"):
            asking.messages.count_tokens(model="tiny", messages=[USER], tools=[TOOL])


@pytest.mark.parametrize(
    ("body", "status", "kind", "words"),
    [
        ({"model": "tiny"}, 400, "invalid_request_error", "messages: is missing"),
        ({"model": "tiny", "messages": []}, 400, "invalid_request_error", "empty conversation"),
        (
            {"model": "tiny", "messages": [{"role": "x", "content": ""}]},
            400,
            "invalid_request_error",
            "messages.0.role",
        ),
        ({"model": "other", "messages": [USER]}, 404, "not_found_error", "The model `other` does not exist"),
        (b"{", 400, "invalid_request_error", "no JSON"),
        (b'{"a":"\xff"}', 400, "invalid_request_error", "error parsing the body"),
        (b"[" * 5000, 400, "invalid_request_error", "nested too deeply"),
        (b" " * 30_000, 413, "request_too_large", "larger than 20000 bytes"),
    ],
)
def test_errors_have_anthropics_shape(real: Running, body: Any, status: int, kind: str, words: str) -> None:
    answer = real.ask("POST", COUNT, body)
    assert answer.status == status
    assert error(answer)["type"] == kind
    assert words in error(answer)["message"]


def test_other_errors_of_the_route(real: Running) -> None:
    wrong_type = real.ask("POST", COUNT, b"{}", {"Content-Type": "text/plain"})
    assert (wrong_type.status, error(wrong_type)["type"]) == (400, "invalid_request_error")
    with running(Obedient()) as broken:
        answer = broken.ask("POST", COUNT, {"do": "break"})
        assert (answer.status, error(answer)["type"]) == (500, "api_error")


def test_a_busy_server_says_when_to_come_back() -> None:
    from typecase.server.errors import Busy, answer_to, as_anthropic

    answer = as_anthropic(answer_to(Busy()))
    assert json.loads(answer.body)["error"]["type"] == "overloaded_error"
    assert (b"retry-after", b"1") in answer.headers
    assert dict(answer.headers)[b"content-length"] == str(len(answer.body)).encode()


def test_rendering_keeps_vllms_shape_of_errors(real: Running) -> None:
    answer = real.ask("POST", RENDER, {"model": "other", "max_tokens": 5, "messages": [USER]})
    assert answer.status == 404
    assert answer.json["error"]["type"] == "NotFoundError"


def test_keys(tiny: Path) -> None:
    """As in vLLM, a key is a bearer token; ``X-Api-Key``, which older clients of Anthropic's send, isn't read."""
    body = {"model": "tiny", "messages": [USER]}
    with running(typecase.load(tiny, served_model_names=("tiny",)), api_keys=("secret",)) as guarded:
        with client(guarded, auth_token="secret") as asking:
            assert asking.messages.count_tokens(model="tiny", messages=[USER]).input_tokens > 0
        with client(guarded, auth_token="wrong") as asking, pytest.raises(anthropic.AuthenticationError):
            asking.messages.count_tokens(model="tiny", messages=[USER])
        refused = guarded.ask("POST", COUNT, body, {"X-Api-Key": "secret"})
        assert (refused.status, refused.body) == (401, b'{"error":"Unauthorized"}')
