"""Chat render as a whole, on the small checkpoint: what reaches the prompt, what the answer carries, what is refused.

Fields, sampling and lengths have tests of their own.
"""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import pytest

import typecase

USER = {"role": "user", "content": "Hello"}
PROMPT = "<|im_start|>user\nHello<|im_end|>\n<|im_start|>assistant\n"
TOOL = {"type": "function", "function": {"name": "f", "description": None, "parameters": None}}
NAMED = {"type": "function", "function": {"name": "f"}}
CONTENTS = "{% for m in messages %}[{{ m.role }}:{{ m.content }}]{% endfor %}"


@pytest.fixture(scope="module")
def model(tiny: Path) -> typecase.Model:
    """As started without a flag."""
    return typecase.load(tiny, served_model_names=("tiny", "alias"))


@pytest.fixture(scope="module")
def trusting(tiny: Path) -> typecase.Model:
    """With a tool parser and trust in requests' templates."""
    return typecase.load(
        tiny, trust_request_chat_template=True, enable_auto_tool_choice=True, tool_call_parser="hermes"
    )


def render(model: typecase.Model, /, **fields: Any) -> typecase.GenerateRequest:
    return model.render_chat({"messages": [USER], **fields}, request_id="i")


def prompt(model: typecase.Model, /, **fields: Any) -> str:
    return model.detokenize({"tokens": render(model, **fields).token_ids.tolist()}).prompt


def refusal(model: typecase.Model, /, **fields: Any) -> typecase.RequestError:
    with pytest.raises(typecase.RequestError) as refused:
        render(model, **fields)
    return refused.value


def variant(tiny: Path, folder: Path, files: dict[str, str | None], **settings: Any) -> typecase.Model:
    """The small checkpoint with some files changed or taken out."""
    shutil.copytree(tiny, folder, dirs_exist_ok=True)
    for name, text in files.items():
        (folder / name).parent.mkdir(exist_ok=True)
        if text is None:
            (folder / name).unlink()
        else:
            (folder / name).write_text(text, encoding="utf-8")
    return typecase.load(folder, **settings)


# Refusals

FAULTS: list[tuple[dict[str, Any], str]] = [
    ({"stream_options": {"include_usage": True}}, "Stream options can only be defined when `stream=True`."),
    ({"priority": "high"}, "body.priority"),
    ({"model": "nope"}, "The model `nope` does not exist. Valid aliases: tiny, alias."),
    ({"use_beam_search": True}, "Beam search is not supported by the render endpoint"),
    ({"tools": [TOOL]}, '"auto" tool choice requires --enable-auto-tool-choice and --tool-call-parser to be set'),
    ({"chat_template": "x"}, "Chat template is passed with request, but --trust-request-chat-template is not set."),
    ({"mm_processor_kwargs": {"a": 1}}, "Per-request mm_processor_kwargs are disabled by default"),
    ({"media_io_kwargs": {"image": {}}}, "Per-request media_io_kwargs are disabled by default"),
    ({"max_tokens": 5000}, "max_tokens=5000 cannot be greater than max_model_len=4096."),
    ({"truncate_prompt_tokens": 5000}, "truncate_prompt_tokens=5000 cannot be greater than max_model_len = 4096."),
    ({"messages": [{"role": "narrator", "content": ""}]}, "Unknown role: narrator"),
    ({"truncate_prompt_tokens": 0}, "No token_ids rendered"),
    ({"temperature": 3}, "temperature must be in [0, 2], got 3.0."),
]


@pytest.mark.parametrize("first", range(len(FAULTS)))
def test_of_several_faults_the_first_is_told(model: typecase.Model, first: int) -> None:
    fields: dict[str, Any] = {}
    for fault, _ in reversed(FAULTS[first:]):
        fields |= fault
    error = refusal(model, **fields)
    told = FAULTS[first][1]
    assert error.param == told if told.startswith("body.") else error.message.startswith(told)


