"""Token ids at the border: flat ``array("I")`` inside, JSON lists outside.

msgspec writes a buffer as base64, so an array must never reach an encoder: what writes ids calls ``ids_to_list``.
"""

from __future__ import annotations

__all__ = ["TokenIds", "ids_from_list", "ids_to_list"]

from array import array
from collections.abc import Iterable
from typing import TYPE_CHECKING, TypeAlias

if TYPE_CHECKING:
    TokenIds: TypeAlias = array[int]
else:
    TokenIds = array  # which takes no parameter when msgspec reads the annotations of a struct


def ids_from_list(ids: Iterable[int]) -> array[int]:
    """A list of ids as the flat array that the core works on.

    >>> ids_from_list([1, 2, 4294967295])
    array('I', [1, 2, 4294967295])

    Raises ``OverflowError`` for an id that no vocabulary has (negative, or 2**32 and more).
    """
    return array("I", ids)


def ids_to_list(ids: array[int]) -> list[int]:
    """Ids as JSON can carry them."""
    return ids.tolist()
