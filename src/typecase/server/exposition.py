"""The counts as Prometheus text.

Names, labels and buckets are those that vLLM's server shows for HTTP, so that its dashboards work; our own names start
with ``typecase_``. Imported at the first scrape: prometheus-client takes longer to load than the rest of the server.
"""

from __future__ import annotations

__all__ = ["make_registry"]

from collections.abc import Callable, Iterable, Sequence

from prometheus_client import CollectorRegistry, GCCollector, PlatformCollector, ProcessCollector
from prometheus_client.metrics_core import (
    CounterMetricFamily,
    GaugeMetricFamily,
    HistogramMetricFamily,
    Metric,
    SummaryMetricFamily,
)
from prometheus_client.registry import Collector

from typecase.server.metrics import COARSE, FINE, Counts, Gauge, Series


class _HttpCollector(Collector):
    def __init__(self, counts: Counts, gauges: Sequence[Gauge], version: str):
        self._source = counts
        self._counts = counts.total()
        self._gauges = gauges
        self._version = version

    def collect(self) -> Iterable[Metric]:
        self._counts = self._source.total()
        yield self._requests()
        yield self._sizes(
            "http_request_size_bytes", "Length of request bodies by handler.", lambda series: series.bytes_in
        )
        yield self._sizes(
            "http_response_size_bytes", "Length of response bodies by handler.", lambda series: series.bytes_out
        )
        yield self._fine_durations()
        yield self._coarse_durations()
        info = GaugeMetricFamily("typecase_info", "Version of this server.", labels=["version"])
        info.add_metric([self._version], 1)
        yield info
        for gauge in self._gauges:
            yield GaugeMetricFamily(gauge.name, gauge.meaning, value=gauge.read())

    def _requests(self) -> Metric:
        family = CounterMetricFamily(
            "http_requests",
            "Total number of requests by method, status and handler.",
            labels=["handler", "method", "status"],
        )
        for (handler, method, hundreds), series in self._counts.series.items():
            family.add_metric([handler, method, f"{hundreds}xx"], series.count, created=series.created)
        return family

    def _sizes(self, name: str, meaning: str, size: Callable[[Series], int]) -> Metric:
        sums: dict[str, tuple[int, int, float]] = {}
        for (handler, _, _), series in self._counts.series.items():
            count, total, created = sums.get(handler, (0, 0, series.created))
            sums[handler] = (count + series.count, total + size(series), min(created, series.created))
        family = SummaryMetricFamily(name, meaning, labels=["handler"])
        for handler, (count, total, created) in sums.items():
            family.add_metric([handler], count, total)
            family.add_sample(f"{name}_created", {"handler": handler}, created)
        return family

    def _fine_durations(self) -> Metric:
        name = "http_request_duration_highr_seconds"
        family = HistogramMetricFamily(name, "Latency in many buckets, of all handlers together.")
        seconds = sum(series.seconds for series in self._counts.series.values())
        family.add_metric([], _buckets(FINE, self._counts.fine), seconds)
        family.add_sample(f"{name}_created", {}, self._counts.created)
        return family

    def _coarse_durations(self) -> Metric:
        name = "http_request_duration_seconds"
        sums: dict[tuple[str, str], tuple[list[int], float, float]] = {}
        for (handler, method, _), series in self._counts.series.items():
            counts, seconds, created = sums.get((handler, method), ([0] * len(series.coarse), 0.0, series.created))
            added = [a + b for a, b in zip(counts, series.coarse, strict=True)]
            sums[handler, method] = (added, seconds + series.seconds, min(created, series.created))
        family = HistogramMetricFamily(name, "Latency in few buckets, by handler.", labels=["handler", "method"])
        for (handler, method), (counts, seconds, created) in sums.items():
            family.add_metric([handler, method], _buckets(COARSE, counts), seconds)
            family.add_sample(f"{name}_created", {"handler": handler, "method": method}, created)
        return family


def _buckets(bounds: tuple[float, ...], counts: list[int]) -> list[tuple[str, float]]:
    """Prometheus buckets are cumulative."""
    total, buckets = 0, []
    for bound, count in zip([*map(str, bounds), "+Inf"], counts, strict=True):
        total += count
        buckets.append((bound, float(total)))
    return buckets


def make_registry(
    counts: Counts, gauges: Sequence[Gauge], *, version: str, own: Sequence[Collector] | None = None
) -> CollectorRegistry:
    """A registry of our own, with what every Python server shows of itself: nothing global is touched.

    ``own`` stands for the collectors that look at this process, where it is one of several.
    """
    registry = CollectorRegistry(auto_describe=True)  # so that ?name[]= can choose
    if own is None:
        GCCollector(registry)
    PlatformCollector(registry)
    if own is None:
        ProcessCollector(registry=registry)
    for collector in own or ():
        registry.register(collector)
    registry.register(_HttpCollector(counts, gauges, version))
    return registry
