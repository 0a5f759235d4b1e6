"""Running the server: bind, warm up, say what is exposed, serve, stop.

uvicorn runs it, on uvloop with httptools. The first SIGTERM or SIGINT stops the server in order: no new connections,
requests under way are answered. The second one stops it at once. ``processes.py`` runs several of them.
"""

from __future__ import annotations

__all__ = ["bind", "serve"]

import asyncio
import contextlib
import gc
import logging
import signal
import socket
import sys
import threading
from collections.abc import Callable, Generator, Sequence
from types import FrameType
from typing import TYPE_CHECKING

import uvicorn
from uvicorn.server import HANDLED_SIGNALS

from typecase.server.accepting import Acceptor, ConnectionCounts
from typecase.server.app import App, create_app
from typecase.server.auth import GUARDED_PREFIXES
from typecase.server.listen import bind, describe, unlink
from typecase.server.logs import OneAtATime
from typecase.server.memory import settle
from typecase.server.protocol import BoundedHttp, bounded_protocol
from typecase.server.served import ServedModel
from typecase.server.settings import ServerSettings, SettingsError
from typecase.server.tls import CertificateWatch

if TYPE_CHECKING:
    from typecase.server.processes import WorkerEnds

_log = logging.getLogger("typecase.server")

WATCH_SECONDS = 1.0
# uvicorn's words, which scripts wait for before they send requests.
_STARTED = "Application startup complete."
_FILES = 65536


def serve(models: Sequence[ServedModel], settings: ServerSettings, *, sock: socket.socket | None = None) -> None:
    """Serve ``models`` until a signal comes. ``sock`` is what ``bind`` gave, if that was called before the models were
    loaded. Raises ``SettingsError`` when the server can't be started."""
    settings.check()
    sock = sock or bind(settings)
    try:
        _raise_file_limit()
        if settings.api_server_count > 1:
            _serve_in_processes(models, settings, sock)
        else:
            _serve_here(models, settings, sock)
    finally:
        sock.close()
        if settings.uds is not None:
            unlink(settings.uds)


def _serve_here(models: Sequence[ServedModel], settings: ServerSettings, sock: socket.socket) -> None:
    app = create_app(models, settings, log_to=sys.stdout if _logs_access(settings) else None)
    server = Server(app, settings)
    app.warm_up()
    _log_exposure(app, settings, sock)
    # What was loaded so far stays for good: the collector needn't look at it again.
    gc.collect()
    gc.freeze()
    try:
        server.run(sockets=[sock])
    finally:
        app.close()


def _serve_in_processes(models: Sequence[ServedModel], settings: ServerSettings, sock: socket.socket) -> None:
    """What is made here is made once, the TLS context with its session keys, too; warm-up may start threads."""
    from typecase.server.processes import Processes
    from typecase.server.shared_counts import SharedCounts

    count = settings.api_server_count
    counts = SharedCounts(count)
    log = OneAtATime(sys.stdout) if _logs_access(settings) else None
    app = create_app(models, settings, log_to=log, counts=counts)
    server = Server(app, settings)
    _log_exposure(app, settings, sock)
    _log.info("%d processes serve, each with its own threads and its own bounds on memory", count)
    settle()
    app.publish()

    def work(ends: WorkerEnds) -> None:
        counts.claim(ends.place)
        app.warm_up()
        try:
            server.run_as_worker(ends, sock, counts)
        finally:
            app.close()

    def said() -> None:
        _log.info(_STARTED)

    Processes(
        count,
        work,
        close=sock.close,
        on_end=counts.vacate,
        on_ready=said,
        stop_seconds=settings.graceful_timeout,
    ).run()


