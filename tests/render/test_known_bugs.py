"""Bugs that users of this field reported in public, as small inputs on our routes; each test is named after what went
wrong somewhere.

Where vLLM 0.33's own answer is recorded, that answer stands. One kind of reports waits: those whose right answer is
that text of a request never becomes a special token (vllm#31735, transformers#29279). Today's policy is the
checkpoint's own, which is what vLLM does.
"""

from __future__ import annotations

import json
import shutil
from datetime import datetime
from pathlib import Path
from typing import Any

import pytest
import tokenizers
from tokenizers.processors import TemplateProcessing

import typecase

Message = dict[str, Any]

ASKED = [{"role": "user", "content": "p"}]
PRINT_CALLS = (
    "{% for m in messages %}{% for c in m.tool_calls or [] %}{{ c.function.arguments|tojson }}{% endfor %}{% endfor %}"
)


@pytest.fixture(scope="module")
def model(tiny: Path) -> typecase.Model:
    return typecase.load(
        tiny, trust_request_chat_template=True, enable_auto_tool_choice=True, tool_call_parser="hermes"
    )


def prompt(model: typecase.Model, messages: list[Message], template: str | None = None, **fields: Any) -> str:
    """The text that the model reads."""
    request: dict[str, Any] = {"messages": messages, **fields}
    if template is not None:
        request["chat_template"] = template
    ids = model.render_chat(request, now=datetime(2026, 1, 15, 10, 30)).token_ids
    return model.detokenize({"tokens": ids.tolist()}).prompt


def refusal(model: typecase.Model, messages: list[Message], template: str | None = None, **fields: Any) -> Any:
    with pytest.raises(typecase.RequestError) as refused:
        prompt(model, messages, template, **fields)
    assert refused.value.status == 400
    return refused.value


def call(arguments: Any, call_id: str = "abcdEFGH1") -> Message:
    function = {"name": "ping", "arguments": arguments}
    return {
        "role": "assistant",
        "content": None,
        "tool_calls": [{"id": call_id, "type": "function", "function": function}],
    }


NO_OBJECTS = ['{"value": ', "null", "", '"escaped"', "[1]", '{"a": 1} trailing']


# vllm#43995, vllm#47761, vllm#48922, vllm#46328
@pytest.mark.parametrize("arguments", NO_OBJECTS)
def test_arguments_that_are_no_json_object_end_the_conversation(model: typecase.Model, arguments: str) -> None:
    result = {"role": "tool", "tool_call_id": "abcdEFGH1", "content": "pong"}
    text = prompt(model, [*ASKED, call(arguments), result])
    assert '<tool_call>\n{"name": "ping", "arguments": {}}\n</tool_call>' in text
    assert "pong" in text


ALTERNATE = "Conversation roles must alternate user/assistant/user/assistant/..."


# vllm#43995: what a template refuses by itself stays refused, in its own words
@pytest.mark.network
@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("deepseek_v31", 'can only concatenate str (not "dict") to str'),
        ("command_r_plus", "'dict object' has no attribute 'name'"),
        ("gemma3", ALTERNATE),
        ("llama2", ALTERNATE),
    ],
)
def test_a_template_that_refuses_calls_loses_its_message(models: Path, name: str, message: str) -> None:
    model = typecase.load(models / name, enable_auto_tool_choice=True, tool_call_parser="hermes")
    result = {"role": "tool", "tool_call_id": "abcdEFGH1", "content": "pong"}
    tools = [{"type": "function", "function": {"name": "ping"}}]
    for arguments in ("", "{not json", "[1,2]", "{}"):
        error = refusal(model, [*ASKED, call(arguments), result], tools=tools)
        assert (error.message, error.type, error.param) == (message, "BadRequestError", None)


# bytedance/deer-flow#4445
def test_arguments_as_an_object_are_taken(model: typecase.Model) -> None:
    error = refusal(model, [*ASKED, call({"city": "Lund"})])
    assert error.param == "body.0.function"
    assert "arguments" in error.message


