"""The compiled program gives what jinja2's own gives, text and errors, whatever the template."""

from __future__ import annotations

import copy
import re
from datetime import datetime
from typing import Any

import jinja2
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.prompt.jinja_grammar import VARIABLES, templates
from tests.prompt.test_sandbox import ESCAPES, MUTATIONS
from transformers.utils.chat_template_utils import _compile_jinja_template

from typecase.api.errors import TemplateError, TemplateLimit
from typecase.prompt.budget import Budget
from typecase.prompt.template import ChatTemplate

pytestmark = pytest.mark.filterwarnings("ignore::SyntaxWarning")


def jinja(source: str, variables: dict[str, Any]) -> tuple[str, str]:
    try:
        return "text", _compile_jinja_template(source).render(**copy.deepcopy(variables))
    except Exception as error:
        cause: BaseException | None = error
        while cause is not None:
            if isinstance(cause, jinja2.TemplateError):
                return "error", _plain(str(cause.message))
            cause = cause.__cause__ or cause.__context__
        return "error", _plain(str(error))


def ours(source: str, variables: dict[str, Any], budget: Budget | None) -> tuple[str, str]:
    try:
        return "text", ChatTemplate(source).fill(copy.deepcopy(variables), now=datetime.now, budget=budget)
    except TemplateLimit:
        raise
    except TemplateError as error:
        return "error", _plain(error.message)


def _plain(message: str) -> str:
    """Without the names under which transformers and we define our globals."""
    message = message.replace("transformers.utils.chat_template_utils.TemplateNamespace", "jinja2.utils.Namespace")
    message = message.replace("TemplateNamespace", "Namespace")
    message = re.sub(r"(transformers|typecase)[\w.]*\.TemplateDict", "TemplateDict", message)
    message = re.sub(r" \(<template>, line \d+\)$", "", message)  # of the Python code
    return message.replace("_cached_compile_jinja_template.<locals>.", "")


def same(source: str, variables: dict[str, Any] = VARIABLES) -> None:
    expected = jinja(source, variables)
    if " at 0x" in expected[1].lower():
        return  # the address of an object
    for budget in (None, Budget(10**6, 10**8)):
        assert ours(source, variables, budget) == expected, source


@settings(max_examples=150)
@given(templates)
def test_any_template(source: str) -> None:
    same(source)


@pytest.mark.nightly
@settings(max_examples=20_000)
@given(templates)
def test_any_template_for_long(source: str) -> None:
    same(source)


@pytest.mark.parametrize("expression", [*ESCAPES, *MUTATIONS])
def test_ways_out_end_alike(expression: str) -> None:
    if expression.startswith("namespace"):
        return  # a class there, a function here, and our own words for names that it refuses
    same("{% macro macro() %}{% endmacro %}{{ EXPRESSION }}".replace("EXPRESSION", expression))


