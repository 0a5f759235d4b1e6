"""The library's face: what ``import typecase`` costs, what its names promise."""

from __future__ import annotations

import copy
import inspect
import json
import re
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from datetime import datetime
from pathlib import Path
from types import MappingProxyType
from typing import Any

import msgspec
import pytest
from tests.conftest import ROOT

import typecase
from typecase.api.decode import decode_request
from typecase.api.tokenize import TokenizeChat

USER = {"role": "user", "content": "Hello, wörld"}
CALL = {"id": "c1", "type": "function", "function": {"name": "f", "arguments": '{"b":1,"a":[2]}'}}
TOOLS = [{"type": "function", "function": {"name": "f", "strict": True}}]
NOON = datetime(2026, 1, 15, 12, 0)


@pytest.fixture(scope="module")
def model(tiny: Path) -> typecase.Model:
    return typecase.load(
        tiny, trust_request_chat_template=True, enable_auto_tool_choice=True, tool_call_parser="hermes"
    )


def test_import_loads_nothing_heavy(tiny: Path) -> None:
    """Not even what rendering needs; and rendering loads no server, no event loop and nothing of the network."""
    heavy = ["torch", "transformers", "numpy", "starlette", "uvicorn", "uvloop", "asyncio", "huggingface_hub", "socket"]
    program = f"""
import sys
import typecase
print(sorted({{*{heavy}, "tokenizers", "fastokens", "jinja2", "msgspec"}} & set(sys.modules)))
typecase.load({str(tiny)!r}).render_chat({{"messages": [{{"role": "user", "content": "x"}}]}})
print(sorted({{*{heavy}}} & set(sys.modules)))
"""
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=False, cwd=ROOT)
    assert done.stdout.splitlines() == ["[]", "[]"], done.stderr


REQUESTS: list[dict[str, Any]] = [
    {"messages": [USER]},
    {"messages": [{"role": "system", "content": [{"type": "text", "text": "S"}]}, USER], "temperature": 1, "stop": "x"},
    {
        "messages": [USER, {"role": "assistant", "content": None, "reasoning_content": "R", "tool_calls": [CALL]}],
        "tools": TOOLS,
    },
    {"messages": [{"role": "developer", "content": "D"}, USER], "chat_template_kwargs": {"enable_thinking": False}},
    {"messages": [USER], "kv_transfer_params": {"prompt_token_ids": [1, 2], "x": {"y": []}}, "return_mm_kwargs": False},
    {"messages": [USER], "n": "2", "stream": "yes", "stream_options": {"include_usage": True}, "extra": {"a": [1]}},
    {"messages": [USER], "chat_template": "{% set _ = messages[0].update %}{{ messages[0].content }}"},
    {"messages": [USER, {"role": "assistant", "content": "On"}], "continue_final_message": True, "logit_bias": {"5": 1}}
    | {"add_generation_prompt": False},
]


@pytest.mark.parametrize("request_", REQUESTS)
def test_mapping_bytes_and_type_give_the_same_and_stay_as_they_are(
    model: typecase.Model, request_: dict[str, Any]
) -> None:
    before = copy.deepcopy(request_)
    typed = decode_request(typecase.ChatRequest, request_)
    typed_before = msgspec.to_builtins(typed)
    forms: list[Any] = [request_, MappingProxyType(request_), json.dumps(request_).encode(), typed]
    results = [msgspec.to_builtins(_ids_as_list(model.render_chat(form, request_id="i"))) for form in forms]
    assert results[0]["token_ids"]
    assert all(result == results[0] for result in results)
    assert request_ == before
    assert msgspec.to_builtins(typed) == typed_before


def test_the_other_methods_leave_requests_alone(model: typecase.Model) -> None:
    items = [
        {"type": "function_call", "call_id": "c", "name": "f", "arguments": "{}"},
        {"role": "user", "content": "x"},
    ]
    responses: dict[str, Any] = {"input": items, "tools": [{"type": "function", "name": "f"}], "request_id": "r"}
    tokenize: dict[str, Any] = {"messages": [USER, {"role": "assistant", "tool_calls": [CALL]}], "tools": TOOLS}
    detokenize = {"tokens": [1, 2]}
    before = copy.deepcopy([responses, tokenize, detokenize])
    rendered = model.render_responses(responses)
    assert rendered.token_ids == model.render_responses(json.dumps(responses).encode()).token_ids
    assert rendered.token_ids == model.render_responses(decode_request(typecase.ResponsesRequest, responses)).token_ids
    assert model.tokenize(tokenize) == model.tokenize(json.dumps(tokenize).encode())
    assert model.tokenize(tokenize) == model.tokenize(decode_request(TokenizeChat, tokenize))
    assert model.detokenize(detokenize) == model.detokenize(b'{"tokens": [1, 2]}')
    assert [responses, tokenize, detokenize] == before


def test_a_request_made_in_python_needs_only_messages(model: typecase.Model) -> None:
    rendered = model.render_chat(typecase.ChatRequest(messages=[USER]))
    assert rendered.token_ids == model.render_chat({"messages": [USER]}).token_ids


def test_request_ids(model: typecase.Model) -> None:
    def chat_id(own: str | None, given: str | None) -> str:
        request = {"messages": [USER]} | ({} if own is None else {"request_id": own})
        return model.render_chat(request, request_id=given).request_id

    assert chat_id(None, "given") == chat_id("own", "given") == "chatcmpl-given"
    assert chat_id("own", None) == "chatcmpl-own"
    assert chat_id("own", "") == "chatcmpl-"
    assert re.fullmatch("chatcmpl-[0-9a-f]{16}", chat_id(None, None))
    assert chat_id(None, None) != chat_id(None, None)
    assert model.render_responses({"input": "x", "request_id": "own"}).request_id == "own"
    assert re.fullmatch("resp_[0-9a-f]{16}", model.render_responses({"input": "x"}).request_id)


