"""What formats change in a request, as vLLM's parsers do: constraints to the letter, special tokens, refusals."""

from __future__ import annotations

import json
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import msgspec
import pytest
from tests.formats.vocabulary import VOCABULARY

import typecase
from typecase.api.chat import ChatRequest
from typecase.api.decode import decode_request
from typecase.api.errors import RequestError
from typecase.api.responses import ResponsesRequest
from typecase.formats.choice import choose_formats
from typecase.parsing.prompt_state import PromptState
from typecase.render.adjustment import adjusted
from typecase.render.constraints import chat_constraint, responses_constraint

CASES = [
    json.loads(line) for line in Path(__file__).with_name("cases_adjustment.jsonl").read_text("utf-8").splitlines()
]
FUNCTION = {"name": "f", "parameters": {"type": "object", "properties": {}}}
TOOL = {"type": "function", "function": FUNCTION}
STRICT = {"type": "function", "function": {**FUNCTION, "strict": True}}


def front(*, enforced: bool = True, **flags: Any) -> Any:
    """As much of a front as the adjustment reads."""
    is_harmony = flags.get("call") == "openai" or flags.get("reasoning") == "openai_gptoss"
    formats = choose_formats(
        call=flags.get("call"),
        reasoning=flags.get("reasoning"),
        level=flags.get("level"),
        enforced=enforced,
        token_id=VOCABULARY.get,
        is_harmony=is_harmony,
    )
    state = None if formats.reasoning is None else PromptState(formats.reasoning, VOCABULARY.get)
    tokenizer = SimpleNamespace(mistral=None)
    return SimpleNamespace(formats=formats, prompt_state=state, is_harmony=is_harmony, tokenizer=tokenizer)


def chat(**fields: Any) -> ChatRequest:
    return decode_request(ChatRequest, {"messages": [{"role": "user", "content": "x"}], **fields})


def responses(**fields: Any) -> ResponsesRequest:
    return decode_request(ResponsesRequest, {"input": "x", **fields})


def constraint(request: Any) -> Any:
    """What constrains the output, without what is at its default."""
    found = responses_constraint(request) if isinstance(request, ResponsesRequest) else chat_constraint(request)
    if found is None:
        return None
    built = msgspec.to_builtins(found)
    return {k: v for k, v in built.items() if v is not None and (v is not False or k == "json_object")}


def identity(case: dict[str, Any]) -> str:
    return "-".join(map(str, (case["api"], *case["flags"].values(), case["fields"].get("tool_choice"))))[:60]


@pytest.mark.parametrize("case", CASES, ids=identity)
def test_as_vllm(case: dict[str, Any]) -> None:
    request: Any = (chat if case["api"] == "chat" else responses)(**case["fields"])
    if "error" in case:
        with pytest.raises(RequestError) as error:
            constraint(adjusted(front(**case["flags"]), request, {}))
        assert error.value.param == case["param"]
        if "validation error" not in case["error"]:  # pydantic's own words
            assert error.value.message.startswith(case["error"])
        return
    found = adjusted(front(**case["flags"]), request, {})
    assert constraint(found) == case["constraint"]
    assert (found.skip_special_tokens is False) == case["keeps_special"]


def test_without_formats_the_request_stays_itself() -> None:
    request = chat(tools=[TOOL], response_format={"type": "json_object"})
    assert adjusted(front(), request, {}) is request


def test_without_calls_a_call_format_has_no_say() -> None:
    request = chat(tools=[STRICT], tool_choice="none")
    assert adjusted(front(call="qwen3_coder"), request, {}) is request
    assert adjusted(front(call="qwen3_coder", reasoning="deepseek_r1"), request, {}).skip_special_tokens is False


def test_a_request_made_in_code_may_have_no_tools() -> None:
    for tools in (None, []):
        request = msgspec.structs.replace(chat(), tools=tools, tool_choice="required")
        for call in ("hermes", "pythonic", "mistral", "glm45", "openai"):
            assert constraint(adjusted(front(call=call), request, {})) is None


def test_a_name_that_no_tool_has() -> None:
    named = {"type": "function", "function": {"name": "g"}}
    request = msgspec.structs.replace(chat(tools=[TOOL]), tool_choice=named)
    with pytest.raises(RequestError, match=r"^The tool with name 'g' is not found in the tools list.$"):
        adjusted(front(call="hermes"), request, {})
    with pytest.raises(RequestError, match=r"^Tool 'g' has not been passed in `tools`.$"):
        adjusted(front(call="pythonic"), request, {})
    assert constraint(adjusted(front(call="mistral"), request, {})) is None