CASES = [
    # undefined values
    "{{ nothing }}|{{ nothing is defined }}|{{ nothing|default('d') }}|{{ not nothing }}",
    "{{ nothing.x }}",
    "{{ nothing['x'] }}",
    "{{ nothing() }}",
    "{{ nothing + 'a' }}",
    "{{ record.nothing }}|{{ record['nothing'] }}|{{ record.nothing is defined }}",
    "{{ record.nothing.x }}",
    "{{ record.nothing.strip() }}",
    "{{ record.nothing() }}",
    "{{ items[9] }}|{{ items[-9] }}",
    "{{ items[9].x }}",
    "{{ none.x }}|{{ nothing == nothing }}|{{ nothing == 1 }}",
    "{{ none.x.y }}",
    "{{ 'a' if false }}",
    "{{ ('a' if false).b }}",
    "{% for x in nothing %}{% else %}none{% endfor %}",
    # items before attributes, attributes before items
    "{{ record.items is callable }}|{{ record['items'] }}|{{ record.get('items') }}|{{ record.list }}",
    "{{ messages.0.role }}|{{ messages[0]['role'] }}|{{ messages[0].role }}",
    "{{ record.keys() is mapping }}|{{ record.copy() == record }}",
    "{{ 'abc'.1 }}|{{ 'abc'[1] }}|{{ 'abc'['upper']() }}|{{ pair[0] }}|{{ pair['x'] is defined }}",
    "{{ (record|items|list)[0] }}|{% for key, value in record.items() %}{{ key }}={{ value }};{% endfor %}",
    # operators
    "{{ 1 + 2 * 3 - 4 / 2 // 1 % 5 ** 2 }}|{{ -3 ** 2 }}|{{ +number }}|{{ -number }}|{{ 7 // 2 }}|{{ 7 % 3 }}",
    "{{ 'a' + text + 'b' + empty + words[0] }}",
    "{{ 'a' + 1 }}",
    "{{ 1 + 'a' }}",
    "{{ none + 'a' }}",
    "{{ 'a' + none + raise_exception('not reached') }}",
    "{{ items + words }}|{{ pair + pair }}|{{ items * 2 }}|{{ 2 * 'ab' }}|{{ 'ab' * -1 }}|{{ real + 1 }}|{{ yes + 1 }}",
    "{{ 'a' ~ 1 ~ none ~ nothing ~ items ~ real ~ yes }}",
    "{{ '%s-%5d-%.1f-%r' % ('a', 3, 2.55, 'q') }}|{{ '%(a)s' % {'a': 1} }}|{{ '%%' % () }}",
    "{{ '%s %s' % ('a',) }}",
    "{{ '%d' % 'a' }}",
    "{{ 1 < 2 < 3 }}|{{ 1 < 2 > 3 }}|{{ number > real }}|{{ items == [3, 1, 2] }}|{{ 'a' < 'b' != 'c' }}",
    "{{ 'a' < 1 }}",
    "{{ 'o' in text }}|{{ 'z' not in text }}|{{ 'role' in record }}|{{ 1 in items }}|{{ 9 not in items }}|"
    "{{ number in items }}",
    "{{ 'a' in none }}",
    "{{ 1 in 'a' }}",
    "{{ 'a' not in nothing }}|{{ text in words }}|{{ 'k' in pair }}|{{ 'k' in ['k', 'l'] }}|{{ items in [items] }}",
    "{{ not 'a' in words or 'b' in words and true }}",
    "{{ text[1:3] }}|{{ text[::-1] }}|{{ items[1:] }}|{{ messages[:-1]|length }}|{{ pair[:1] }}",
    "{{ number[1:] }}",
    "{{ {'a': 1, 'b': [1, {'c': (1, 2)}]} }}|{{ [] }}|{{ () }}|{{ {} }}|{{ (1,) }}|{{ [1, [2, [3]]] }}",
    "{{ {[]: 1} }}",
    # methods, with and without shortcuts
    "{{ text.strip().split('\n')[0].upper().lower().title() }}|{{ text.split()[-1].rstrip('s') }}",
    "{{ text.startswith(' ') }}|{{ text.endswith(('\t', 'x')) }}|{{ text.strip(none) }}|{{ 'a,b'.split(sep=',') }}",
    "{{ text.strip(1) }}",
    "{{ items.strip() }}",
    "{{ number.strip() }}",
    "{{ record.get('role', 'x') }}|{{ record.get('z', 'x') }}|{{ record.get(key='z') is none }}",
    "{{ record.get() }}",
    "{{ words.index('A') }}|{{ words.count('b') }}|{{ '-'.join(words) }}|{{ ', '.join(record) }}",
    "{{ '-'.join(items) }}",
    "{{ '-'.join(5) }}",
    "{{ '-'.join(words|map('upper')) }}|{{ ''.join([]) }}|{{ '-'.join(nothing) }}",
    "{{ '{} {:>4} {a!r} {b[0]} {c.role}'.format(1, 'x', a='q', b=words, c=record) }}|{{ '{role}'.format_map(record) }}",
    "{{ '{x}'.format() }}",
    "{{ '{:q}'.format(1) }}",
    "{{ '<{}>'.format('&')|e }}|{{ ('<{}>'|safe).format('&') }}|{{ '<%s>'|safe % '&' }}|{{ ('<'|safe) + '&' }}",
    "{{ 'aXbX'.replace('X', '--', 1) }}|{{ 'ab'.center(6, '*') }}|{{ 'a\tb'.expandtabs(4) }}|{{ '7'.zfill(3) }}",
    "{{ 'é'.encode('latin-1') }}|{{ 'é'.encode().decode() }}|{{ (5).bit_length() }}|{{ real.is_integer() }}",
    # statements
    "{% for x in items %}{{ loop.index }}{{ loop.index0 }}{{ loop.revindex }}{{ loop.first }}{{ loop.last }}"
    "{{ loop.length }}"
    "{{ loop.previtem }}{{ loop.nextitem }}{{ loop.cycle('a', 'b') }}{{ loop.changed(x) }}{{ loop.depth }};"
    "{% endfor %}",
    "{% for x in items|select('odd') %}{{ x }}{{ loop.length }}{{ loop.last }};{% endfor %}",
    "{% for x in items if x > 1 %}{{ x }}{{ loop.index }}{% else %}none{% endfor %}",
    "{% for x in [1, [2, [3, 4]], 5] recursive %}{{ loop(x) if x is iterable else x }}{{ loop.depth0 }}{% endfor %}",
    "{% for x in items %}{% if x == 1 %}{% continue %}{% endif %}{{ x }}{% if loop.index > 2 %}{% break %}"
    "{% endif %}{% endfor %}",
    "{% for a, b in [(1, 2), (3, 4)] %}{{ a }}{{ b }}{% endfor %}{% for a, b in [(1, 2, 3)] %}{% endfor %}",
    "{% set x = 1 %}{% for y in items %}{% set x = x + y %}{{ x }}{% endfor %}{{ x }}",
    "{% set ns = namespace(x=0, y='') %}{% for y in items %}{% set ns.x = ns.x + y %}"
    "{% set ns.y = ns.y ~ y %}{% endfor %}"
    "{{ ns.x }}{{ ns.y }}{{ ns }}",
    "{% set ns = namespace({'a': 1}, b=2) %}{{ ns.a + ns.b }}{{ ns.c is defined }}{% set ns.d = ns %}{{ ns.d.a }}",
    "{% set record.x = 1 %}",
    "{% set a, b = 1, 2 %}{% set c, d = [3, 4] %}{{ a }}{{ b }}{{ c }}{{ d }}{% set a, b = items %}",
    "{% macro m(a, b=2, *args) %}{% endmacro %}",
    "{% macro m(a, b=2) %}{{ a }}{{ b }}{{ varargs }}{{ kwargs }}{% endmacro %}{{ m(1) }}"
    "{{ m(1, 3, 4, 5, c=6) }}{{ m(b=1) }}",
    "{% macro m(a) %}{{ a }}{% endmacro %}{{ m(1, 2) }}",
    "{% macro m(a) %}{{ a }}{% endmacro %}{{ m(b=2) }}",
    "{% macro m() %}<{{ caller('x') }}>{% endmacro %}{% call(y) m() %}{{ y }}{{ number }}{% endcall %}"
    "{{ m.name }}{{ m.arguments }}",
    "{% macro f(n) %}{{ n }}{% if n %}{{ f(n - 1) }}{% endif %}{% endmacro %}{{ f(20) }}",
    "{% set x %}a{{ number }}b{% endset %}{{ x }}{% set y | upper | trim %} q {% endset %}{{ y }}",
    "{% filter upper|replace('A', 'x') %}a{{ words }}{% endfilter %}{% with a = 1, b = 2 %}{{ a }}{{ b }}"
    "{% endwith %}{{ a }}",
    "{% generation %}{% set inner = 1 %}a{{ inner }}{% endgeneration %}{{ inner is defined }}",
    "{%- generation -%} a {%- endgeneration -%} b",
    "{% for x in items %}{% generation %}{{ x }}{{ loop.index }}{% endgeneration %}{% endfor %}",
    "{% for x in items %}{% generation %}{% break %}{% endgeneration %}{% endfor %}",
    "{% block a %}A{{ number }}{% endblock %}{{ self.a() }}{% block b scoped %}{{ super() }}{% endblock %}",
    "{% autoescape true %}{{ text }}{{ '<' ~ text }}{{ text|safe }}{% set x %}<i>{% endset %}{{ x }}"
    "{{ words|join('<') }}{% endautoescape %}",
    "{% autoescape yes %}{{ text }}{{ '<' ~ text }}{{ macro }}{% endautoescape %}",
    "{% include 'a' %}",
    "{% import 'a' as a %}",
    "{% extends 'a' %}",
    "{% raw %}{{ a }}{% endraw %}{# comment #}  {%- if true %}\n  a\n  {%- endif %}\n  b\n",
    "{{ cycler('a', 'b').next() }}{% set c = cycler('a', 'b') %}{{ c.next() }}{{ c.current }}{{ c.next() }}"
    "{{ c.next() }}{{ c.items }}",
    "{% set j = joiner('|') %}{{ j() }}a{{ j() }}b{{ dict(a=1, **{'b': 2}) }}{{ dict([(1, 2)]) }}"
    "{{ dict.fromkeys('ab', 0) }}",
    "{{ range(3)|list }}{{ range(10, 0, -3)|list }}{{ range(3) }}{{ 2 in range(3) }}{{ range(2)[1] }}",
    # errors of the template itself
    "{{ raise_exception('no: ' ~ record.role) }}",
    "{{ raise_exception() }}",
    "{% if number == 7 %}{{ raise_exception('seven') }}{% endif %}",
    "{{ text|nothing }}",
    "{% if false %}{{ text|nothing }}{% endif %}a",
    "{% if true %}{{ text|nothing }}{% endif %}a",
    "{{ text is nothing }}",
    "{% for %}",
    "{{ a b }}",
    "{% endfor %}",
    "{{ 'a }}",
    "{{ 1 / 0 }}",
    "{{ items|sum('x') }}",
    "{{ record|tojson }}|{{ record|tojson(indent=2) }}|{{ messages|tojson(separators=(',', ':'), sort_keys=true) }}",
    "{{ nothing|tojson }}",
    "{{ (items|map('string'))|tojson }}",
    "{{ 'a<b>&\u00e9\u65e5'|tojson }}{{ '\u00e9'|tojson(ensure_ascii=true) }}",
]


