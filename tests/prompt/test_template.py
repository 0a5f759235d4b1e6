"""What surrounds the template's own text: parameters, the message to continue, errors, threads."""

from __future__ import annotations

import copy
import json
from concurrent.futures import ThreadPoolExecutor
from datetime import datetime
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from transformers.utils.chat_template_utils import render_jinja_template

from typecase.api.errors import TemplateError, TemplateLimit
from typecase.prompt.budget import Budget
from typecase.prompt.template import ChatTemplate

CHATML = (
    "{% for m in messages %}<|{{ m.role }}|>{{ m.content }}<|end|>\n{% endfor %}"
    "{% if add_generation_prompt %}<|assistant|>{% endif %}"
)
TRIMMED = CHATML.replace("m.content", "m.content.strip()")
PARTS = "{% for m in messages %}{% for p in m.content %}{{ p.text }}{% endfor %}.{% endfor %}"


def _now() -> datetime:
    return datetime(2026, 1, 15, 10, 30)


def render(source: str, messages: Any, **options: Any) -> str:
    return ChatTemplate(source).render(messages, **{"variables": {}, "now": _now, **options})


def refusal(source: str, messages: Any, **options: Any) -> str:
    with pytest.raises(TemplateError) as caught:
        render(source, messages, **options)
    return caught.value.message


USER = {"role": "user", "content": "Hi"}


def test_plain() -> None:
    assert render(CHATML, [USER]) == "<|user|>Hi<|end|>\n"
    assert render(CHATML, [USER], add_generation_prompt=True) == "<|user|>Hi<|end|>\n<|assistant|>"


def test_what_the_template_sees() -> None:
    source = "{{ tools|tojson }}{{ documents|tojson }}{{ add_generation_prompt }}{{ bos_token }}{{ thinking }}"
    text = render(
        source,
        [USER],
        tools=[{"type": "function", "function": {"name": "f"}}],
        documents=[{"title": "T"}],
        variables={"bos_token": "<s>", "thinking": True},
    )
    assert text == '[{"type": "function", "function": {"name": "f"}}][{"title": "T"}]False<s>True'
    assert render("{{ tools }}|{{ documents }}", [USER]) == "None|None"


def test_parameters_of_apply_chat_template_are_no_variables() -> None:
    variables = {"padding": True, "max_length": 3, "return_dict": True, "tools": 1, "documents": 1}
    assert render("{{ padding is defined }}{{ max_length is defined }}{{ tools }}", [USER], variables=variables) == (
        "FalseFalseNone"
    )
    assert "multiple values" in refusal("{{ messages }}", [USER], variables={"messages": []})
    assert "multiple values" in refusal("{{ self }}", [USER], variables={"self": 1})
    assert refusal("", [USER], variables={"return_assistant_tokens_mask": True}) == (
        "`return_assistant_tokens_mask=True` requires `return_dict=True` and `tokenize=True`"
    )
    assert refusal("", [USER], variables={"sanitize_control_tokens": True}).startswith("`sanitize_control_tokens=True`")


def test_none_reaches_the_template() -> None:
    """transformers drops keys without a value since 5.24; vLLM's answers are those of before."""
    message = {"role": "assistant", "content": None}
    assert render("{{ messages[0].content }}|{{ messages[0].content is defined }}", [message]) == "None|True"


def test_refusals() -> None:
    assert refusal(CHATML, []) == "Cannot apply chat template to an empty conversation. Provide at least one message."
    assert (
        refusal(CHATML, [USER], documents=["x"]) == "Documents should be a list of dicts with 'title' and 'text' keys!"
    )
    assert refusal(CHATML, [USER], tools=["x"]).startswith("Tools should either be a JSON schema, or a callable")
    assert refusal("{{ raise_exception('Only ' ~ messages[0].role) }}", [USER]) == "Only user"
    assert refusal("{{ 1 / 0 }}", [USER]) == "division by zero"
    assert refusal("{{ messages[0]['content'] + 1 }}", [USER]) == 'can only concatenate str (not "int") to str'


