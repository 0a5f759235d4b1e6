"""One conversation through all three APIs: the same ids, wherever vLLM 0.33 gives the same.

A conversation is drawn once and written as a chat, a Responses and a Messages request. Where vLLM's own answers differ,
so do ours, for these reasons. The drawn conversations keep clear of most; the tests at the end show them:

* Responses puts the tokenizer's special tokens around the prompt, chat and Messages don't: the chat asks for them, too.
* Of an assistant's parts, Responses takes the first text only; chat and Messages take all.
* Messages drops empty texts, and whole system blocks that start with ``x-anthropic-billing-header`` (chat: their first
  line).
* Messages adds ``"type": "object"`` to a schema that has no type, and a tool of its always has parameters.
* Messages writes a call's arguments with Python's ``json.dumps``. Templates get objects and can't tell; a writer that
  is handed the text shows what chat and Responses clients wrote.
* A call's name stands before its arguments in Responses and behind them in the others, as templates show that print a
  call as a whole (``WHOLE_CALLS``).
* ``--tokenizer-mode mistral`` takes no ``input_text`` parts, and joins the parts of a tool's result by an empty line
  where Messages joins them by a newline (``ONE_PART``).
* Some templates want tool call ids of nine letters or digits, which those drawn are.
* gpt-oss: text beside calls is commentary in chat and Messages and a final answer in Responses; a result's parts are
  joined by nothing in chat, by a newline in Messages, and refused in Responses.
"""

from __future__ import annotations

import json
import shutil
from dataclasses import dataclass, replace
from datetime import datetime
from functools import cache
from pathlib import Path
from typing import Any

import pytest
import tokenizers
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from tests.conftest import models_folder
from tokenizers.processors import TemplateProcessing

import typecase

Message = dict[str, Any]

NOW = datetime(2026, 1, 15, 10, 30)
# What a message says, but for the order of a call's keys.
MESSAGE = (
    "{{ [m.role, m.content, m.reasoning, m.reasoning_content, m.tool_call_id, m.tool_calls is defined]|string }}"
    "{% for c in m.tool_calls or [] %}{{ [c.id, c.type, c.function.name]|tojson }}"
    "{{ c.function.arguments|tojson }}{% endfor %}"
)
SHOW = "{% for m in messages %}" + MESSAGE + "{% endfor %}{{ [tools, reasoning_effort, enable_thinking]|string }}"
# A template that reads parts gets lists.
SHOW_PARTS = "{% for m in messages %}{% for p in m.content %}{{ p|tojson }}{% endfor %}" + MESSAGE + "{% endfor %}"


@dataclass(frozen=True)
class Turn:
    """What the model did, and what came back: reasoning, text, calls with their results, the user's next words."""

    reasoning: str | None
    text: str | None
    calls: tuple[tuple[str, Message, str | tuple[str, ...]], ...]
    user: tuple[str, ...] | None


@dataclass(frozen=True)
class Conversation:
    system: str | None
    user: tuple[str, ...]
    turns: tuple[Turn, ...]
    tools: tuple[Message, ...]
    effort: str | None


SPICES = (
    "x", " ", "\n", "a\n\nb", "<|im_end|>", "<think>", "</think>", "é", "日本", "🙂", "{{ x }}", "</s>",
    "[INST]", "\u2028",
)  # fmt: skip
TEXT = st.lists(
    st.sampled_from(SPICES) | st.text(st.characters(exclude_categories=["Cs"]), max_size=8), min_size=1, max_size=4
).map("".join)
WORDS = TEXT.filter(bool)
VALUES = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**53), 2**53) | TEXT,
    lambda inner: st.lists(inner, max_size=2),
    max_leaves=4,
)
ARGUMENTS = st.dictionaries(st.sampled_from(["city", "unit", "é"]), VALUES, max_size=3)
PARTS = st.lists(WORDS, min_size=1, max_size=3).map(tuple)
RESULT = TEXT | PARTS
SCHEMA = st.builds(
    lambda text, required: {
        "type": "object",
        "properties": {"city": {"type": "string", "description": text}, "n": {"type": "integer"}},
        "required": required,
    },
    TEXT,
    st.sampled_from([["city"], []]),
)
NAMES = st.sampled_from(["get_weather", "f", "a-b"])