@pytest.mark.parametrize(
    ("settings", "refused"),
    [
        ({}, {"auto", "required", "named"}),
        ({"tool_call_parser": "hermes"}, {"auto", "required", "named"}),
        ({"enable_auto_tool_choice": True}, {"required", "named"}),
        ({"enable_auto_tool_choice": True, "tool_call_parser": "hermes"}, set()),
    ],
)
def test_calls_need_a_parser(tiny: Path, settings: dict[str, Any], refused: set[str]) -> None:
    model = typecase.load(tiny, **settings)
    texts = {
        "auto": '"auto" tool choice requires --enable-auto-tool-choice and --tool-call-parser to be set',
        "required": 'tool_choice="required" requires --tool-call-parser to be set',
        "named": 'tool_choice=function "f" requires --tool-call-parser to be set',
    }
    for choice in ("none", None, *texts):
        fields = {"tools": [TOOL], "tool_choice": NAMED if choice == "named" else choice}
        if choice in refused:
            error = refusal(model, **fields)
            assert (error.message, error.status, error.type) == (texts[choice], 400, "BadRequestError")
        else:
            assert "You may call these functions" in prompt(model, **fields)


@pytest.mark.parametrize(
    ("fields", "message", "param"),
    [
        (
            {"messages": []},
            "Cannot apply chat template to an empty conversation. Provide at least one message.",
            None,
        ),
        (
            {"continue_final_message": True, "add_generation_prompt": True},
            "Cannot set both `continue_final_message` and `add_generation_prompt` to True.",
            None,
        ),
        ({"continue_final_message": True}, "continue_final_message and add_generation_prompt are not", None),
        (
            {"messages": [{"role": "user", "content": [{"type": "image_url", "image_url": {"url": "x"}}]}]},
            "tiny is not a multimodal model",
            None,
        ),
        ({"chat_template_kwargs": {"tokenizer": 1}}, "chat_template_kwargs can't hold", "chat_template_kwargs"),
        ({"messages": [USER, {"role": "system", "content": "S"}]}, "A system message must come first.", None),
        (
            {"messages": [{"role": "user", "content": "a b " * 4000}]},
            "This model's maximum context length is 4096 tokens. However, your prompt contains at least 4097 input",
            "input_tokens",
        ),
    ],
)  # fmt: skip
def test_refusals(model: typecase.Model, fields: dict[str, Any], message: str, param: str | None) -> None:
    error = refusal(model, **fields)
    assert error.message.startswith(message)
    assert (error.status, error.type, error.param) == (400, "BadRequestError", param)


def test_names_of_the_model(model: typecase.Model, tiny: Path) -> None:
    assert [render(model, model=name).model for name in ("tiny", "alias", "", None)] == ["tiny", "alias", "", None]
    error = refusal(model, model="Tiny")
    assert (error.status, error.type, error.param) == (404, "NotFoundError", "model")
    assert render(typecase.load(tiny, skip_model_name_validation=True), model="any").model == "any"


def test_a_checkpoint_without_a_template(tiny: Path, tmp_path: Path) -> None:
    bare = variant(tiny, tmp_path, {"chat_template.jinja": None}, trust_request_chat_template=True)
    assert refusal(bare).message.startswith("As of transformers v4.44, default chat template is no longer allowed")
    assert prompt(bare, chat_template=CONTENTS) == "[user:Hello]"


@pytest.mark.parametrize(
    ("template", "message"),
    [
        ("{{ raise_exception('no way: ' ~ messages[0].role) }}", "no way: user"),
        ("{{ nothing.at.all }}", "'nothing' is undefined"),
        ("{% for %}", "Expected an expression, got 'end of statement block'"),
        ("{{ messages.__class__.__mro__ }}", "access to attribute '__class__' of 'list' object is unsafe."),
        ("{% set _ = messages.append(1) %}", "access to attribute 'append' of 'list' object is unsafe."),
        ("{{ 1 + 'a' }}", "unsupported operand type(s) for +: 'int' and 'str'"),
        ("{# nothing #}", "No token_ids rendered"),
    ],
)
def test_what_templates_refuse(trusting: typecase.Model, template: str, message: str) -> None:
    error = refusal(trusting, chat_template=template)
    assert (error.message, error.status, error.type, error.param) == (message, 400, "BadRequestError", None)


