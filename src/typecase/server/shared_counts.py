"""The counts of several processes in one piece of memory, so that any of them can show the sum.

Every worker has a place of its own in an anonymous shared mapping and is the only one that writes there; whoever is
asked adds all places up. Each number is one aligned word, so a reader needs no lock. A worker that takes over a place
goes on from what its predecessor counted: nothing is lost when a process dies, and no counter goes backwards.

Besides requests a place holds what the worker publishes of itself once a second, and when it is asked: gauges, which
vanish with the process, and the counters of the garbage collector and of processor time.
"""

from __future__ import annotations

__all__ = ["SharedCounts"]

import gc
import mmap
import os
import time
from bisect import bisect_left
from collections.abc import Iterator, Sequence

from typecase.server.metrics import COARSE, FINE, UNROUTED, HttpCounts, Series

_WORD = 8
# A place, in words. Gauges and garbage counters are as many as fit their stretch.
_PID, _USED, _PROCESSOR, _CONNECTIONS, _GAUGES, _GARBAGE, _FINE = 0, 1, 2, 3, 4, 11, 20
_TAKES_NONE = -1
_SERIES = _FINE + len(FINE) + 1
# A series, in words: its key as text, padded with zeros, then its numbers.
_KEY = 24
_CREATED, _COUNT, _IN, _OUT, _SECONDS, _COARSE = range(_KEY, _KEY + 6)
_STEP = _COARSE + len(COARSE) + 1
# Requests to paths that redirect are counted under whatever the client wrote, so there may be any number of series;
# those for which there is no room are counted as unrouted, of which there can't be as many as are kept for them.
_MOST = 1024
_KEPT_FOR_UNROUTED = 256
_PLACE = _SERIES + _MOST * _STEP

_Key = tuple[str, str, int]


