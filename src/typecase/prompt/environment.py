"""The Jinja environment of chat templates, as transformers sets it up.

Contract: ``ENVIRONMENT`` is one immutable ``Sandbox`` with ``trim_blocks``, ``lstrip_blocks``, loop controls, the
``generation`` tag, ``tojson`` that writes JSON instead of HTML, and the globals ``dict`` and ``namespace``.
``rendering_globals(now)`` gives those that transformers has besides and that belong to one rendering:
``raise_exception`` and ``strftime_now``. They are no globals of the environment because a request's template variables
of that name count as known to the template (vLLM asks for the names that jinja2 does not define).
"""

from __future__ import annotations

import json
from collections.abc import Callable
from datetime import datetime
from typing import Any

from jinja2 import nodes
from jinja2.exceptions import TemplateError
from jinja2.ext import Extension, LoopControlExtension
from jinja2.parser import Parser
from jinja2.utils import generate_lorem_ipsum, pass_context

from typecase.prompt.filters import bounded_filters, bounded_tests
from typecase.prompt.operators import Operators, RenderContext
from typecase.prompt.sandbox import Sandbox, namespace, with_operators
from typecase.prompt.weight import written_size

__all__ = ["ENVIRONMENT", "rendering_globals"]

_LONG_FORMAT = 1024


class GenerationTag(Extension):
    """``{% generation %}...{% endgeneration %}``: marks what the model wrote, for training. The text stays as it is.

    A call block as in transformers, since that makes what is set inside invisible outside.
    """

    tags = {"generation"}  # noqa: RUF012  # jinja2's attribute is a plain set

    def parse(self, parser: Parser) -> nodes.Node:
        line = next(parser.stream).lineno
        body = parser.parse_statements(("name:endgeneration",), drop_needle=True)
        return nodes.CallBlock(self.call_method("unchanged"), [], [], body, lineno=line)

    def unchanged(self, caller: Callable[[], str]) -> str:
        return caller()


class TemplateDict:
    """The global ``dict``. Not the type itself: ``dict.update(message, ...)`` would change the caller's message."""

    def __call__(self, *args: Any, **kwargs: Any) -> dict[Any, Any]:
        return dict(*args, **kwargs)

    def fromkeys(self, *args: Any, **kwargs: Any) -> dict[Any, Any]:
        return dict.fromkeys(*args, **kwargs)


@pass_context
def tojson(
    context: RenderContext,
    x: Any,
    ensure_ascii: bool = False,
    indent: Any = None,
    separators: Any = None,
    sort_keys: bool = False,
) -> str:
    ops = context.ops
    ops.budget.step()
    if ops.budget.bounded and (indent is not None or separators is not None):
        ops.budget.require(written_size(x, indent, separators, ops.budget.characters))
    text = json.dumps(x, ensure_ascii=ensure_ascii, indent=indent, separators=separators, sort_keys=sort_keys)
    ops.budget.grow(len(text))
    return text


@with_operators
def lipsum(ops: Operators, /, *args: Any, **kwargs: Any) -> str:
    """jinja2's filler text, charged before it is made."""
    counts = dict(zip(("n", "html", "min", "max"), (5, True, 20, 100), strict=True))
    counts |= dict(zip(counts, args, strict=False)) | {name: kwargs[name] for name in counts if name in kwargs}
    if isinstance(counts["n"], int) and isinstance(counts["max"], int):
        ops.budget.grow(max(counts["n"], 0) * max(counts["max"], 0) * 12)
    return generate_lorem_ipsum(*args, **kwargs)


def rendering_globals(now: Callable[[], datetime]) -> dict[str, Any]:
    @with_operators
    def strftime_now(ops: Operators, /, format: str) -> str:
        if isinstance(format, str) and len(format) > _LONG_FORMAT:
            ops.budget.require(len(format) * 256)  # the most that the C library is given room for
        return ops.grown(now().strftime(format))  # type: ignore[no-any-return]

    return {"raise_exception": raise_exception, "strftime_now": strftime_now}


def raise_exception(message: Any) -> None:
    raise TemplateError(message)


def _environment() -> Sandbox:
    environment = Sandbox(trim_blocks=True, lstrip_blocks=True, extensions=[GenerationTag, LoopControlExtension])
    environment.filters.update(bounded_filters(environment.filters) | {"tojson": tojson})
    environment.tests.update(bounded_tests(environment.tests))
    environment.globals |= {"dict": TemplateDict(), "lipsum": lipsum, "namespace": namespace}
    return environment


ENVIRONMENT = _environment()
