"""Where in a request a lone surrogate stands: JSON can spell it, UTF-8 and hence tokenizers and answers can't.

Nobody searches beforehand: encoding fails on a surrogate by itself, and only then is the request walked to name the
field.
"""

from __future__ import annotations

__all__ = ["below", "find_surrogate"]

from collections.abc import Callable, Iterable, Mapping
from typing import Any


def below(path: str, key: object) -> str:
    """The path of a member, as vLLM's ``param`` writes paths.

    >>> below("body.messages", 0)
    'body.messages.0'
    """
    return f"{path}.{key}"


def find_surrogate(value: Any, path: str = "body", *, step: Callable[[str, object], str] = below) -> str | None:
    """The path of the first string that UTF-8 can't write, or of the object that has one as a key.

    None if there is none. ``step`` makes the path of a member from that of its object or list.

    >>> find_surrogate({"a": ["x", "\\ud800"]})
    'body.a.1'
    """
    if isinstance(value, str):
        return None if _is_encodable(value) else path
    items: Iterable[tuple[object, Any]] = ()
    if isinstance(value, Mapping):
        if any(isinstance(key, str) and not _is_encodable(key) for key in value):
            return path
        items = value.items()
    elif isinstance(value, list | tuple):
        items = enumerate(value)
    for key, member in items:
        found = find_surrogate(member, step(path, key), step=step)
        if found is not None:
            return found
    return None


def _is_encodable(text: str) -> bool:
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True