@st.composite
def turns(draw: st.DrawFn) -> Turn:
    calls = draw(st.lists(st.tuples(NAMES, ARGUMENTS, RESULT), max_size=2).map(tuple))
    # An answer is a text, calls or both; after calls the user need not speak.
    text = draw(WORDS if not calls else st.none() | WORDS)
    user = draw(PARTS if not calls else st.none() | PARTS)
    return Turn(draw(st.none() | WORDS), text, calls, user)


@st.composite
def tools(draw: st.DrawFn) -> Message:
    tool = {"name": draw(NAMES), "description": draw(st.none() | TEXT), "parameters": draw(SCHEMA)}
    if draw(st.integers(0, 3)) == 0:
        tool["strict"] = draw(st.booleans())
    return tool


CONVERSATIONS = st.builds(
    Conversation,
    system=st.none() | WORDS,
    user=PARTS,
    turns=st.lists(turns(), max_size=3).map(tuple),
    tools=st.lists(tools(), max_size=2).map(tuple),
    effort=st.sampled_from([None, None, "low", "medium", "high"]),
)


def call_id(turn: int, call: int) -> str:
    return f"call{turn:04}{call}"


def parts(texts: tuple[str, ...], kind: str) -> Any:
    return texts[0] if len(texts) == 1 else [{"type": kind, "text": text} for text in texts]


def result_of(result: str | tuple[str, ...], kind: str) -> Any:
    return result if isinstance(result, str) else [{"type": kind, "text": text} for text in result]


def as_chat(talk: Conversation) -> Message:
    messages: list[Message] = [{"role": "system", "content": talk.system}] if talk.system else []
    messages.append({"role": "user", "content": parts(talk.user, "text")})
    for i, turn in enumerate(talk.turns):
        answer: Message = {"role": "assistant", "content": turn.text}
        if turn.reasoning is not None:
            answer["reasoning"] = turn.reasoning
        if turn.calls:
            answer["tool_calls"] = [
                {
                    "id": call_id(i, j),
                    "type": "function",
                    "function": {"name": name, "arguments": json.dumps(arguments)},
                }
                for j, (name, arguments, _) in enumerate(turn.calls)
            ]
        messages.append(answer)
        for j, (_, _, result) in enumerate(turn.calls):
            messages.append({"role": "tool", "tool_call_id": call_id(i, j), "content": result_of(result, "text")})
        if turn.user is not None:
            messages.append({"role": "user", "content": parts(turn.user, "text")})
    request: Message = {"messages": messages}
    if talk.tools:
        request |= {"tools": [{"type": "function", "function": tool} for tool in talk.tools], "tool_choice": "none"}
    return request | ({"reasoning_effort": talk.effort} if talk.effort else {})


def as_responses(talk: Conversation) -> Message:
    items: list[Message] = [{"role": "user", "content": parts(talk.user, "input_text")}]
    for i, turn in enumerate(talk.turns):
        if turn.reasoning is not None:
            content = [{"type": "reasoning_text", "text": turn.reasoning}]
            items.append({"type": "reasoning", "summary": [], "content": content})
        if turn.text is not None:
            content = [{"type": "output_text", "text": turn.text}]
            items.append({"type": "message", "role": "assistant", "content": content})
        items += [
            {"type": "function_call", "call_id": call_id(i, j), "name": name, "arguments": json.dumps(arguments)}
            for j, (name, arguments, _) in enumerate(turn.calls)
        ]
        items += [
            {"type": "function_call_output", "call_id": call_id(i, j), "output": result_of(result, "input_text")}
            for j, (_, _, result) in enumerate(turn.calls)
        ]
        if turn.user is not None:
            items.append({"role": "user", "content": parts(turn.user, "input_text")})
    request: Message = {"input": items, "instructions": talk.system}
    if talk.tools:
        request |= {"tools": [{"type": "function", **tool} for tool in talk.tools], "tool_choice": "none"}
    return request | ({"reasoning": {"effort": talk.effort}} if talk.effort else {})