@pytest.mark.parametrize(
    ("template", "budget", "message"),
    [
        ("{% for i in range(99999) %}{% endfor %}", (1000, 10**6), "more than its limit of 1000 steps"),
        ("{{ 'a' * 10**9 }}", (1000, 10**6), "more than its limit of 1000000 characters"),
    ],
)
def test_a_template_that_runs_away(
    trusting: typecase.Model, template: str, budget: tuple[int, int], message: str
) -> None:
    request = {"messages": [USER], "chat_template": template}
    with pytest.raises(typecase.RequestError, match=message) as refused:
        trusting.render_chat(request, budget=typecase.Budget(*budget))
    assert (refused.value.status, refused.value.type) == (400, "BadRequestError")
    with pytest.raises(typecase.RequestError, match="longer than its time limit"):
        trusting.render_chat(request, budget=typecase.Budget(1 << 60, 1 << 60, lambda: True))


@pytest.mark.parametrize(
    ("fields", "param"),
    [
        ({"messages": [USER, {"role": "user", "content": "a\ud800"}]}, "body.messages.1.content"),
        ({"messages": [{**USER, "content": [{"type": "text", "text": "\udc00"}]}]}, "body.messages.0.content.0.text"),
        ({"tools": [{"function": {"name": "f", "description": "\ud800"}}]}, "body.tools.0.function.description"),
        ({"documents": [{"title": "\ud800"}], "chat_template": "{{ documents[0].title }}"}, "body.documents.0.title"),
        ({"chat_template_kwargs": {"k": ["\ud800"]}, "chat_template": "{{ k[0] }}"}, "body.chat_template_kwargs.k.0"),
        ({"chat_template": "\ud800"}, "body.chat_template"),
        ({"chat_template": "{{ '\\ud800' }}"}, None),
    ],
)  # fmt: skip
def test_lone_surrogates_name_their_field(trusting: typecase.Model, fields: dict[str, Any], param: str | None) -> None:
    error = refusal(trusting, **fields)
    assert (error.status, error.param) == (400, param)
    assert "lone surrogate U+D" in error.message


def test_lone_surrogates_that_reach_no_prompt_are_let_through(model: typecase.Model) -> None:
    assert prompt(model, documents=[{"title": "\ud800"}]) == PROMPT


# What the answer carries


def test_an_answer_with_nothing_asked_for(model: typecase.Model) -> None:
    rendered = render(model)
    assert model.detokenize({"tokens": rendered.token_ids.tolist()}).prompt == PROMPT
    unset = ["token_offsets", "features", "content_parts", "model", "reasoning_ended", "reasoning_parser_kwargs"]
    unset += ["return_token_ids", "stream_options", "cache_salt", "kv_transfer_params", "ec_transfer_params"]
    assert {name: getattr(rendered, name) for name in unset} == dict.fromkeys(unset)
    assert (rendered.request_id, rendered.output_mode, rendered.stream, rendered.priority) == (
        "chatcmpl-i",
        "tokens",
        False,
        0,
    )
    assert rendered.sampling_params.max_tokens == 4096 - len(rendered.token_ids)


def test_fields_that_are_handed_on(model: typecase.Model) -> None:
    handed = {"return_token_ids": True, "cache_salt": "s", "priority": -3, "ec_transfer_params": {"a": [1]}}
    rendered = render(model, **handed)
    assert {name: getattr(rendered, name) for name in handed} == handed
    assert render(model, ec_transfer_params={}, kv_transfer_params={}).ec_transfer_params is None


def test_streaming(model: typecase.Model) -> None:
    rendered = render(model, stream=True, stream_options={"include_usage": True})
    assert rendered.stream is True
    assert rendered.stream_options == {"include_usage": True, "continuous_usage_stats": False}
    assert rendered.sampling_params.output_kind == 1
    assert render(model, stream=True).stream_options is None
    assert render(model, stream=None).stream is False
    assert render(model, stream=None).sampling_params.output_kind == 2


