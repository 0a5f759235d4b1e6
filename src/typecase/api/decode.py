"""Bodies into requests: the fast way, and for what that refuses the lenient way, which also says what is wrong.

JSON is read by msgspec, or when it can't (a byte order mark, NaN, lone surrogates, floats beyond range) by the standard
library, whose positions and leniency are vLLM's. Then come the request's own checks of the whole body, then its fields:
in one stroke with msgspec, or one by one with ``typecase.api.reading``.
"""

from __future__ import annotations

__all__ = ["Readable", "decode_request", "parse_json"]

import json
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from typing import Any, ClassVar, Protocol, TypeVar

import msgspec

from typecase.api.errors import BodyError, JsonError, RequestError, UnreadableBody
from typecase.api.faults import body_error, shown
from typecase.api.limits import DEFAULT_LIMITS, Limits
from typecase.api.reading import REFUSED, Reader, Reading, reader_for

_json = msgspec.json.Decoder()


class Readable(Protocol):
    """A request type: a msgspec struct whose annotations describe its fields, with two checks they can't express."""

    __struct_fields__: ClassVar[tuple[str, ...]]

    @classmethod
    def check_body(cls, body: dict[str, Any]) -> dict[str, Any]:
        """Check a body before its fields are read; may change it or return another."""

    def is_final(self, limits: Limits) -> bool:
        """Whether an instance read by msgspec can stand. If not, the body is read again field by field."""


Request = TypeVar("Request", bound=Readable)


def decode_request(
    cls: type[Request], body: bytes | bytearray | memoryview | Mapping[str, Any], *, limits: Limits = DEFAULT_LIMITS
) -> Request:
    """Read a request from a JSON body or a mapping of JSON values, which is left as it is.

    Raises:
        JsonError: the body is no JSON.
        BodyError: a field is missing or has a wrong type; the message lists all of them.
        RequestError: the request breaks one of vLLM's own rules.
    """
    raw = as_object(body)
    raw = cls.check_body(raw)
    request = read_fast(cls, raw, limits)
    return request if request is not None else read_slowly(cls, raw, limits)


def parse_json(body: bytes | bytearray | memoryview) -> Any:
    """The value of a JSON body. All that Python's ``json`` takes: byte order marks, NaN, lone surrogates, UTF-16."""
    try:
        return _json.decode(body)
    except (msgspec.MsgspecError, RecursionError):
        pass
    try:
        return json.loads(bytes(body))
    except json.JSONDecodeError as e:
        raise JsonError(f"The body is no JSON: {e.msg} at character {e.pos}", param=f"body.{e.pos}") from None
    except RecursionError:
        raise JsonError("The body is nested too deeply to be read", param="body") from None
    except ValueError:  # no UTF-8 nor UTF-16 or -32, or an integer of more than 4300 digits
        raise UnreadableBody from None


def as_object(body: bytes | bytearray | memoryview | Mapping[str, Any]) -> dict[str, Any]:
    """The body's object, in a dict that may be changed. Raises ``BodyError`` for anything else."""
    if isinstance(body, Mapping):
        return dict(body)
    raw = parse_json(body) if len(body) else None
    if raw is None:
        raise BodyError("1 validation error:\n  body: is missing; send a JSON object", param="body")
    if type(raw) is not dict:
        raise BodyError(f"1 validation error:\n  body: expected an object, got {shown(raw)}", param="body")
    return raw


@dataclass(frozen=True, slots=True)
class _Plan:
    """How a struct's fields are read: those with a reader of their own apart, the rest by msgspec in one go."""

    apart: tuple[tuple[str, Reader], ...]
    required: tuple[str, ...]
    whole: Reader


@cache
def _plan(cls: Any) -> _Plan:
    apart, required = [], []
    for field in msgspec.structs.fields(cls):
        reader = _own_reader(field.type)
        if reader is not None:
            apart.append((field.encode_name, reader))
            if field.required:
                required.append(field.encode_name)
    return _Plan(tuple(apart), tuple(required), reader_for(cls))


def _own_reader(annotation: Any) -> Reader | None:
    for meta in getattr(annotation, "__metadata__", ()):
        extra = meta.extra or {}
        if "fast" in extra:
            fast = extra["fast"]
            return lambda value, _loc, _reading: fast(value)
        if "reader" in extra:
            reader: Reader = extra["reader"]
            return reader
    return None


def read_fast(cls: type[Request], raw: dict[str, Any], limits: Limits) -> Request | None:
    """The request, or None if some field isn't exactly of its type."""
    plan = _plan(cls)
    reading = Reading(limits)
    taken: dict[str, Any] = {}
    for name, reader in plan.apart:
        if name in raw:
            meant = reader(raw[name], (), reading)
            if meant is REFUSED or reading.later:
                return None
            taken[name] = meant
        elif name in plan.required:
            return None
    rest = raw
    if taken:
        rest = raw.copy()
        for name in taken:
            del rest[name]
        for name in plan.required:
            rest[name] = _PLACEHOLDER
    try:
        request: Request = msgspec.convert(rest, cls)
    except (msgspec.ValidationError, RequestError, RecursionError, UnicodeEncodeError):
        # Of several faults, the slow reader knows which is told; lone surrogates are beyond msgspec.
        return None
    for name, meant in taken.items():
        setattr(request, name, meant)
    return request if request.is_final(limits) else None


# Stands for required fields that are read apart while msgspec reads the rest; all of them are lists.
_PLACEHOLDER: list[Any] = []


def read_slowly(cls: type[Request], raw: dict[str, Any], limits: Limits) -> Request:
    """The request, field by field. Raises ``BodyError`` with all faults."""
    reading = Reading(limits)
    request = _plan(cls).whole(raw, (), reading)
    if reading.problems:
        raise body_error(reading.problems)
    if reading.later:
        raise reading.later[0]
    done: Request = request
    return done