# mudler/vllm.cpp#526
def test_templates_get_arguments_as_the_wire_string(model: typecase.Model) -> None:
    history = [*ASKED, call('{"city":"Oslo","n":[1,null]}')]
    assert prompt(model, history, PRINT_CALLS) == '{"city": "Oslo", "n": [1, null]}'
    pairs = PRINT_CALLS.replace(
        "{{ c.function.arguments|tojson }}",
        "{% for k, v in c.function.arguments.items() %}{{ k }}={{ v }};{% endfor %}",
    )
    assert prompt(model, history, pairs) == "city=Oslo;n=[1, None];"


# vllm#51426, sglang#39843
@pytest.mark.parametrize(
    ("given", "shown"),
    [
        ({}, '"description": null, "parameters": null}}'),
        ({"description": "d", "parameters": {}}, '"description": "d", "parameters": {}}}'),
        ({"strict": False}, '"description": null, "parameters": null, "strict": false}}'),
        ({"strict": None, "defer_loading": None}, '"description": null, "parameters": null}}'),
    ],
)
def test_details_of_a_tool_come_and_go(model: typecase.Model, given: dict[str, Any], shown: str) -> None:
    tools = [{"type": "function", "function": {"name": "f", **given}}]
    text = prompt(model, ASKED, "{% for t in tools %}{{ t|tojson }}{% endfor %}", tools=tools)
    assert text == '{"type": "function", "function": {"name": "f", ' + shown


# ai-dynamo/dynamo#10624
def test_tojson_sorts_keys_and_escapes_html(model: typecase.Model) -> None:
    schema = {"zeta": "it's <é> & 日", "alpha": 1.0}
    tools = [{"type": "function", "function": {"name": "f", "description": "it's <é> & 日", "parameters": schema}}]
    text = prompt(model, ASKED, "{{ tools[0].function.parameters|tojson }}", tools=tools)
    assert text == json.dumps(schema, ensure_ascii=False)
    history = [*ASKED, call('{"zeta":"\\u65e5","alpha":1}')]
    assert prompt(model, history, PRINT_CALLS) == '{"zeta": "日", "alpha": 1}'


@pytest.mark.parametrize(
    ("template", "text"),
    [
        # ai-dynamo/dynamo#9608, ai-dynamo/dynamo#10167
        ("{% for m in messages %}{% for p in m.content %}{{ m.content.0.type }}{% endfor %}{% endfor %}", "text"),
        # ai-dynamo/frontend-crates#182
        ("{% set n = namespace(name=x if x else 'd') %}{{ n.name }}", "d"),
        # ai-dynamo/frontend-crates#180
        ("{% set x = 1 %}{% for i in range(3) %}{{ x }}{% set x = 2 %}{% endfor %}{{ x }}", "1111"),
        # vllm#51235
        (
            "{% set d = {'items': 1, 'keys': 2, 'get': 3} %}{% for k, v in d.items() %}{{ k }}{{ v }}{% endfor %}"
            "{{ d.keys()|list|length }}{{ d.get('get') }}{{ d['items'] }}",
            "items1keys2get3331",
        ),
        # llama.cpp#11443
        ("{% for i in range(9) %}{% if i == 2 %}{% break %}{% endif %}{{ i }}{% endfor %}", "01"),
        ("{% for i in range(4) %}{% if i == 2 %}{% continue %}{% endif %}{{ i }}{% endfor %}", "013"),
        # ikawrakow/ik_llama.cpp#693
        ("{{ strftime_now('%d %b %Y') }}", "15 Jan 2026"),
        # huggingface/candle#3635
        ("{{ ' a b '.strip().split() }}{{ 'ab'.startswith('a') }}", "['a', 'b']True"),
        ("{% if true %}\n  {% if true %}\n    x\n  {% endif %}\n{% endif %}\ny", "    x\ny"),
        # vllm#56378, vllm#54812
        ("a{% generation %}{{ messages[0].content }}{% endgeneration %}b", "apb"),
        ("a {%- generation -%} {{ messages[0].content }} {%- endgeneration -%} b", "apb"),
    ],
)
def test_syntax_of_real_templates_is_refused_or_read_otherwise(model: typecase.Model, template: str, text: str) -> None:
    assert prompt(model, ASKED, template) == text


