"""The grammar around the output of Mistral's newer tokenizers.

The library that writes it isn't asked for what the text must be; what counts here is when there is one and what it
allows. vLLM 0.33 with mistral-common 1.13 gives the same for JSON answers and fails on all others, having no argument
that this version wants.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from tests.support.tiny_mistral import checkpoint

import typecase
from typecase.api.generate import GenerateRequest, encode_generate_request

USER = {"role": "user", "content": "Hello"}
PARSER = {"enable_auto_tool_choice": True, "tool_call_parser": "mistral"}
SCHEMA = {"type": "object", "properties": {"a": {"type": "string"}}}
STRICT = {"type": "function", "function": {"name": "pin", "parameters": SCHEMA, "strict": True}}
LOOSE = {"type": "function", "function": {"name": "call", "parameters": SCHEMA}}
CALLS, ARGS = "<[9]>", "<[20]>"


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return checkpoint(tmp_path_factory.mktemp("v13"), version="v13", think=True)


@pytest.fixture(scope="module")
def model(folder: Path) -> typecase.Model:
    return typecase.load(folder, **PARSER)


def render(model: typecase.Model, **fields: Any) -> GenerateRequest:
    return model.render_chat({"messages": [USER], **fields})


def grammar(model: typecase.Model, **fields: Any) -> str:
    rendered = render(model, **fields)
    constraint = json.loads(encode_generate_request(rendered))["sampling_params"]["structured_outputs"]
    assert [key for key, value in constraint.items() if value not in (None, False)] == ["grammar"]
    assert rendered.reasoning_ended is True
    assert rendered.sampling_params.skip_special_tokens is not False
    return str(constraint["grammar"])


def rule(text: str, name: str) -> str:
    return next(line.partition(": ")[2] for line in text.splitlines() if line.startswith(name + ": "))


def test_a_plain_chat_has_one(model: typecase.Model) -> None:
    """Whatever the choice of tools, so that no call is written where none may be."""
    shown = grammar(model)
    assert rule(shown, "body") == "think? content"
    assert rule(shown, "think") == "<[24]> content <[25]>"
    assert grammar(model, tools=[LOOSE], tool_choice="none") == shown


def test_tools(model: typecase.Model) -> None:
    free = rule(grammar(model, tools=[LOOSE]), "fcalls")
    assert f'{CALLS} SAFE_WS? /.+/ {ARGS} SAFE_WS? %json {{"type": "object"}}' in free
    assert free.endswith(")+")
    pinned = rule(grammar(model, tools=[STRICT, LOOSE]), "fcalls")
    assert f'{CALLS} SAFE_WS? "pin" {ARGS} SAFE_WS? %json {json.dumps(SCHEMA)}' in pinned
    assert '"call"' in pinned
    assert not rule(grammar(model, tools=[LOOSE], parallel_tool_calls=False), "fcalls").endswith("+")
    assert rule(grammar(model, tools=[LOOSE]), "body") == "think? (content | fcalls)"
    assert rule(grammar(model, tools=[LOOSE], tool_choice="required"), "body") == "think? fcalls"


def test_a_named_tool(model: typecase.Model) -> None:
    choice = {"type": "function", "function": {"name": "call"}}
    shown = grammar(model, tools=[STRICT, LOOSE], tool_choice=choice)
    assert rule(shown, "body") == "think? fcalls"
    assert f'{CALLS} SAFE_WS? "call" {ARGS}' in shown
    assert "pin" not in shown


@pytest.mark.parametrize(
    "fields",
    [
        {"response_format": {"type": "json_schema", "json_schema": {"name": "n", "schema": SCHEMA}}},
        {"structured_outputs": {"json": SCHEMA}},
        {"structured_outputs": {"json": json.dumps(SCHEMA)}},
    ],
)
def test_a_schema(model: typecase.Model, fields: dict[str, Any]) -> None:
    shown = grammar(model, **fields)
    assert rule(shown, "start") == "json_grammar"
    assert rule(shown, "json_grammar") == f"SAFE_WS? %json {json.dumps(SCHEMA)}"
    assert rule(grammar(model, tools=[LOOSE], **fields), "start") == "body | json_grammar"


@pytest.mark.parametrize(
    "fields", [{"response_format": {"type": "json_object"}}, {"structured_outputs": {"json_object": True}}]
)
def test_any_json(model: typecase.Model, fields: dict[str, Any]) -> None:
    """vLLM's answer for a version 13 vocabulary with [THINK], recorded; the ids are those of this vocabulary."""
    assert grammar(model, **fields) == (
        'start: json_grammar\njson_grammar: SAFE_WS? %json {"anyOf": [{"type": "object"}, {"type": "array"}]}\n'
        "body: think? content\nfcalls: content? \n\ncontent: (/(.|\\n)+/)+\n\nthink: <[24]> content <[25]>\n\n"
        "SAFE_WS: /[ \\t\\r\\n]{1,8}/"
    )


