"""The sandbox refuses what jinja2's immutable sandbox refuses, and allows what it allows, object by object."""

from __future__ import annotations

import copy
from collections import deque
from contextlib import suppress
from datetime import datetime
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from jinja2.runtime import LoopContext, Undefined
from jinja2.sandbox import ImmutableSandboxedEnvironment
from jinja2.utils import Cycler, Joiner
from markupsafe import Markup

from typecase.api.errors import TemplateError
from typecase.prompt.environment import ENVIRONMENT
from typecase.prompt.template import ChatTemplate

ORACLE = ImmutableSandboxedEnvironment()


def _generator() -> Any:
    yield 1


async def _coroutine() -> None: ...


async def _async_generator() -> Any:
    yield 1


class _Thing:
    attribute = 1
    _private = 2

    def method(self) -> int:
        return 3


def _loop() -> LoopContext:
    loop = LoopContext([1, 2, 3], Undefined)
    next(loop)
    return loop


OBJECTS: dict[str, Any] = {
    "dict": {"role": "user", "items": 1, "update": 2, "__class__": 3},
    "empty dict": {},
    "list": ["a", {}],
    "tuple": ("a", 1),
    "str": "text {0}",
    "markup": Markup("<b>{0}</b>"),
    "bytes": b"x",
    "int": 7,
    "bool": True,
    "float": 1.5,
    "none": None,
    "range": range(3),
    "set": {1},
    "frozenset": frozenset({1}),
    "deque": deque([1]),
    "keys": {}.keys(),
    "items": {}.items(),
    "undefined": Undefined(name="x"),
    "function": _generator,
    "method": _Thing().method,
    "builtin method": [].index,
    "format": "{}".format,
    "format_map": "{}".format_map,
    "generator": _generator(),
    "async generator": _async_generator(),
    "type": dict,
    "class": _Thing,
    "object": _Thing(),
    "code": _generator.__code__,
    "loop": _loop(),
    "cycler": Cycler(1, 2),
    "joiner": Joiner(),
    "exception": ValueError("x"),
}

NAMES = sorted(
    {name for value in OBJECTS.values() for name in dir(value)}
    | {
        "mro",
        "gi_frame",
        "gi_code",
        "cr_frame",
        "cr_code",
        "ag_frame",
        "ag_code",
        "f_globals",
        "func_globals",
        "tb_frame",
    }
    | {"role", "missing", "", "_", "__", "_private", "attribute", "im_func", "im_self", "0", "a b", "ü"}
)


def _outcome(read: Any, obj: Any, name: Any) -> Any:
    try:
        value = read(obj, name)
    except Exception as error:
        return type(error), str(error)
    if isinstance(value, Undefined):
        return "undefined", value._undefined_message, value._undefined_exception
    if callable(value) and getattr(value, "__name__", "") in ("format", "format_map"):
        return "format", type(value)
    if callable(value):
        return "callable", type(value), getattr(value, "__name__", "")
    return type(value), repr(value)


def _both(obj: Any, name: Any) -> None:
    assert _outcome(ENVIRONMENT.getattr, obj, name) == _outcome(ORACLE.getattr, obj, name)
    assert _outcome(ENVIRONMENT.getitem, obj, name) == _outcome(ORACLE.getitem, obj, name)


@pytest.mark.parametrize("kind", OBJECTS)
def test_same_verdict_on_every_attribute(kind: str) -> None:
    for name in NAMES:
        _both(OBJECTS[kind], name)


@given(
    kind=st.sampled_from(list(OBJECTS)),
    name=st.one_of(st.sampled_from(NAMES), st.text(max_size=8), st.text("_agimrofe", max_size=12)),
)
def test_same_verdict_on_any_name(kind: str, name: str) -> None:
    _both(OBJECTS[kind], name)


json_values = st.recursive(
    st.one_of(st.none(), st.booleans(), st.integers(), st.floats(allow_nan=False), st.text(max_size=5)),
    lambda inner: st.one_of(
        st.lists(inner, max_size=3),
        st.dictionaries(st.one_of(st.text(max_size=5), st.sampled_from(NAMES)), inner, max_size=3),
    ),
    max_leaves=5,
)


@given(value=json_values, name=st.one_of(st.sampled_from(NAMES), json_values))
def test_same_items_of_any_value(value: Any, name: Any) -> None:
    assert _outcome(ENVIRONMENT.getitem, value, name) == _outcome(ORACLE.getitem, value, name)
    if isinstance(name, str):
        assert _outcome(ENVIRONMENT.getattr, value, name) == _outcome(ORACLE.getattr, value, name)


@given(name=st.one_of(st.text(max_size=6), st.sampled_from(NAMES)), value=json_values)
def test_namespace_attributes(name: str, value: Any) -> None:
    template = ChatTemplate(
        "{% set ns = namespace(**{name: value}) %}{{ ns[name]|default('none', true) }}|{{ ns.a is defined }}"
    )
    variables = {"name": name, "value": value}
    if name.startswith("_"):
        with pytest.raises(TemplateError, match="must not start with an underscore"):
            template.fill(variables, now=datetime.now)
    else:
        assert template.fill(variables, now=datetime.now) == f"{value or 'none'}|{name == 'a'}"