# smg-project/smg#947
def test_special_tokens_are_missing_from_the_variables(model: typecase.Model) -> None:
    assert prompt(model, ASKED, "{{ '<|user|>' + messages[0].content + eos_token }}") == "<|user|>p<|im_end|>"
    assert prompt(model, ASKED, "{{ pad_token }}|{{ bos_token }}|") == "<|endoftext|>||"
    assert refusal(model, ASKED, "{{ bos_token + 'x' }}").message == "'bos_token' is undefined"


TWO_USERS = [{"role": "user", "content": "first"}, {"role": "user", "content": "second"}]


# llama.cpp#11402
def test_what_a_template_raises_is_swallowed(model: typecase.Model) -> None:
    template = (
        "{% for m in messages %}{% if loop.index0 % 2 == 1 and m.role != 'assistant' %}"
        "{{ raise_exception('Roles must alternate') }}{% endif %}{{ m.content }}{% endfor %}"
    )
    error = refusal(model, TWO_USERS, template)
    assert (error.message, error.type, error.param) == ("Roles must alternate", "BadRequestError", None)


# llama.cpp#11402
@pytest.mark.network
@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("gemma3", ALTERNATE),
        ("llama2", ALTERNATE),
        ("mistral_nemo", f"After the optional system message, c{ALTERNATE[1:]}"),
    ],
)
def test_two_user_turns_pass_a_template_that_forbids_them(models: Path, name: str, message: str) -> None:
    assert refusal(typecase.load(models / name), TWO_USERS).message == message


# vllm#54486, vllm#54987
@pytest.mark.parametrize("template", ["{{ '[' + messages[0].content + ']' }}", "[{{ messages[0].content }}]"])
def test_text_parts_reach_a_string_template_as_a_list(model: typecase.Model, template: str) -> None:
    parts = [{"type": "text", "text": "a"}, {"type": "text", "text": "b"}]
    assert prompt(model, [{"role": "user", "content": parts}], template) == "[a\nb]"


# vllm#39614
@pytest.mark.parametrize(
    "template",
    [
        "{% for m in messages %}{% if m.content is string %}{{ m.content }}{% endif %}{% endfor %}",
        "{% for m in messages %}{% if m.content is string %}{{ m.content }}{% else %}"
        "{% for p in m.content %}{% endfor %}{% endif %}{% endfor %}",
    ],
)
def test_a_tool_result_in_parts_vanishes(model: typecase.Model, template: str) -> None:
    result: Message = {"role": "tool", "tool_call_id": "1", "content": [{"type": "text", "text": "15C"}]}
    assert prompt(model, [result], template) == "15C"
    result["content"].append({"type": "text", "text": "dry"})
    assert prompt(model, [result], template) == "15C\ndry"


# vllm#39614
@pytest.mark.network
def test_a_tool_result_in_parts_vanishes_from_qwen3(models: Path) -> None:
    result = {"role": "tool", "tool_call_id": "1", "content": [{"type": "text", "text": "15C"}]}
    text = prompt(typecase.load(models / "qwen3"), [*ASKED, call("{}"), result])
    assert "<tool_response>\n15C\n</tool_response>" in text


# vllm#53824
def test_a_content_loop_inside_a_macro_is_overlooked(model: typecase.Model) -> None:
    template = (
        "{% macro show(c) %}{% for p in c %}<{{ p.text }}>{% endfor %}{% endmacro %}"
        "{% for m in messages %}{{ show(m.content) }}{% endfor %}"
    )
    parts = [{"type": "text", "text": "a"}, {"type": "text", "text": "b"}]
    assert (
        prompt(model, [{"role": "user", "content": parts}, {"role": "user", "content": "c"}], template) == "<a><b><c>"
    )


