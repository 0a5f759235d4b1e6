"""What a route is: a path, its methods, and one of two kinds of handler.

``Work`` routes take a JSON body and may be long: they render. ``Page`` routes answer at once, from what the server
knows.
"""

from __future__ import annotations

__all__ = ["Asked", "Page", "Resource", "Route", "Work", "resources"]

from collections.abc import Callable, Iterable, Mapping, MutableMapping
from dataclasses import dataclass, field
from typing import Any

from typecase.server.answers import Answer, method_not_allowed
from typecase.server.metrics import is_counted
from typecase.server.served import Rendering


@dataclass(frozen=True, slots=True)
class Asked:
    """A request as a page sees it. ``headers`` has lower-case names; of a repeated header, the first value."""

    scope: MutableMapping[str, Any]
    headers: Mapping[bytes, bytes]
    body: bytes = b""


@dataclass(frozen=True, slots=True)
class Work:
    """A JSON body goes in, JSON comes out.

    ``loose``: there are fields of any shape, whose values must be bounded. ``anthropic``: errors are told in the shape
    of Anthropic's API.
    """

    call: Rendering
    loose: bool = True
    anthropic: bool = False


@dataclass(frozen=True, slots=True)
class Page:
    """``answer(asked)``, at once. ``json_body``: the body is wanted, as JSON by its content type."""

    answer: Callable[[Asked], Answer]
    json_body: bool = False


@dataclass(frozen=True, slots=True)
class Route:
    """``methods`` are what FastAPI would say for this route: HEAD is among them only on the docs pages."""

    path: str
    methods: tuple[str, ...]
    handler: Work | Page
    summary: str
    listed: bool = True  # in /openapi.json


@dataclass(slots=True)
class Resource:
    """All that is known of one path."""

    path: str
    not_allowed: Answer
    counted: bool  # in the metrics
    handlers: dict[str, Work | Page] = field(default_factory=dict)


def resources(routes: Iterable[Route]) -> dict[str, Resource]:
    """The routes by path. A 405 names the methods of the path's first route only, as FastAPI does."""
    by_path: dict[str, Resource] = {}
    for route in routes:
        resource = by_path.get(route.path)
        if resource is None:
            refusal = method_not_allowed(", ".join(route.methods).encode())
            resource = Resource(route.path, refusal, counted=is_counted(route.path))
            by_path[route.path] = resource
        for method in route.methods:
            resource.handlers.setdefault(method, route.handler)
    return by_path