def test_templates_see_the_time_they_are_given(tiny: Path) -> None:
    model = typecase.load(tiny, chat_template="{{ strftime_now('%Y-%m-%d %H:%M') }}")

    def seen(rendered: typecase.GenerateRequest) -> str:
        return model.detokenize({"tokens": rendered.token_ids.tolist()}).prompt

    assert seen(model.render_chat({"messages": [USER]}, now=NOON)) == "2026-01-15 12:00"
    assert seen(model.render_responses({"input": "x"}, now=NOON)) == "2026-01-15 12:00"
    before = datetime.now().replace(second=0, microsecond=0)
    told = datetime.strptime(seen(model.render_chat({"messages": [USER]})), "%Y-%m-%d %H:%M")
    assert before <= told <= datetime.now()


@pytest.mark.parametrize(
    ("request_", "status", "kind", "param"),
    [
        ({"messages": [USER], "temperature": 3}, 400, "BadRequestError", "temperature"),
        ({"messages": 5}, 400, "BadRequestError", None),
        ({}, 400, "Bad Request", "body.messages"),
        (b"{", 400, "Bad Request", "body.1"),
        ({"messages": [USER], "model": "nope"}, 404, "NotFoundError", "model"),
        ({"messages": [USER], "chat_template": "{{ raise_exception('no') }}"}, 400, "BadRequestError", None),
    ],
)
def test_errors_say_what_a_server_would(
    model: typecase.Model, request_: Any, status: int, kind: str, param: str | None
) -> None:
    with pytest.raises(typecase.RequestError) as refused:
        model.render_chat(request_)
    error = refused.value
    assert (error.status, error.type, error.param) == (status, kind, param)
    assert error.message
    assert error.message == str(error)


def test_threads_render_at_once(model: typecase.Model) -> None:
    """Also where they build something for the first time together: a new template, offsets."""
    requests = [
        {"messages": [{"role": "user", "content": f"{i} ünï <|im_end|> " * (1 + i % 7)}], "return_token_offsets": i % 2}
        | ({"chat_template": f"{i % 5}{{{{ messages[0].content }}}}"} if i % 3 else {})
        for i in range(200)
    ]

    def rendered(on: typecase.Model, request: dict[str, Any]) -> Any:
        answer = on.render_chat(request, request_id="i")
        return answer.token_ids, answer.token_offsets

    expected = [rendered(model, request) for request in requests]
    fresh = typecase.load(model.root, trust_request_chat_template=True)
    with ThreadPoolExecutor(8) as pool:
        assert list(pool.map(lambda request: rendered(fresh, request), requests)) == expected


def test_documented_names_are_the_exported_ones(model: typecase.Model) -> None:
    """``docs/library.md``: names, arguments and their defaults."""
    table = (ROOT / "docs" / "library.md").read_text(encoding="utf-8").partition("## Stable names")[2]
    documented = [
        name for row in re.findall(r"^\| (`.*?) \|", table, re.MULTILINE) for name in re.findall("`(.+?)`", row)
    ]
    top = {"Model"}
    for entry in documented:
        name, _, arguments = entry.removeprefix("typecase.").partition("(")
        if name.startswith("Model."):
            found = getattr(model, name.removeprefix("Model."))
        else:
            found = getattr(typecase, name)
            top.add(name)
        if arguments:
            assert _parameters(found) == _parameters(eval(f"lambda {arguments.removesuffix(')')}: 0")), entry
    assert top == set(typecase.__all__)
    assert top <= set(dir(typecase))


def test_an_unknown_name() -> None:
    with pytest.raises(AttributeError, match="has no attribute 'nothing'"):
        typecase.nothing  # noqa: B018


def test_settings(tiny: Path) -> None:
    model = typecase.load(tiny, served_model_names=("a", "b"), max_model_len=100)
    assert (model.names, model.root, model.max_model_len) == (("a", "b"), str(tiny), 100)
    assert typecase.load(tiny).names == (str(tiny),)
    with pytest.raises(TypeError, match="max_model_length"):
        typecase.load(tiny, max_model_length=100)


def test_a_checkpoint_that_cannot_be_read(tmp_path: Path) -> None:
    with pytest.raises(typecase.CheckpointError, match=r"\.json: missing") as refused:
        typecase.load(tmp_path)
    assert "\n" not in str(refused.value)


def _ids_as_list(rendered: typecase.GenerateRequest) -> typecase.GenerateRequest:
    return msgspec.structs.replace(rendered, token_ids=rendered.token_ids.tolist())


def _parameters(function: Any) -> list[tuple[str, Any, Any]]:
    parameters = inspect.signature(function).parameters.values()
    return [(p.name, p.kind, p.default) for p in parameters]


@pytest.mark.parametrize(
    ("settings", "named"),
    [
        ({"chat_template": "/nosuch.jinja"}, "chat_template"),
        ({"chat_template": "nosuch.jinja"}, "chat_template"),
        ({"served_model_names": "abc"}, "served_model_names"),
        ({"max_model_len": "2k"}, "max_model_len"),
        ({"max_model_len": 0}, "max_model_len"),
        ({"nosuch": 1}, "nosuch"),
    ],
)
def test_settings_that_cannot_be(tiny: Path, settings: dict[str, Any], named: str) -> None:
    with pytest.raises((TypeError, ValueError), match=named):
        typecase.load(tiny, **settings)


@pytest.mark.parametrize("request_", ['{"messages": []}', None, 5])
def test_requests_of_no_kind(model: typecase.Model, request_: Any) -> None:
    with pytest.raises(TypeError, match="ChatRequest"):
        model.render_chat(request_)
