"""Responses render on the small checkpoint: items become a conversation, tools become chat tools.

The cases are what vLLM 0.33 does with the same items.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

import typecase

Item = dict[str, Any]

SHOW = '{{ {"messages": messages, "tools": tools, "more": add_generation_prompt}|tojson }}'
EMPTY = {"type": "object", "properties": {}}
FUNCTION = {"type": "function", "name": "f", "description": "d", "parameters": EMPTY}


@pytest.fixture(scope="module")
def model(tiny: Path) -> typecase.Model:
    return typecase.load(tiny, served_model_names=("tiny",))


@pytest.fixture(scope="module")
def showing(tiny: Path) -> typecase.Model:
    """Its prompts are what the template sees, as JSON."""
    return typecase.load(tiny, chat_template=SHOW)


def prompt(model: typecase.Model, /, **fields: Any) -> str:
    ids = model.render_responses({"input": "x", **fields}).token_ids
    return model.detokenize({"tokens": ids.tolist()}).prompt


def seen(showing: typecase.Model, given: Any, **fields: Any) -> list[Item]:
    messages: list[Item] = json.loads(prompt(showing, input=given, **fields))["messages"]
    return messages


def refusal(model: typecase.Model, /, **fields: Any) -> typecase.RequestError:
    with pytest.raises(typecase.RequestError) as refused:
        model.render_responses({"input": "x", **fields})
    return refused.value


def function_call(call_id: str = "c1", **more: Any) -> Item:
    return {"type": "function_call", "call_id": call_id, "name": "f", "arguments": '{"a":1}', **more}


def shown_call(call_id: str = "c1", name: str = "f", **arguments: Any) -> Item:
    return {"id": call_id, "function": {"name": name, "arguments": arguments or {"a": 1}}, "type": "function"}


def answer(*texts: str, **more: Any) -> Item:
    parts = [{"type": "output_text", "text": text} for text in texts]
    return {"type": "message", "role": "assistant", "content": parts, **more}


def reasoning(**more: Any) -> Item:
    return {"type": "reasoning", "summary": [], **more}


def output(given: Any, kind: str = "function_call_output") -> Item:
    return {"type": kind, "call_id": "c1", "output": given}


SUM = {"type": "reasoning_text", "text": "sum"}
GIST = {"type": "summary_text", "text": "gist"}
USER = {"role": "user", "content": "Hi"}
TEXTS = [{"type": "input_text", "text": "a"}, {"type": "input_text", "text": "b"}]
WEB_SEARCH = {"type": "web_search_call", "id": "i", "status": "completed", "action": {"type": "search", "query": "q"}}
THOUGHT = {"reasoning": "sum", "reasoning_content": "sum"}


@pytest.mark.parametrize(
    ("given", "messages"),
    [
        ("", [{"role": "user", "content": ""}]),
        ([USER], [USER]),
        ([{"type": "message", **USER, "content": TEXTS}], [{"role": "user", "content": "a\nb"}]),
        ([{"role": "system", "content": "S"}, USER], [{"role": "system", "content": "S"}, USER]),
        # Roles are folded as in a chat: only where there is a developer.
        ([USER, {"role": "developer", "content": "D"}], [{"role": "system", "content": "D"}, USER]),
        # Of an assistant's content the first part counts.
        ([answer("a", "b")], [{"role": "assistant", "content": "a"}]),
        ([{"role": "assistant", "content": "a"}], [{"role": "assistant", "content": "a"}]),
        ([reasoning(content=[SUM], summary=[GIST])], [{"role": "assistant", "content": "", **THOUGHT}]),
        ([reasoning(summary=[{**GIST, "text": "sum"}])], [{"role": "assistant", "content": "", **THOUGHT}]),
        ([function_call()], [{"role": "assistant", "content": "", "tool_calls": [shown_call()]}]),
        (
            [function_call(namespace="ns"), function_call("c2", arguments="{")],
            [
                {
                    "role": "assistant",
                    "content": "",
                    "tool_calls": [
                        shown_call(name="ns__f"),
                        {**shown_call("c2"), "function": {"name": "f", "arguments": {}}},
                    ],
                }
            ],
        ),
        (
            [{"type": "custom_tool_call", "call_id": "c1", "name": "c", "input": "é\n"}],
            [{"role": "assistant", "content": "", "tool_calls": [shown_call(name="c", input="é\n")]}],
        ),
        ([output("cold")], [{"role": "tool", "content": "cold", "tool_call_id": "c1"}]),
        (
            [output(TEXTS, kind="custom_tool_call_output")],
            [{"role": "tool", "content": "a\nb", "tool_call_id": "c1"}],
        ),
        # What an assistant's turn consists of goes into one message as long as the place is free.
        (
            [USER, answer("A"), function_call(), reasoning(content=[SUM]), answer("B"), function_call("c2")],
            [
                USER,
                {"role": "assistant", "content": "A", "tool_calls": [shown_call()], **THOUGHT},
                {"role": "assistant", "content": "B", "tool_calls": [shown_call("c2")]},
            ],
        ),
        (
            [reasoning(content=[SUM]), function_call(), output("cold"), answer("A")],
            [
                {"role": "assistant", "content": "", "tool_calls": [shown_call()], **THOUGHT},
                {"role": "tool", "content": "cold", "tool_call_id": "c1"},
                {"role": "assistant", "content": "A"},
            ],
        ),
    ],
)
def test_items_become_messages(showing: typecase.Model, given: Any, messages: list[Item]) -> None:
    assert seen(showing, given) == messages


def test_instructions_come_first(showing: typecase.Model) -> None:
    system = {"role": "system", "content": "I"}
    assert seen(showing, "x", instructions="I") == [system, {"role": "user", "content": "x"}]
    assert seen(showing, "x", instructions="") == [{"role": "user", "content": "x"}]
    given = [{"role": "system", "content": "S"}, USER]
    assert seen(showing, given, instructions="I") == [system, *given]


@pytest.mark.parametrize(
    ("fields", "kind", "param"),
    [
        ({"previous_response_id": "r"}, "invalid_request_error", "previous_response_id"),
        ({"prompt": {"id": "p"}}, "BadRequestError", "prompt"),
        ({"background": True, "store": False}, "BadRequestError", "background"),
        ({"input": []}, "BadRequestError", None),
        ({"input": None}, "Bad Request", "body.input"),
        ({"input": [{"type": "nope"}]}, "Bad Request", "body.input"),
        ({"input": [{"role": "tool", "content": "x"}]}, "Bad Request", "body.input"),
        ({"input": [{"role": "assistant", "content": answer("a")["content"]}]}, "Bad Request", "body.input"),
        ({"input": [{"type": "item_reference", "id": "i"}]}, "BadRequestError", "input"),
        ({"input": [WEB_SEARCH]}, "BadRequestError", "input"),
        ({"input": [{**WEB_SEARCH, "action": {"type": "search", "sources": 5}}]}, "Bad Request", "body.input"),
        ({"input": [reasoning(encrypted_content="x")]}, "BadRequestError", "input"),
        ({"input": [{**USER, "content": [{"type": "input_file", "file_id": "f"}]}]}, "BadRequestError", "type"),
        ({"input": [{**USER, "content": [{"type": "input_image", "image_url": "x"}]}]}, "BadRequestError", None),
        # Crashes in vLLM.
        ({"input": [answer()]}, "BadRequestError", "input"),
        ({"input": [{"id": "i", "role": "assistant", "content": ["a"]}]}, "BadRequestError", "input"),
        (
            {"input": [{**answer(), "content": [{"type": "refusal", "refusal": "No."}]}]},
            "BadRequestError",
            "input",
        ),
        ({"tools": [{"type": "custom", "name": "c", "format": {"type": "grammar"}}]}, "BadRequestError", "tools"),
        ({"tools": [{"type": "function"}]}, "Bad Request", "body.tools.0.name"),
        ({"chat_template_kwargs": {"chat_template": "x"}}, "BadRequestError", None),
        ({"media_io_kwargs": {"image": {}}}, "BadRequestError", "media_io_kwargs"),
        ({"max_output_tokens": 0}, "BadRequestError", "max_tokens"),
        ({"max_output_tokens": 5000}, "BadRequestError", "max_output_tokens"),
        ({"input": "a b " * 4000}, "BadRequestError", "input_tokens"),
        ({"input": "a\ud800"}, "BadRequestError", "body.input"),
        ({"input": [{**USER, "content": "\ud800"}]}, "BadRequestError", "body.input.0.content"),
        ({"instructions": "\ud800"}, "BadRequestError", "body.instructions"),
    ],
)
def test_refusals(model: typecase.Model, fields: dict[str, Any], kind: str, param: str | None) -> None:
    error = refusal(model, **fields)
    assert (error.status, error.type, error.param) == (400, kind, param)


def test_of_several_faults_the_first_is_told(model: typecase.Model) -> None:
    faults: list[dict[str, Any]] = [
        {"prompt": {}},
        {"model": "nope"},
        {"previous_response_id": "r"},
        {"mm_processor_kwargs": {"a": 1}},
        {"max_output_tokens": 5000},
        {"instructions": "\ud800"},
        {"temperature": 3},
    ]
    params = ["prompt", "model", "previous_response_id", "mm_processor_kwargs", "max_output_tokens"]
    for first, param in enumerate([*params, "body.instructions", "temperature"]):
        together = {name: value for fault in faults[first:] for name, value in fault.items()}
        assert refusal(model, **together).param == param


# Tools


def shown_tool(name: str, parameters: Any = EMPTY, description: str | None = "d", **more: Any) -> Item:
    function = {"name": name, "description": description, "parameters": parameters, **more}
    return {"type": "function", "function": function}


def namespace(name: str) -> Item:
    return {"type": "namespace", "name": name, "description": "", "tools": [FUNCTION]}


CUSTOM = {
    "type": "object",
    "properties": {"input": {"type": "string", "description": "The freeform text payload for this tool."}},
    "required": ["input"],
    "additionalProperties": False,
}


@pytest.mark.parametrize(
    ("tools", "shown"),
    [
        ([], None),
        ([FUNCTION], [shown_tool("f")]),
        ([{"type": "function", "name": "f"}], [shown_tool("f", None, None)]),
        ([{**FUNCTION, "strict": False}], [shown_tool("f", strict=False)]),
        ([{**FUNCTION, "strict": None}], [shown_tool("f")]),
        ([{**FUNCTION, "defer_loading": True, "strict": "yes"}], [shown_tool("f", strict=True, defer_loading=True)]),
        ([{**FUNCTION, "async": True, "output_schema": {}, "allowed_callers": ["direct"]}], [shown_tool("f")]),
        (
            [{**namespace("ns"), "tools": [FUNCTION, {"type": "custom", "name": "c"}]}],
            [shown_tool("ns__f")],
        ),
        ([{"type": "custom", "name": "c"}], [shown_tool("c", CUSTOM, None)]),
        ([{"type": "custom", "name": "c", "description": "d", "format": {"type": "text"}}], [shown_tool("c", CUSTOM)]),
        ([{"type": "web_search"}], []),
        ([{"type": "mcp", "server_label": "m", "server_url": "http://m/"}, FUNCTION], [shown_tool("f")]),
    ],
)  # fmt: skip
def test_tools_as_templates_see_them(showing: typecase.Model, tools: list[Item], shown: Any) -> None:
    assert json.loads(prompt(showing, tools=tools))["tools"] == shown


def test_a_choice_needs_no_parser_here(model: typecase.Model, tiny: Path) -> None:
    with_tools = prompt(model, tools=[FUNCTION])
    for choice in ("auto", "required", "none", {"type": "function", "name": "f"}, {"type": "web_search_preview"}):
        assert prompt(model, tools=[FUNCTION], tool_choice=choice) == with_tools
    hiding = typecase.load(tiny, exclude_tools_when_tool_choice_none=True)
    assert prompt(hiding, tools=[FUNCTION], tool_choice="none") == prompt(hiding)
    assert prompt(hiding, tools=[FUNCTION]) == with_tools


@pytest.mark.parametrize(
    ("tools", "choice", "message"),
    [
        ([], "required", "Tool choice 'required' must be specified with 'tools' parameter."),
        ([FUNCTION], {"type": "function", "name": "g"}, "Tool choice 'function' not found in 'tools' parameter."),
        ([], {"type": "custom", "name": "g"}, "Tool choice 'function' not found in 'tools' parameter."),
        (
            [namespace("a"), namespace("b")],
            {"type": "function", "name": "f"},
            "Tool choice 'f' is ambiguous: it is defined in more than one namespace (a__f, b__f). "
            "Select it by its full '<namespace>__<name>' name.",
        ),
    ],
)
def test_choices_that_name_no_tool(model: typecase.Model, tools: list[Item], choice: Any, message: str) -> None:
    error = refusal(model, tools=tools, tool_choice=choice)
    assert (error.message, error.param) == (f"{message} (parameter=tool_choice)", "tool_choice")
    assert prompt(model, tools=[namespace("a")], tool_choice={"type": "function", "name": "f"})


# The rest of the answer


@pytest.mark.parametrize("status", ["in_progress", "incomplete"])
@pytest.mark.parametrize("shape", [answer("Once"), {"role": "assistant", "content": "Once"}])
def test_an_unfinished_answer_is_continued(model: typecase.Model, shape: Item, status: str) -> None:
    assert prompt(model, input=[USER, {**shape, "status": status}]).endswith("<|im_start|>assistant\nOnce")
    finished = prompt(model, input=[USER, {**shape, "status": "completed"}])
    assert finished.endswith("Once<|im_end|>\n<|im_start|>assistant\n")


def test_any_unfinished_message_is_continued(model: typecase.Model) -> None:
    """Of a message that isn't read as an answer, vLLM looks at the status alone."""
    assert prompt(model, input=[{**USER, "status": "incomplete"}]).endswith("<|im_start|>user\nHi")
    assert prompt(model, input=[{**function_call(), "status": "incomplete"}]).endswith("<|im_start|>assistant\n")
    assert prompt(model, input=[USER, {"role": "assistant", "content": "a", "status": "x"}]).endswith("assistant\n")


