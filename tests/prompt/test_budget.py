"""A budget stops every runaway template, and changes nothing for the others."""

from __future__ import annotations

import tracemalloc
from datetime import datetime
from typing import Any

import pytest
from tests.prompt.runaways import RUNAWAYS

from typecase.api.errors import TemplateError, TemplateLimit
from typecase.prompt.budget import Budget
from typecase.prompt.template import ChatTemplate

STEPS = 20_000
CHARACTERS = 500_000


def fill(source: str, budget: Budget | None = None, **variables: Any) -> str:
    return ChatTemplate(source).fill(variables, now=datetime.now, budget=budget)


@pytest.mark.filterwarnings("ignore::SyntaxWarning")
@pytest.mark.parametrize("kind", RUNAWAYS)
def test_runaway_templates_stop(kind: str) -> None:
    template = ChatTemplate(RUNAWAYS[kind])
    assert template.error is None
    variables = {"text": "a" * 5000, "messages": [{"role": "user", "content": "x" * 1000}] * 2}
    tracemalloc.start()
    with pytest.raises(TemplateLimit):
        template.fill(variables, now=datetime.now, budget=Budget(STEPS, CHARACTERS))
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    # nothing is made that was not allowed first: a few times the limit in Python's objects and nothing near 10**9
    assert peak < 20_000_000


@pytest.mark.parametrize("kind", RUNAWAYS)
def test_a_deadline_stops_them_too(kind: str) -> None:
    """Time is all that is short here. It is counted in looks at the clock."""
    looks = 0

    def over() -> bool:
        nonlocal looks
        looks += 1
        return looks > 20

    variables = {"text": "a" * 5000, "messages": [{"role": "user", "content": "x" * 1000}] * 2}
    with pytest.raises(TemplateLimit):
        ChatTemplate(RUNAWAYS[kind]).fill(variables, now=datetime.now, budget=Budget(10**12, CHARACTERS, over))
    assert looks <= 22


def test_the_message_says_which_limit() -> None:
    loop = "{% for i in range(1000) %}{% endfor %}"
    with pytest.raises(TemplateLimit, match=r"more than its limit of 100 steps"):
        fill(loop, Budget(100, 1000))
    with pytest.raises(TemplateLimit, match=r"more than its limit of 1000 characters"):
        fill("{{ 'a' * 2000 }}", Budget(100, 1000))
    with pytest.raises(TemplateLimit, match=r"longer than its time limit"):
        fill(loop, Budget(10_000, 1000, lambda: True))
    with pytest.raises(TemplateLimit, match=r"calls itself too deeply"):
        fill("{% macro m() %}{{ m() }}{% endmacro %}{{ m() }}")
    error = TemplateLimit("x")
    assert (error.status, error.type, error.param) == (400, "BadRequestError", None)


def test_a_used_up_budget_stays_used_up() -> None:
    budget = Budget(100, 1000)
    with pytest.raises(TemplateLimit):
        fill("{{ 'a' * 2000 }}", budget)
    with pytest.raises(TemplateLimit):
        fill("{{ 'a' }}", budget)


def test_one_budget_for_several_renderings() -> None:
    budget = Budget(100, 10_000)
    for _ in range(5):
        fill("{% for i in range(8) %}{% endfor %}", budget)
    with pytest.raises(TemplateLimit):
        fill("{% for i in range(80) %}{% endfor %}", budget)


def test_no_filter_hides_the_limit() -> None:
    # `is sequence` swallows every exception of len()
    source = "{% for a in range(99999)|map('string') %}{{ loop is sequence }}{% endfor %}"
    with pytest.raises(TemplateLimit):
        fill(source, Budget(1000, 10_000))


def test_ranges_are_limited_as_in_jinja() -> None:
    for budget in (None, Budget(STEPS, CHARACTERS)):
        with pytest.raises(TemplateError, match="Range too big") as caught:
            fill("{{ range(10**9)|list }}", budget)
        assert type(caught.value) is TemplateError


@pytest.mark.parametrize(
    ("source", "message"),
    [
        ("{{ 2.0 ** 99999 }}", "(34, 'Numerical result out of range')"),
        ("{{ 10**5000 }}", "Exceeds the limit (4300 digits) for integer string conversion"),
        ("{{ 1 // 0 }}", "integer division or modulo by zero"),
        ("{{ 'a' * 10**30 }}", None),
    ],
)
def test_errors_of_numbers_are_errors_of_the_template(source: str, message: str | None) -> None:
    with pytest.raises(TemplateError) as caught:
        fill(source, Budget(STEPS, CHARACTERS))
    assert message is None or message in caught.value.message


def test_work_is_counted_in_proportion() -> None:
    """A conversation that is ten times as long takes about ten times the steps and characters."""

    def used(messages: int) -> tuple[int, int]:
        budget = Budget(10**6, 10**8)
        fill(source, budget, messages=conversation[:messages])
        return 10**6 - budget.fuel, 10**8 - budget.characters  # without a deadline all steps are in the fuel

    source = "{% for m in messages %}{{ '<' + m.role + '>' + m.content.strip() ~ '\n' }}{% endfor %}"
    conversation = [{"role": "user", "content": "word " * 200}] * 1000
    few, many = used(100), used(1000)
    assert many[0] <= 15 * few[0]
    assert many[1] <= 15 * few[1]


def test_collecting_output_in_a_namespace_is_not_charged_again_and_again() -> None:
    source = (
        "{% set ns = namespace(out='') %}{% for m in messages %}{% set ns.out = ns.out ~ m %}{% endfor %}{{ ns.out }}"
    )
    pieces = ["x" * 100] * 1000
    assert fill(source, Budget(10**6, 10 * 100_000), messages=pieces) == "".join(pieces)
    # with another holder of each text nothing is given back
    kept = source.replace("{% endfor %}", "{% set ns.all = ns.all + [ns.out] %}{% endfor %}").replace(
        "out=''", "out='', all=[]"
    )
    with pytest.raises(TemplateLimit):
        fill(kept, Budget(10**6, 10 * 100_000), messages=pieces)


def test_lists_built_item_by_item_are_affordable() -> None:
    source = (
        "{% set ns = namespace(all=[]) %}"
        "{% for m in messages %}{% set ns.all = ns.all + [m] %}{% endfor %}{{ ns.all|length }}"
    )
    messages = [{"role": "user", "content": "x" * 100, "tool_calls": [{"id": "a", "function": {"name": "f"}}]}] * 500
    assert fill(source, Budget(STEPS, 4_000_000), messages=messages) == "500"
