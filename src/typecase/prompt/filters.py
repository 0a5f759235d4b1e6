"""jinja2's filters and tests, within a budget.

Contract: ``filters(jinja2's)`` and ``tests(jinja2's)`` give the same tables with every entry replaced whose work or
result its arguments don't bound. A replacement calls jinja2's own function, so results and errors are jinja2's; before
it stands a charge (``_BEFORE``), after it one for what was made (``_AFTER``). Every replacement takes the context, and
such filters are never run when a template is compiled.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any

from jinja2.filters import make_attrgetter
from jinja2.utils import _PassArg, pass_context

from typecase.prompt.formatting import percent_length
from typecase.prompt.methods import (
    require_indent,
    require_join,
    require_replace,
    require_strip,
    require_striptags,
)
from typecase.prompt.operators import SMALL, Operators, RenderContext
from typecase.prompt.weight import written_size

__all__ = ["bounded_filters", "bounded_tests"]

Args = tuple[Any, ...]
Kwargs = dict[str, Any]
_Function = Callable[..., Any]
_Before = Callable[[RenderContext, Args, Kwargs], "Args | None"]  # args[0] is the value; may give others
_After = Callable[[Operators, Any, Args], Any]

_LONG_PATH = 256


def bounded_filters(originals: Mapping[str, Any]) -> dict[str, _Function]:
    return {
        name: original if name in _FREE_FILTERS else _bounded(original, _BEFORE.get(name), _AFTER.get(name, _grown))
        for name, original in originals.items()
    } | {"sum": _sum}


def bounded_tests(originals: Mapping[str, Any]) -> dict[str, _Function]:
    return {
        name: _bounded(original, _TEST_BEFORE[name], _as_is) if name in _TEST_BEFORE else original
        for name, original in originals.items()
    }


def _bounded(original: _Function, before: _Before | None, after: _After) -> _Function:
    if getattr(original, "jinja_async_variant", False):
        original = original.__wrapped__  # type: ignore[attr-defined]  # the plain one
    passed = {
        _PassArg.context: lambda context: context,
        _PassArg.eval_context: lambda context: context.eval_ctx,
        _PassArg.environment: lambda context: context.environment,
    }.get(_PassArg.from_obj(original))  # type: ignore[arg-type]

    @pass_context
    def run(context: RenderContext, /, *args: Any, **kwargs: Any) -> Any:
        ops = context.ops
        budget = ops.budget
        budget.fuel -= 1
        if budget.fuel < 0:
            budget.refuel()
        if before is not None:
            args = before(context, args, kwargs) or args
        if passed is None:
            return after(ops, original(*args, **kwargs), args)
        return after(ops, original(passed(context), *args, **kwargs), args)

    return run


def _argument(args: Args, kwargs: Kwargs, index: int, name: str, default: Any = None) -> Any:
    return args[index] if len(args) > index else kwargs.get(name, default)


def _string(ops: Operators, value: Any) -> str:
    return value if isinstance(value, str) else ops.text(value)


# After ---------------------------------------------------------------------------------------------------------------


def _grown(ops: Operators, result: Any, args: Args) -> Any:
    return ops.grown(result)


def _made(ops: Operators, result: Any, args: Args) -> Any:
    return ops.made(result)


def _as_is(ops: Operators, result: Any, args: Args) -> Any:
    return result


def _lazy(ops: Operators, result: Any, args: Args) -> Any:
    return ops.lazy(args[0], result)


def _lazy_made(ops: Operators, result: Any, args: Args) -> Any:
    return ops.lazy(args[0], map(ops.made, result))


# Before --------------------------------------------------------------------------------------------------------------


def _text(context: RenderContext, args: Args, kwargs: Kwargs) -> None:
    if isinstance(args[0], str):
        context.ops.budget.work(len(args[0]))


def _words(context: RenderContext, args: Args, kwargs: Kwargs) -> None:
    text = _string(context.ops, args[0])
    context.ops.budget.work(len(text))
    context.ops.budget.require(len(text) * 30)  # a list of the words, for a moment


def _trim(context: RenderContext, args: Args, kwargs: Kwargs) -> None:
    if isinstance(args[0], str):
        require_strip(context.ops, args[0], _argument(args, kwargs, 1, "chars"))


def _center(context: RenderContext, args: Args, kwargs: Kwargs) -> None:
    width = _argument(args, kwargs, 1, "width", 80)
    if isinstance(width, int):
        context.ops.budget.require(width)


def _indent(context: RenderContext, args: Args, kwargs: Kwargs) -> None:
    require_indent(context.ops, args[0], _argument(args, kwargs, 1, "width", 4))


def _replace(context: RenderContext, args: Args, kwargs: Kwargs) -> None:
    if len(args) == 3 and all(type(text) is str for text in args) and (len(args[0]) + 1) * (len(args[2]) + 1) < SMALL:
        return
    old, new = _argument(args, kwargs, 1, "old"), _argument(args, kwargs, 2, "new")
    if old is None or new is None:
        return
    ops = context.ops
    count = _argument(args, kwargs, 3, "count")
    texts = [_string(ops, text) for text in (args[0], old, new)]
    if context.eval_ctx.autoescape:
        ops.budget.require(6 * (len(texts[0]) + 1) * (len(texts[2]) + 1))
    else:
        require_replace(ops, str(texts[0]), str(texts[1]), str(texts[2]), -1 if count is None else count)


def _join(context: RenderContext, args: Args, kwargs: Kwargs) -> Args | None:
    if len(args) > 3:
        return None
    ops = context.ops
    separator = _argument(args, kwargs, 1, "d", "")
    attribute = args[2] if len(args) > 2 else kwargs.pop("attribute", None)
    kwargs.pop("d", None)
    value = args[0]
    if attribute is not None:
        (value,) = _with_attribute(context, (value,), {"attribute": attribute}) or (value,)
        value = map(make_attrgetter(context.environment, attribute), value)
    parts = []
    size = 0
    for item in ops.counted(value):
        part = item if isinstance(item, str) or hasattr(item, "__html__") else ops.text(item)
        parts.append(part)
        size += 8 + len(part) if isinstance(part, str) else 8
        if size > ops.budget.characters:
            ops.budget.require(size)
    require_join(ops, _string(ops, separator), parts)
    return parts, separator


def _round(context: RenderContext, args: Args, kwargs: Kwargs) -> None:
    precision = _argument(args, kwargs, 1, "precision", 0)
    if isinstance(precision, int):
        down = isinstance(args[0], int) and precision < 0
        if down or _argument(args, kwargs, 2, "method", "common") != "common":
            context.ops.raised(10, abs(precision))


def _format(context: RenderContext, args: Args, kwargs: Kwargs) -> None:
    budget = context.ops.budget
    if budget.bounded:
        template = _string(context.ops, args[0])
        budget.require(percent_length(template, kwargs or args[1:], budget.characters))


def _longest_word(text: str) -> int:
    return max(map(len, text.split()), default=0)


def _wordwrap(context: RenderContext, args: Args, kwargs: Kwargs) -> None:
    """textwrap cuts a word that is too long off its front, line by line, and copies the rest each time."""
    text, width = args[0], _argument(args, kwargs, 1, "width", 79)
    if not (isinstance(text, str) and isinstance(width, int) and width > 0):
        return
    ops = context.ops
    _words(context, args, kwargs)
    ops.budget.work(len(text) * _longest_word(text) // width)
    wrap = _argument(args, kwargs, 3, "wrapstring")
    if isinstance(wrap, str):
        ops.budget.require((len(text) + 1) * len(wrap))


def _urlize(context: RenderContext, args: Args, kwargs: Kwargs) -> None:
    text = _string(context.ops, args[0])
    _words(context, args, kwargs)
    context.ops.budget.work(24 * len(text) * _longest_word(text))
    extra = sum(len(value) for value in (*args[1:], *kwargs.values()) if isinstance(value, str))
    context.ops.budget.require((text.count(".") + text.count("@") + 1) * (extra + 64) + 6 * len(text))


def _striptags(context: RenderContext, args: Args, kwargs: Kwargs) -> None:
    require_striptags(context.ops, _string(context.ops, args[0]))


def _list(context: RenderContext, args: Args, kwargs: Kwargs) -> Args:
    return (context.ops.listed(args[0]), *args[1:])


def _batch(context: RenderContext, args: Args, kwargs: Kwargs) -> None:
    count, fill = _argument(args, kwargs, 1, "linecount"), _argument(args, kwargs, 2, "fill_with")
    if isinstance(count, int) and fill is not None:
        context.ops.budget.require(count * (8 + context.ops.size(fill)))


def _with_attribute(context: RenderContext, args: Args, kwargs: Kwargs) -> Args | None:
    """A path like ``a.b.c`` is followed part by part for every item. Only a very long one matters."""
    length = sum(len(value) for value in (*args[1:], *kwargs.values()) if isinstance(value, str))
    if length <= _LONG_PATH:
        return None
    budget = context.ops.budget

    def charged(items: Any) -> Iterator[Any]:
        for item in items:
            budget.grow(length << 4)
            yield item

    return (charged(args[0]), *args[1:])


def _each(context: RenderContext, args: Args, kwargs: Kwargs) -> Args | None:
    """Items that are dropped are not counted while the filter is read, so all are counted here."""
    if isinstance(args[0], list | tuple | dict | str | range):
        context.ops.budget.work(len(args[0]) << 10)
    return _with_attribute(context, args, kwargs)


def _unique(context: RenderContext, args: Args, kwargs: Kwargs) -> Args:
    args = _with_attribute(context, args, kwargs) or args
    return (context.ops.each_weighed(args[0]), *args[1:])


def _sorted(context: RenderContext, args: Args, kwargs: Kwargs) -> Args:
    ops = context.ops
    args = _with_attribute(context, args, kwargs) or args
    items = ops.listed(args[0])
    if ops.budget.bounded:
        ops.budget.work(ops.weight(items) * (len(items).bit_length() + 1))
    return (items, *args[1:])


def _dictsort(context: RenderContext, args: Args, kwargs: Kwargs) -> None:
    if isinstance(args[0], dict) and context.ops.budget.bounded:
        context.ops.budget.work(context.ops.weight(args[0]) * (len(args[0]).bit_length() + 1))


def _pprint(context: RenderContext, args: Args, kwargs: Kwargs) -> None:
    """pprint writes out what is nested once for each level above it."""
    if isinstance(args[0], str):
        _words(context, args, kwargs)
    elif context.ops.budget.bounded:
        context.ops.budget.work(written_size(args[0], 1, None, context.ops.budget.ceiling) << 13)


def _compared(context: RenderContext, args: Args, kwargs: Kwargs) -> None:
    for value in args:
        context.ops.weighed(value)


def _in(context: RenderContext, args: Args, kwargs: Kwargs) -> None:
    if len(args) > 1:
        context.ops.searched(args[0], args[1])


def _divisible(context: RenderContext, args: Args, kwargs: Kwargs) -> None:
    if len(args) > 1:
        context.ops.divided(args[0], args[1])


@pass_context
def _sum(context: RenderContext, iterable: Any, attribute: Any = None, start: Any = 0) -> Any:
    """jinja2's ``sum``, which would copy lists as often as there are lists to add."""
    if attribute is not None:
        (iterable,) = _with_attribute(context, (iterable,), {"attribute": attribute}) or (iterable,)
        iterable = map(make_attrgetter(context.environment, attribute), iterable)
    return context.ops.sum(context.ops.listed(iterable), start)