@pytest.mark.parametrize("source", CASES)
def test_case(source: str) -> None:
    same(source)


@pytest.mark.parametrize("source", CASES)
def test_case_without_shortcuts(source: str, monkeypatch: pytest.MonkeyPatch) -> None:
    from typecase.prompt import compiler

    generate = compiler._generate

    def without(environment: Any, tree: Any, *, inline: bool) -> Any:
        return generate(environment, tree, inline=False)

    monkeypatch.setattr(compiler, "_generate", without)
    same(source)


@pytest.mark.parametrize(
    "expression",
    [
        " + ".join(["'a'", *["text"] * 90]),
        " ~ ".join(["text"] * 500),
        "record" + ".list[0]['x']" * 40,
        "text" + ".strip()" * 90,
        "text" + "|trim" * 150,
        " or ".join(["nothing"] * 150),
        "(" * 60 + "text" + ")" * 60,
        "[" * 60 + "text" + "]" * 60,
        "number" + " + 1" * 150,
        "text if nothing else " * 90 + "number",
    ],
)
def test_long_expressions_compile_as_far_as_in_jinja(expression: str) -> None:
    same(f"{{{{ {expression} }}}}")


def test_nesting_ends_in_an_error() -> None:
    for source in (
        "{{ " + "(" * 5000 + "x" + ")" * 5000 + " }}",
        "{% for a in b %}" * 300 + "{% endfor %}" * 300,
        "{% for a in b %}" * 30 + "{% endfor %}" * 30,
        "{% if a %}" * 300 + "{% endif %}" * 300,
        "{% set a %}" * 300 + "{% endset %}" * 300,
        "{% if a %}" + "{% elif a %}" * 5000 + "{% endif %}",
        "{{ a" + ".b" * 5000 + " }}",
    ):
        template = ChatTemplate(source)
        with pytest.raises(TemplateError):
            template.fill({}, now=datetime.now)


@given(st.text(max_size=30))
def test_any_source(source: str) -> None:
    same(source)


@given(
    st.lists(
        st.sampled_from(["{{", "}}", "{%", "%}", "{#", "#}", "-", " ", "if", "for x in y", "x", "'", "\n"]), max_size=12
    )
)
def test_any_tokens(tokens: list[str]) -> None:
    same("".join(tokens))
