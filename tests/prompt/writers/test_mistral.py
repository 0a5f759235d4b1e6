"""Prompts that mistral-common writes, and what becomes of what it refuses.

The small tokenizers here show how a request reaches the library; the prompts of real ones are held by recorded answers
(``tests/parity``).
"""

from __future__ import annotations

import socket
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from tests.support.tiny_mistral import SPECIAL, checkpoint, sentencepiece

import typecase

USER = {"role": "user", "content": "Hello"}
ANSWER = {"role": "assistant", "content": "x"}
REFUSAL = {"type": "refusal", "refusal": "No"}
GOES_ON = {"continue_final_message": True, "add_generation_prompt": False}
TOOL = {"type": "function", "function": {"name": "f", "parameters": {"type": "object"}}}


def call(call_id: str, arguments: str = "{}", name: str = "f") -> dict[str, Any]:
    return {"id": call_id, "type": "function", "function": {"name": name, "arguments": arguments}}


def history(call_id: str, arguments: str = "{}") -> list[dict[str, Any]]:
    return [
        USER,
        {"role": "assistant", "content": None, "tool_calls": [call(call_id, arguments)]},
        {"role": "tool", "tool_call_id": call_id, "content": "cold"},
    ]


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> typecase.Model:
    return typecase.load(checkpoint(tmp_path_factory.mktemp("v3")), served_model_names=("m",))


@pytest.fixture(scope="module")
def v15(tmp_path_factory: pytest.TempPathFactory) -> typecase.Model:
    effort = {"type": "enum", "accepts_none": True, "default": "none", "values": ["none", "high"]}
    folder = checkpoint(
        tmp_path_factory.mktemp("v15"), version="v15", model_settings_builder={"reasoning_effort": effort}
    )
    return typecase.load(folder)


def text(model: typecase.Model, messages: list[dict[str, Any]], **fields: Any) -> str:
    ids = model.render_chat({"messages": messages, **fields}).token_ids
    return model.front.tokenizer.decode(ids)


def refusal(model: typecase.Model, messages: list[dict[str, Any]], **fields: Any) -> str:
    with pytest.raises(typecase.RequestError) as caught:
        model.render_chat({"messages": messages, **fields})
    assert caught.value.status == 400
    return str(caught.value)


def test_a_chat(model: typecase.Model) -> None:
    messages = [{"role": "system", "content": "S"}, USER, ANSWER, {"role": "user", "content": "b"}]
    assert text(model, messages) == "<s>[INST]Hello[/INST]x</s>[INST]S\n\nb[/INST]"
    assert text(model, [USER], tools=[TOOL]).startswith("<s>[AVAILABLE_TOOLS][")
    assert text(model, [{"role": "developer", "content": "S"}, USER]) == "<s>[INST]S\n\nHello[/INST]"


def test_sentencepiece(tmp_path: Path) -> None:
    other = typecase.load(checkpoint(tmp_path, "tokenizer.model.v3", sentencepiece()))
    assert text(other, [USER]).startswith("<s>[INST]▁")


def test_special_tokens_that_a_client_typed(model: typecase.Model) -> None:
    ids = model.render_chat({"messages": [{"role": "user", "content": "".join(SPECIAL)}]}).token_ids
    assert [i for i in ids if i < len(SPECIAL)] == [1, 3, 4]


def test_ids_of_calls_are_cut(model: typecase.Model) -> None:
    """vLLM keeps the last nine characters, in calls and results alike."""
    assert '"id": "123456789"' in text(model, history("call_123456789"))
    assert '"call_id": "123456789"' in text(model, history("call_123456789"))
    assert refusal(model, history("call_1")) == "Tool call id was call_1 but must be a-z, A-Z, 0-9, with a length of 9."


def test_ids_are_cut_in_chat_alone(model: typecase.Model) -> None:
    with pytest.raises(typecase.RequestError, match="Tool call id was call_123456789 but must be"):
        model.tokenize({"messages": history("call_123456789")})