def test_echo_asks_for_the_logprobs_of_the_prompt(model: typecase.Model) -> None:
    sampling = render(model, echo=True, logprobs=True, top_logprobs=3).sampling_params
    assert (sampling.logprobs, sampling.prompt_logprobs, sampling.skip_reading_prefix_cache) == (3, 3, True)
    assert render(model, echo=True).sampling_params.prompt_logprobs == 0
    assert render(model).sampling_params.skip_reading_prefix_cache is False


def test_parse_context(trusting: typecase.Model) -> None:
    call = {"id": "1", "type": "function", "function": {"name": "f", "arguments": "{}"}}
    answer = {"role": "assistant", "content": None, "tool_calls": [call, call]}
    rendered = render(
        trusting,
        messages=[USER, answer, {"role": "tool", "content": "x"}, answer],
        tools=[{"type": "function", "function": {"name": "f", "strict": False, "unknown": 1}, "x": 1}],
        parallel_tool_calls=False,
        include_reasoning=False,
        documents=[{"a": "b"}],
    )
    context = rendered.parse_context
    assert context is not None
    assert context.tools == [
        {"type": "function", "function": {"name": "f", "description": None, "parameters": None, "strict": False}}
    ]
    assert (context.tool_choice, context.parallel_tool_calls, context.include_reasoning) == ("auto", False, False)
    assert context.history_tool_call_cnt == 4
    assert list(context.chat_template_kwargs.items()) == [
        ("cohere_format", "cmd4"),
        ("add_generation_prompt", True),
        ("continue_final_message", False),
        ("documents", [{"a": "b"}]),
    ]
    assert rendered.reasoning_ended is True
    assert rendered.reasoning_parser_kwargs is None


TRANSFER = {"prompt_token_ids": [1, 2, 3], "remote": "r"}


def test_ids_of_a_prefill_stage_replace_the_prompt(model: typecase.Model) -> None:
    """The template isn't even asked."""
    rendered = render(model, messages=[{"role": "narrator", "content": "x"}], kv_transfer_params=TRANSFER)
    assert rendered.token_ids.tolist() == [1, 2, 3]
    assert rendered.kv_transfer_params == {"remote": "r"}
    assert rendered.sampling_params.max_tokens == 4093
    assert render(model, kv_transfer_params={"prompt_token_ids": [1]}).kv_transfer_params is None
    last = model.front.vocabulary_size - 1
    assert render(model, kv_transfer_params={"prompt_token_ids": [last]}).token_ids.tolist() == [last]


def test_ids_of_a_prefill_stage_that_do_not_count(model: typecase.Model) -> None:
    for fields in ({"echo": True}, {"kv_transfer_params": {**TRANSFER, "prompt_token_ids": None}}):
        rendered = render(model, **{"kv_transfer_params": TRANSFER, **fields})
        assert rendered.kv_transfer_params == {"remote": "r"}
        assert rendered.token_ids == render(model).token_ids
    media = [{"role": "user", "content": [{"type": "image_url", "image_url": {"url": "x"}}]}]
    assert "multimodal" in refusal(model, messages=media, kv_transfer_params=TRANSFER).message


@pytest.mark.parametrize("ids", [[], "x", 5, {}, [-1], ["1"], [1.0], [True], [None]])
def test_ids_of_a_prefill_stage_that_are_none(model: typecase.Model, ids: Any) -> None:
    error = refusal(model, kv_transfer_params={"prompt_token_ids": ids})
    assert error.param == "kv_transfer_params.prompt_token_ids"
    assert error.message.startswith(
        "`kv_transfer_params['prompt_token_ids']` must be a non-empty list of non-negative integers."
    )


def test_ids_of_a_prefill_stage_outside_the_vocabulary(model: typecase.Model) -> None:
    size = model.front.vocabulary_size
    error = refusal(model, kv_transfer_params={"prompt_token_ids": [1, size]})
    assert error.param == "kv_transfer_params.prompt_token_ids"
    assert error.message.startswith(f"Token id {size} is out of vocabulary")