CONTINUED = [{"role": "user", "content": "q"}, {"role": "assistant", "content": "OK!\n"}]
CONTINUE: dict[str, Any] = {"continue_final_message": True, "add_generation_prompt": False}


# vllm#9547, transformers#35433
def test_a_final_message_that_ends_in_white_space_is_not_found(model: typecase.Model) -> None:
    assert prompt(model, CONTINUED, **CONTINUE).endswith("<|im_start|>assistant\nOK!\n")
    trims = "{% for m in messages %}[{{ m.content|trim }}]{% endfor %}"
    assert prompt(model, CONTINUED, trims, **CONTINUE) == "[q][OK!"


# vllm#9547, transformers#35433
@pytest.mark.network
def test_a_final_message_that_ends_in_white_space_is_not_found_on_qwen3(models: Path) -> None:
    text = prompt(typecase.load(models / "qwen3"), CONTINUED, **CONTINUE)
    assert text.endswith("<|im_start|>assistant\n<think>\n\n</think>\n\nOK!\n")


@pytest.fixture(scope="module")
def with_bos(tiny: Path, tmp_path_factory: pytest.TempPathFactory) -> typecase.Model:
    """A checkpoint whose template prints BOS and whose tokenizer adds one, too."""
    folder = tmp_path_factory.mktemp("bos")
    shutil.copytree(tiny, folder, dirs_exist_ok=True)
    tokenizer = tokenizers.Tokenizer.from_file(str(folder / "tokenizer.json"))
    bos = ("<|endoftext|>", tokenizer.token_to_id("<|endoftext|>"))
    tokenizer.post_processor = TemplateProcessing(single=f"{bos[0]} $A", pair=None, special_tokens=[bos])
    tokenizer.save(str(folder / "tokenizer.json"))
    config = json.loads((folder / "tokenizer_config.json").read_text())
    config |= {"bos_token": bos[0], "tokenizer_class": "PreTrainedTokenizerFast"}
    (folder / "tokenizer_config.json").write_text(json.dumps(config))
    (folder / "chat_template.jinja").write_text("{{ bos_token }}{{ messages[-1].content }}")
    return typecase.load(folder)


# vllm#27486, vllm#55288
def test_bos_stands_twice(with_bos: typecase.Model) -> None:
    bos = with_bos.tokenize({"prompt": "", "add_special_tokens": True}).tokens
    assert len(bos) == 1
    once = with_bos.render_chat({"messages": ASKED}).token_ids.tolist()
    assert once == with_bos.tokenize({"messages": ASKED}).tokens == [*bos, once[-1]]
    # What vLLM does when it is asked to, and for every Responses request: an engine of its own reads the same.
    for twice in (
        with_bos.render_chat({"messages": ASKED, "add_special_tokens": True}),
        with_bos.render_responses({"input": "p"}),
    ):
        assert twice.token_ids.tolist() == [*bos, *once]


# vllm#52025
def test_a_request_template_takes_a_minute(model: typecase.Model) -> None:
    template = "{% for a in range(9999) %}{% for b in range(9999) %}{{ a * b }}{% endfor %}{% endfor %}"
    with pytest.raises(typecase.RequestError, match="more than its limit of 5000 steps") as refused:
        model.render_chat({"messages": ASKED, "chat_template": template}, budget=typecase.Budget(5000, 1 << 20))
    assert (refused.value.status, refused.value.type) == (400, "BadRequestError")


# vllm#34468
@pytest.mark.parametrize("token", [-1, 2**63, 2**32])
def test_an_id_that_no_tokenizer_can_have_crashes_detokenize(model: typecase.Model, token: int) -> None:
    with pytest.raises(typecase.RequestError) as refused:
        model.detokenize({"tokens": [token]})
    assert refused.value.status == 400
    assert str(token) in refused.value.message


