"""The ``openai`` and ``anthropic`` clients against the render routes of a real server.

``/render`` is appended to the path; all else of a request is what the client makes of its arguments: pydantic
objects of earlier answers in the history, tools from pydantic classes, streaming, its own headers and query. Each is
answered with the ids of the plain JSON request that it stands for.
"""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from pathlib import Path
from typing import Any, cast

import anthropic
import openai
import pytest
from anthropic.types import TextBlock, ThinkingBlock, ToolUseBlock
from openai.types.chat import ChatCompletionMessage
from openai.types.responses import (
    ResponseFunctionToolCall,
    ResponseOutputMessage,
    ResponseOutputText,
    ResponseReasoningItem,
)
from pydantic import BaseModel, Field
from tests.server.serving import Running, running

import typecase

Body = dict[str, Any]


class Weather(BaseModel):
    """Current weather of a place."""

    city: str = Field(description="City name")
    days: int = 1


# Both SDKs call ``_prepare_request`` for subclasses that change a request before it is sent.


class Gpt(openai.OpenAI):
    def _prepare_request(self, request: Any) -> None:
        request.url = request.url.copy_with(path=f"{request.url.path}/render")


class AsyncGpt(openai.AsyncOpenAI):
    async def _prepare_request(self, request: Any) -> None:
        request.url = request.url.copy_with(path=f"{request.url.path}/render")


class Claude(anthropic.Anthropic):
    def _prepare_request(self, request: Any) -> None:
        request.url = request.url.copy_with(path=f"{request.url.path}/render")


@pytest.fixture(scope="module")
def model(tiny: Path) -> typecase.Model:
    return typecase.load(
        tiny, served_model_names=("tiny",), enable_auto_tool_choice=True, tool_call_parser="hermes", max_model_len=4096
    )


@pytest.fixture(scope="module")
def server(model: typecase.Model) -> Iterator[Running]:
    with running(model) as server:
        yield server


@pytest.fixture(scope="module")
def gpt(server: Running) -> Iterator[openai.OpenAI]:
    with Gpt(base_url=f"http://127.0.0.1:{server.port}/v1", api_key="none", max_retries=0) as client:
        yield client


@pytest.fixture(scope="module")
def claude(server: Running) -> Iterator[anthropic.Anthropic]:
    with Claude(base_url=f"http://127.0.0.1:{server.port}", api_key="none", max_retries=0) as client:
        yield client


def rendered(answer: Any) -> Any:
    """The JSON of a raw response, streamed or not."""
    response = answer.http_response
    response.read()
    assert response.status_code == 200
    return response.json()


def ids(request: typecase.GenerateRequest) -> list[int]:
    return request.token_ids.tolist()


ARGUMENTS = '{"city": "Oslo"}'
PARAMETERS = {
    "description": "Current weather of a place.",
    "properties": {
        "city": {"description": "City name", "title": "City", "type": "string"},
        "days": {"default": 1, "title": "Days", "type": "integer"},
    },
    "required": ["city", "days"],
    "title": "Weather",
    "type": "object",
    "additionalProperties": False,
}


# openai: chat


def test_chat(gpt: openai.OpenAI, model: typecase.Model) -> None:
    earlier = ChatCompletionMessage.model_validate(
        {
            "role": "assistant",
            "content": None,
            "tool_calls": [{"id": "c1", "type": "function", "function": {"name": "Weather", "arguments": ARGUMENTS}}],
        }
    )
    tool = openai.pydantic_function_tool(Weather)
    answer = gpt.chat.completions.with_raw_response.create(
        model="tiny",
        messages=[
            {"role": "system", "content": "S"},
            {"role": "user", "content": [{"type": "text", "text": "Weather?"}]},
            cast(Any, earlier),
            {"role": "tool", "tool_call_id": "c1", "content": "cold"},
        ],
        tools=[tool],
        tool_choice="auto",
        max_completion_tokens=7,
        temperature=0.5,
        logprobs=True,
        top_logprobs=2,
        stop=["Z"],
        reasoning_effort="low",
        extra_body={"top_k": 3, "return_token_ids": True},
        extra_headers={"X-Request-Id": "mine"},
    )
    got = rendered(answer)
    messages: list[Body] = [
        {"role": "system", "content": "S"},
        {"role": "user", "content": "Weather?"},
        {
            "role": "assistant",
            "content": None,
            "tool_calls": [{"id": "c1", "type": "function", "function": {"name": "Weather", "arguments": ARGUMENTS}}],
        },
        {"role": "tool", "tool_call_id": "c1", "content": "cold"},
    ]
    function = {
        "name": "Weather",
        "description": "Current weather of a place.",
        "strict": True,
        "parameters": PARAMETERS,
    }
    wanted = model.render_chat({"messages": messages, "tools": [{"type": "function", "function": function}]})
    assert got["token_ids"] == ids(wanted)
    assert got["request_id"] == "chatcmpl-mine"
    sampling = got["sampling_params"]
    assert (sampling["max_tokens"], sampling["temperature"], sampling["logprobs"]) == (7, 0.5, 2)
    assert (sampling["top_k"], sampling["stop"], got["return_token_ids"]) == (3, ["Z"], True)