# constant work; the result is there already, or a small number
_FREE_FILTERS = frozenset({"attr", "count", "d", "default", "filesizeformat", "first", "last", "length", "random"})

_BEFORE: dict[str, _Before] = {
    **dict.fromkeys(("capitalize", "float", "int", "lower", "title", "upper", "urlencode", "e", "escape"), _text),
    **dict.fromkeys(("select", "selectattr", "reject", "rejectattr"), _each),
    **dict.fromkeys(("sort", "min", "max", "groupby"), _sorted),
    "batch": _batch,
    "center": _center,
    "dictsort": _dictsort,
    "format": _format,
    "indent": _indent,
    "join": _join,
    "list": _list,
    "map": _with_attribute,
    "pprint": _pprint,
    "replace": _replace,
    "round": _round,
    "striptags": _striptags,
    "trim": _trim,
    "unique": _unique,
    "urlize": _urlize,
    "wordcount": _words,
    "wordwrap": _wordwrap,
}

_AFTER: dict[str, _After] = {
    **dict.fromkeys(("items", "map", "reject", "rejectattr", "select", "selectattr", "unique"), _lazy),
    **dict.fromkeys(("batch", "slice"), _lazy_made),
    **dict.fromkeys(("dictsort", "groupby"), _made),
    **dict.fromkeys(("list", "max", "min"), _as_is),
}

_TEST_BEFORE: dict[str, _Before] = {
    **dict.fromkeys(("==", "eq", "equalto", "!=", "ne", ">", "gt", "greaterthan", "ge", ">="), _compared),
    **dict.fromkeys(("<", "lt", "lessthan", "<=", "le", "lower", "upper", "odd", "even"), _compared),
    "in": _in,
    "divisibleby": _divisible,
}