class Server(uvicorn.Server):
    """uvicorn's server with our protocol, our sweep and our way to stop."""

    def __init__(self, app: App, settings: ServerSettings):
        self._app = app
        self._protocol = bounded_protocol(settings, app.in_flight)
        super().__init__(_uvicorn_config(app, settings, self._protocol))
        self._certificates: CertificateWatch | None = None
        if self.config.ssl is not None and settings.enable_ssl_refresh:
            self._certificates = CertificateWatch(self.config.ssl, settings)
        self._loop: asyncio.AbstractEventLoop | None = None
        self._watching: asyncio.Task[None] | None = None
        self._ends: WorkerEnds | None = None
        self._counts: ConnectionCounts | None = None
        self._acceptor: Acceptor | None = None

    def run_as_worker(self, ends: WorkerEnds, sock: socket.socket, counts: ConnectionCounts) -> None:
        """Serve as one of several processes, until the parent stops it."""
        self._ends = ends
        self._counts = counts
        self.run(sockets=[sock])

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        self._loop = asyncio.get_running_loop()
        if self._certificates is not None:
            self._certificates.refresh()  # a process that replaces another starts with what its parent loaded
        self._watching = self._loop.create_task(self._watch())
        if self._ends is None:
            await super().startup(sockets)
            _log.info(_STARTED)
            return
        await super().startup([])
        for sock in sockets or ():
            self._share(sock)
        self._loop.add_reader(self._ends.stop, self._stop_for_parent)
        self._ends.say_ready()

    def _share(self, sock: socket.socket) -> None:
        """Take connections from a socket that others take them from, too."""
        assert self._counts is not None

        def make_protocol() -> asyncio.Protocol:
            return self._protocol(self.config, self.server_state, {}, self._loop)

        self._acceptor = Acceptor(
            sock,
            make_protocol,
            tls=self.config.ssl,
            backlog=self.config.backlog,
            counts=self._counts,
            connected=lambda: len(self.server_state.connections),
        )
        self._protocol.acceptor = self._acceptor

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        self._protocol.stopping = True
        if self._acceptor is not None:
            self._acceptor.stop()
            sockets = []
        await super().shutdown(sockets)
        if self._watching is not None:
            self._watching.cancel()

    async def _watch(self) -> None:
        """What has to be looked after, also while the server stops: slow clients, new certificates."""
        loop = asyncio.get_running_loop()
        while True:
            await asyncio.sleep(WATCH_SECONDS)
            now = loop.time()
            for connection in list(self.server_state.connections):
                if isinstance(connection, BoundedHttp):
                    connection.sweep(now)
            if self._certificates is not None:
                self._certificates.refresh()
            if self._ends is not None:
                self._app.publish()

    @contextlib.contextmanager
    def capture_signals(self) -> Generator[None, None, None]:
        """uvicorn raises the signals again when it has stopped; a server that stopped in order should end in order."""
        if threading.current_thread() is not threading.main_thread():
            yield
            return
        handlers: dict[int, Callable[[int, FrameType | None], None]] = dict.fromkeys(HANDLED_SIGNALS, self.handle_exit)
        if self._ends is not None:
            handlers = {signal.SIGTERM: self._stop_in_order, signal.SIGQUIT: self._stop_at_once}
        before = {number: signal.signal(number, handler) for number, handler in handlers.items()}
        try:
            yield
        finally:
            for number, handler in before.items():
                signal.signal(number, handler)

    def handle_exit(self, sig: int, frame: FrameType | None) -> None:
        if self.should_exit:
            self._stop_at_once()
        self.should_exit = True

    def _stop_for_parent(self) -> None:
        assert self._loop is not None
        assert self._ends is not None
        self._loop.remove_reader(self._ends.stop)
        self._stop_in_order()

    def _stop_in_order(self, *_: object) -> None:
        self.should_exit = True

    def _stop_at_once(self, *_: object) -> None:
        self.should_exit = True
        self.force_exit = True
        if self._loop is not None:
            self._loop.call_soon_threadsafe(self._drop_connections)

    def _drop_connections(self) -> None:
        """A request whose client is gone ends by itself."""
        for connection in list(self.server_state.connections):
            connection.transport.abort()


def _logs_access(settings: ServerSettings) -> bool:
    return settings.access_log and settings.uvicorn_log_level in ("info", "debug", "trace")


def _uvicorn_config(app: App, settings: ServerSettings, protocol: type[BoundedHttp]) -> uvicorn.Config:
    config = uvicorn.Config(
        app,
        host=settings.host or "0.0.0.0",
        port=settings.port,
        uds=settings.uds,
        loop="uvloop" if sys.platform != "win32" else "asyncio",
        http=protocol,
        ws="none",
        lifespan="off",  # `serve` warms up and closes the application itself
        log_config=None,
        access_log=False,
        proxy_headers=False,  # the application looks at them itself, when there are any
        timeout_keep_alive=settings.keep_alive,  # type: ignore[arg-type]  # any number of seconds works
        timeout_graceful_shutdown=settings.graceful_timeout,  # type: ignore[arg-type]
        ssl_keyfile=settings.ssl_keyfile,
        ssl_certfile=settings.ssl_certfile,
        ssl_ca_certs=settings.ssl_ca_certs,
        ssl_cert_reqs=settings.ssl_cert_reqs,
        ssl_ciphers=settings.ssl_ciphers,
    )
    try:
        config.load()
    except (OSError, ValueError) as error:  # ssl.SSLError is an OSError
        files = " ".join(file for file in (settings.ssl_certfile, settings.ssl_keyfile, settings.ssl_ca_certs) if file)
        raise SettingsError(f"TLS can't be set up from {files}: {error}") from None
    return config


def _log_exposure(app: App, settings: ServerSettings, sock: socket.socket) -> None:
    """Who can reach what, in the log of every start."""
    for route in app.routes:
        _log.info("Route: %s, Methods: %s", route.path, ", ".join(route.methods))
    names = ", ".join(name for model in app.models for name in model.names)
    address = describe(sock, tls=settings.tls)
    everywhere = sock.family != socket.AF_UNIX and sock.getsockname()[0] in ("0.0.0.0", "::")
    _log.info("Serving %s on %s%s", names, address, " (every network interface)" if everywhere else "")
    guarded = ", ".join(GUARDED_PREFIXES)
    if app.guard:
        free = sorted({route.path for route in app.routes if not route.path.startswith(GUARDED_PREFIXES)})
        _log.info("An API key is needed for paths that start with %s; open to everybody: %s", guarded, ", ".join(free))
    else:
        _log.warning("No --api-key is set: whoever reaches this address may use all of it")
    if settings.allowed_origins:
        _log.info("Web pages of these origins may call this server: %s", ", ".join(settings.allowed_origins))
    if settings.enable_log_requests:
        _log.warning("--enable-log-requests: the content of requests goes to the log")


def _raise_file_limit() -> None:
    """Every connection is an open file; take as many as the system allows."""
    try:
        import resource
    except ImportError:
        return
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    wanted = _FILES if hard == resource.RLIM_INFINITY else min(_FILES, hard)
    if soft == resource.RLIM_INFINITY or soft >= wanted:
        return
    with contextlib.suppress(OSError, ValueError):
        resource.setrlimit(resource.RLIMIT_NOFILE, (wanted, hard))