def test_an_answer_with_nothing_asked_for(model: typecase.Model) -> None:
    chat = model.render_chat({"messages": [{"role": "user", "content": "x"}]})
    rendered = model.render_responses(
        {"input": "x", "model": "tiny", "return_token_ids": True, "return_token_offsets": 1}
    )
    assert rendered.token_ids == chat.token_ids
    unset = ["token_offsets", "parse_context", "reasoning_ended", "reasoning_parser_kwargs", "return_token_ids"]
    unset += ["stream_options", "kv_transfer_params", "ec_transfer_params", "cache_salt", "features"]
    assert {name: getattr(rendered, name) for name in unset} == dict.fromkeys(unset)
    assert (rendered.model, rendered.stream, rendered.priority) == ("tiny", False, 0)
    sampling = rendered.sampling_params
    assert (sampling.max_tokens, sampling.output_kind) == (chat.sampling_params.max_tokens, 2)
    assert sampling.extra_args == {}, "always there, unlike in a chat"


def test_fields_that_are_handed_on(model: typecase.Model) -> None:
    handed = {"cache_salt": "s", "priority": 2, "kv_transfer_params": {"a": 1}, "ec_transfer_params": {"b": 2}}
    rendered = model.render_responses(
        {"input": "x", **handed, "stream": True, "max_output_tokens": 7, "vllm_xargs": {"k": 1}}
    )
    assert {name: getattr(rendered, name) for name in handed} == handed
    assert (rendered.stream, rendered.stream_options) == (True, None)
    sampling = rendered.sampling_params
    assert (sampling.output_kind, sampling.max_tokens, sampling.extra_args) == (1, 7, {"k": 1})