ESCAPES = [
    "messages.__class__",
    "messages['__class__']",
    "messages|attr('__class__')",
    "''.__class__.__mro__",
    "''.__class__.mro()",
    "''['__class__']['__base__']['__subclasses__']()",
    "'{0.__class__}'.format(messages)",
    "'{0[__class__]}'.format(messages)",
    "'{a.__class__.__mro__}'.format(a=1)",
    "'{0.__class__}'.format_map({'0': 1})",
    "'{a.__class__}'.format_map({'a': 1})",
    "('{a.__class__}'|safe).format_map({'a': 1})",
    "('{0.__init__.__globals__}'|safe).format(messages)",
    "('%s{0.__class__}' % '').format(1)",
    "['{0.__class__}'.format]|first|string ~ ['{0.__class__}'.format][0](1)",
    "namespace.__init__.__globals__",
    "cycler.__init__.__globals__",
    "joiner.__init__.__globals__.os",
    "lipsum.__globals__",
    "lipsum['__globals__']",
    "dict.__class__",
    "dict.mro",
    "range.__self__",
    "cycler.mro()",
    "cycler('a').__init__.__globals__",
    "namespace().__class__",
    "namespace(__class__=1)",
    "namespace({'__html__': 1})",
    "raise_exception.__globals__",
    "strftime_now.__globals__",
    "strftime_now.func_globals",
    "self.__init__",
    "self._TemplateReference__context",
    "self|attr('_TemplateReference__context')",
    "macro.__call__",
    "macro._func.__globals__",
    "macro._environment",
    "missing.__class__",
    "(messages|map('upper')).gi_frame",
    "(messages|map('upper')).gi_code",
    "(messages|map('upper')).gi_frame.f_globals",
    "(messages|select)['gi_frame']",
    "messages|map(attribute='__class__')|list|first",
    "messages|sort(attribute='__class__')",
    "messages|map(attribute='0.__class__.__mro__')|list|first",
    "[1]|groupby('__class__')",
    "('x'.join).__self__",
    "messages.append.__self__",
    "messages.index.__self__",
    "''.encode().__class__",
    "(1).__class__",
]


@pytest.mark.parametrize("expression", ESCAPES)
def test_no_way_out(expression: str) -> None:
    source = "{% macro macro() %}{% endmacro %}{{ EXPRESSION }}".replace("EXPRESSION", expression)
    messages = [{"role": "user"}]
    with suppress(TemplateError):  # a refused attribute is undefined, and an error when it is used
        text = ChatTemplate(source).fill({"messages": messages}, now=datetime.now)
        assert "<class" not in text
        assert "module" not in text
        assert "__" not in text


MUTATIONS = [
    "messages.append(1)",
    "messages.clear()",
    "messages.extend([1])",
    "messages.insert(0, 1)",
    "messages.pop()",
    "messages.remove(1)",
    "messages.reverse()",
    "messages.sort()",
    "messages['append'](1)",
    "(messages|attr('append'))(1)",
    "messages[0].clear()",
    "messages[0].pop('role')",
    "messages[0].popitem()",
    "messages[0].setdefault('a', 1)",
    "messages[0].update({'a': 1})",
    "messages[0]['update']({'a': 1})",
    "messages[0].update",
    "messages[0].items().mapping.update({'a': 1})",
    "(messages[0].keys() - []).add(1)",
    "dict.update(messages[0], {'a': 1})",
    "dict.pop(messages[0], 'role')",
    "dict.clear(messages[0])",
    "messages.__setitem__(0, 1)",
    "messages.__iadd__([1])",
]


@pytest.mark.parametrize("expression", MUTATIONS)
def test_nothing_is_changed(expression: str) -> None:
    messages = [{"role": "user", "content": ["a"]}]
    before = copy.deepcopy(messages)
    template = ChatTemplate("{% set x = EXPRESSION %}{{ x }}".replace("EXPRESSION", expression))
    with suppress(TemplateError):
        template.fill({"messages": messages}, now=datetime.now)
    assert messages == before


def test_unsafe_call_is_refused() -> None:
    def delete() -> str:
        return "deleted"

    delete.unsafe_callable = True  # type: ignore[attr-defined]
    with pytest.raises(TemplateError, match="is not safely callable"):
        ChatTemplate("{{ delete() }}").fill({"delete": delete}, now=datetime.now)


def test_what_the_messages_say() -> None:
    """The wording is jinja2's, as it reaches the client."""

    def error_of(source: str) -> str:
        with pytest.raises(TemplateError) as caught:
            ChatTemplate(source).fill({"messages": [{"role": "user"}]}, now=datetime.now)
        return caught.value.message

    assert error_of("{{ messages.__class__.__mro__ }}") == "access to attribute '__class__' of 'list' object is unsafe."
    assert error_of("{% set _ = messages.append(1) %}") == "access to attribute 'append' of 'list' object is unsafe."
    assert error_of("{{ messages[0].description.strip() }}") == "'dict object' has no attribute 'description'"
    assert error_of("{{ messages[3].role }}") == "list object has no element 3"
    assert error_of("{{ nothing.at.all }}") == "'nothing' is undefined"
    assert error_of("{% set ns = namespace() %}{{ ns.a.b }}") == "'jinja2.utils.Namespace object' has no attribute 'a'"
    assert error_of("{{ range(10**6) }}") == "Range too big. The sandbox blocks ranges larger than MAX_RANGE (100000)."
