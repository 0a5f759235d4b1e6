"""``/tokenize`` and ``/detokenize`` through the library, on the small checkpoint."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import pytest
import tokenizers
from tokenizers.processors import TemplateProcessing

import typecase

USER = {"role": "user", "content": "Hello"}
CHAT: dict[str, Any] = {"messages": [USER]}
PROMPT = "<|im_start|>user\nHello<|im_end|>\n<|im_start|>assistant\n"
TOOLS = [{"type": "function", "function": {"name": "f"}}]


@pytest.fixture(scope="module")
def model(tiny: Path) -> typecase.Model:
    return typecase.load(tiny, served_model_names=("tiny",))


@pytest.fixture(scope="module")
def framing(tiny: Path, tmp_path_factory: pytest.TempPathFactory) -> typecase.Model:
    """A checkpoint whose tokenizer puts one token before a text and two after it."""
    folder = tmp_path_factory.mktemp("framing")
    shutil.copytree(tiny, folder, dirs_exist_ok=True)
    tokenizer = tokenizers.Tokenizer.from_file(str(folder / "tokenizer.json"))
    names = ["<think>", "</think>", "<|im_end|>"]
    tokenizer.post_processor = TemplateProcessing(
        single="<think> $A </think> <|im_end|>",
        pair=None,
        special_tokens=[(name, tokenizer.token_to_id(name)) for name in names],
    )
    tokenizer.save(str(folder / "tokenizer.json"))
    config = json.loads((folder / "tokenizer_config.json").read_text())
    (folder / "tokenizer_config.json").write_text(json.dumps(config | {"tokenizer_class": "PreTrainedTokenizerFast"}))
    return typecase.load(folder)


def text_of(model: typecase.Model, request: dict[str, Any]) -> str:
    return model.detokenize({"tokens": model.tokenize(request).tokens}).prompt


def refusal(model: typecase.Model, request: dict[str, Any]) -> typecase.RequestError:
    with pytest.raises(typecase.RequestError) as refused:
        model.tokenize(request)
    return refused.value


def test_a_text(model: typecase.Model) -> None:
    answer = model.tokenize({"prompt": "Hello <|im_end|> wörld"})
    assert (answer.count, answer.max_model_len, answer.token_strs) == (len(answer.tokens), 4096, None)
    assert model.front.tokenizer.token_id("<|im_end|>") in answer.tokens
    assert model.detokenize({"tokens": answer.tokens}).prompt == "Hello <|im_end|> wörld"
    empty = model.tokenize({"prompt": "", "return_token_strs": True})
    assert (empty.count, empty.tokens, empty.token_strs) == (0, [], [])


def test_a_chat_is_what_chat_render_renders(model: typecase.Model) -> None:
    assert model.tokenize(CHAT).tokens == model.render_chat(CHAT).token_ids.tolist()
    assert text_of(model, CHAT) == PROMPT


def test_tokens_as_the_vocabulary_spells_them(model: typecase.Model) -> None:
    spelled = model.tokenize({"prompt": " ł\n<|im_end|>", "return_token_strs": True}).token_strs
    assert spelled is not None
    assert "".join(spelled) == "ĠÅĤĊ<|im_end|>"
    chat = model.tokenize({**CHAT, "return_token_strs": True})
    assert chat.token_strs is not None
    assert len(chat.token_strs) == chat.count
    assert chat.token_strs[0] == "<|im_start|>"


def test_special_tokens_stand_around_texts_and_on_request_around_chats(framing: typecase.Model) -> None:
    assert text_of(framing, {"prompt": "a"}) == "<think>a</think><|im_end|>"
    assert text_of(framing, {"prompt": ""}) == "<think></think><|im_end|>"
    assert text_of(framing, {"prompt": "a", "add_special_tokens": False}) == "a"
    assert text_of(framing, CHAT) == PROMPT
    assert text_of(framing, {**CHAT, "add_special_tokens": True}) == f"<think>{PROMPT}</think><|im_end|>"


def test_no_length_is_too_long(tiny: Path) -> None:
    model = typecase.load(tiny, max_model_len=4)
    text = "word " * 5000
    assert model.tokenize({"prompt": text}).count > 5000
    answer = model.tokenize({"messages": [{"role": "user", "content": text}]})
    assert answer.count > 5000
    assert answer.max_model_len == 4


@pytest.mark.parametrize(
    ("fields", "text"),
    [
        ({"prompt": "messages win"}, PROMPT),
        ({"add_generation_prompt": False}, "<|im_start|>user\nHello<|im_end|>\n"),
        ({"add_generation_prompt": False, "continue_final_message": True}, "<|im_start|>user\nHello"),
        ({"tools": []}, PROMPT),
        ({"chat_template_kwargs": {"enable_thinking": False}}, PROMPT + "<think>\n\n</think>\n\n"),
        ({"messages": [{"role": "developer", "content": "D"}, USER]}, f"<|im_start|>system\nD<|im_end|>\n{PROMPT}"),
        ({"messages": [{**USER, "content": [{"type": "text", "text": "Hello"}]}]}, PROMPT),
        # Fields of chat render that mean nothing here.
        ({"tool_choice": "required", "max_tokens": 0, "truncate_prompt_tokens": 1, "temperature": 9}, PROMPT),
    ],
)
def test_fields_of_a_chat(model: typecase.Model, fields: dict[str, Any], text: str) -> None:
    assert text_of(model, CHAT | fields) == text


def test_tools_need_no_parser_and_are_never_kept_out(tiny: Path) -> None:
    model = typecase.load(tiny, exclude_tools_when_tool_choice_none=True)
    for choice in ("auto", "none", None):
        assert '"name": "f", "description": null' in text_of(model, {**CHAT, "tools": TOOLS, "tool_choice": choice})


def test_defaults_and_templates_of_the_server_apply(tiny: Path) -> None:
    thinking = typecase.load(tiny, default_chat_template_kwargs={"enable_thinking": False})
    assert text_of(thinking, CHAT).endswith("</think>\n\n")
    assert text_of(thinking, {**CHAT, "chat_template_kwargs": {"enable_thinking": True}}) == PROMPT
    trusting = typecase.load(tiny, trust_request_chat_template=True, chat_template="the server's")
    assert text_of(trusting, CHAT) == "the server's"
    assert text_of(trusting, {**CHAT, "chat_template": "{{ messages[0].content }}"}) == "Hello"
    assert trusting.tokenize({**CHAT, "chat_template": "{# #}"}).count == 0, "an empty prompt is no fault here"


@pytest.mark.parametrize(
    ("request_", "status", "kind", "param"),
    [
        ({}, 400, "Bad Request", "body.prompt"),
        ({"prompt": 5}, 400, "Bad Request", "body.prompt"),
        ({"prompt": ["a"]}, 400, "Bad Request", "body.prompt"),
        ({"prompt": "x", "model": "nope"}, 404, "NotFoundError", "model"),
        ({**CHAT, "model": "nope"}, 404, "NotFoundError", "model"),
        ({"messages": []}, 400, "BadRequestError", None),
        ({"messages": [{"role": "narrator", "content": ""}]}, 400, "BadRequestError", None),
        ({**CHAT, "continue_final_message": True}, 400, "BadRequestError", None),
        (
            {**CHAT, "continue_final_message": True, "add_generation_prompt": True},
            400,
            "BadRequestError",
            None,
        ),
        ({**CHAT, "chat_template": "x"}, 400, "BadRequestError", None),
        ({**CHAT, "chat_template_kwargs": {"chat_template": "x"}}, 400, "BadRequestError", None),
        ({**CHAT, "mm_processor_kwargs": {"a": 1}}, 400, "BadRequestError", "mm_processor_kwargs"),
        ({"prompt": "a\ud800"}, 400, "BadRequestError", "body.prompt"),
        ({"messages": [{**USER, "content": "\ud800"}]}, 400, "BadRequestError", "body.messages.0.content"),
    ],
)
def test_refusals(model: typecase.Model, request_: dict[str, Any], status: int, kind: str, param: str | None) -> None:
    error = refusal(model, request_)
    assert (error.status, error.type, error.param) == (status, kind, param)


def test_a_template_that_runs_away(tiny: Path) -> None:
    model = typecase.load(tiny, chat_template="{% for i in range(99999) %}{% endfor %}")
    with pytest.raises(typecase.RequestError, match="more than its limit of 1000 steps"):
        model.tokenize(CHAT, budget=typecase.Budget(1000, 1000))


# Back to text


@pytest.mark.parametrize("text", ["", "Hello, wörld 🐘\n", PROMPT, "\x00\ufffd", "👩‍👩‍👧‍👦"])
def test_round_trip(model: typecase.Model, text: str) -> None:
    assert text_of(model, {"prompt": text}) == text


def test_half_a_character_is_written_as_replacement(model: typecase.Model) -> None:
    whole = model.tokenize({"prompt": "🐘"}).tokens
    assert len(whole) > 1
    assert set(model.detokenize({"tokens": whole[:-1]}).prompt) == {"\ufffd"}


@pytest.mark.parametrize(
    ("request_", "param"),
    [
        ({}, "body.tokens"),
        ({"tokens": None}, "body.tokens"),
        ({"tokens": "1"}, "body.tokens"),
        ({"tokens": [1, "a"]}, "body.tokens.1"),
        ({"tokens": [-1]}, "body.tokens.0"),
        ({"tokens": [1.5]}, "body.tokens.0"),
        ({"tokens": [2**63]}, "body.tokens.0"),
        ({"tokens": [1], "model": "nope"}, "model"),
    ],
)
def test_ids_that_are_none(model: typecase.Model, request_: dict[str, Any], param: str) -> None:
    with pytest.raises(typecase.RequestError) as refused:
        model.detokenize(request_)
    assert refused.value.param == param
    assert refused.value.status == (404 if param == "model" else 400)