def test_logprobs_must_be_included(model: typecase.Model) -> None:
    def logprobs(**fields: Any) -> int | None:
        return model.render_responses({"input": "x", "top_logprobs": 3, **fields}).sampling_params.logprobs

    assert logprobs() is None
    assert logprobs(include=["message.output_text.logprobs"]) == 3


def test_ids_of_a_prefill_stage_replace_the_prompt(model: typecase.Model) -> None:
    rendered = model.render_responses({"input": "x", "kv_transfer_params": {"prompt_token_ids": [1, 2], "r": 1}})
    assert rendered.token_ids.tolist() == [1, 2]
    assert rendered.kv_transfer_params == {"r": 1}
    assert rendered.sampling_params.extra_args is None
    rendered = model.render_responses({"input": "x", "kv_transfer_params": {"prompt_token_ids": [1, 2]}})
    assert (rendered.kv_transfer_params, rendered.sampling_params.extra_args) == (None, {})
    error = refusal(model, kv_transfer_params={"prompt_token_ids": []})
    assert error.param == "kv_transfer_params.prompt_token_ids"


def test_a_long_prompt_keeps_its_end_if_asked(tiny: Path) -> None:
    model = typecase.load(tiny, max_model_len=12)
    whole = typecase.load(tiny).render_responses({"input": "one two three four five six"}).token_ids
    assert len(whole) > 12
    for truncation in ("auto", None):
        cut = model.render_responses({"input": "one two three four five six", "truncation": truncation}).token_ids
        assert cut == whole[-11:]
    assert refusal(model, input="one two three four five six", truncation="disabled").param == "input_tokens"


