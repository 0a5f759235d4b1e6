"""``/metrics`` and everything that starts so.

vLLM serves the exact path and the paths behind it in two ways, and so do we: the exact path is plain text always; the
others take ``Accept``, ``Accept-Encoding: gzip`` and ``?name[]=``, and any method.
"""

from __future__ import annotations

__all__ = ["METRICS_PREFIX", "MetricsPages"]

import zlib
from collections.abc import Callable
from functools import cached_property
from typing import TYPE_CHECKING
from urllib.parse import parse_qs

from typecase.server.answers import Answer
from typecase.server.routes.route import Asked, Page, Route

if TYPE_CHECKING:
    from prometheus_client import CollectorRegistry

METRICS_PREFIX = "/metrics"


class MetricsPages:
    """The pages over a registry, which is made at the first scrape. ``prepare`` is called before every one."""

    def __init__(self, make: Callable[[], CollectorRegistry], *, prepare: Callable[[], None] | None = None):
        self._make = make
        self._prepare = prepare

    @cached_property
    def _made(self) -> CollectorRegistry:
        return self._make()

    @property
    def _registry(self) -> CollectorRegistry:
        if self._prepare is not None:
            self._prepare()
        return self._made

    def route(self) -> Route:
        """The exact path."""
        return Route(METRICS_PREFIX, ("GET",), Page(self._exact), "Prometheus metrics")

    def _exact(self, _: Asked) -> Answer:
        from prometheus_client import CONTENT_TYPE_LATEST, generate_latest

        return Answer(200, generate_latest(self._registry), (b"content-type", CONTENT_TYPE_LATEST.encode()))

    def tail(self, asked: Asked) -> Answer:
        """Any other path or method."""
        from prometheus_client.exposition import choose_encoder

        names = parse_qs(asked.scope["query_string"].decode("latin-1")).get("name[]")
        registry = self._registry.restricted_registry(names) if names else self._registry
        try:
            encode, content_type = choose_encoder(asked.headers.get(b"accept", b"").decode("latin-1"))
            body = encode(registry)
        except (TypeError, ValueError):  # a version in Accept that is none
            encode, content_type = choose_encoder("")
            body = encode(registry)
        extra = [(b"content-type", content_type.encode("latin-1"))]
        if b"gzip" in asked.headers.get(b"accept-encoding", b"").lower():
            body = zlib.compress(body, wbits=31)
            extra.append((b"content-encoding", b"gzip"))
        return Answer(200, body, *extra)