def test_a_streamed_chat(gpt: openai.OpenAI, model: typecase.Model) -> None:
    answer = gpt.chat.completions.with_raw_response.create(
        model="tiny",
        messages=[{"role": "user", "content": "x"}],
        stream=True,
        stream_options={"include_usage": True},
    )
    got = rendered(answer)
    assert got["token_ids"] == ids(model.render_chat({"messages": [{"role": "user", "content": "x"}]}))
    assert got["stream"] is True
    assert got["stream_options"] == {"include_usage": True, "continuous_usage_stats": False}
    assert got["sampling_params"]["output_kind"] == 1


def test_a_chat_with_an_answer_format(gpt: openai.OpenAI) -> None:
    answer = gpt.chat.completions.with_raw_response.create(
        model="tiny",
        messages=[{"role": "user", "content": "x"}],
        response_format={"type": "json_schema", "json_schema": {"name": "w", "schema": PARAMETERS, "strict": True}},
    )
    assert rendered(answer)["sampling_params"]["structured_outputs"]["json"] == PARAMETERS


def test_an_async_client(server: Running, model: typecase.Model) -> None:
    async def ask() -> Any:
        url = f"http://127.0.0.1:{server.port}/v1"
        async with AsyncGpt(base_url=url, api_key="none", max_retries=0) as client:
            messages: Any = [{"role": "user", "content": "x"}]
            create = client.chat.completions.with_raw_response.create
            answers = await asyncio.gather(*(create(model="tiny", messages=messages) for _ in range(8)))
            return [answer.http_response.json() for answer in answers]

    wanted = ids(model.render_chat({"messages": [{"role": "user", "content": "x"}]}))
    assert [answer["token_ids"] for answer in asyncio.run(ask())] == [wanted] * 8


# openai: completions


def test_completions(gpt: openai.OpenAI, model: typecase.Model) -> None:
    answer = gpt.completions.with_raw_response.create(model="tiny", prompt=["Hello", "x y"], max_tokens=5, seed=1)
    got = rendered(answer)
    wanted = [model.tokenize({"prompt": prompt}).tokens for prompt in ("Hello", "x y")]
    assert [one["token_ids"] for one in got] == wanted
    assert all(one["sampling_params"]["max_tokens"] == 5 for one in got)
    prompt = [1, 2, 3]
    (streamed,) = rendered(gpt.completions.with_raw_response.create(model="tiny", prompt=prompt, stream=True))
    assert (streamed["token_ids"], streamed["stream"]) == (prompt, True)


# openai: responses


def test_responses(gpt: openai.OpenAI, model: typecase.Model) -> None:
    """The items of an earlier answer go back in as the objects they came as."""
    text = ResponseOutputText(type="output_text", text="One moment.", annotations=[])
    earlier: list[Any] = [
        ResponseReasoningItem(
            id="rs", type="reasoning", summary=[], content=[{"type": "reasoning_text", "text": "hm"}]
        ),
        ResponseOutputMessage(id="m", type="message", role="assistant", status="completed", content=[text]),
        ResponseFunctionToolCall(
            id="fc", type="function_call", call_id="c1", name="Weather", arguments=ARGUMENTS, status="completed"
        ),
    ]
    answer = gpt.responses.with_raw_response.create(
        model="tiny",
        instructions="S",
        input=[
            {"role": "user", "content": "Weather?"},
            *earlier,
            {"type": "function_call_output", "call_id": "c1", "output": "cold"},
            {"type": "message", "role": "user", "content": [{"type": "input_text", "text": "And?"}]},
        ],
        tools=[{"type": "function", "name": "Weather", "parameters": PARAMETERS, "strict": True}],
        tool_choice="auto",
        max_output_tokens=9,
        include=["message.output_text.logprobs"],
        top_logprobs=1,
        reasoning={"effort": "low", "summary": "auto"},
        text={"verbosity": "low"},
        truncation="auto",
        store=False,
        metadata={"a": "b"},
    )
    got = rendered(answer)
    messages = [
        {"role": "system", "content": "S"},
        {"role": "user", "content": "Weather?"},
        {
            "role": "assistant",
            "reasoning": "hm",
            "content": "One moment.",
            "tool_calls": [{"id": "c1", "type": "function", "function": {"name": "Weather", "arguments": ARGUMENTS}}],
        },
        {"role": "tool", "tool_call_id": "c1", "content": "cold"},
        {"role": "user", "content": "And?"},
    ]
    function = {"name": "Weather", "strict": True, "parameters": PARAMETERS}
    wanted = model.render_chat({"messages": messages, "tools": [{"type": "function", "function": function}]})
    assert got["token_ids"] == ids(wanted)
    assert got["request_id"].startswith("resp_")
    assert (got["sampling_params"]["max_tokens"], got["sampling_params"]["logprobs"]) == (9, 1)


