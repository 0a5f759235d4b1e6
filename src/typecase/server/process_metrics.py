"""What a server of several processes shows of itself: the sums of what one process shows, under the same names.

Imported at the first scrape, as ``exposition.py`` is.
"""

from __future__ import annotations

__all__ = ["process_collectors"]

import os
from collections.abc import Iterable, Mapping
from pathlib import Path

from prometheus_client import ProcessCollector
from prometheus_client.metrics_core import CounterMetricFamily, GaugeMetricFamily, Metric
from prometheus_client.registry import Collector

from typecase.server.shared_counts import SharedCounts

_GARBAGE = (
    ("python_gc_collections", "Number of times this generation was collected"),
    ("python_gc_objects_collected", "Objects collected during gc"),
    ("python_gc_objects_uncollectable", "Uncollectable objects found during GC"),
)


def process_collectors(counts: SharedCounts) -> list[Collector]:
    """Collectors over all processes that write to ``counts``."""
    return [_Garbage(counts), _Processes(counts, parent=os.getppid())]


class _Garbage(Collector):
    def __init__(self, counts: SharedCounts):
        self._counts = counts

    def collect(self) -> Iterable[Metric]:
        numbers = self._counts.garbage
        for at, (name, meaning) in enumerate(_GARBAGE):
            family = CounterMetricFamily(name, meaning, labels=["generation"])
            for generation, value in enumerate(numbers[at :: len(_GARBAGE)]):
                family.add_metric([str(generation)], value)
            yield family


class _Processes(Collector):
    """Memory that processes share counts once. The start is the parent's."""

    def __init__(self, counts: SharedCounts, *, parent: int):
        self._counts = counts
        self._parent = parent

    def collect(self) -> Iterable[Metric]:
        shown = {pid: _shown(pid) for pid in self._counts.pids}
        found = [numbers for numbers in shown.values() if numbers]
        if not found:
            return
        first = shown.get(self._parent) or found[0]

        def total(name: str) -> float:
            return sum(numbers.get(name, 0.0) for numbers in found)

        resident = sum(
            _proportional(pid) or numbers["process_resident_memory_bytes"] for pid, numbers in shown.items() if numbers
        )
        for name, meaning, value in (
            ("process_virtual_memory_bytes", "Virtual memory size in bytes.", total("process_virtual_memory_bytes")),
            ("process_resident_memory_bytes", "Resident memory size in bytes.", resident),
            (
                "process_start_time_seconds",
                "Start time of the process since unix epoch in seconds.",
                first["process_start_time_seconds"],
            ),
            ("process_open_fds", "Number of open file descriptors.", total("process_open_fds")),
            ("process_max_fds", "Maximum number of open file descriptors.", first.get("process_max_fds", 0.0)),
        ):
            yield GaugeMetricFamily(name, meaning, value=value)
        yield CounterMetricFamily(
            "process_cpu_seconds_total",
            "Total user and system CPU time spent in seconds.",
            value=self._counts.processor_seconds,
        )


def _shown(pid: int) -> Mapping[str, float]:
    """What prometheus-client shows of a process; nothing when it is gone."""
    families = ProcessCollector(pid=lambda: pid, registry=None).collect()
    numbers = {sample.name: sample.value for family in families for sample in family.samples}
    return numbers if "process_resident_memory_bytes" in numbers else {}


def _proportional(pid: int) -> float | None:
    """A process's memory, with each page divided by the number of processes that share it."""
    try:
        for line in Path(f"/proc/{pid}/smaps_rollup").read_bytes().splitlines():
            if line.startswith(b"Pss:"):
                return float(line.split()[1]) * 1024
    except (OSError, ValueError):
        pass
    return None