# Ids, offsets, truncation


def test_offsets_count_code_points(model: typecase.Model) -> None:
    rendered = render(model, messages=[{"role": "user", "content": "s'il vous plaît 𝔘"}], return_token_offsets=True)
    text = model.detokenize({"tokens": rendered.token_ids.tolist()}).prompt
    offsets = rendered.token_offsets
    assert offsets is not None
    assert len(offsets) == len(rendered.token_ids)
    assert offsets[0] == (0, len("<|im_start|>"))
    assert offsets[-1][1] == len(text)
    for token, (start, end) in zip(rendered.token_ids.tolist(), offsets, strict=True):
        if text[start:end].isascii():
            assert model.detokenize({"tokens": [token]}).prompt == text[start:end]


@pytest.mark.parametrize(
    ("fields", "kept"),
    [
        ({"truncate_prompt_tokens": 3}, slice(-3, None)),
        ({"truncate_prompt_tokens": 3, "truncation_side": "left"}, slice(-3, None)),
        ({"truncate_prompt_tokens": 3, "truncation_side": "right"}, slice(0, 3)),
        ({"truncate_prompt_tokens": 500}, slice(None)),
        ({"truncation_side": "right"}, slice(None)),
        ({"truncate_prompt_tokens": -1}, slice(-19, None)),
        ({"truncate_prompt_tokens": -1, "truncation_side": "right"}, slice(0, 19)),
    ],
)
def test_truncation(model: typecase.Model, tiny: Path, fields: dict[str, Any], kept: slice) -> None:
    """Of the whole prompt; offsets are cut alike. -1 is the context less one."""
    short = typecase.load(tiny, max_model_len=20) if fields.get("truncate_prompt_tokens") == -1 else model
    messages = [{"role": "user", "content": "one two three four five six seven eight nine ten"}]
    whole = render(model, messages=messages, return_token_offsets=True)
    cut = render(short, messages=messages, return_token_offsets=True, **fields)
    assert len(whole.token_ids) > 20
    assert cut.token_ids == whole.token_ids[kept]
    assert whole.token_offsets is not None
    assert cut.token_offsets == whole.token_offsets[kept]
    assert cut.sampling_params.max_tokens == short.max_model_len - len(cut.token_ids)


# The template and what it sees


@pytest.mark.parametrize(
    ("fields", "kwargs", "thinks"),
    [
        ({}, {"enable_thinking": False, "cohere_format": "cmd4"}, False),
        ({"chat_template_kwargs": {"enable_thinking": True}}, {"enable_thinking": True, "cohere_format": "cmd4"}, True),
        # Null and "auto" say nothing.
        ({"chat_template_kwargs": {"enable_thinking": None, "cohere_format": "auto"}},
         {"enable_thinking": False, "cohere_format": "cmd4"}, False),
        ({"chat_template_kwargs": {"x": [1], "tokenize": True}},
         {"enable_thinking": False, "cohere_format": "cmd4", "x": [1], "tokenize": True}, False),
        ({"reasoning_effort": "high"},
         {"enable_thinking": True, "cohere_format": "cmd4", "reasoning_effort": "high"}, True),
        ({"reasoning_effort": "none"},
         {"enable_thinking": False, "cohere_format": "cmd4", "reasoning_effort": "none"}, False),
        ({"reasoning_effort": "high", "chat_template_kwargs": {"enable_thinking": False}},
         {"enable_thinking": False, "cohere_format": "cmd4", "reasoning_effort": "high"}, False),
    ],
)  # fmt: skip
def test_template_kwargs(tiny: Path, fields: dict[str, Any], kwargs: dict[str, Any], thinks: bool) -> None:
    """The server's, under the request's own, under those that other fields stand for; each keeps its first place."""
    model = typecase.load(tiny, default_chat_template_kwargs={"enable_thinking": False})
    context = render(model, **fields).parse_context
    assert context is not None
    effort = {k: v for k, v in kwargs.items() if k == "reasoning_effort"}
    first = {k: v for k, v in kwargs.items() if k not in effort}
    whole = {**first, "add_generation_prompt": True, "continue_final_message": False, **effort}
    assert list(context.chat_template_kwargs.items()) == list(whole.items())
    assert prompt(model, **fields) == PROMPT + ("" if thinks else "<think>\n\n</think>\n\n")