def as_messages(talk: Conversation) -> Message:
    messages: list[Message] = [{"role": "user", "content": parts(talk.user, "text")}]
    for i, turn in enumerate(talk.turns):
        blocks: list[Message] = []
        if turn.reasoning is not None:
            blocks.append({"type": "thinking", "thinking": turn.reasoning, "signature": "s"})
        if turn.text is not None:
            blocks.append({"type": "text", "text": turn.text})
        blocks += [
            {"type": "tool_use", "id": call_id(i, j), "name": name, "input": arguments}
            for j, (name, arguments, _) in enumerate(turn.calls)
        ]
        messages.append({"role": "assistant", "content": blocks})
        results: list[Message] = [
            {"type": "tool_result", "tool_use_id": call_id(i, j), "content": result_of(result, "text")}
            for j, (_, _, result) in enumerate(turn.calls)
        ]
        if turn.user is not None:
            results += [{"type": "text", "text": text} for text in turn.user]
        if results:
            messages.append({"role": "user", "content": results})
    request: Message = {"model": "m", "messages": messages, "max_tokens": 1}
    if talk.system:
        request["system"] = talk.system
    if talk.tools:
        request["tools"] = [
            {("input_schema" if key == "parameters" else key): value for key, value in tool.items()}
            for tool in talk.tools
        ]
        request["tool_choice"] = {"type": "none"}
    return request | ({"output_config": {"effort": talk.effort}} if talk.effort else {})


def outcome(render: Any, request: Message) -> list[int] | str:
    """The ids, or what is said instead of them."""
    try:
        ids: list[int] = render(request, now=NOW).token_ids.tolist()
    except typecase.RequestError as error:
        return f"{error.status} {error.message}"
    return ids


def check(model: typecase.Model, talk: Conversation) -> None:
    chat = as_chat(talk)
    assert outcome(model.render_messages, as_messages(talk)) == outcome(model.render_chat, chat)
    wrapped = outcome(model.render_chat, {**chat, "add_special_tokens": True})
    assert outcome(model.render_responses, as_responses(talk)) == wrapped


@cache
def loaded(folder: Path, **settings: Any) -> typecase.Model:
    return typecase.load(folder, served_model_names=("m",), max_model_len=1 << 20, **settings)


@pytest.mark.parametrize("template", [None, SHOW, SHOW_PARTS], ids=["own", "texts", "parts"])
@settings(max_examples=150, deadline=None, suppress_health_check=list(HealthCheck))
@given(CONVERSATIONS)
def test_the_small_checkpoint(tiny: Path, template: str | None, talk: Conversation) -> None:
    check(loaded(tiny, chat_template=template) if template else loaded(tiny), talk)


FOLDER = models_folder()
NAMES_OF_MODELS = sorted(p.name for p in FOLDER.iterdir() if (p / "config.json").is_file()) if FOLDER else ["qwen3"]
MODES = {"mistral_nemo_tekken": "mistral", "deepseek_v32": "deepseek_v32"}
WHOLE_CALLS = {"mistral_nemo"}
ONE_PART = {"gptoss", "mistral_nemo_tekken", "mistral_7b_v03_sp", "mistral_large_2411_sp"}


@pytest.mark.network
@pytest.mark.parametrize("name", NAMES_OF_MODELS)
@settings(max_examples=20, deadline=None, suppress_health_check=list(HealthCheck))
@given(CONVERSATIONS)
def test_models(models: Path, name: str, talk: Conversation) -> None:
    model = loaded(models / name, **({"tokenizer_mode": MODES[name]} if name in MODES else {}))
    if name in ONE_PART:
        talk = with_single_parts(talk)
    if name in WHOLE_CALLS and any(turn.calls for turn in talk.turns):
        assert outcome(model.render_messages, as_messages(talk)) == outcome(model.render_chat, as_chat(talk))
    else:
        check(model, talk)


def with_single_parts(talk: Conversation) -> Conversation:
    """The conversation with one text wherever there may be several, and none beside calls."""

    def one(texts: tuple[str, ...]) -> tuple[str, ...]:
        return ("".join(texts),)

    changed = tuple(
        replace(
            turn,
            text=None if turn.calls else turn.text,
            user=turn.user and one(turn.user),
            calls=tuple((name, arguments, "".join(result)) for name, arguments, result in turn.calls),
        )
        for turn in talk.turns
    )
    return replace(talk, user=one(talk.user), turns=changed)


def test_the_first_part_of_an_answer_counts_in_responses(tiny: Path) -> None:
    model = loaded(tiny)
    texts = ("one", "two")
    answer = {"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": t} for t in texts]}
    responses = outcome(model.render_responses, {"input": [answer]})
    content = [{"type": "text", "text": text} for text in texts]
    chat = outcome(model.render_chat, {"messages": [{"role": "assistant", "content": content}]})
    messages = {"model": "m", "max_tokens": 1, "messages": [{"role": "assistant", "content": content}]}
    assert outcome(model.render_messages, messages) == chat != responses
    assert responses == outcome(model.render_chat, {"messages": [{"role": "assistant", "content": "one"}]})


