"""What a template may reach.

Contract: ``Sandbox`` allows and refuses exactly what jinja2's ``ImmutableSandboxedEnvironment`` does, with the same
values, the same undefined objects and the same errors. It is faster because the verdict on an attribute of a built-in
type depends on the type and the name alone: all of them are asked of jinja2's own policy once, at import. Everything
else goes through jinja2's code.

``call`` also hands calls to the budget: methods of built-in types go through methods.py, and text formatting through
a formatter that knows how long its fields become.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from types import BuiltinMethodType, FunctionType, MethodType
from typing import Any

from jinja2.exceptions import SecurityError
from jinja2.runtime import BlockReference, LoopContext, Macro
from jinja2.sandbox import ImmutableSandboxedEnvironment, SandboxedFormatter
from jinja2.utils import Cycler, missing
from jinja2.utils import Namespace as PlainNamespace
from markupsafe import EscapeFormatter, Markup

from typecase.prompt.budget import Budget
from typecase.prompt.formatting import spec_length
from typecase.prompt.methods import call_method
from typecase.prompt.operators import Operators, RenderContext

__all__ = ["LOOP_ATTRIBUTES", "Namespace", "Sandbox", "namespace", "with_operators"]

#: attributes of ``loop`` whose values are numbers, booleans or harmless methods
LOOP_ATTRIBUTES = frozenset(
    {"changed", "cycle", "depth", "depth0", "first", "index", "index0", "last", "length", "revindex", "revindex0"}
)

_SAFE, _UNSAFE, _FORMAT = "safe", "unsafe", "format"


def _verdicts() -> dict[type, dict[str, str]]:
    policy = ImmutableSandboxedEnvironment()
    table: dict[type, dict[str, str]] = {}
    samples: tuple[Any, ...] = ({}, [], (), "", 0, True, 1.5, None, range(0))
    for sample in samples:
        names = table[type(sample)] = {}
        for name in dir(sample):
            value = getattr(sample, name)
            if policy.wrap_str_format(value) is not None:
                names[name] = _FORMAT
            else:
                names[name] = _SAFE if policy.is_safe_attribute(sample, name, value) else _UNSAFE
    return table


_VERDICTS: Mapping[type, Mapping[str, str]] = _verdicts()


def with_operators(function: Callable[..., Any]) -> Callable[..., Any]:
    """Mark a function that `Sandbox.call` gives the rendering's operators as its first argument."""
    function._with_operators = True  # type: ignore[attr-defined]
    return function


class Namespace(PlainNamespace):
    """jinja2's ``namespace``, with its attributes where Python looks first.

    As in transformers, names that start with an underscore are refused: templates can't read them anyway, but code
    that asks an object for ``__html__`` and the like would.
    """

    __slots__ = ("_ops",)
    __module__ = "jinja2.utils"  # error texts name the class: keep jinja2's name
    __getattribute__ = object.__getattribute__

    _ops: Operators

    def __init__(*args: Any, **kwargs: Any) -> None:
        self, args = args[0], args[1:]
        attributes = dict(*args, **kwargs)
        for name in attributes:
            _check_name(name)
        self.__dict__.update(attributes)

    def __setitem__(self, name: str, value: Any) -> None:
        _check_name(name)
        self.__dict__[name] = value

    def __repr__(self) -> str:
        # namespaces may hold each other many times over, which no weighing sees
        self._ops.budget.step()
        return self._ops.grown(f"<Namespace {self.__dict__!r}>")  # type: ignore[no-any-return]


def _check_name(name: Any) -> None:
    if isinstance(name, str) and name.startswith("_"):
        raise SecurityError(f"a namespace can't have the attribute {name!r}: names must not start with an underscore.")


@with_operators
def namespace(ops: Operators, /, *args: Any, **kwargs: Any) -> Namespace:
    """The global of that name."""
    made = Namespace(*args, **kwargs)
    made._ops = ops
    ops.made(made.__dict__)
    return made