def test_the_reason_is_the_first_jinja_error_of_the_chain() -> None:
    # reversed() fails with a TypeError, from which Jinja raises its own
    assert refusal("{{ 5|reverse }}", [USER]) == "argument must be iterable"


@pytest.mark.parametrize(
    ("source", "message"),
    [
        ("{% for %}", "Expected an expression, got 'end of statement block'"),
        ("{{ messages|nothing }}", "No filter named 'nothing'."),
        (
            "{% if x %}",
            "Unexpected end of template. Jinja was looking for the following tags: 'elif' or 'else' or 'endif'.",
        ),
    ],
)
def test_a_broken_template_is_an_error_of_every_rendering(source: str, message: str) -> None:
    template = ChatTemplate(source)
    assert template.error is not None
    assert template.error.startswith(message)
    for messages in ([USER], []):
        with pytest.raises(TemplateError) as caught:
            template.render(messages, variables={}, now=_now)
        assert caught.value.message == template.error
        assert caught.value.status == 400


def test_source_limit() -> None:
    assert ChatTemplate(CHATML, limit=1000).error is None
    template = ChatTemplate("x" * 1001, limit=1000)
    with pytest.raises(TemplateError, match="longer than its limit of 1000 characters"):
        template.render([USER], variables={}, now=_now)


# The final message ----------------------------------------------------------------------------------------------------


def continued(content: Any, source: str = CHATML, field: bool | str = True, **message: Any) -> str:
    final = {"role": "assistant", "content": content, **message}
    return render(source, [USER, final], continue_final_message=field)


def test_continue() -> None:
    assert continued("Once upon") == "<|user|>Hi<|end|>\n<|assistant|>Once upon"
    assert continued("Once  ") == "<|user|>Hi<|end|>\n<|assistant|>Once  "


def test_continue_what_ends_in_white_space() -> None:
    """https://github.com/vllm-project/vllm/issues/9547"""
    assert continued("OK!\n") == "<|user|>Hi<|end|>\n<|assistant|>OK!\n"
    assert continued("OK!\n", TRIMMED) == "<|user|>Hi<|end|>\n<|assistant|>OK!"
    assert continued("", TRIMMED) == "<|user|>Hi<|end|>\n<|assistant|>"


def test_continue_parts() -> None:
    parts = [{"type": "text", "text": "a"}, {"type": "image"}]
    assert continued(parts, "{{ messages[1].content|map(attribute='text')|join }}") == "a"
    before = copy.deepcopy(parts)
    continued([*parts, {"type": "text", "text": "b"}], PARTS.replace("m in messages", "m in messages[1:]"))
    assert parts == before


def test_continue_another_field() -> None:
    source = "{% for m in messages %}{{ m.reasoning }}|{{ m.content }}.{% endfor %}"
    assert continued("c", source, "reasoning", reasoning="why") == "|Hi.why"


def test_continue_leaves_the_messages_alone() -> None:
    messages = [USER, {"role": "assistant", "content": "x"}]
    before = copy.deepcopy(messages)
    render(CHATML, messages, continue_final_message=True)
    assert messages == before


def test_continue_when_the_text_holds_the_tag() -> None:
    assert continued("CONTINUE_FINAL_MESSAGE_TAG a") == "<|user|>Hi<|end|>\n<|assistant|>CONTINUE_FINAL_MESSAGE_TAG a"


