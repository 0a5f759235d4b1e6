"""Threads for work that is too long for the event loop.

A plain queue and a future per job: about half the cost of ``run_in_executor``. Threads are daemons, so that a second
signal stops the server at once whatever they do; an orderly stop waits for the requests, hence for their jobs.
"""

from __future__ import annotations

__all__ = ["Job", "Workers"]

import asyncio
import threading
from collections.abc import Callable
from queue import SimpleQueue

from typecase.server.errors import Busy


class Job:
    """One call on its way. ``abandoned`` is set when nobody waits for the result any more."""

    __slots__ = ("abandoned", "call", "future")

    def __init__(self, call: Callable[[Job], bytes], future: asyncio.Future[bytes]):
        self.call = call
        self.future = future
        self.abandoned = False

    def _finish(self, result: bytes | None, error: BaseException | None) -> None:
        if self.future.done():
            return
        if error is not None:
            self.future.set_exception(error)
        else:
            self.future.set_result(result or b"")


class Workers:
    """``threads`` threads that take jobs in the order they came. Started by the first job."""

    def __init__(self, threads: int, *, name: str, most_waiting: int):
        self._count = threads
        self._name = name
        self._most_waiting = most_waiting
        self._queue: SimpleQueue[tuple[Job, asyncio.AbstractEventLoop] | None] = SimpleQueue()
        self._threads: list[threading.Thread] = []

    @property
    def waiting(self) -> int:
        """Jobs that no thread has taken yet."""
        return self._queue.qsize()

    async def run(self, call: Callable[[Job], bytes]) -> bytes:
        """``call(job)`` on one of the threads. Raises ``Busy`` when too many wait already."""
        if self._queue.qsize() >= self._most_waiting:
            raise Busy("Too many long requests are waiting. Please try again.")
        if not self._threads:
            self._start()
        loop = asyncio.get_running_loop()
        job = Job(call, loop.create_future())
        self._queue.put((job, loop))
        try:
            return await job.future
        finally:
            job.abandoned = True

    def stop(self) -> None:
        """Let the threads end when they have done what waits."""
        for _ in self._threads:
            self._queue.put(None)
        self._threads = []

    def _start(self) -> None:
        for number in range(self._count):
            thread = threading.Thread(target=self._work, name=f"{self._name}-{number}", daemon=True)
            thread.start()
            self._threads.append(thread)

    def _work(self) -> None:
        while (item := self._queue.get()) is not None:
            job, loop = item
            if job.abandoned:
                continue
            result, error = None, None
            try:
                result = job.call(job)
            except BaseException as raised:  # handed to the request that waits for it
                error = raised
            try:
                loop.call_soon_threadsafe(job._finish, result, error)
            except RuntimeError:  # the loop is closed: the server stopped without waiting
                return
