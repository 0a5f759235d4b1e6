"""``response_format``, ``text.format`` and ``structured_outputs`` become one constraint, or a refusal."""

from __future__ import annotations

from typing import Any

import msgspec
import pytest

from typecase.api.chat import ChatRequest
from typecase.api.decode import decode_request
from typecase.api.errors import RequestError
from typecase.api.responses import ResponsesRequest
from typecase.render.constraints import chat_constraint, responses_constraint


def chat(**fields: Any) -> Any:
    request = decode_request(ChatRequest, {"messages": [{"role": "user", "content": "x"}], **fields})
    return constraint(chat_constraint(request))


def responses(**fields: Any) -> Any:
    return constraint(responses_constraint(decode_request(ResponsesRequest, {"input": "x", **fields})))


def constraint(found: Any) -> Any:
    """Of a constraint, what isn't at its default."""
    return None if found is None else {k: v for k, v in msgspec.to_builtins(found).items() if v not in (None, False)}


SCHEMA = {"type": "object", "properties": {"é": {}}}
FORMAT = {"type": "json_schema", "json_schema": {"name": "n", "schema": SCHEMA, "strict": True}}


@pytest.mark.parametrize(
    ("fields", "expected"),
    [
        ({}, None),
        ({"response_format": None}, None),
        ({"response_format": {"type": "text"}}, None),
        ({"response_format": {"type": "json_object"}}, {"json_object": True}),
        ({"response_format": FORMAT}, {"json": SCHEMA}),
        ({"structured_outputs": {"regex": "(", "whitespace_pattern": " "}}, {"regex": "(", "whitespace_pattern": " "}),
        ({"structured_outputs": {"json": "{bad"}}, {"json": "{bad"}),
        (
            {"structured_outputs": {"json": {}, "disable_any_whitespace": True}, "response_format": FORMAT},
            {"json": SCHEMA, "disable_any_whitespace": True},
        ),
        ({"structured_outputs": {"choice": ["a"]}, "response_format": {"type": "text"}}, {"choice": ["a"]}),
        (
            {"response_format": {"type": "structural_tag", "format": {"value": "é", "type": "const_string"}, "x": 1}},
            {
                "structural_tag": '{"type": "structural_tag", "format": {"value": "\\u00e9", "type": "const_string"}, '
                '"x": 1}'
            },
        ),
        (
            {
                "response_format": {
                    "triggers": ["<a"],
                    "structures": [{"end": "</a>", "schema": {}, "begin": "<a>"}],
                    "type": "structural_tag",
                }
            },
            {
                "structural_tag": '{"type": "structural_tag", "structures": [{"begin": "<a>", "schema": {}, '
                '"end": "</a>"}], "triggers": ["<a"]}'
            },
        ),
    ],
)
def test_chat(fields: dict[str, Any], expected: Any) -> None:
    assert chat(**fields) == expected


NONE = (
    "{'json': None, 'regex': None, 'choice': None, 'grammar': None, 'json_object': None, 'disable_any_whitespace': "
    "False, 'disable_additional_properties': False, 'whitespace_pattern': None, 'structural_tag': None, '_backend': "
    "None, '_backend_was_auto': False}"
)


@pytest.mark.parametrize(
    ("fields", "message", "param"),
    [
        (
            {"response_format": {"type": "json_schema", "json_schema": {"name": "n"}}},
            f"You must use one kind of structured outputs constraint but none are specified: {NONE}",
            None,
        ),
        (
            {"structured_outputs": {"regex": "a"}, "response_format": {"type": "json_object"}},
            "You can only use one kind of structured outputs constraint but multiple are specified: "
            + NONE.replace("'regex': None", "'regex': 'a'").replace("'json_object': None", "'json_object': True"),
            None,
        ),
        (
            {"structured_outputs": {"json": {}, "regex": "a"}},
            "You can only use one kind of constraints for structured outputs ('json', 'regex' or 'choice').",
            None,
        ),
        (
            {"structured_outputs": "x"},
            "structured_outputs: expected an object such as {\"json\": ...}, got 'x'",
            "body.structured_outputs",
        ),
    ],
)
def test_refusals(fields: dict[str, Any], message: str, param: str | None) -> None:
    with pytest.raises(RequestError) as caught:
        chat(**fields)
    assert (caught.value.message, caught.value.param, caught.value.status) == (message, param, 400)


@pytest.mark.parametrize(
    ("fields", "expected"),
    [
        ({}, None),
        ({"text": {"verbosity": "low"}}, None),
        ({"text": {"format": {"type": "text"}}}, None),
        ({"text": {"format": {"type": "json_object"}}}, {"json_object": True}),
        ({"text": {"format": {"type": "json_schema", "name": "n", "schema": SCHEMA}}}, {"json": SCHEMA}),
        ({"structured_outputs": {"choice": ["a"]}}, {"choice": ["a"]}),
    ],
)
def test_responses(fields: dict[str, Any], expected: Any) -> None:
    assert responses(**fields) == expected


def test_responses_take_one_or_the_other() -> None:
    with pytest.raises(RequestError) as caught:
        responses(text={"format": {"type": "json_object"}}, structured_outputs={"choice": ["a"]})
    assert caught.value.message == (
        "Cannot specify both structured_outputs and text.format (parameter=structured_outputs)"
    )