def test_continue_refused() -> None:
    both = "continue_final_message and add_generation_prompt are not compatible."
    assert refusal(CHATML, [USER], continue_final_message=True, add_generation_prompt=True).startswith(both)
    assert refusal(CHATML, [{"role": "user"}], continue_final_message=True) == (
        'continue_final_message is set but the final message has no "content" to continue!'
    )
    assert refusal("{{ messages[0].role }}", [USER], continue_final_message=True) == (
        'continue_final_message is set to "content" but this is not an accepted field in the chat_template'
    )
    assert refusal(CHATML, [{"role": "user", "content": [{"type": "image"}]}], continue_final_message=True) == (
        "continue_final_message is set but we could not find any text to continue in the final message!"
    )
    assert refusal(CHATML, [{"role": "user", "content": 5}], continue_final_message=True) == (
        "unsupported operand type(s) for +: 'int' and 'str'"
    )
    gone = refusal("{{ messages[0].content[:1] }}", [USER], continue_final_message=True)
    assert gone.startswith("continue_final_message is set but the final message does not appear in the chat")
    assert gone.endswith("Final message to continue: Hi\nRendered chat:\nH")


@given(text=st.text(max_size=20), source=st.sampled_from([CHATML, TRIMMED, PARTS]))
def test_continue_as_transformers(text: str, source: str) -> None:
    content: Any = [{"type": "text", "text": text}] if source is PARTS else text
    messages = [{**USER, "content": []} if source is PARTS else USER, {"role": "assistant", "content": content}]
    expected, _ = render_jinja_template([copy.deepcopy(messages)], chat_template=source, continue_final_message=True)
    assert render(source, messages, continue_final_message=True) == expected[0]


# The environment ------------------------------------------------------------------------------------------------------


def test_the_clock_is_handed_in() -> None:
    assert render("{{ strftime_now('%d %b %Y %H:%M') }}", [USER]) == "15 Jan 2026 10:30"
    assert render("{{ strftime_now }}", [USER], variables={"strftime_now": "mine"}) == "mine"


@given(
    st.recursive(
        st.none() | st.booleans() | st.integers() | st.floats() | st.text(),
        lambda s: st.lists(s) | st.dictionaries(st.text(), s),
    )
)
def test_tojson_is_plain_json(value: Any) -> None:
    for arguments, options in (
        ("", {}),
        ("(indent=2)", {"indent": 2}),
        ("(indent='\t')", {"indent": "\t"}),
        ("(separators=(',', ':'))", {"separators": (",", ":")}),
        ("(ensure_ascii=true, sort_keys=true)", {"ensure_ascii": True, "sort_keys": True}),
    ):
        expected = json.dumps(value, **{"ensure_ascii": False, **options})
        for budget in (None, Budget(10**6, 10**7)):
            source = "{{ value|tojson" + arguments + " }}"
            assert ChatTemplate(source).fill({"value": value}, now=_now, budget=budget) == expected


def test_lipsum_and_random_stay_jinjas() -> None:
    budget = Budget(10_000, 100_000)
    assert len(render("{{ lipsum(n=1, html=false, min=2, max=5) }}", [USER], budget=budget)) > 5
    assert render("{{ [7]|random }}", [USER], budget=budget) == "7"


# Threads --------------------------------------------------------------------------------------------------------------


def test_threads_render_with_budgets_of_their_own() -> None:
    template = ChatTemplate(CHATML + "{% for i in range(n) %}{% endfor %}")

    def work(number: int) -> str:
        budget = Budget(100 if number % 2 else 10**6, 10**6)
        messages = [{"role": "user", "content": f"m{number}"}]
        try:
            return template.render(messages, variables={"n": 2000}, now=_now, budget=budget)
        except TemplateLimit:
            return "limit"

    with ThreadPoolExecutor(8) as pool:
        outcomes = list(pool.map(work, range(200)))
    assert outcomes == ["limit" if n % 2 else f"<|user|>m{n}<|end|>\n" for n in range(200)]


def test_renderings_leave_nothing_behind() -> None:
    template = ChatTemplate(
        "{% set ns = namespace(x=0) %}{% set ns.x = ns.x + 1 %}{% set y = (y or 0) + 1 %}{{ ns.x }}{{ y }}"
    )
    assert [template.render([USER], variables={}, now=_now) for _ in range(3)] == ["11"] * 3