class SharedCounts:
    """Made before the fork, with one place per worker and one for the parent; ``claim`` chooses which to write to."""

    def __init__(self, workers: int):
        self._memory = mmap.mmap(-1, (workers + 1) * _PLACE * _WORD)
        everything = memoryview(self._memory)
        self._bytes = everything
        self._whole = everything.cast("q")
        self._real = everything.cast("d")
        self._places = [number * _PLACE for number in range(workers + 1)]
        for place in self._places:
            self._whole[place + _CONNECTIONS] = _TAKES_NONE
        self.created = time.time()
        self.claim(workers)
        # The parent's own are those since its start.
        self._processor_before = 0.0
        self._garbage_before[:] = [0] * (_FINE - _GARBAGE)

    def claim(self, number: int) -> None:
        """Write to this place from now on. Called first thing in a new process."""
        self._at = self._places[number]
        self._fine = self._at + _FINE
        self._series: dict[_Key, int] = dict(self._written(self._at))
        self._processor_before = self._real[self._at + _PROCESSOR] - time.process_time()
        garbage = self._garbage(self._at)
        self._garbage_before: list[int] = [kept - now for kept, now in zip(garbage, _garbage_now(), strict=True)]
        self._whole[self._at + _PID] = os.getpid()

    def vacate(self, number: int) -> None:
        """The process that wrote to this place has ended."""
        at = self._places[number]
        self._whole[at + _PID] = 0
        self._whole[at + _CONNECTIONS] = _TAKES_NONE
        for word in range(at + _GAUGES, at + _GARBAGE):
            self._real[word] = 0.0

    def count(self, handler: str, method: str, status: int, *, bytes_in: int, bytes_out: int, seconds: float) -> None:
        """Count one answered request. ``handler`` is the route's path, or ``none``."""
        key = (handler, method, status // 100)
        at = self._series.get(key)
        if at is None:
            at = self._place_for(key)
        whole = self._whole
        whole[at + _COUNT] += 1
        whole[at + _IN] += bytes_in
        whole[at + _OUT] += bytes_out
        self._real[at + _SECONDS] += seconds
        whole[at + _COARSE + bisect_left(COARSE, seconds)] += 1
        whole[self._fine + bisect_left(FINE, seconds)] += 1

    def publish(self, gauges: Sequence[float]) -> None:
        """Show the others how this process is doing."""
        for number, value in enumerate(gauges):
            self._real[self._at + _GAUGES + number] = value
        self._real[self._at + _PROCESSOR] = self._processor_before + time.process_time()
        for number, (before, now) in enumerate(zip(self._garbage_before, _garbage_now(), strict=True)):
            self._whole[self._at + _GARBAGE + number] = before + now

    # How connections are shared out (``accepting.py``)

    def set_connections(self, count: int | None) -> None:
        """This process has ``count`` connections; None: it takes none."""
        self._whole[self._at + _CONNECTIONS] = _TAKES_NONE if count is None else count

    def fewest_connections(self) -> int | None:
        """Of any other process that takes connections."""
        counts = (self._whole[place + _CONNECTIONS] for place in self._places if place != self._at)
        return min((count for count in counts if count != _TAKES_NONE), default=None)

    # What all of them have counted

    def total(self) -> HttpCounts:
        """All requests, of all processes."""
        total = HttpCounts()
        total.created = self.created
        for place in self._places:
            for key, at in self._written(place):
                self._add(total, key, at)
            fine = self._whole[place + _FINE : place + _SERIES]
            total.fine = [a + b for a, b in zip(total.fine, fine, strict=True)]
        return total

    def gauge(self, number: int) -> float:
        """The sum of a published gauge."""
        return sum(self._real[place + _GAUGES + number] for place in self._places)

    @property
    def pids(self) -> list[int]:
        """The processes that are running."""
        return [pid for place in self._places if (pid := self._whole[place + _PID])]

    @property
    def processor_seconds(self) -> float:
        """Processor time of all processes, those that have ended included."""
        return sum(self._real[place + _PROCESSOR] for place in self._places)

    @property
    def garbage(self) -> list[int]:
        """``gc.get_stats()``, added up: collections, collected and uncollectable of each generation in turn."""
        return [sum(numbers) for numbers in zip(*map(self._garbage, self._places), strict=True)]

    def _garbage(self, place: int) -> list[int]:
        return list(self._whole[place + _GARBAGE : place + _FINE])

    def _add(self, total: HttpCounts, key: _Key, at: int) -> None:
        created = self._real[at + _CREATED]
        series = total.series.setdefault(key, Series(created))
        series.created = min(series.created, created)
        series.count += self._whole[at + _COUNT]
        series.bytes_in += self._whole[at + _IN]
        series.bytes_out += self._whole[at + _OUT]
        series.seconds += self._real[at + _SECONDS]
        coarse = self._whole[at + _COARSE : at + _STEP]
        series.coarse = [a + b for a, b in zip(series.coarse, coarse, strict=True)]

    # The series of one place

    def _written(self, place: int) -> Iterator[tuple[_Key, int]]:
        """Every series of a place: what it counts, and where."""
        for number in range(self._whole[place + _USED]):
            at = place + _SERIES + number * _STEP
            text = bytes(self._bytes[at * _WORD : (at + _KEY) * _WORD]).rstrip(b"\0").decode()
            handler, method, hundreds = text.split("\n")
            yield (handler, method, int(hundreds)), at

    def _place_for(self, key: _Key) -> int:
        """Where to count what has not been counted before."""
        handler, method, hundreds = key
        text = f"{handler}\n{method}\n{hundreds}".encode("utf-8", "replace")
        used = self._whole[self._at + _USED]
        room = _MOST if handler == UNROUTED else _MOST - _KEPT_FOR_UNROUTED
        if used >= room or len(text) > _KEY * _WORD or text.count(b"\n") > 2:
            unrouted = (UNROUTED, method, hundreds)
            at = self._series.get(unrouted)
            if at is None:
                at = self._place_for(unrouted) if handler != UNROUTED else next(iter(self._series.values()))
            return at
        at = self._at + _SERIES + used * _STEP
        self._bytes[at * _WORD : at * _WORD + len(text)] = text
        self._real[at + _CREATED] = time.time()
        self._whole[self._at + _USED] = used + 1  # last: from here on others see it
        self._series[key] = at
        return at


def _garbage_now() -> list[int]:
    stats = [(each["collections"], each["collected"], each["uncollectable"]) for each in gc.get_stats()]
    numbers = [number for each in stats for number in each]
    return (numbers + [0] * (_FINE - _GARBAGE))[: _FINE - _GARBAGE]