def test_of_two_tools_of_a_name_none_can_be_forced_by_a_tag() -> None:
    request = chat(tools=[TOOL, STRICT], tool_choice={"type": "function", "function": {"name": "f"}})
    with pytest.raises(RequestError, match=r"^Forced tool choice must resolve to exactly one tool.$"):
        adjusted(front(call="hermes"), request, {})


@pytest.mark.parametrize("call", ["hermes", "qwen3_coder", "deepseek_v31", "llama3_json"])
def test_without_enforcement_calls_are_plain_json(call: str) -> None:
    server = front(call=call, enforced=False, level="parameter")
    required = adjusted(server, chat(tools=[STRICT], tool_choice="required"), {})
    assert constraint(required)["json"]["items"]["anyOf"][0]["properties"]["name"]["enum"] == ["f"]
    assert constraint(adjusted(server, chat(tools=[STRICT]), {})) is None


@pytest.mark.parametrize("call", ["kimi_k2", "glm45", "plamo3"])
def test_without_enforcement_these_calls_are_free(call: str) -> None:
    assert (
        constraint(adjusted(front(call=call, enforced=False), chat(tools=[TOOL], tool_choice="required"), {})) is None
    )


def test_definitions_leave_the_tools_that_a_derender_server_is_told_of() -> None:
    parameters = {"$defs": {"P": {"type": "string"}}, "type": "object"}
    tools = [{"type": "function", "function": {"name": "f", "parameters": parameters}}, TOOL]
    request = chat(tools=tools, tool_choice="required")
    found = adjusted(front(call="pythonic"), request, {})
    assert found.tools is not None
    assert found.tools[0]["function"]["parameters"] == {"type": "object"}
    assert constraint(found)["json"]["$defs"] == {"P": {"type": "string"}}
    assert request.tools is not None
    assert request.tools[0]["function"]["parameters"] == parameters


def test_a_schema_for_calls_beside_structured_outputs_is_refused_in_responses() -> None:
    tools = [{"type": "function", "name": "f", "parameters": {}, "strict": False}]
    request = responses(tools=tools, tool_choice="required", structured_outputs={"regex": "a"})
    with pytest.raises(RequestError, match=r"^Cannot specify both structured_outputs and text.format"):
        constraint(adjusted(front(call="pythonic"), request, {}))


def test_mistrals_array_gives_way_to_a_clients_own_constraint() -> None:
    server = front(call="mistral")
    own = chat(tools=[TOOL], tool_choice="required", structured_outputs={"regex": "a"})
    assert constraint(adjusted(server, own, {})) == {"regex": "a"}
    replaced = chat(tools=[TOOL], tool_choice="required", response_format={"type": "json_object"})
    assert constraint(adjusted(server, replaced, {}))["json"]["type"] == "array"
    assert constraint(adjusted(front(reasoning="mistral", call="granite"), replaced, {}))["json"]["type"] == "array"


@pytest.mark.parametrize(
    ("flags", "kwargs", "param"),
    [
        ({"reasoning": "qwen3"}, {"enable_thinking": []}, None),
        ({"call": "qwen3_coder"}, {"enable_thinking": {}}, None),
    ],
)
def test_template_kwargs_of_impossible_kinds(flags: dict[str, Any], kwargs: dict[str, Any], param: str | None) -> None:
    with pytest.raises(RequestError, match=r"^unhashable type: '(list|dict)'$") as error:
        adjusted(front(**flags), chat(tools=[TOOL]), kwargs)
    assert error.value.param == param
    assert adjusted(front(call="hermes", reasoning="deepseek_v3"), chat(tools=[TOOL]), kwargs)


def test_reasoning_that_the_tokenizer_can_not_mark() -> None:
    server = front(reasoning="deepseek_v3")
    server.prompt_state = PromptState(server.formats.reasoning, {}.get)
    assert adjusted(server, chat(), {})
    with pytest.raises(RequestError, match=r"the tokenizer has no <think> and </think>") as error:
        adjusted(server, chat(), {"thinking": True})
    assert error.value.param == "chat_template_kwargs"


def test_a_lark_grammar_is_not_put_into_a_tag() -> None:
    lark = {"structured_outputs": {"grammar": 'start: "a"'}}
    beside = adjusted(front(call="hermes"), chat(tools=[STRICT], **lark), {})
    assert constraint(beside) == {"grammar": 'start: "a"'}
    with pytest.raises(RequestError, match=r"Lark"):
        adjusted(front(reasoning="openai_gptoss"), chat(**lark), {})