class Sandbox(ImmutableSandboxedEnvironment):
    """The sandboxed environment of chat templates, without their filters and globals (environment.py)."""

    # the compiler has its own operators; named here, constant operands are not folded when a template is compiled
    intercepted_binops = frozenset({"+", "-", "*", "/", "//", "**", "%"})
    intercepted_unops = frozenset({"+", "-"})
    context_class = RenderContext

    def getattr(self, obj: Any, attribute: str) -> Any:
        kind = type(obj)
        names = _VERDICTS.get(kind)
        if names is not None and type(attribute) is str:
            verdict = names.get(attribute)
            if verdict is _SAFE:
                return getattr(obj, attribute)
            if verdict is None:
                if kind is dict:
                    value = obj.get(attribute, missing)
                    if value is not missing:
                        return value
                return self.undefined(obj=obj, name=attribute)
            if verdict is _UNSAFE:
                return self.unsafe_undefined(obj, attribute)
        elif kind is Namespace:
            value = obj.__dict__.get(attribute, missing)
            if value is not missing and type(value) is not BuiltinMethodType and type(value) is not MethodType:
                return value  # its name has been checked
        elif kind is LoopContext and attribute in LOOP_ATTRIBUTES:
            return getattr(obj, attribute)
        return super().getattr(obj, attribute)

    def getitem(self, obj: Any, argument: Any) -> Any:
        if type(obj) is dict and type(argument) is str:
            value = obj.get(argument, missing)
            if value is not missing:
                return value
            verdict = _VERDICTS[dict].get(argument)
            if verdict is None:
                return self.undefined(obj=obj, name=argument)
            return getattr(obj, argument) if verdict is _SAFE else self.unsafe_undefined(obj, argument)
        return super().getitem(obj, argument)

    def wrap_str_format(self, value: Any) -> Callable[..., str] | None:
        if super().wrap_str_format(value) is None:
            return None
        text: str = value.__self__
        is_map = value.__name__ == "format_map"

        @with_operators
        def format(*args: Any, **kwargs: Any) -> str:
            if args and type(args[0]) is Operators:
                ops, args = args[0], args[1:]
            else:
                ops = Operators(Budget.unlimited())
            if is_map:
                args, kwargs = (), _mapping_of_format_map(args, kwargs)
            return type(text)(_formatter(self, ops, text).vformat(text, args, kwargs))

        return format

    def call(  # type: ignore[override]  # positional-only instead of double underscores
        self, context: RenderContext, obj: Any, /, *args: Any, **kwargs: Any
    ) -> Any:
        kind = type(obj)
        if kind is Macro:
            _drop_scopes(kwargs)
            absent = obj._argument_count - len(args)
            if (
                kwargs
                or absent < 0
                or obj.caller
                or obj.catch_kwargs
                or obj.catch_varargs
                or context.eval_ctx.autoescape
            ):
                return obj(context.eval_ctx, *args, **kwargs)
            return obj._func(*args, *(missing,) * absent)  # what that call comes to
        ops = context.ops
        if kind is BuiltinMethodType or (kind is MethodType and type(obj.__self__) is Markup):
            _drop_scopes(kwargs)
            try:
                return call_method(ops, obj, args, kwargs)
            except StopIteration:
                return self.undefined("value was undefined because a callable raised a StopIteration exception")
        ops.budget.step()
        if kind is FunctionType and "_with_operators" in obj.__dict__:
            _drop_scopes(kwargs)
            return obj(ops, *args, **kwargs)
        if kind is BlockReference and not args:
            text = ops.collect(obj._stack[obj._depth](obj._context))
            return Markup(text) if obj._context.eval_ctx.autoescape else text
        for argument in args:
            ops.weighed(argument)
        result = super().call(context, obj, *args, **kwargs)
        if type(result) is Cycler:
            ops.made(result.items)
        elif isinstance(result, dict | list | tuple | set):
            return ops.made(result)
        return ops.grown(result)


def _drop_scopes(kwargs: dict[str, Any]) -> None:
    """The compiler passes these along for functions that want the context of the call."""
    if kwargs:
        kwargs.pop("_block_vars", None)
        kwargs.pop("_loop_vars", None)


def _mapping_of_format_map(args: Sequence[Any], kwargs: Mapping[str, Any]) -> Any:
    if kwargs:
        raise TypeError("format_map() takes no keyword arguments")
    if len(args) != 1:
        raise TypeError(f"format_map() takes exactly one argument ({len(args)} given)")
    return args[0]


class _Formatter(SandboxedFormatter):
    def __init__(self, environment: Sandbox, ops: Operators, **kwargs: Any):
        super().__init__(environment, **kwargs)
        self._ops = ops

    def convert_field(self, value: Any, conversion: Any) -> Any:
        return self._ops.grown(super().convert_field(value, conversion))

    def format_field(self, value: Any, format_spec: str) -> str:
        budget = self._ops.budget
        if budget.bounded:
            budget.require(spec_length(format_spec, value, budget.characters))
        text: str = super().format_field(value, format_spec)
        budget.grow(len(text))
        return text


class _EscapeFormatter(_Formatter, EscapeFormatter):
    pass


def _formatter(environment: Sandbox, ops: Operators, text: str) -> _Formatter:
    if isinstance(text, Markup):
        return _EscapeFormatter(environment, ops, escape=text.escape)
    return _Formatter(environment, ops)
