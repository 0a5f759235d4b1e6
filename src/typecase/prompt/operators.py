"""The operators of template expressions, within a budget.

Contract: generated template code (compiler.py) calls these instead of Python's operators where the operands are not
known to be small. Each gives exactly what the Python operator gives, raises what it raises, and charges the budget: for
growth that operands don't bound (``*``, ``**``, ``%``, joining many parts) before it happens, for the rest after it.

Two rules keep single operations small, so that a check between them is enough:

- text longer than ``SMALL`` is charged whenever it is made;
- a value that a template builds out of others may weigh no more than the budget's ceiling, so printing, comparing,
  hashing or dumping anything is bounded. Values from the request are trees and weigh what the request weighs.
"""

from __future__ import annotations

import weakref
from collections.abc import ItemsView, Iterable, Iterator, KeysView, ValuesView
from itertools import islice
from sys import getrefcount
from types import GeneratorType
from typing import TYPE_CHECKING, Any

from jinja2.runtime import Context, Undefined
from markupsafe import Markup

from typecase.api.errors import TemplateLimit
from typecase.prompt.formatting import percent_length
from typecase.prompt.weight import weigh

if TYPE_CHECKING:
    from typecase.prompt.budget import Budget

__all__ = ["CHUNK", "SCALARS", "SMALL", "Operators", "RenderContext"]

#: text up to this length is free: what keeps it alive is charged
SMALL = 512

#: pieces of text, or items, that are collected between two looks at the budget
CHUNK = 512

#: types that cost nothing to compare or copy (int is looked at: it may be huge)
SCALARS = frozenset({type(None), bool, float, Undefined})

_ELEMENT_WORK = 256  # looking at an element takes as long as this many characters
_ELEMENT = 8  # characters charged for a place in a list
_CONTAINER = 64
_HUGE_BITS = 1 << 10  # integers below are as good as constants
_DIGIT_BITS = 30
_SMALL_INT = 1 << 62
_SUMS_KEPT = 64  # lists whose weight is remembered; they stay alive for it
_MAX_LAZY = 100  # generators reading from generators: freeing a very long chain overflows the C stack


# A loop has a length, too, but asking for it may run the loop's iterator: so not everything that is Sized.
_COLLECTIONS = (list, tuple, dict, set, frozenset, str, bytes, bytearray, range, KeysView, ValuesView, ItemsView)


