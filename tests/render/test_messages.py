"""Messages requests: the chat requests they become, and the prompts these give.

``cases_messages.json``: what vLLM 0.33 makes of a request (``asked``; model, ``max_tokens`` 10 and one user turn where
they are left out): the fields of its chat request that aren't the usual ones (``chat``), or its ``error``.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any

import jinja2
import jinja2.sandbox
import pytest

import typecase
from typecase.api.decode import decode_request
from typecase.api.messages import CountTokensRequest, MessagesRequest
from typecase.prompt.budget import Budget
from typecase.prompt.template import ChatTemplate
from typecase.render.message_rules import MessageRules
from typecase.render.messages import chat_request

CASES = json.loads((Path(__file__).parent / "cases_messages.json").read_text(encoding="utf-8"))
USER = {"role": "user", "content": "x"}
USUAL = {"max_tokens": 10, "max_completion_tokens": 10, "stream": False, "parallel_tool_calls": True, "model": "m"}
NOON = datetime(2026, 1, 15, 12)
TURNS = [{"role": role, "content": "t"} for role in ("system", "user", "system", "user")]

SHOW = (
    '{{ {"messages": messages, "tools": tools, "effort": reasoning_effort|default(none), '
    '"think": enable_thinking|default(none)}|tojson }}'
)
PLAIN = "{% for m in messages %}{{ m.role }}: {{ m.content }};{% endfor %}"
SYSTEM_FIRST = (
    "{% for m in messages %}{% if m.role == 'system' and not loop.first %}{{ raise_exception('system first') }}"
    "{% endif %}{{ m.role }}: {{ m.content }};{% endfor %}"
)


@dataclass
class Rules:
    """What a model would say."""

    merges_system: bool = False
    effort: Any = "none"

    def disabled_effort(self, now: object) -> Any:
        return self.effort


def asked(given: dict[str, Any], kind: str = "messages") -> Any:
    if kind == "count":
        return decode_request(CountTokensRequest, {"model": "m", "messages": [USER], **given})
    return decode_request(MessagesRequest, {"model": "m", "max_tokens": 10, "messages": [USER], **given})


@pytest.mark.parametrize("case", CASES)
def test_the_chat_request(case: dict[str, Any]) -> None:
    rules: Any = Rules(case.get("merges_system", False), case.get("disabled_effort", "none"))
    request = asked(case["asked"], case.get("class", "messages"))
    if "error" in case:
        with pytest.raises(typecase.RequestError) as refused:
            chat_request(rules, request, now=lambda: NOON)
        assert (refused.value.message, refused.value.status) == (case["error"], 400)
        return
    chat = chat_request(rules, request, now=lambda: NOON)
    expected = {
        "messages": [USER],
        "tools": None,
        "tool_choice": None,
        "reasoning_effort": None,
        **USUAL,
        **case["chat"],
    }
    for name, value in expected.items():
        wanted = json.dumps(value).replace("call_EPOCH", f"call_{int(NOON.timestamp())}")
        assert json.dumps(getattr(chat, name)) == wanted, name


@pytest.fixture(scope="module")
def showing(tiny: Path) -> typecase.Model:
    """Its prompts are what the template sees, as JSON."""
    return loaded(tiny, SHOW)


def loaded(tiny: Path, template: str, **settings: Any) -> typecase.Model:
    return typecase.load(tiny, served_model_names=("m",), chat_template=template, **settings)


def prompt(model: typecase.Model, /, **given: Any) -> str:
    rendered = model.render_messages({"model": "m", "max_tokens": 10, "messages": [USER], **given})
    return model.detokenize({"tokens": rendered.token_ids.tolist()}).prompt


def refusal(model: typecase.Model, /, **given: Any) -> typecase.RequestError:
    with pytest.raises(typecase.RequestError) as refused:
        model.render_messages({"model": "m", "max_tokens": 10, "messages": [USER], **given})
    return refused.value


def test_what_a_template_sees(showing: typecase.Model) -> None:
    use = {"type": "tool_use", "id": "t1", "name": "f", "input": {"city": "Ærø"}}
    result = {"type": "tool_result", "tool_use_id": "t1", "content": "cold"}
    turns = [USER, {"role": "assistant", "content": [use]}, {"role": "user", "content": [result]}]
    tool = {"name": "f", "input_schema": {"properties": {}}}
    seen = json.loads(prompt(showing, messages=turns, tools=[tool], tool_choice={"type": "none"}))
    assert seen["messages"] == [
        USER,
        {
            "role": "assistant",
            "content": "",
            "tool_calls": [{"id": "t1", "function": {"arguments": {"city": "Ærø"}, "name": "f"}, "type": "function"}],
        },
        {"role": "tool", "tool_call_id": "t1", "content": "cold"},
    ]
    function = {"name": "f", "description": None, "parameters": {"properties": {}, "type": "object"}}
    assert seen["tools"] == [{"type": "function", "function": function}]


def test_the_generate_request(showing: typecase.Model) -> None:
    rendered = showing.render_messages(
        {
            "model": "m", "max_tokens": 3000, "messages": [USER], "stream": True, "stop_sequences": ["a"], "tools": [],
            "thinking": {"type": "enabled", "budget_tokens": 1024}, "tool_choice": {"type": "none"},
        },
        request_id="mine",
    )  # fmt: skip
    assert rendered.request_id == "chatcmpl-mine"
    assert rendered.stream
    assert rendered.stream_options == {"include_usage": True, "continuous_usage_stats": True}
    assert rendered.sampling_params.stop == ["a"]
    assert rendered.sampling_params.thinking_token_budget == 1024
    assert rendered.parse_context is not None
    assert rendered.parse_context.tools == []


def test_faults_come_in_vllms_order(showing: typecase.Model) -> None:
    """What the translation refuses is told before the model's name, that before the rest."""
    removal = {"role": "system", "content": [{"type": "tool_removal", "tool": {"type": "tool_reference", "name": "z"}}]}
    error = refusal(showing, model="other", messages=[USER, removal], max_tokens=10**6)
    assert error.message == "tool_removal references tool 'z', which is not declared in tools"
    assert refusal(showing, model="other", cache_salt="a@b").param == "cache_salt"
    assert refusal(showing, model="other", max_tokens=10**6).status == 404
    assert refusal(showing, tool_choice={"type": "any"}, max_tokens=10**6).message == (
        'tool_choice="required" requires --tool-call-parser to be set'
    )
    assert refusal(showing, max_tokens=10**6).param == "max_completion_tokens"