@pytest.mark.parametrize(
    ("arguments", "shown"), [("", "{}"), ("{bad", "{}"), ("[1]", "{}"), ('{"b":1.50}', '{"b": 1.5}'), ("null", "{}")]
)
def test_arguments_of_calls(model: typecase.Model, arguments: str, shown: str) -> None:
    assert f'"arguments": {shown}' in text(model, history("callABCD1", arguments))


def test_parts_without_a_type_are_left_out(model: typecase.Model) -> None:
    parts = [{"tool_reference": "lost"}, {"type": "text", "text": "kept"}]
    assert text(model, [{"role": "user", "content": parts}]) == "<s>[INST]kept[/INST]"


@pytest.mark.parametrize(
    ("messages", "fields", "message"),
    [
        ([{"role": "narrator", "content": "x"}, USER], {}, "Unknown message role: narrator"),
        ([{"role": "user"}], {}, "'content'"),
        ([USER, ANSWER | {"content": None}, USER], {}, "Assistant message must have either content or tool_calls, but"),
        ([USER, ANSWER | {"content": [REFUSAL]}, USER], {}, "'refusal' is not a valid ChunkTypes"),
        ([USER, ANSWER], {}, "Cannot set `add_generation_prompt` to True when the last message is from the assistant."),
        (
            [USER],
            GOES_ON,
            "Cannot set `continue_final_message` to True when the last message is not from the assistant",
        ),
        (
            [USER],
            {"continue_final_message": True},
            "Cannot set both `add_generation_prompt` and `continue_final_messag",
        ),
        ([USER], {"chat_template": "x"}, "chat_template is not supported for Mistral tokenizers. (parameter=chat_temp"),
        ([USER], {"chat_template_kwargs": {}}, "chat_template is not supported for Mistral tokenizers. (parameter="),
        ([USER], {"tools": [TOOL | {"function": {"name": "a b"}}]}, "Function name was a b but must be a-z, A-Z, 0-9,"),
    ],
)
def test_refusals_are_the_librarys(
    model: typecase.Model, messages: list[dict[str, Any]], fields: dict[str, Any], message: str
) -> None:
    """Or vLLM's, before it. The whole texts are held by recorded answers."""
    assert refusal(model, messages, **fields).startswith(message)


def test_an_answer_goes_on(model: typecase.Model) -> None:
    messages = [USER, {"role": "assistant", "content": "Once"}]
    shown = text(model, messages, add_generation_prompt=False, continue_final_message=True)
    assert shown == "<s>[INST]Hello[/INST]Once"


def test_no_tool_parser_is_needed(model: typecase.Model) -> None:
    """Elsewhere such a choice is refused without --tool-call-parser."""
    assert text(model, [USER], tools=[TOOL], tool_choice="required").endswith("Hello[/INST]")


def test_prompts_have_no_offsets(model: typecase.Model) -> None:
    assert model.render_chat({"messages": [USER], "return_token_offsets": True}).token_offsets is None
    assert model.render_completions({"prompt": "Hello", "return_token_offsets": True})[0].token_offsets is None


def test_truncation_and_completions(model: typecase.Model) -> None:
    tokenizer = model.front.tokenizer
    ids = model.render_completions({"prompt": "a b c d", "truncate_prompt_tokens": 3})[0].token_ids
    assert tokenizer.decode(ids) == "<s> d"
    assert len(model.render_chat({"messages": [USER], "truncate_prompt_tokens": 2}).token_ids) == 2


def test_reasoning_effort(model: typecase.Model, v15: typecase.Model) -> None:
    assert "MODEL_SETTINGS" not in text(model, [USER], reasoning_effort="high")
    assert text(v15, [USER], reasoning_effort="high").startswith(
        '<s>[MODEL_SETTINGS]{"reasoning_effort": "high"}[/MODEL_SETTINGS]'
    )
    assert '"none"' in text(v15, [USER])
    assert "low" in refusal(v15, [USER], reasoning_effort="low")