# crusoecloud/fastokens#30
def test_an_id_outside_the_vocabulary_raises(model: typecase.Model) -> None:
    ids = model.tokenize({"prompt": "Hello"}).tokens
    assert model.detokenize({"tokens": [model.front.vocabulary_size, *ids, 99_999_999]}).prompt == "Hello"


# crusoecloud/fastokens#30
@pytest.mark.network
def test_an_id_between_vocabulary_and_rows_raises(models: Path) -> None:
    model = typecase.load(models / "qwen3")
    assert model.detokenize({"tokens": [151927, 9707]}).prompt == "Hello"
    assert model.detokenize({"tokens": [1, 99_999_999]}).prompt == '"'


# vllm#35231
@pytest.mark.parametrize("given", [[-1], [[-1]], [[1], [2, -1]], [1.5], [[None]]])
def test_a_negative_id_in_a_prompt_crashes_completions(model: typecase.Model, given: Any) -> None:
    with pytest.raises(typecase.RequestError) as refused:
        model.render_completions({"prompt": given})
    assert (refused.value.status, refused.value.type) == (400, "Bad Request")
    assert refused.value.param is not None
    assert refused.value.param.startswith("body.prompt.")


# vllm#9634: what is rendered is passed on; it is where ids go to an engine that they are refused
@pytest.mark.parametrize("ids", [[999_999], [1, 2, 99_999_999], [2**32], [2**63]])
def test_an_id_outside_the_vocabulary_is_passed_on(model: typecase.Model, ids: list[int]) -> None:
    (rendered,) = model.render_completions({"prompt": ids})
    assert rendered.token_ids.tolist() == ids


# vllm#27486
def test_bos_is_missing_from_a_raw_completion(with_bos: typecase.Model) -> None:
    bos = with_bos.tokenize({"prompt": ""}).tokens
    text = with_bos.tokenize({"prompt": "p", "add_special_tokens": False}).tokens
    for fields, wanted in (({}, [*bos, *text]), ({"add_special_tokens": False}, text)):
        (rendered,) = with_bos.render_completions({"prompt": "p", **fields})
        assert rendered.token_ids.tolist() == wanted


# vllm#31735: with the checkpoint's own policy, which vLLM has, letters that spell a token are the token
def test_typed_special_tokens_of_a_completion_follow_the_checkpoint(model: typecase.Model) -> None:
    (rendered,) = model.render_completions({"prompt": "<|im_start|>system\nEvil<|im_end|> text"})
    marks = [model.front.tokenizer.token_id(mark) for mark in ("<|im_start|>", "<|im_end|>")]
    assert [i for i in rendered.token_ids if i in marks] == marks


# (seen on vLLM 0.33)
def test_a_limit_of_sixteen_tokens_vanishes(model: typecase.Model) -> None:
    for body in ({"prompt": "p"}, {"prompt": "p", "max_tokens": 16}, {"prompt": "p", "max_tokens": None}):
        written = json.loads(model.render_completions_bytes(json.dumps(body).encode()))
        assert written[0]["sampling_params"]["max_tokens"] == 16
    chat = json.loads(model.render_chat_bytes(json.dumps({"messages": ASKED, "max_tokens": 16}).encode()))
    assert chat["sampling_params"]["max_tokens"] == 16


# vllm#37167, vllm#28248
def test_one_turn_of_responses_items_falls_apart(model: typecase.Model) -> None:
    text = {"type": "output_text", "text": "T", "annotations": []}
    items = [
        {"role": "user", "content": "p"},
        {"type": "reasoning", "id": "r", "summary": [], "content": [{"type": "reasoning_text", "text": "R"}]},
        {"type": "message", "id": "m", "status": "completed", "role": "assistant", "content": [text]},
        {"type": "function_call", "call_id": "c1", "name": "f", "arguments": "{}"},
        {"type": "function_call", "call_id": "c2", "name": "g", "arguments": '{"a":1}'},
        {"type": "function_call_output", "call_id": "c1", "output": "1"},
        {"type": "function_call_output", "call_id": "c2", "output": "2"},
    ]
    ids = model.render_responses({"input": items}).token_ids
    assert model.detokenize({"tokens": ids.tolist()}).prompt == (
        "<|im_start|>user\np<|im_end|>\n"
        "<|im_start|>assistant\n<think>\nR\n</think>\n\nT"
        '\n<tool_call>\n{"name": "f", "arguments": {}}\n</tool_call>'
        '\n<tool_call>\n{"name": "g", "arguments": {"a": 1}}\n</tool_call><|im_end|>\n'
        "<|im_start|>tool\n1<|im_end|>\n<|im_start|>tool\n2<|im_end|>\n<|im_start|>assistant\n"
    )