@pytest.mark.parametrize(
    "item",
    [
        {"type": "text", "text": 5}, {"type": "text", "text": None}, {"type": "image", "source": "x"},
        {"type": "image", "source": None}, {"type": "image", "source": {"type": "url", "url": 5}},
        {"type": "image", "source": {"type": "base64", "data": "AA=="}}, {"type": "tool_reference", "name": 5},
    ],
)  # fmt: skip
def test_results_that_cant_be_read_are_refused(showing: typecase.Model, item: Any) -> None:
    """Python's own words, or a crash, in vLLM."""
    error = refusal(showing, messages=[{"role": "user", "content": [{"type": "tool_result", "content": [item]}]}])
    assert error.status == 400
    assert len(error.message) >= 10


def test_images_on_a_text_model(showing: typecase.Model) -> None:
    image = {"type": "image", "source": {"type": "url", "url": "https://h/a.png"}}
    assert "not a multimodal model" in refusal(showing, messages=[{"role": "user", "content": [image]}]).message


def test_a_lone_surrogate_is_refused(showing: typecase.Model) -> None:
    for given in ({"system": "\ud800"}, {"messages": [{"role": "user", "content": "\ud800"}]}):
        assert refusal(showing, **given).status == 400


# Bugs that users of vLLM met


def test_a_system_message_among_the_turns_vllm44000(tiny: Path) -> None:
    """In its place where the template takes it there, else part of the system prompt."""
    turns = [{"role": "user", "content": "q"}, {"role": "system", "content": "mid"}, {"role": "user", "content": "r"}]
    assert prompt(loaded(tiny, PLAIN), messages=turns) == "user: q;system: mid;user: r;"
    assert prompt(loaded(tiny, SYSTEM_FIRST), messages=turns) == "system: mid;user: q;user: r;"
    assert prompt(loaded(tiny, SYSTEM_FIRST), messages=turns, system="S") == "system: Smid;user: q;user: r;"


def test_the_billing_line_stays_out_of_the_prompt_vllm44283(tiny: Path) -> None:
    line = {"type": "text", "text": "x-anthropic-billing-header: cc_version=2; cch=abc;"}
    given = [line, {"type": "text", "text": "Be kind."}]
    assert prompt(loaded(tiny, PLAIN), system=given) == "system: Be kind.;user: x;"
    assert prompt(loaded(tiny, PLAIN), system=[line]) == "user: x;"


# What is found out about a model

