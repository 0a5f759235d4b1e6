"""Where a rendering runs: on the event loop, in a thread, or in the lane for those that take long.

A request moves on to the next place when its template runs out of the budget of this one, and is refused when that was
the last. So a template that runs away costs others a few milliseconds on the loop and one second of a thread; the rest
of its time it spends beside other long ones.
"""

from __future__ import annotations

__all__ = ["Renderer"]

import time
from collections.abc import Callable

from typecase.api.errors import TemplateLimit
from typecase.prompt.budget import Budget
from typecase.server.json_values import check_values
from typecase.server.routes.route import Work
from typecase.server.settings import ServerSettings, TemplateBudget
from typecase.server.workers import Job, Workers

# How long a rendering may keep one of the threads that all longer requests share.
SHARED_SECONDS = 1.0
# Requests that wait for a thread, before more are refused with 503.
_MOST_WAITING = 1024


class Renderer:
    """Runs renderings. Made once, used from one event loop."""

    def __init__(self, settings: ServerSettings):
        self._inline_bytes = settings.inline_body_bytes
        self._small = settings.small_budget
        self._full = settings.full_budget
        self._most_values = settings.max_json_nodes
        threads = settings.renderer_num_workers
        self._shared = Workers(threads, name="render", most_waiting=_MOST_WAITING)
        self._long = Workers(threads, name="render-long", most_waiting=_MOST_WAITING)

    @property
    def waiting(self) -> int:
        """Requests that wait for a thread."""
        return self._shared.waiting + self._long.waiting

    def inline(self, work: Work, body: bytes, request_id: str | None) -> bytes | None:
        """The answer's body, rendered here and now; None when that would take, or has taken, too long."""
        # A template of the request's own has to be compiled, too. (Spelled with escapes it still has the small budget.)
        if len(body) > self._inline_bytes or b'"chat_template"' in body:
            return None
        try:
            return work.call(body, request_id=request_id, budget=_budget(self._small))
        except TemplateLimit:
            return None

    async def threaded(self, work: Work, body: bytes, request_id: str | None) -> bytes:
        """The answer's body, rendered in a thread."""

        def within(clock: _Clock) -> Callable[[Job], bytes]:
            def run(job: Job) -> bytes:
                if work.loose:
                    check_values(body, self._most_values)
                return work.call(body, request_id=request_id, budget=_budget(self._full, clock.start(job)))

            return run

        full = _Clock(self._full.seconds)
        if full.seconds is not None and full.seconds <= SHARED_SECONDS:
            return await self._shared.run(within(full))
        shared = _Clock(SHARED_SECONDS)
        try:
            return await self._shared.run(within(shared))
        except TemplateLimit:
            # Out of steps or characters: the full budget is gone. Out of time: only this thread's patience is.
            if not shared.out_of_time:
                raise
        return await self._long.run(within(full))

    def stop(self) -> None:
        """Let the threads end."""
        self._shared.stop()
        self._long.stop()


class _Clock:
    """A deadline that starts with the job, and remembers whether it was what stopped it."""

    def __init__(self, seconds: float | None):
        self.seconds = seconds
        self.out_of_time = False

    def start(self, job: Job) -> Callable[[], bool]:
        """What the budget asks at every step: is it over? It is, too, when nobody waits for the answer any more."""
        if self.seconds is None:
            return lambda: job.abandoned
        until = time.monotonic() + self.seconds

        def over() -> bool:
            if time.monotonic() > until:
                self.out_of_time = True
            return self.out_of_time or job.abandoned

        return over


def _budget(limits: TemplateBudget, over: Callable[[], bool] | None = None) -> Budget:
    return Budget(limits.steps, limits.characters, over)