@pytest.mark.parametrize(
    "constraint", [{"regex": "a+"}, {"choice": ["a"]}, {"grammar": "x"}, {"json": SCHEMA, "whitespace_pattern": " "}]
)
def test_constraints_that_no_grammar_takes_in(model: typecase.Model, constraint: dict[str, Any]) -> None:
    rendered = render(model, structured_outputs=constraint)
    shown = json.loads(encode_generate_request(rendered))["sampling_params"]["structured_outputs"]
    assert {key: shown[key] for key in constraint} == constraint
    assert rendered.reasoning_ended is None


def test_other_servers_have_none(folder: Path, tmp_path: Path) -> None:
    """No parser, another parser, an older tokenizer."""
    old = checkpoint(tmp_path / "v7", version="v7")
    for model in (typecase.load(folder), typecase.load(old, **PARSER)):
        assert render(model, tools=[LOOSE]).sampling_params.structured_outputs is None
    required = render(typecase.load(old, **PARSER), tools=[LOOSE], tool_choice="required").sampling_params
    assert required.structured_outputs is not None
    assert required.structured_outputs.json is not None


def test_a_reasoning_parser_alone_is_enough(folder: Path) -> None:
    assert rule(grammar(typecase.load(folder, reasoning_parser="mistral")), "body") == "think? content"


def test_reasoning_marked_by_text(folder: Path, tmp_path: Path) -> None:
    """Without [THINK], a prompt can't show that reasoning has ended; vLLM says so, recorded for version 11."""
    constraint = {"regex": "a+"}
    text = typecase.load(checkpoint(tmp_path / "v11", version="v11"), reasoning_parser="mistral", **PARSER)
    assert render(text, structured_outputs=constraint).reasoning_ended is False
    none = typecase.load(checkpoint(tmp_path / "v3"), reasoning_parser="mistral", **PARSER)
    assert render(none, structured_outputs=constraint).reasoning_ended is True


def test_responses_have_none(model: typecase.Model) -> None:
    assert model.render_responses({"input": "x"}).sampling_params.structured_outputs is None


@pytest.mark.parametrize(
    "fields",
    [
        {"structured_outputs": {"json": "{bad"}},
        {"structured_outputs": {"json": "[" * 5000}},
        {"tools": [{"type": "function", "function": {"name": "f", "parameters": {}, "strict": "maybe"}}]},
    ],
)
def test_what_makes_no_grammar(model: typecase.Model, fields: dict[str, Any]) -> None:
    with pytest.raises(typecase.RequestError) as caught:
        render(model, **fields)
    assert caught.value.status == 400


def test_large_schemas_are_not_remembered(model: typecase.Model) -> None:
    from mistral_common.guidance import grammar_factory

    memory = grammar_factory._cached_get_lark_from_jinja
    grammar(model, structured_outputs={"json": SCHEMA})
    assert memory.cache_info().currsize > 0
    grammar(model, structured_outputs={"json": {"enum": ["x" * 200_000]}})
    assert memory.cache_info().currsize == 0