def test_reasoning_efforts_are_mapped(tiny: Path) -> None:
    template = "{{ reasoning_effort }} {{ enable_thinking }}"
    model = typecase.load(tiny, chat_template=template, reasoning_effort_map={"xhigh": "max", "minimal": "none"})
    assert prompt(model, reasoning_effort="xhigh") == "max True"
    assert prompt(model, reasoning_effort="minimal") == "none False"
    assert prompt(model, reasoning_effort="low") == "low True"


def test_kwargs_cannot_replace_what_the_request_says(trusting: typecase.Model) -> None:
    given = {"messages": "m", "add_generation_prompt": False, "bos_token": "B"}
    template = "{{ messages[0].content }} {{ add_generation_prompt }} {{ bos_token }}"
    error = refusal(trusting, chat_template=template, chat_template_kwargs={"conversation": 1})
    assert error.param == "chat_template_kwargs"
    del given["messages"]
    assert prompt(trusting, chat_template=template, chat_template_kwargs=given) == "Hello True B"


DEVELOPER = [
    {"role": "user", "content": "u"},
    {"role": "developer", "content": "D", "tools": [TOOL]},
    {"role": "system", "content": "S"},
]


def test_developer_role(trusting: typecase.Model) -> None:
    assert prompt(trusting, messages=DEVELOPER, chat_template=CONTENTS) == "[system:D\n\nS][user:u]"
    knowing = CONTENTS + "{% if messages[1].role == 'developer' %}{{ messages[1].tools|length }}{% endif %}"
    assert prompt(trusting, messages=DEVELOPER, chat_template=knowing) == "[user:u][developer:D][system:S]1"
    alone = [{"role": "developer", "content": "D"}, USER]
    assert prompt(trusting, messages=alone) == "<|im_start|>system\nD<|im_end|>\n" + PROMPT


def test_named_templates(tiny: Path, tmp_path: Path) -> None:
    files: dict[str, str | None] = {
        "chat_template.jinja": "usual",
        "additional_chat_templates/tool_use.jinja": "with tools",
        "additional_chat_templates/rag.jinja": "for documents",
    }
    settings = {"enable_auto_tool_choice": True, "tool_call_parser": "hermes"}
    model = variant(tiny, tmp_path, files, trust_request_chat_template=True, **settings)
    assert prompt(model) == "usual"
    assert prompt(model, tools=[TOOL]) == "with tools"
    assert prompt(model, chat_template="rag", tools=[TOOL]) == "for documents"
    assert prompt(model, chat_template="nothing of that name") == "nothing of that name"
    assert prompt(model, chat_template_kwargs={"chat_template": "rag"}) == "for documents"
    assert "untrusted" in refusal(typecase.load(tmp_path), chat_template="rag").message
    server = typecase.load(tmp_path, chat_template="the server's", **settings)
    assert prompt(server, tools=[TOOL]) == "the server's"


def test_templates_of_requests(trusting: typecase.Model, model: typecase.Model) -> None:
    assert prompt(trusting, chat_template=CONTENTS) == "[user:Hello]"
    assert prompt(trusting, chat_template="default") == "default"
    assert prompt(trusting, chat_template="") == prompt(trusting, chat_template=None) == PROMPT
    inside = render(trusting, chat_template_kwargs={"chat_template": CONTENTS})
    assert trusting.detokenize({"tokens": inside.token_ids.tolist()}).prompt == "[user:Hello]"
    assert inside.parse_context is not None
    assert inside.parse_context.chat_template_kwargs["chat_template"] == CONTENTS
    for fields in ({"chat_template": ""}, {"chat_template_kwargs": {"chat_template": "x"}}):
        assert refusal(model, **fields).message.endswith("Refused request with untrusted chat template.")
    assert prompt(model, chat_template=None, chat_template_kwargs={"chat_template": None}) == PROMPT