TEMPLATES = {
    PLAIN: False,
    SYSTEM_FIRST: True,
    # transformers' additions are missing in vLLM's probe, so templates that need them count as refusing.
    "{{ strftime_now('%Y') }}{% for m in messages %}{{ m.content }}{% endfor %}": True,
    "{% generation %}{{ messages[0].content }}{% endgeneration %}": True,
    "{{ bos_token + messages[0].content }}": True,
    "{{ bos_token }}{{ messages[0].content }}": False,
    "{% if strftime_now is defined %}{{ strftime_now('%Y') }}{% endif %}{{ messages[0].content }}": False,
    "{% if tools %}{{ raise_exception('no') }}{% endif %}{{ messages[0].content|tojson }}": False,
    "{% if messages|length > 9 %}{{ raise_exception('no') }}{% endif %}{# generation #}x": False,
    "{% for m in messages %}{% if loop.index > 2 %}{% break %}{% endif %}{{ m.content }}{% endfor %}": False,
    "{% raw %}{% generation %}{% endraw %}x": False,
    "{{ messages[0].content": True,
    "{{ messages|nosuchfilter }}": True,
    "{{ messages[7].content.x }}": True,
}


@pytest.mark.parametrize("template", TEMPLATES)
def test_whether_system_messages_are_merged(tiny: Path, template: str) -> None:
    assert MessageRules(loaded(tiny, template).front).merges_system is TEMPLATES[template]
    assert jinja_renders(template) is not TEMPLATES[template]


def jinja_renders(template: str) -> bool:
    """The probe itself, with jinja2."""
    environment = jinja2.sandbox.ImmutableSandboxedEnvironment(
        trim_blocks=True, lstrip_blocks=True, extensions=["jinja2.ext.loopcontrols"]
    )
    try:
        environment.from_string(template).render(messages=TURNS, add_generation_prompt=False)
    except jinja2.TemplateError:
        return False
    return True


@pytest.mark.shared
def test_published_templates(shared: Path) -> None:
    files = sorted((shared / "chat_templates").glob("*.jinja"))
    assert len(files) > 50
    found = {}
    for file in files:
        source = file.read_text(encoding="utf-8")
        found[file.name] = ChatTemplate(source).renders_plainly(TURNS, Budget(200_000, 4_000_000))
        assert found[file.name] is jinja_renders(source), file.name
    assert set(found.values()) == {True, False}


def test_a_runaway_template_doesnt_keep_the_probe(tiny: Path) -> None:
    endless = "{% for a in range(99999) %}{% for b in range(99999) %}{% endfor %}{% endfor %}"
    rules = MessageRules(loaded(tiny, endless).front)
    assert rules.merges_system is True
    assert rules.disabled_effort(lambda: NOON) == "low"


@pytest.mark.parametrize(
    ("template", "effort"),
    [
        ("{{ messages[0].content }}{% if enable_thinking is false %} no{% endif %}", "none"),
        ("{{ messages[0].content }}{{ reasoning_effort }}", "none"),
        ("{{ messages[0].content }}", "low"),
        ("{{ messages[0].content }}{{ 'max' if reasoning_effort != 'low' else 'low' }}", "low"),
        ("{% if reasoning_effort == 'none' %}{{ raise_exception('no') }}{% endif %}{{ messages[0].content }}", "low"),
        (
            "{% if reasoning_effort == 'high' %}{{ raise_exception('no') }}{% endif %}{{ reasoning_effort }}",
            "none",
        ),
    ],
)
def test_the_effort_of_disabled_thinking(tiny: Path, template: str, effort: str) -> None:
    assert MessageRules(loaded(tiny, template).front).disabled_effort(lambda: NOON) == effort


def test_disabled_thinking_in_a_prompt(tiny: Path) -> None:
    off = {"thinking": {"type": "disabled"}, "output_config": {"effort": "max"}}
    seen = json.loads(prompt(loaded(tiny, SHOW), **off))
    assert (seen["effort"], seen["think"]) == ("none", False)
    chosen = loaded(tiny, SHOW, anthropic_disabled_thinking_effort="medium")
    seen = json.loads(prompt(chosen, **off))
    assert (seen["effort"], seen["think"]) == ("medium", True)
    seen = json.loads(prompt(chosen, output_config={"effort": "max"}))
    assert (seen["effort"], seen["think"]) == ("max", True)


# Counting


def test_counting_is_rendering_without_sampling(tiny: Path) -> None:
    model = typecase.load(tiny, served_model_names=("m",))
    given = {"model": "m", "messages": [USER], "system": "Be kind.", "tool_choice": {"type": "none"}}
    given["tools"] = [{"name": "f", "input_schema": {}}]
    count = model.count_tokens(given)
    assert count.input_tokens == len(model.render_messages({**given, "max_tokens": 5}).token_ids)
    assert count.context_management.original_input_tokens == count.input_tokens
    full = typecase.load(tiny, served_model_names=("m",), max_model_len=count.input_tokens)
    assert full.count_tokens(given) == count
    with pytest.raises(typecase.RequestError):
        full.render_messages({**given, "max_tokens": 5})
    short = typecase.load(tiny, served_model_names=("m",), max_model_len=count.input_tokens - 1)
    with pytest.raises(typecase.RequestError) as refused:
        short.count_tokens(given)
    assert refused.value.param == "input_tokens"