def deep(levels: int) -> Any:
    schema: Any = {}
    for _ in range(levels):
        schema = {"properties": {"a": schema}}
    return schema


def test_schemas_beside_calls_nest_to_a_depth() -> None:
    for levels, in_tag in ((31, True), (33, False)):
        request = chat(tools=[STRICT], structured_outputs={"json": deep(levels)})
        assert ("structural_tag" in constraint(adjusted(front(call="hermes"), request, {}))) is in_tag


# Through a whole render: the fields beside sampling_params.


def test_render(tiny: Path) -> None:
    model = typecase.load(tiny, reasoning_parser="qwen3", tool_call_parser="hermes", enable_auto_tool_choice=True)
    message = {"role": "user", "content": "hello"}
    rendered = model.render_chat({"messages": [message], "tools": [TOOL], "tool_choice": "required"})
    assert rendered.sampling_params.skip_special_tokens is False
    assert rendered.sampling_params.structured_outputs is not None
    assert rendered.reasoning_parser_kwargs is not None
    assert rendered.parse_context is not None
    assert rendered.reasoning_parser_kwargs.chat_template_kwargs == rendered.parse_context.chat_template_kwargs
    assert rendered.reasoning_ended is False
    off = {"messages": [message], "chat_template_kwargs": {"enable_thinking": False}}
    assert model.render_chat(off).reasoning_ended is True
    assert model.render_chat({"messages": [message], "include_reasoning": False}).reasoning_ended is True
    answered = model.render_responses({"input": "hello"})
    assert answered.reasoning_ended is None
    assert answered.reasoning_parser_kwargs is not None


def test_holo2_leaves_its_default_in_the_kwargs_of_a_chat() -> None:
    from typecase.render.reasoning import reasoning_parser_kwargs

    shown = reasoning_parser_kwargs(front(reasoning="holo2"), {"a": 1, "thinking": None}, judged=True)
    assert shown is not None
    assert shown.chat_template_kwargs == {"a": 1, "thinking": True, "enable_thinking": True}
    shown = reasoning_parser_kwargs(front(reasoning="holo2"), {"thinking": False}, judged=True)
    assert shown is not None
    assert shown.chat_template_kwargs == {"thinking": False}
    shown = reasoning_parser_kwargs(front(reasoning="holo2"), {"a": 1}, judged=False)
    assert shown is not None
    assert shown.chat_template_kwargs == {"a": 1}


def nested_kinds(levels: int) -> Any:
    kind: Any = "string"
    for _ in range(levels):
        kind = [kind]
    return kind


@pytest.mark.parametrize("levels", [50, 450, 2000])
@pytest.mark.parametrize("call", ["hermes", "glm45", "pythonic"])
def test_hostile_schemas_are_refused_if_anything(call: str, levels: int) -> None:
    for parameters in (deep(levels // 2), {"properties": {"a": {"type": nested_kinds(levels)}}}):
        for strict in (True, False):
            tool = {"type": "function", "function": {"name": "f", "parameters": parameters, "strict": strict}}
            request = msgspec.structs.replace(chat(), tools=[tool], tool_choice="required")
            try:
                found, refusal = adjusted(front(call=call), request, {}), ""
            except RequestError as error:
                found, refusal = None, error.message
            assert found is None or found.structured_outputs is not None
            assert ("nested too deeply" in refusal) is (found is None)
            assert found is not None or levels > 50


@pytest.mark.parametrize(("call", "characters"), [("openai", 6 << 20), ("hermes", 33 << 20), ("glm45", 65 << 20)])
def test_tags_have_a_size(call: str, characters: int) -> None:
    parameters = {"description": "a" * characters}
    tool = {"type": "function", "function": {"name": "f", "parameters": parameters, "strict": True}}
    with pytest.raises(RequestError, match="64 MB") as error:
        adjusted(front(call=call), msgspec.structs.replace(chat(), tools=[tool], tool_choice="required"), {})
    assert error.value.param == "tools"


@pytest.mark.parametrize(("name", "count"), [("é" * (1 << 20), 1), ("f", 25_000)])
def test_names_and_what_stands_around_them_count(name: str, count: int) -> None:
    tools = [{"type": "function", "function": {"name": name, "parameters": None}}] * count
    with pytest.raises(RequestError, match="64 MB of names"):
        adjusted(front(call="openai"), msgspec.structs.replace(chat(), tools=tools, tool_choice="required"), {})