def test_responses_parsed_and_streamed(gpt: openai.OpenAI, model: typecase.Model) -> None:
    plain = ids(model.render_responses({"input": "x"}))
    parsed = rendered(gpt.responses.with_raw_response.parse(model="tiny", input="x", text_format=Weather))
    assert parsed["token_ids"] == plain
    assert parsed["sampling_params"]["structured_outputs"]["json"]["properties"].keys() == {"city", "days"}
    streamed = rendered(gpt.responses.with_raw_response.create(model="tiny", input="x", stream=True))
    assert (streamed["token_ids"], streamed["stream"]) == (plain, True)
    assert streamed["sampling_params"]["output_kind"] == 1


def test_a_responses_tool_from_a_class(gpt: openai.OpenAI, model: typecase.Model) -> None:
    tool: Any = openai.pydantic_function_tool(Weather)["function"] | {"type": "function"}
    asked = gpt.responses.with_raw_response.create
    got = rendered(asked(model="tiny", input="x", tools=[tool], tool_choice={"type": "function", "name": "Weather"}))
    wanted = model.render_responses({"input": "x", "tools": [tool], "tool_choice": "none"})
    assert got["token_ids"] == ids(wanted)
    assert got["sampling_params"]["structured_outputs"] is not None


def test_what_the_server_refuses_is_the_clients_own_error(gpt: openai.OpenAI) -> None:
    with pytest.raises(openai.BadRequestError) as refused:
        gpt.responses.create(model="tiny", input="x", previous_response_id="resp_1")
    assert refused.value.param == "previous_response_id"
    with pytest.raises(openai.NotFoundError):
        gpt.chat.completions.create(model="nope", messages=[{"role": "user", "content": "x"}])


# anthropic


def test_messages(claude: anthropic.Anthropic, model: typecase.Model) -> None:
    earlier = [
        ThinkingBlock(type="thinking", thinking="hm", signature="s"),
        TextBlock(type="text", text="One moment."),
        ToolUseBlock(type="tool_use", id="c1", name="Weather", input={"city": "Oslo"}),
    ]
    answer = claude.messages.with_raw_response.create(
        model="tiny",
        max_tokens=9,
        system=[{"type": "text", "text": "S", "cache_control": {"type": "ephemeral"}}],
        messages=[
            {"role": "user", "content": "Weather?"},
            {"role": "assistant", "content": cast(Any, earlier)},
            {
                "role": "user",
                "content": [
                    {"type": "tool_result", "tool_use_id": "c1", "content": [{"type": "text", "text": "cold"}]},
                    {"type": "text", "text": "And?"},
                ],
            },
        ],
        tools=[{"name": "Weather", "description": "d", "input_schema": PARAMETERS}],
        tool_choice={"type": "auto"},
        stop_sequences=["Z"],
        metadata={"user_id": "u"},
        extra_body={"temperature": 0.5},
    )
    got = rendered(answer)
    messages = [
        {"role": "system", "content": "S"},
        {"role": "user", "content": "Weather?"},
        {
            "role": "assistant",
            "reasoning": "hm",
            "content": "One moment.",
            "tool_calls": [{"id": "c1", "type": "function", "function": {"name": "Weather", "arguments": ARGUMENTS}}],
        },
        {"role": "tool", "tool_call_id": "c1", "content": "cold"},
        {"role": "user", "content": "And?"},
    ]
    function = {"name": "Weather", "description": "d", "parameters": PARAMETERS}
    wanted = model.render_chat({"messages": messages, "tools": [{"type": "function", "function": function}]})
    assert got["token_ids"] == ids(wanted)
    sampling = got["sampling_params"]
    assert (sampling["max_tokens"], sampling["temperature"], sampling["stop"]) == (9, 0.5, ["Z"])


def test_messages_streamed_and_thinking(claude: anthropic.Anthropic, model: typecase.Model) -> None:
    plain = ids(model.render_chat({"messages": [{"role": "user", "content": "x"}]}))
    answer = claude.messages.with_raw_response.create(
        model="tiny",
        max_tokens=2048,
        messages=[{"role": "user", "content": "x"}],
        thinking={"type": "enabled", "budget_tokens": 1024},
        stream=True,
    )
    got = rendered(answer)
    assert (got["token_ids"], got["stream"]) == (plain, True)
    assert got["sampling_params"]["thinking_token_budget"] == 1024
    assert got["stream_options"] == {"include_usage": True, "continuous_usage_stats": True}


def test_the_beta_messages_client(claude: anthropic.Anthropic, model: typecase.Model) -> None:
    """It sends a query and headers of its own."""
    answer = claude.beta.messages.with_raw_response.create(
        model="tiny",
        max_tokens=5,
        messages=[{"role": "user", "content": "x"}],
        betas=["interleaved-thinking-2025-05-14"],
    )
    assert rendered(answer)["token_ids"] == ids(model.render_chat({"messages": [{"role": "user", "content": "x"}]}))


def test_what_messages_refuses(claude: anthropic.Anthropic) -> None:
    with pytest.raises(anthropic.BadRequestError):
        claude.messages.create(model="tiny", max_tokens=0, messages=[{"role": "user", "content": "x"}])
    with pytest.raises(anthropic.NotFoundError):
        claude.messages.create(model="nope", max_tokens=5, messages=[{"role": "user", "content": "x"}])
