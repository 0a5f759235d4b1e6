"""A parsed template -> a Python function.

Contract: ``compile_template(environment, tree)`` compiles a parsed template with jinja2's code generator and gives a
``Program``: the function that yields the pieces of the text, and the names the template looks up outside itself. Errors
of jinja2 and of Python's compiler pass through.

``_Generator`` writes the same program as jinja2's generator with three differences, none of them visible in the text:

- ``message.role`` and ``message['role']`` look into a plain dictionary directly, before they ask the sandbox;
- operators whose result or work their operands don't bound are calls of operators.py; results of the others are
  charged when they are large. Short text costs a length check;
- each round of a loop, each call of a macro and each block takes steps from the budget first.

In the written code ``_t`` holds the value just computed: it is assigned and read within one expression, with nothing
evaluated in between. Constants are the only expressions written twice.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from types import CodeType
from typing import Any

from jinja2 import nodes
from jinja2.compiler import CodeGenerator, Frame, operators
from jinja2.idtracking import VAR_LOAD_RESOLVE
from jinja2.runtime import Context

from typecase.prompt.operators import CHUNK, SCALARS, SMALL
from typecase.prompt.sandbox import LOOP_ATTRIBUTES, Sandbox

__all__ = ["Program", "compile_template"]


@dataclass(frozen=True, slots=True)
class Program:
    root: Callable[[Context], Iterator[str]]
    blocks: dict[str, Callable[[Context], Iterator[str]]]
    undeclared: frozenset[str]


def compile_template(environment: Sandbox, tree: nodes.Template) -> Program:
    try:
        generator, code = _generate(environment, tree, inline=True)
    except (SyntaxError, MemoryError, RecursionError):
        # Python allows 200 nested parentheses; without shortcuts an expression has as many as jinja2's generator writes
        generator, code = _generate(environment, tree, inline=False)
    scope: dict[str, Any] = {"environment": environment, "SCALARS": SCALARS | {int}}
    exec(code, scope)  # written by jinja2's generator and ours; names and strings of the template stand in it as repr()
    return Program(scope["root"], scope["blocks"], frozenset(generator.undeclared))


def _generate(environment: Sandbox, tree: nodes.Template, *, inline: bool) -> tuple[_Generator, CodeType]:
    generator = _Generator(environment, inline)
    generator.visit(tree)
    return generator, compile(generator.source, "<template>", "exec")


# Statements that jinja2's generator goes through once more for each one around them. Python takes no more than 20 loops
# in one another, and 100 blocks.
_SCOPES = (nodes.For, nodes.Macro, nodes.CallBlock, nodes.AssignBlock, nodes.FilterBlock, nodes.With, nodes.Scope)
_MAX_SCOPES = 50

# Methods called directly when the receiver is a short string and the arguments are constants. None of them makes more
# than its receiver holds.
_STRING_METHODS = frozenset(
    {"endswith", "lower", "lstrip", "removeprefix", "removesuffix", "rsplit", "rstrip", "split", "startswith", "strip"}
    | {"title", "upper"}
)
_DICT_METHODS = frozenset({"get", "items", "keys", "values"})

_ARITHMETIC = {"Sub": "sub", "Mul": "mul", "Div": "div", "FloorDiv": "floordiv", "Mod": "mod", "Pow": "pow"}


class _Generator(CodeGenerator):
    environment: Sandbox

    def __init__(self, environment: Sandbox, inline: bool):
        super().__init__(environment, None, None, optimized=False)
        self._inline = inline  # write shortcuts
        self._scopes = 0
        self.undeclared: set[str] = set()
        self._round_costs: dict[int, int] = {}  # by id of a loop's body
        self._counted: set[int] = set()  # ids of expressions that are iterated out of sight of a loop's body
        self._uncharged: set[int] = set()  # ids of additions whose surroundings check the result
        self._replacing: dict[int, nodes.Expr] = {}  # by id of the new value: the expression of the old one
        self._macro_cost = 0
        self._block_cost = 0

    @property
    def source(self) -> str:
        return self.stream.getvalue()  # type: ignore[attr-defined, no-any-return]

    # Steps -----------------------------------------------------------------------------------------------------------

    def visit_Template(self, node: nodes.Template, frame: Frame | None = None) -> None:
        self._block_cost = _cost(node)
        super().visit_Template(node, frame)

    def write_commons(self) -> None:
        super().write_commons()
        self.writeline("ops = context.ops")
        self.writeline("budget = ops.budget")
        self.writeline("concat = ops.concat")
        self._write_step(self._block_cost)

    def visit_For(self, node: nodes.For, frame: Frame) -> None:
        self._round_costs[id(node.body)] = _cost(node)
        if node.test is not None:
            self._counted.add(id(node.iter))
        super().visit_For(node, frame)

    def buffer(self, frame: Frame) -> None:
        super().buffer(frame)
        self.writeline(f"{frame.buffer}_done = 0")

    def simple_write(self, s: str, frame: Frame, node: nodes.Node | None = None) -> None:
        # only for pieces that come out of another generator, one by one
        super().simple_write(s, frame, node)
        self._write_flush(frame)

    def _write_flush(self, frame: Frame) -> None:
        if frame.buffer is not None:
            done = f"{frame.buffer}_done"
            self.writeline(f"if len({frame.buffer}) - {done} > {CHUNK}: {done} = ops.flush({frame.buffer}, {done})")

    def blockvisit(self, nodes: Iterable[nodes.Node], frame: Frame) -> None:
        cost = self._round_costs.pop(id(nodes), None)
        if cost is not None:
            self._write_step(cost)
            self._write_flush(frame)
        super().blockvisit(nodes, frame)

    def macro_body(self, node: nodes.Macro | nodes.CallBlock, frame: Frame) -> Any:
        self._macro_cost = _cost(node)
        return super().macro_body(node, frame)

    def push_parameter_definitions(self, frame: Frame) -> None:
        # the first thing that is written in a macro's function
        self._write_step(self._macro_cost)
        for name in ("varargs", "kwargs"):
            ref = frame.symbols.find_ref(name)
            if ref is not None and ref in frame.symbols.loads:
                self.writeline(f"{ref} = ops.made({ref})")
        super().push_parameter_definitions(frame)

    def _write_step(self, cost: int) -> None:
        self.writeline(f"budget.fuel -= {cost}")
        self.writeline("if budget.fuel < 0: budget.refuel()")

    # Names -----------------------------------------------------------------------------------------------------------

    def enter_frame(self, frame: Frame) -> None:
        super().enter_frame(frame)
        for action, name in frame.symbols.loads.values():
            if action == VAR_LOAD_RESOLVE and name is not None and name not in self.environment.globals:
                self.undeclared.add(name)

    # Statements ------------------------------------------------------------------------------------------------------

    def visit_Assign(self, node: nodes.Assign, frame: Frame) -> None:
        target, value = node.target, node.node
        if isinstance(target, nodes.NSRef) and isinstance(value, nodes.Add | nodes.Concat):
            first: nodes.Node = value
            while isinstance(first, nodes.Add | nodes.Concat):
                first = first.left if isinstance(first, nodes.Add) else first.nodes[0]
            if (
                isinstance(first, nodes.Getattr)
                and first.attr == target.attr
                and isinstance(first.node, nodes.Name)
                and first.node.name == target.name
            ):
                self._replacing[id(value)] = first  # `ns.text = ns.text ~ ...`
        super().visit_Assign(node, frame)

    # Expressions -----------------------------------------------------------------------------------------------------

    def visit(self, node: nodes.Node, *args: Any, **kwargs: Any) -> Any:
        replaced = self._replacing.pop(id(node), None)
        if replaced is not None:
            self.write("ops.replacing(")
            super().visit(replaced, *args, **kwargs)
            self.write(", ")
            super().visit(node, *args, **kwargs)
            self.write(")")
        elif id(node) in self._counted:
            self._counted.discard(id(node))
            self.write("ops.counted(")
            super().visit(node, *args, **kwargs)
            self.write(")")
        elif isinstance(node, _SCOPES):
            self._scopes += 1
            if self._scopes > _MAX_SCOPES:
                raise RecursionError
            super().visit(node, *args, **kwargs)
            self._scopes -= 1
        else:
            super().visit(node, *args, **kwargs)

    def _write_checked(self, node: nodes.Expr, frame: Frame, condition: str, otherwise: str) -> None:
        """The value if it passes the condition, else what is made of it."""
        if self._inline:
            self.write("(_t if ")
            self._write_test(node, frame, condition)
            self.write(f" else {otherwise})")
        else:
            before, after = otherwise.split("_t")
            self.write(before)
            self.visit(node, frame)
            self.write(after)

    def _write_test(self, node: nodes.Expr, frame: Frame, condition: str) -> None:
        before, after = condition.split("_t", 1)
        self.write(f"{before}(_t := ")
        self.visit(node, frame)
        self.write(f"){after}")

    def visit_Getattr(self, node: nodes.Getattr, frame: Frame) -> None:
        name = node.attr
        if not self._inline:
            super().visit_Getattr(node, frame)
            return
        if name in LOOP_ATTRIBUTES and isinstance(node.node, nodes.Name) and node.node.name == "loop":
            self.write(f"(_t.{name} if ")
            self._write_test(node.node, frame, "type(_t) is LoopContext")
        elif not hasattr(dict, name):
            self.write(f"(_t[{name!r}] if ")
            self._write_test(node.node, frame, f"type(_t) is dict and {name!r} in _t")
        else:
            super().visit_Getattr(node, frame)
            return
        self.write(f" else environment.getattr(_t, {name!r}))")

    def visit_Getitem(self, node: nodes.Getitem, frame: Frame) -> None:
        argument = node.arg
        if isinstance(argument, nodes.Slice):
            self.write("(_t if type(_t := " if self._inline else "ops.grown(")
            self.write("identity(")  # a call, since Python warns of a literal that can't be sliced
            self.visit(node.node, frame)
            self.write(")[")
            self.visit(argument, frame)
            self.write(f"]) is str and len(_t) < {SMALL} else ops.grown(_t))" if self._inline else "])")
            return
        key = _constant(argument)
        if key is not None and not self._inline:
            super().visit_Getitem(node, frame)
        elif type(key) is str:
            self.write(f"(_t[{key!r}] if ")
            self._write_test(node.node, frame, f"type(_t) is dict and {key!r} in _t")
            self.write(f" else environment.getitem(_t, {key!r}))")
        elif type(key) is int:
            self.write(f"(_t[{key}] if ")
            self._write_test(node.node, frame, f"type(_t) is list and len(_t) > {key if key >= 0 else -1 - key}")
            self.write(f" else environment.getitem(_t, {key}))")
        elif key is not None:
            super().visit_Getitem(node, frame)
        else:
            self.write("environment.getitem(")
            self.visit(node.node, frame)
            self.write(", ")
            self._write_checked(argument, frame, "type(_t) in SCALARS", "ops.weighed(_t)")
            self.write(")")

    def visit_Call(self, node: nodes.Call, frame: Frame, forward_caller: bool = False) -> None:
        method = node.node
        if (
            not self._inline
            or forward_caller
            or not isinstance(method, nodes.Getattr)
            or node.kwargs
            or node.dyn_args is not None
            or node.dyn_kwargs is not None
            or not _all_constant(node.args)
        ):
            super().visit_Call(node, frame, forward_caller=forward_caller)
            return
        name = method.attr
        if name in _STRING_METHODS:
            condition = f"type(_t) is str and len(_t) < {SMALL}"
        elif name in _DICT_METHODS:
            condition = "type(_t) is dict"
        else:
            super().visit_Call(node, frame)
            return
        self.write(f"(_t.{name}(")
        for argument in node.args:
            self.visit(argument, frame)
            self.write(", ")
        self.write(") if ")
        self._write_test(method.node, frame, condition)
        self.write(f" else environment.call(context, environment.getattr(_t, {name!r})")
        scopes = {"_loop_vars": "_loop_vars"} if frame.loop_frame else {}
        self.signature(node, frame, scopes | ({"_block_vars": "_block_vars"} if frame.block_frame else {}))
        self.write("))")

    def visit_Compare(self, node: nodes.Compare, frame: Frame) -> None:
        if len(node.ops) == 1 and node.ops[0].op in ("in", "notin"):
            self._write_in(node, frame)
        elif len(node.ops) == 1 and (_is_constant(node.expr) or _is_constant(node.ops[0].expr)):
            super().visit_Compare(node, frame)  # no comparison reads more than the constant
        else:
            self.write("(")
            self._write_checked(node.expr, frame, "type(_t) in SCALARS", "ops.weighed(_t)")
            for operand in node.ops:
                self.write(f" {operators[operand.op]} ")
                self._write_checked(operand.expr, frame, "type(_t) in SCALARS", "ops.weighed(_t)")
            self.write(")")

    def _write_in(self, node: nodes.Compare, frame: Frame) -> None:
        item, container = node.expr, node.ops[0].expr
        if _is_constant(container) or (
            isinstance(container, nodes.List | nodes.Tuple) and _all_constant(container.items)
        ):
            super().visit_Compare(node, frame)
            return
        self.write("(not (" if node.ops[0].op == "notin" else "((")
        if _is_constant(item) and self._inline:
            self.visit(item, frame)
            self.write(" in _t if ")
            self._write_test(container, frame, f"type(_t) is dict or type(_t) is str and len(_t) < {SMALL}")
            self.write(" else ops.contains(")
            self.visit(item, frame)
            self.write(", _t)))")
        else:
            self.write("ops.contains(")
            self.visit(item, frame)
            self.write(", ")
            self.visit(container, frame)
            self.write(")))")

    # Operators -------------------------------------------------------------------------------------------------------

    def visit_Add(self, node: nodes.BinExpr, frame: Frame) -> None:
        uncharged = id(node) in self._uncharged
        self._uncharged.discard(id(node))
        if not (self._inline and _is_text(node)):
            self.write("ops.add(")
            self.visit(node.left, frame)
            self.write(", ")
            self.visit(node.right, frame)
            self.write(")")
            return
        if _is_constant(node.right) and isinstance(node.left, nodes.Add):
            self._uncharged.add(id(node.left))  # a constant more makes no difference to the check
        self.write("(" if uncharged else "(_t if type(_t := (")
        self.visit(node.left, frame)
        self.write(" + ")
        self.visit(node.right, frame)
        self.write(")" if uncharged else f")) is str and len(_t) < {SMALL} else ops.grown(_t))")

    def _write_operator(self, name: str, operands: Iterable[nodes.Expr], frame: Frame) -> None:
        self.write(f"ops.{name}(")
        for operand in operands:
            self.visit(operand, frame)
            self.write(", ")
        self.write(")")

    def visit_Sub(self, node: nodes.BinExpr, frame: Frame) -> None:
        self._write_operator(_ARITHMETIC[type(node).__name__], (node.left, node.right), frame)

    visit_Mul = visit_Div = visit_FloorDiv = visit_Mod = visit_Pow = visit_Sub

    def visit_Neg(self, node: nodes.UnaryExpr, frame: Frame) -> None:
        if _is_constant(node):
            self.write(repr(_constant(node)))
            return
        self._write_operator("neg" if isinstance(node, nodes.Neg) else "pos", (node.node,), frame)

    visit_Pos = visit_Neg

    def visit_Concat(self, node: nodes.Concat, frame: Frame) -> None:
        if frame.eval_ctx.volatile or frame.eval_ctx.autoescape:
            join = (
                "(markup_join if context.eval_ctx.volatile else str_join)" if frame.eval_ctx.volatile else "markup_join"
            )
            self.write(f"ops.grown({join}(ops.required((")
            close = "))))"
        else:
            self.write("ops.joined((")
            close = "))"
        for part in node.nodes:
            self.visit(part, frame)
            self.write(", ")
        self.write(close)

    def visit_List(self, node: nodes.List, frame: Frame) -> None:
        self._write_made(node, node.items, frame, super().visit_List)

    def visit_Tuple(self, node: nodes.Tuple, frame: Frame) -> None:
        if node.ctx == "load":
            self._write_made(node, node.items, frame, super().visit_Tuple)
        else:
            super().visit_Tuple(node, frame)

    def visit_Dict(self, node: nodes.Dict, frame: Frame) -> None:
        self._write_made(
            node, [part for pair in node.items for part in (pair.key, pair.value)], frame, super().visit_Dict
        )

    def _write_made(
        self, node: nodes.Expr, parts: list[nodes.Expr], frame: Frame, write: Callable[[Any, Frame], None]
    ) -> None:
        if _all_constant(parts):
            write(node, frame)
        else:
            self.write("ops.made(")
            write(node, frame)
            self.write(")")

    # Output ----------------------------------------------------------------------------------------------------------

    def _output_child_pre(self, node: nodes.Expr, frame: Frame, finalize: Any) -> None:
        if frame.eval_ctx.volatile or frame.eval_ctx.autoescape:
            self.write("ops.grown(")
            super()._output_child_pre(node, frame, finalize)
        elif self._inline:
            if isinstance(node, nodes.Add) and _is_text(node):
                self._uncharged.add(id(node))
            self.write("(_t if type(_t := ")
        else:
            self.write("ops.text(")

    def _output_child_post(self, node: nodes.Expr, frame: Frame, finalize: Any) -> None:
        if frame.eval_ctx.volatile or frame.eval_ctx.autoescape:
            super()._output_child_post(node, frame, finalize)
            self.write(")")
        elif not self._inline:
            self.write(")")
        elif isinstance(node, nodes.Add) and _is_text(node):
            self.write(f") is str and len(_t) < {SMALL} else ops.made_text(_t))")
        else:
            self.write(") is str else ops.text(_t))")


def _cost(node: nodes.Node) -> int:
    """Steps for one run of what is inside: bounds the pieces of text that a step can stand for."""
    return 2 + sum(len(output.nodes) for output in node.find_all(nodes.Output)) // 4


def _is_text(node: nodes.Expr) -> bool:
    """Whether the value is certainly text, if there is one."""
    if isinstance(node, nodes.Const):
        return isinstance(node.value, str)
    if isinstance(node, nodes.Add):
        return _is_text(node.left) or _is_text(node.right)
    return isinstance(node, nodes.Concat)


def _constant(node: nodes.Expr) -> Any:
    """The value of a literal, also of a negative number, or None."""
    if isinstance(node, nodes.Neg) and isinstance(node.node, nodes.Const) and type(node.node.value) is int:
        return -node.node.value
    return node.value if isinstance(node, nodes.Const) else None


def _is_constant(node: nodes.Expr) -> bool:
    return isinstance(node, nodes.Const) or _constant(node) is not None


def _all_constant(parts: Iterable[nodes.Expr]) -> bool:
    return all(map(_is_constant, parts))
