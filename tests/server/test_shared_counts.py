"""Counts that several processes keep together."""

from __future__ import annotations

import os

from typecase.server.metrics import UNROUTED, HttpCounts
from typecase.server.shared_counts import SharedCounts

CHAT = "/v1/chat/completions/render"


def in_another_process(counts: SharedCounts, place: int, times: int) -> None:
    pid = os.fork()
    if not pid:
        try:
            counts.claim(place)
            for _ in range(times):
                counts.count(CHAT, "POST", 200, bytes_in=2, bytes_out=3, seconds=0.25)
            counts.publish([7.0, 1.0])
        finally:
            os._exit(0)
    assert os.waitpid(pid, 0)[1] == 0


def test_the_sum_is_that_of_one_process() -> None:
    shared, one = SharedCounts(2), HttpCounts()
    for place in range(2):
        shared.claim(place)
        for status, seconds in ((200, 0.004), (200, 0.3), (404, 2.0), (503, 100.0)):
            for counts in (shared, one):
                counts.count(CHAT, "POST", status, bytes_in=10, bytes_out=20, seconds=seconds)
    total = shared.total()
    assert total.fine == one.fine
    assert total.series.keys() == one.series.keys()
    for key, series in one.series.items():
        summed = total.series[key]
        assert (summed.count, summed.bytes_in, summed.bytes_out) == (series.count, series.bytes_in, series.bytes_out)
        assert (summed.seconds, summed.coarse) == (series.seconds, series.coarse)


def test_a_successor_goes_on() -> None:
    counts = SharedCounts(2)
    in_another_process(counts, 0, 3)
    in_another_process(counts, 1, 4)
    assert counts.total().series[CHAT, "POST", 2].count == 7
    assert (counts.gauge(0), counts.gauge(1)) == (14.0, 2.0)
    assert len(counts.pids) == 3
    used, garbage = counts.processor_seconds, counts.garbage
    counts.vacate(0)
    assert len(counts.pids) == 2
    assert counts.gauge(0) == 7.0, "gauges end with their process, counters don't"
    assert counts.processor_seconds == used
    in_another_process(counts, 0, 5)
    assert counts.total().series[CHAT, "POST", 2].count == 12
    assert counts.total().series[CHAT, "POST", 2].bytes_out == 36
    assert counts.processor_seconds >= used
    assert all(now >= before for now, before in zip(counts.garbage, garbage, strict=True))


def test_there_is_room_for_any_number_of_handlers() -> None:
    counts = SharedCounts(1)
    counts.claim(0)
    for slashes in range(1, 3000):
        counts.count("/docs" + "/" * slashes, "GET", 307, bytes_in=0, bytes_out=0, seconds=0.0)
    for number in range(400):
        counts.count(UNROUTED, f"METHOD-{number}", 404, bytes_in=0, bytes_out=0, seconds=0.0)
    series = counts.total().series
    assert sum(each.count for each in series.values()) == 3399
    assert series[UNROUTED, "GET", 3].count > 2000
    assert len(series) <= 1024


def test_connections() -> None:
    counts = SharedCounts(3)
    counts.claim(0)
    assert counts.fewest_connections() is None
    counts.set_connections(5)
    assert counts.fewest_connections() is None, "its own don't count"
    counts.claim(1)
    counts.set_connections(0)
    assert counts.fewest_connections() == 5
    counts.claim(2)
    assert counts.fewest_connections() == 0
    counts.vacate(1)
    assert counts.fewest_connections() == 5
    counts.claim(0)
    counts.set_connections(None)
    counts.claim(2)
    assert counts.fewest_connections() is None