def test_the_order_of_a_calls_keys(tiny: Path) -> None:
    model = loaded(tiny, chat_template="{% for c in messages[1].tool_calls %}{{ c.function|tojson }}{% endfor %}")
    talk = Conversation(None, ("x",), (Turn(None, None, (("f", {}, "r"),), None),), (), None)

    def text(render: Any, request: Message) -> str:
        ids = render(request, now=NOW).token_ids.tolist()
        return model.detokenize({"tokens": ids}).prompt

    assert text(model.render_responses, as_responses(talk)) == '{"name": "f", "arguments": {}}'
    assert text(model.render_chat, as_chat(talk)) == '{"arguments": {}, "name": "f"}'
    assert text(model.render_messages, as_messages(talk)) == '{"arguments": {}, "name": "f"}'


def test_a_schema_without_a_type(tiny: Path) -> None:
    model = loaded(tiny)
    talk = Conversation(None, ("x",), (), ({"name": "f", "description": None, "parameters": {"properties": {}}},), None)
    chat = outcome(model.render_chat, as_chat(talk))
    assert outcome(model.render_responses, as_responses(talk)) == chat
    assert outcome(model.render_messages, as_messages(talk)) != chat
    typed = replace(talk, tools=({**talk.tools[0], "parameters": {"properties": {}, "type": "object"}},))
    assert outcome(model.render_messages, as_messages(talk)) == outcome(model.render_chat, as_chat(typed))


def test_special_tokens_stand_around_a_response(model_with_bos: typecase.Model) -> None:
    talk = Conversation("s", ("x",), (), (), None)
    chat = outcome(model_with_bos.render_chat, as_chat(talk))
    assert outcome(model_with_bos.render_messages, as_messages(talk)) == chat
    bos = model_with_bos.tokenize({"prompt": "", "add_special_tokens": True}).tokens
    assert len(bos) == 1
    assert outcome(model_with_bos.render_responses, as_responses(talk)) == [*bos, *chat]


def test_no_special_tokens_where_the_template_call_tokenizes(model_with_bos: typecase.Model) -> None:
    """A request's ``tokenize`` reaches vLLM's template call, whose ids nothing is put around."""
    chat = outcome(model_with_bos.render_chat, {"messages": [{"role": "user", "content": "x"}]})
    for value, plain in ((True, True), ("x", True), (False, False), (None, False), ("auto", False)):
        ids = outcome(model_with_bos.render_responses, {"input": "x", "chat_template_kwargs": {"tokenize": value}})
        assert (ids == chat) == plain
        assert plain or ids[1:] == chat


@pytest.fixture(scope="module")
def model_with_bos(tiny: Path, tmp_path_factory: pytest.TempPathFactory) -> typecase.Model:
    """A checkpoint whose tokenizer adds a token before each text."""
    folder = tmp_path_factory.mktemp("bos")
    shutil.copytree(tiny, folder, dirs_exist_ok=True)
    tokenizer = tokenizers.Tokenizer.from_file(str(folder / "tokenizer.json"))
    bos = ("<|endoftext|>", tokenizer.token_to_id("<|endoftext|>"))
    tokenizer.post_processor = TemplateProcessing(single=f"{bos[0]} $A", pair=None, special_tokens=[bos])
    tokenizer.save(str(folder / "tokenizer.json"))
    config = json.loads((folder / "tokenizer_config.json").read_text())
    config |= {"bos_token": bos[0], "tokenizer_class": "PreTrainedTokenizerFast"}
    (folder / "tokenizer_config.json").write_text(json.dumps(config))
    return typecase.load(folder, served_model_names=("m",))


@pytest.mark.network
def test_a_template_that_prints_whole_calls(models: Path) -> None:
    model = loaded(models / "mistral_nemo")
    turns = (Turn(None, None, (("f", {"a": 1}, "r"),), None), Turn(None, "t", (), ("y",)))
    talk = Conversation(None, ("x",), turns, (), None)
    chat = outcome(model.render_chat, {**as_chat(talk), "add_special_tokens": True})
    assert isinstance(chat, list)
    assert outcome(model.render_responses, as_responses(talk)) != chat