def test_tokenize(model: typecase.Model) -> None:
    chat = {"messages": [{"role": "user", "content": "<s>"}]}
    assert model.tokenize(chat).tokens[:2] == [1, 3]
    shown = model.tokenize(chat | {"chat_template_kwargs": {"tokenize": False}, "add_special_tokens": True})
    assert shown.tokens[0] == 1
    assert model.front.tokenizer.decode(shown.tokens[1:]) == "<s>[INST]<s>[/INST]"
    assert len(shown.tokens) > 10  # the markers are text here
    assert model.tokenize({"prompt": "<s>", "add_special_tokens": False}).count == 3


@pytest.mark.parametrize("route", ["chat", "tokenize", "responses"])
@pytest.mark.parametrize(
    "part",
    [
        {"type": "image_url", "image_url": {"url": "http://127.0.0.1:1/a.png"}},
        {"type": "image_url", "image_url": "file:///etc/passwd"},
        {"type": "image", "url": "http://127.0.0.1:1/a.png"},
        {"type": "image", "path": "/etc/passwd"},
        {"type": "audio", "url": "http://127.0.0.1:1/a.wav"},
        {"type": "audio", "path": "/etc/passwd"},
        {"type": "audio_url", "audio_url": {"url": "http://127.0.0.1:1/a.wav"}},
        {"type": "input_audio", "input_audio": {"data": "AAAA", "format": "wav"}},
    ],
)
def test_media_are_neither_opened_nor_fetched(
    model: typecase.Model, monkeypatch: pytest.MonkeyPatch, part: dict[str, Any], route: str
) -> None:
    def connect(*_: Any) -> None:
        raise AssertionError("a connection was made")

    monkeypatch.setattr(socket.socket, "connect", connect)
    messages = [{"role": "user", "content": [part]}]
    render: dict[str, Callable[[], object]] = {
        "chat": lambda: model.render_chat({"messages": messages}),
        "tokenize": lambda: model.tokenize({"messages": messages}),
        "responses": lambda: model.render_responses({"input": messages}),
    }
    with pytest.raises(typecase.RequestError) as caught:
        render[route]()
    assert caught.value.status == 400
    assert "connection was made" not in str(caught.value)


def test_schemas_that_would_take_the_library_hours(model: typecase.Model) -> None:
    """It compares each item of such a list with each."""
    wide = {"type": "object", "required": [[i] for i in range(100_000)]}
    tool = {"type": "function", "function": {"name": "f", "parameters": wide}}
    assert refusal(model, [USER], tools=[tool]).startswith("tools[0]: a list in its schema has 100000 items")
    names = {"type": "object", "required": [str(i) for i in range(2000)]}
    tool["function"] = {"name": "f", "parameters": names}
    assert "context length" in refusal(model, [USER], tools=[tool])


@pytest.mark.parametrize("tools", [1, True, "f", {"a": 1}, [1]])
def test_tools_among_the_template_kwargs_of_impossible_kinds(model: typecase.Model, tools: object) -> None:
    with pytest.raises(typecase.RequestError) as caught:
        model.render_responses({"input": "Hello", "chat_template_kwargs": {"tools": tools}})
    assert caught.value.status == 400


@pytest.mark.parametrize("depth", [300, 3000])
def test_schemas_that_are_nested_deeply(model: typecase.Model, depth: int) -> None:
    schema: dict[str, Any] = {}
    for _ in range(depth):
        schema = {"items": schema}
    tool = {"type": "function", "function": {"name": "f", "parameters": schema}}
    assert refusal(model, [USER], tools=[tool])


def test_what_the_tokenizer_says_of_itself(model: typecase.Model) -> None:
    assert model.tokenizer_info() == {"tokenizer_class": "MistralTokenizer"}
