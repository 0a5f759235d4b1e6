"""Counting requests: cheap on the request path, nothing of Prometheus is loaded until somebody asks for the counts.

Which requests count is as on vLLM's server: not those to the health and metrics paths, not those refused for a key,
not preflights. ``exposition.py`` turns the counts into vLLM's metrics.
"""

from __future__ import annotations

__all__ = ["COARSE", "FINE", "UNROUTED", "Counts", "Gauge", "HttpCounts", "Series", "is_counted"]

import re
import time
from bisect import bisect_left
from collections.abc import Callable
from dataclasses import dataclass
from typing import Protocol

_UNCOUNTED = re.compile("/metrics|/health|/load|/ping|/version|/server_info")

# Upper bounds of the duration histograms, in seconds: of all requests together, and by handler.
FINE = (
    0.01, 0.025, 0.05, 0.075, 0.1, 0.25, 0.5, 0.75, 1.0, 1.5, 2.0, 2.5, 3.0, 3.5, 4.0, 4.5, 5.0, 7.5, 10.0, 30.0, 60.0
)  # fmt: skip
COARSE = (0.1, 0.5, 1.0)

UNROUTED = "none"
"""The handler of requests that no route answers."""


def is_counted(path: str) -> bool:
    """Whether requests to ``path`` are counted."""
    return _UNCOUNTED.search(path) is None


@dataclass(frozen=True, slots=True)
class Gauge:
    """A number to read at scrape time."""

    name: str
    meaning: str
    read: Callable[[], float]


class Counts(Protocol):
    """Where requests are counted: here, or in memory that several processes share."""

    def count(
        self, handler: str, method: str, status: int, *, bytes_in: int, bytes_out: int, seconds: float
    ) -> None: ...
    def total(self) -> HttpCounts: ...


class Series:
    """What was counted for one (handler, method, status class)."""

    __slots__ = ("bytes_in", "bytes_out", "coarse", "count", "created", "seconds")

    def __init__(self, created: float):
        self.created = created
        self.count = 0
        self.bytes_in = 0
        self.bytes_out = 0
        self.seconds = 0.0
        self.coarse = [0] * (len(COARSE) + 1)


class HttpCounts:
    """The counts since the start. ``fine`` holds one number per bucket, not cumulated."""

    def __init__(self) -> None:
        self.series: dict[tuple[str, str, int], Series] = {}
        self.fine = [0] * (len(FINE) + 1)
        self.created = time.time()

    def count(self, handler: str, method: str, status: int, *, bytes_in: int, bytes_out: int, seconds: float) -> None:
        """Count one answered request. ``handler`` is the route's path, or ``none``."""
        key = (handler, method, status // 100)
        series = self.series.get(key)
        if series is None:
            series = self.series[key] = Series(time.time())
        series.count += 1
        series.bytes_in += bytes_in
        series.bytes_out += bytes_out
        series.seconds += seconds
        series.coarse[bisect_left(COARSE, seconds)] += 1
        self.fine[bisect_left(FINE, seconds)] += 1

    def total(self) -> HttpCounts:
        """All requests."""
        return self