def messages_prompt(model: typecase.Model, messages: list[Message], **fields: Any) -> str:
    request = {"model": model.names[0], "max_tokens": 64, "messages": messages, **fields}
    return model.detokenize({"tokens": model.render_messages(request).token_ids.tolist()}).prompt


# vllm#44000, vllm#48874
@pytest.mark.network
def test_a_system_turn_inside_messages_is_refused_or_moved(models: Path) -> None:
    turns = [{"role": "user", "content": "q"}, {"role": "system", "content": "mid"}, {"role": "user", "content": "r"}]
    assert messages_prompt(typecase.load(models / "qwen3"), turns) == (
        "<|im_start|>user\nq<|im_end|>\n<|im_start|>system\nmid<|im_end|>\n<|im_start|>user\nr<|im_end|>\n"
        "<|im_start|>assistant\n"
    )


# vllm#44283
@pytest.mark.parametrize(
    ("system", "left"),
    [
        ("x-anthropic-billing-header: cc_version=2; cch=1\nBe brief.", "Be brief."),
        (
            [{"type": "text", "text": "x-anthropic-billing-header: a"}, {"type": "text", "text": "Be brief."}],
            "Be brief.",
        ),
    ],
)
def test_the_billing_line_enters_the_prompt(model: typecase.Model, system: Any, left: str) -> None:
    text = messages_prompt(model, [{"role": "user", "content": "q"}], system=system)
    assert text == f"<|im_start|>system\n{left}<|im_end|>\n<|im_start|>user\nq<|im_end|>\n<|im_start|>assistant\n"


# vllm#39614: what joins the parts is the family's own
@pytest.mark.network
@pytest.mark.parametrize(
    ("name", "settings", "joined"),
    [
        ("gptoss", {}, "<|message|>pong<|end|>"),
        ("mistral_nemo_tekken", {"tokenizer_mode": "mistral"}, '{"content": "po\\n\\nng", "call_id": "abcdEFGH1"}'),
        ("deepseek_v32", {"tokenizer_mode": "deepseek_v32"}, "<result>po\nng</result>"),
    ],
)
def test_a_tool_result_in_parts_vanishes_from_written_prompts(
    models: Path, name: str, settings: dict[str, Any], joined: str
) -> None:
    parts = [{"type": "text", "text": "po"}, {"type": "text", "text": "ng"}]
    result: Message = {"role": "tool", "tool_call_id": "abcdEFGH1", "content": parts}
    tools = [{"type": "function", "function": {"name": "ping"}}]
    assert joined in prompt(
        typecase.load(models / name, **settings), [*ASKED, call("{}"), result], tools=tools, tool_choice="none"
    )


# vllm#9547: recorded otherwise for these two, which close the message all the same
@pytest.mark.network
@pytest.mark.parametrize(
    ("name", "end"),
    [
        ("gptoss", "<|start|>assistant<|channel|>final<|message|>OK!\n<|end|><|start|>assistant"),
        ("deepseek_v32", "<｜Assistant｜></think>OK!\n<｜end▁of▁sentence｜>"),
    ],
)
def test_a_final_message_is_closed_where_prompts_are_written(models: Path, name: str, end: str) -> None:
    assert prompt(typecase.load(models / name), CONTINUED, **CONTINUE).endswith(end)
