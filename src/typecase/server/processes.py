"""Several processes on one listening socket (``--api-server-count``): started, replaced, stopped together.

The parent has loaded everything and serves nothing. It forks the workers, so that what was loaded is in memory once;
it must have no threads by then (``prepare_to_fork``, before loading), nor an event loop. A worker that ends is
replaced; one that ends again at once waits longer each time.

What the processes tell each other goes through two pipes. The workers read one that nobody writes to: it ends when
the parent closes it or dies, and then they stop in order. (A signal would not do: service managers and terminals send
theirs to every process, and the second one means "at once".) On the other a worker says that it takes connections.
"""

from __future__ import annotations

__all__ = ["MOST_PROCESSES", "Processes", "WorkerEnds", "prepare_to_fork"]

import contextlib
import logging
import os
import select
import signal
import struct
import sys
import time
from collections.abc import Callable, Generator
from dataclasses import dataclass, field
from typing import NoReturn

from typecase.server.settings import SettingsError

_log = logging.getLogger("typecase.server")

MOST_PROCESSES = 256

# How long a worker that ended is waited for before the next one starts: doubled each time, up to the longest, until
# one has served for a while.
_FIRST_WAIT = 0.1
_LONGEST_WAIT = 30.0
_SETTLED_SECONDS = 10.0
# Beyond its own time to stop, and after it was told to stop at once.
_OVERTIME_SECONDS = 5.0
_AT_ONCE_SECONDS = 2.0

_STOPS = (signal.SIGINT, signal.SIGTERM)
_PID = struct.Struct("=q")


def prepare_to_fork() -> None:
    """Keep the tokenizer libraries from starting threads, which a fork would not copy. Called before they load."""
    os.environ["FASTOKENS_BPE_THREADS"] = "1"
    os.environ["TOKENIZERS_PARALLELISM"] = "false"


@dataclass(frozen=True, slots=True)
class WorkerEnds:
    """A worker's ends of the pipes. ``stop`` becomes readable when the parent wants it to stop, or is gone."""

    place: int
    stop: int
    ready: int

    def say_ready(self) -> None:
        """Tell the parent that connections are taken."""
        with contextlib.suppress(OSError):  # the parent is gone: then it stops, too
            os.write(self.ready, _PID.pack(os.getpid()))


@dataclass(slots=True)
class _Place:
    """One of the workers, whoever fills its place at the moment."""

    pid: int = 0
    ready_since: float | None = None
    failures: int = 0
    due: float = field(default=0.0)