def test_effort_reaches_the_template(tiny: Path) -> None:
    template = "{{ reasoning_effort }} {{ enable_thinking }}"
    model = typecase.load(tiny, chat_template=template, reasoning_effort_map={"low": "high"})
    assert prompt(model, reasoning={"effort": "low", "summary": "auto"}) == "high True"
    assert prompt(model, reasoning={"effort": "none"}) == "none False"
    own = {"chat_template_kwargs": {"enable_thinking": False}}
    assert prompt(model, reasoning={"effort": "medium"}, **own) == "medium False"


def test_tools_that_can_be_no_list(model: typecase.Model) -> None:
    error = refusal(model, tools=5)
    assert (error.message, error.type, error.param) == ("object of type 'int' has no len()", "BadRequestError", None)


def test_a_namespace_with_parameters_that_are_no_schema(model: typecase.Model) -> None:
    tool = {**namespace("ns"), "tools": [{**FUNCTION, "parameters": [1]}]}
    error = refusal(model, tools=[tool], model="tiny")
    assert (error.type, error.param) == ("BadRequestError", None)
    assert "parameters of 'ns__f' must be a JSON schema" in error.message


@pytest.mark.parametrize("output", [True, -1, 1.5, 10**30, [None], [[[]]], [5]])
def test_a_call_output_that_is_no_text_is_refused(tiny: Path, output: Any) -> None:
    model = typecase.load(tiny)
    with pytest.raises(typecase.RequestError):
        model.render_responses({"input": [{"type": "function_call_output", "call_id": "1", "output": output}]})