class Operators:
    """Bounded operators over one budget. One per rendering."""

    __slots__ = ("_lazy", "_sums", "budget")

    def __init__(self, budget: Budget):
        self.budget = budget
        self._sums: dict[int, tuple[Any, int]] = {}
        self._lazy: weakref.WeakKeyDictionary[Any, int] | None = None  # made when it is needed, which is rare

    # Text ------------------------------------------------------------------------------------------------------------

    def text(self, value: Any) -> str:
        """``str(value)``, as output writes it."""
        kind = type(value)
        if kind is str:
            return value  # type: ignore[no-any-return]
        if kind in SCALARS:
            return str(value)
        text = str(value)
        if len(text) >= SMALL:
            self.budget.grow(len(text))
        return text

    def made_text(self, value: Any) -> str:
        """``str(value)`` of a text just made and not charged yet."""
        return self.text(self.grown(value))

    def joined(self, parts: tuple[Any, ...]) -> str:
        """``a ~ b ~ ...``"""
        size = 0
        for part in parts:
            if type(part) is not str:
                return self.concat([self.text(part) for part in parts])
            size += len(part)
        if size >= SMALL:
            self.budget.grow(size)
        return "".join(parts)

    def concat(self, pieces: list[str]) -> str:
        """The pieces of a macro, a block or a whole template."""
        try:
            size = sum(map(len, pieces))
        except TypeError:
            return "".join(pieces)  # says which piece is no text
        if size >= SMALL:
            self.budget.grow(size)
        return "".join(pieces)

    def collect(self, pieces: Iterator[str]) -> str:
        """The pieces of a template or block, charged while they come."""
        chunk = list(islice(pieces, CHUNK))
        if len(chunk) < CHUNK:
            return self.concat(chunk)
        chunks = []
        while chunk:
            chunks.append(self.concat(chunk))
            chunk = list(islice(pieces, CHUNK))
        return self.concat(chunks)

    def flush(self, buffer: list[str], done: int) -> int:
        """Join the pieces of a long buffer from ``done`` on, so that they are charged; gives the new ``done``."""
        buffer[done:] = [self.concat(buffer[done:])]
        return done + 1

    def replacing(self, old: Any, new: Any) -> Any:
        """``new`` takes the place of ``old`` in the only variable that holds it: give back what ``old`` was charged.

        Templates that collect their output in a namespace would otherwise pay for it again with every piece.
        """
        if type(old) is str and len(old) >= SMALL and getrefcount(old) <= _ONE_HOLDER:
            self.budget.characters += len(old)
        return new

    # Values ----------------------------------------------------------------------------------------------------------

    def grown(self, value: Any) -> Any:
        """Charge for a value that is no larger than what it was made of: a slice, a copy, a part."""
        kind = type(value)
        if kind is str or kind is Markup or kind is bytes:
            if len(value) >= SMALL:
                self.budget.grow(len(value))
        elif kind is list or kind is tuple:
            self.budget.grow(_CONTAINER + _ELEMENT * len(value))
        elif kind is int:
            if value.bit_length() > _HUGE_BITS:
                self.budget.grow(value.bit_length() >> 3)
        elif isinstance(value, dict | set | frozenset | bytearray):
            self.budget.grow(_CONTAINER + _ELEMENT * len(value))
        return value

    def made(self, value: Any) -> Any:
        """Charge for a container, with all it holds: it may hold a value more than once, or keep text alive."""
        if self.budget.bounded:
            self.budget.grow(_CONTAINER + _ELEMENT * (len(value) if isinstance(value, _COLLECTIONS) else 1))
            self.budget.grow(self.weight(value))
        return value

    def weight(self, value: Any) -> int:
        """The weight of a value; raises for one above the ceiling."""
        known = self._sums.get(id(value))
        if known is not None:
            return known[1]
        weight, elements = weigh(value, self.budget.ceiling)
        self._bound(weight)
        self.budget.work(elements * _ELEMENT_WORK)
        return weight

    def weighed(self, value: Any) -> Any:
        """Charge for going through a value, as comparing and hashing do."""
        kind = type(value)
        if kind is str:
            if len(value) >= SMALL:
                self.budget.work(len(value))
        elif kind is int:
            if value.bit_length() > _HUGE_BITS:
                self.budget.work(value.bit_length())
        elif kind not in SCALARS and self.budget.bounded:
            self.weight(value)
        return value

    def required(self, parts: tuple[Any, ...]) -> tuple[Any, ...]:
        """Raise unless all parts fit together in what is left."""
        self.budget.require(sum(self.size(part) for part in parts))
        return parts

    def size(self, value: Any) -> int:
        """About the characters of ``str(value)``."""
        if isinstance(value, str | bytes):
            return len(value)
        if type(value) in SCALARS or not self.budget.bounded:
            return 1
        return self.weight(value)

    def _bound(self, weight: int) -> None:
        if weight > self.budget.ceiling:
            self.budget.require(max(weight, self.budget.characters + 1))

    # Iteration -------------------------------------------------------------------------------------------------------

    def counted(self, iterable: Iterable[Any]) -> Iterator[Any]:
        """The same items, a step for each."""
        budget = self.budget
        for item in iterable:
            budget.fuel -= 1
            if budget.fuel < 0:
                budget.refuel()
            yield item

    def lazy(self, source: Any, iterable: Iterable[Any]) -> Iterator[Any]:
        """``counted``, for a filter that reads ``source`` while it is read itself."""
        result = self.counted(iterable)
        if isinstance(source, GeneratorType):
            if self._lazy is None:
                self._lazy = weakref.WeakKeyDictionary()
            depth = self._lazy.get(source, 1) + 1
            if depth > _MAX_LAZY:
                raise TemplateLimit("The chat template chains too many filters.")
            self._lazy[result] = depth
        return result

    def each_weighed(self, iterable: Iterable[Any]) -> Iterator[Any]:
        """The same items, each charged as if it were compared."""
        return map(self.weighed, self.counted(iterable))

    def listed(self, iterable: Iterable[Any]) -> list[Any]:
        """``list(iterable)``"""
        if isinstance(iterable, _COLLECTIONS):
            self.budget.grow(_CONTAINER + _ELEMENT * len(iterable))
            return list(iterable)
        items: list[Any] = []
        counted = self.counted(iterable)
        while chunk := list(islice(counted, CHUNK)):
            items += self.made(chunk)
        return items

    # Comparison ------------------------------------------------------------------------------------------------------

    def contains(self, item: Any, container: Any) -> bool:
        """``item in container``"""
        self.searched(item, container)
        return item in container

    def searched(self, item: Any, container: Any) -> None:
        """Charge for ``item in container``."""
        kind = type(container)
        if kind is str:
            if len(container) >= SMALL:
                self.budget.work(len(container))
        elif kind is dict:
            if type(item) is not str:
                self.weighed(item)
        elif kind not in SCALARS and self.budget.bounded:
            if type(item) is str and len(item) < SMALL and (kind is list or kind is tuple):
                self.budget.work(len(container) << 4)
            else:
                # each element is compared with the item, but no comparison reads more than the element
                self.budget.work(self.weight(container) + self.size(item))

    # Arithmetic ------------------------------------------------------------------------------------------------------

    def added(self, text: Any) -> Any:
        """Charge for ``a + b``, already made, where one of them is text."""
        return self.grown(text)

    def add(self, left: Any, right: Any) -> Any:
        result = left + right
        kind = type(result)
        if kind is int or kind is float:
            if kind is int and not -_SMALL_INT < result < _SMALL_INT:
                self.grown(result)
            return result
        if kind is str:
            if len(result) >= SMALL:
                self.budget.grow(len(result))
            return result
        if kind is list or kind is tuple:
            self._add_lists(left, right, result)
            return result
        return self.grown(result)

    def _add_lists(self, left: Any, right: Any, result: Any) -> None:
        """A list's weight is the sum of both. It is remembered: templates build lists by adding one item a round."""
        self.grown(result)
        if not self.budget.bounded:
            return
        if len(right) == 0:
            return
        weight = self.weight(left) + self.weight(right)
        self._bound(weight)
        if len(result) > 16:
            self._sums.pop(id(left), None)
            self._sums[id(result)] = (result, weight)
            if len(self._sums) > _SUMS_KEPT:
                del self._sums[next(iter(self._sums))]

    def sub(self, left: Any, right: Any) -> Any:
        result = left - right
        if type(result) is int and -_SMALL_INT < result < _SMALL_INT:
            return result
        return self.grown(result)

    def mul(self, left: Any, right: Any) -> Any:
        if type(left) is int and type(right) is int:
            self._multiply(left.bit_length(), right.bit_length())
            return left * right
        for sequence, count in ((left, right), (right, left)):
            if isinstance(sequence, str | bytes | list | tuple) and isinstance(count, int):
                if isinstance(sequence, str | bytes):
                    self.budget.grow(len(sequence) * max(count, 0))
                    return left * right
                self.budget.grow(_CONTAINER + _ELEMENT * len(sequence) * max(count, 0))
                if self.budget.bounded:
                    self._bound(self.weight(sequence) * max(count, 0))
                return left * right
        return self.grown(left * right)

    def div(self, left: Any, right: Any) -> Any:
        self.divided(left, right)
        return left / right

    def floordiv(self, left: Any, right: Any) -> Any:
        self.divided(left, right)
        return left // right

    def mod(self, left: Any, right: Any) -> Any:
        if isinstance(left, str | bytes):
            return self.formatted(left, right)
        self.divided(left, right)
        return left % right

    def formatted(self, template: Any, arguments: Any) -> Any:
        """``template % arguments``"""
        budget = self.budget
        if budget.bounded:
            budget.require(percent_length(template, arguments, budget.characters))
        return self.grown(template % arguments)

    def pow(self, left: Any, right: Any) -> Any:
        if isinstance(left, int) and isinstance(right, int):
            self.raised(left, right)
        return left**right

    def raised(self, base: int, exponent: int) -> None:
        """Charge for ``base ** exponent`` (``9 ** 9 ** 9``): the last squaring costs as much as all before it."""
        if exponent > 0 and abs(base) > 1:
            bits = base.bit_length() * exponent
            self._multiply(bits >> 1, bits >> 1)

    def neg(self, value: Any) -> Any:
        return self.grown(-value)

    def pos(self, value: Any) -> Any:
        return self.grown(+value)

    def divided(self, left: Any, right: Any) -> None:
        """Charge for dividing."""
        if type(left) is int and type(right) is int and left.bit_length() > _HUGE_BITS:
            self._multiply(left.bit_length(), right.bit_length())

    def _multiply(self, left_bits: int, right_bits: int) -> None:
        bits = left_bits + right_bits
        if bits > _HUGE_BITS:
            self.budget.grow(bits >> 3)
            self.budget.work((left_bits // _DIGIT_BITS) * (right_bits // _DIGIT_BITS))

    def sum(self, items: list[Any], start: Any) -> Any:
        """``sum(items, start)``"""
        if isinstance(start, str | bytes | bytearray) or all(type(item) in (int, float, bool) for item in items):
            return sum(items, start)
        total = start
        for item in items:
            total = self.add(total, item)
        return total


def _references(old: Any, new: Any) -> int:
    return getrefcount(old)


def _count_one_holder() -> int:
    """What `getrefcount` says of a text with one holder, seen from a function that gets it as `replacing` does."""
    holder = {"text": "".join(map(str, range(9)))}
    return _references(holder.get("text"), "")


_ONE_HOLDER = _count_one_holder()


class RenderContext(Context):
    """jinja2's context, which also carries the operators of this rendering."""

    ops: Operators

    def derived(self, locals: dict[str, Any] | None = None) -> RenderContext:
        context = super().derived(locals)
        assert isinstance(context, RenderContext)
        context.ops = self.ops
        return context