class Processes:
    """The workers of one server.

    Args:
        count: how many.
        work: what a worker does. It returns when ``stop`` says so; the process ends when it returns.
        close: gives up the parent's hold on the socket, so that nobody is kept waiting there while the workers stop.
        on_end: called when a worker has ended, with its place.
        on_ready: called once, when every worker takes connections.
        stop_seconds: how long requests may hold up a stop; None: as long as they take.
    """

    def __init__(
        self,
        count: int,
        work: Callable[[WorkerEnds], None],
        *,
        close: Callable[[], None],
        on_end: Callable[[int], None],
        on_ready: Callable[[], None],
        stop_seconds: float | None,
    ):
        if not hasattr(os, "fork"):
            raise SettingsError("--api-server-count above 1 needs a system that can fork processes")
        self._work = work
        self._close = close
        self._on_end = on_end
        self._on_ready = on_ready
        self._stop_seconds = stop_seconds
        self._places = [_Place() for _ in range(count)]
        self._signals = 0
        self._answered_signals = 0
        self._stopping = False
        self._all_ready = False
        self._ever_ready = False
        self._failure: str | None = None
        self._kill_at: float | None = None

    def run(self) -> None:
        """Start the workers and look after them until a signal has stopped them all.

        Raises ``SettingsError`` when the first ones end before they have served at all.
        """
        with contextlib.ExitStack() as stack:
            self._stopper = stack.enter_context(contextlib.closing(_Pipe()))
            self._readiness = stack.enter_context(contextlib.closing(_Pipe()))
            self._alarm = stack.enter_context(contextlib.closing(_Pipe()))
            for end in (self._alarm.read, self._alarm.write, self._readiness.read):
                os.set_blocking(end, False)
            stack.enter_context(self._signals_caught())
            try:
                self._look_after()
            except BaseException:
                self._signal_all(signal.SIGKILL)
                raise
        if self._failure is not None:
            raise SettingsError(f"a server process ended at its start ({self._failure}); its words are above")

    def _look_after(self) -> None:
        while True:
            if self._signals > self._answered_signals:
                self._answer_signals()
            if not self._stopping:
                self._start_due()
            elif not any(place.pid for place in self._places):
                return
            elif self._kill_at is not None and time.monotonic() >= self._kill_at:
                self._signal_all(signal.SIGKILL)
                self._kill_at = None
            readable, _, _ = select.select([self._alarm.read, self._readiness.read], [], [], self._patience())
            if self._readiness.read in readable:
                self._note_ready()
            if self._alarm.read in readable:
                with contextlib.suppress(BlockingIOError):
                    os.read(self._alarm.read, 4096)
            self._reap()

    def _patience(self) -> float | None:
        """Seconds until something is to be done without being asked."""
        if self._stopping:
            due = [self._kill_at] if self._kill_at is not None else []
        else:
            due = [place.due for place in self._places if not place.pid]
        return max(0.0, min(due) - time.monotonic()) if due else None

    def _start_due(self) -> None:
        now = time.monotonic()
        for number, place in enumerate(self._places):
            if place.pid or place.due > now:
                continue
            try:
                self._start(number, place)
            except OSError as error:  # no room for another process now
                self._put_off(place, f"can't be started: {error.strerror or error}")

    def _start(self, number: int, place: _Place) -> None:
        sys.stdout.flush()
        sys.stderr.flush()
        # No signal may reach the new process while it still has the parent's handlers.
        before = signal.pthread_sigmask(signal.SIG_BLOCK, {*_STOPS, signal.SIGCHLD, signal.SIGQUIT})
        try:
            pid = os.fork()
            if not pid:
                self._be_worker(number, before)
        finally:
            signal.pthread_sigmask(signal.SIG_SETMASK, before)
        place.pid = pid
        place.ready_since = None

    def _be_worker(self, number: int, mask: set[int] | set[signal.Signals]) -> NoReturn:
        """What the new process does instead of returning."""
        code = 1
        try:
            signal.set_wakeup_fd(-1)
            # Ctrl-C reaches every process of a terminal, and the parent tells its workers what to do.
            signal.signal(signal.SIGINT, signal.SIG_IGN)
            for each in (signal.SIGTERM, signal.SIGCHLD, signal.SIGQUIT):
                signal.signal(each, signal.SIG_DFL)
            for end in (self._alarm.read, self._alarm.write, self._stopper.write, self._readiness.read):
                os.close(end)
            signal.pthread_sigmask(signal.SIG_SETMASK, mask)
            self._work(WorkerEnds(number, self._stopper.read, self._readiness.write))
            code = 0
        except SettingsError as error:
            _log.error("%s", error)
        except BaseException:
            _log.exception("A server process ends")
        finally:
            with contextlib.suppress(Exception):
                sys.stdout.flush()
                sys.stderr.flush()
            os._exit(code)

    def _note_ready(self) -> None:
        with contextlib.suppress(BlockingIOError):
            said = os.read(self._readiness.read, _PID.size * MOST_PROCESSES)
            pids = {pid for (pid,) in _PID.iter_unpack(said)}
            for place in self._places:
                if place.pid in pids:
                    place.ready_since = time.monotonic()
                    self._ever_ready = True
        if not self._all_ready and all(place.ready_since is not None for place in self._places):
            self._all_ready = True
            self._on_ready()

    def _reap(self) -> None:
        for number, place in enumerate(self._places):
            if not place.pid:
                continue
            try:
                pid, status = os.waitpid(place.pid, os.WNOHANG)
            except ChildProcessError:  # somebody else asked for it
                pid, status = place.pid, 0
            if not pid:
                continue
            place.pid = 0
            self._on_end(number)
            if self._stopping:
                continue
            self._put_off(place, f"(process {pid}) ended: {_ending(status)}")
            if not self._ever_ready:
                self._failure = _ending(status)
                self._stop()

    def _put_off(self, place: _Place, what: str) -> None:
        served = place.ready_since is not None and time.monotonic() - place.ready_since >= _SETTLED_SECONDS
        place.failures = 0 if served else place.failures + 1
        place.ready_since = None
        wait = min(_LONGEST_WAIT, _FIRST_WAIT * 2 ** min(max(0, place.failures - 1), 16))
        place.due = time.monotonic() + wait
        if self._ever_ready:
            _log.warning("A server process %s; another one starts in %.1f s", what, wait)
        else:
            _log.error("A server process %s", what)

    # Stopping

    @contextlib.contextmanager
    def _signals_caught(self) -> Generator[None, None, None]:
        woken = signal.set_wakeup_fd(self._alarm.write, warn_on_full_buffer=False)
        before = {number: signal.signal(number, self._note_signal) for number in _STOPS}
        before[signal.SIGCHLD] = signal.signal(signal.SIGCHLD, lambda *_: None)
        try:
            yield
        finally:
            signal.set_wakeup_fd(woken)
            for number, handler in before.items():
                signal.signal(number, handler)

    def _note_signal(self, *_: object) -> None:
        self._signals += 1

    def _answer_signals(self) -> None:
        """The first signal stops the workers in order, every other one at once."""
        first = self._answered_signals == 0 and not self._stopping
        again = self._signals - self._answered_signals > 1 or not first
        self._answered_signals = self._signals
        if first:
            self._stop()
        if again:
            self._signal_all(signal.SIGQUIT)
            self._kill_at = time.monotonic() + _AT_ONCE_SECONDS

    def _stop(self) -> None:
        self._stopping = True
        if self._stop_seconds is not None:
            self._kill_at = time.monotonic() + self._stop_seconds + _OVERTIME_SECONDS
        self._stopper.close_write()
        self._close()

    def _signal_all(self, number: signal.Signals) -> None:
        for place in self._places:
            if place.pid:
                with contextlib.suppress(ProcessLookupError):
                    os.kill(place.pid, number)


class _Pipe:
    """Both ends of a pipe, each closed once."""

    def __init__(self) -> None:
        self.read, self.write = os.pipe()

    def close_write(self) -> None:
        if self.write >= 0:
            os.close(self.write)
            self.write = -1

    def close(self) -> None:
        self.close_write()
        os.close(self.read)


def _ending(status: int) -> str:
    code = os.waitstatus_to_exitcode(status)
    if code >= 0:
        return f"exit status {code}"
    try:
        return signal.Signals(-code).name
    except ValueError:
        return f"signal {-code}"