def test_tools_are_kept_out_on_request_of_the_operator(tiny: Path) -> None:
    model = typecase.load(
        tiny,
        exclude_tools_when_tool_choice_none=True,
        enable_auto_tool_choice=True,
        tool_call_parser="hermes",
    )
    rendered = render(model, tools=[TOOL], tool_choice="none")
    assert rendered.token_ids == render(model).token_ids
    assert rendered.parse_context is not None
    assert rendered.parse_context.tools == [TOOL]
    assert "<tools>" in prompt(model, tools=[TOOL], tool_choice=None)


PARTS = [
    {"role": "user", "content": [{"type": "text", "text": "a", "x": 1}, {"type": "text", "text": ""}]},
    {"role": "user", "content": "b"},
]
AS_TEXT = ["a", "b"]
AS_PARTS = [
    [{"type": "text", "text": "a", "x": 1}, {"type": "text", "text": ""}],
    [{"type": "text", "text": "b"}],
]


@pytest.mark.parametrize(
    ("chosen", "loops", "seen"),
    [
        ("auto", False, AS_TEXT),
        ("auto", True, AS_PARTS),
        ("string", True, AS_TEXT),
        ("openai", False, AS_PARTS),
    ],
)
def test_content_format(tiny: Path, chosen: str, loops: bool, seen: list[Any]) -> None:
    template = "[{% for m in messages %}{{ m.content|tojson }}{{ ',' if not loop.last }}{% endfor %}]"
    if loops:
        template += "{% for m in messages %}{% for part in m.content %}{% endfor %}{% endfor %}"
    model = typecase.load(tiny, chat_template=template, chat_template_content_format=chosen)
    assert json.loads(prompt(model, messages=PARTS)) == seen


def test_a_request_template_may_not_be_endlessly_long(tiny: Path) -> None:
    model = typecase.load(tiny, trust_request_chat_template=True)
    with pytest.raises(typecase.RequestError, match="longer than its limit of 100000 characters"):
        model.render_chat({"messages": [{"role": "user", "content": "x"}], "chat_template": "{{ 1 }}" * 20_000})


def test_models_whose_prompts_vllm_writes_in_code_are_told_at_start(tiny: Path) -> None:
    other = typecase.load(tiny, hf_overrides={"architectures": ["KimiK3ForConditionalGeneration"]})
    assert typecase.load(tiny).front.warning is None
    assert "KimiK3ForConditionalGeneration" in (other.front.warning or "")


@pytest.mark.parametrize("kwargs", [{"tools": 1}, {"tools": True}, {"documents": 1}, {"chat_template": [1]}])
def test_template_kwargs_of_no_possible_kind_are_refused(tiny: Path, kwargs: dict[str, Any]) -> None:
    model = typecase.load(tiny, trust_request_chat_template=True)
    with pytest.raises(typecase.RequestError, match=f"chat_template_kwargs.{next(iter(kwargs))} must be"):
        model.render_chat({"messages": [{"role": "user", "content": "x"}], "chat_template_kwargs": kwargs})


def test_tools_come_from_the_request_before_the_servers_kwargs(tiny: Path) -> None:
    def called(name: str) -> list[dict[str, Any]]:
        return [{"type": "function", "function": {"name": name, "parameters": {}}}]

    model = typecase.load(tiny, default_chat_template_kwargs={"tools": called("servers")})
    for more, name in (
        ({}, "servers"),
        ({"tools": called("requests")}, "requests"),
        ({"tools": called("requests"), "chat_template_kwargs": {"tools": called("kwargs")}}, "kwargs"),
    ):
        request = {"messages": [{"role": "user", "content": "x"}], "tool_choice": "none", **more}
        if "tools" not in more:
            del request["tool_choice"]
        prompt = model.detokenize({"tokens": model.render_chat(request).token_ids.tolist()}).prompt
        assert [n for n in ("servers", "requests", "kwargs") if f'"{n}"' in prompt] == [name]
