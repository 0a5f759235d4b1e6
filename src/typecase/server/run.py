"""Running the server: bind, warm up, say what is exposed, serve, stop.

uvicorn runs it, on uvloop with httptools. The first SIGTERM or SIGINT stops the server in order: no new connections,
requests under way are answered. The second one stops it at once.
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
from collections.abc import Generator, Sequence
from types import FrameType

import uvicorn
from uvicorn.server import HANDLED_SIGNALS

from typecase.server.app import App, create_app
from typecase.server.auth import GUARDED_PREFIXES
from typecase.server.listen import bind, describe, unlink
from typecase.server.protocol import BoundedHttp, bounded_protocol
from typecase.server.served import ServedModel
from typecase.server.settings import ServerSettings, SettingsError
from typecase.server.tls import CertificateWatch

_log = logging.getLogger("typecase.server")

WATCH_SECONDS = 1.0
_FILES = 65536


def serve(models: Sequence[ServedModel], settings: ServerSettings, *, sock: socket.socket | None = None) -> None:
    """Serve ``models`` until a signal comes. ``sock`` is what ``bind`` gave, if that was called before the models were
    loaded. Raises ``SettingsError`` when the server can't be started."""
    settings.check()
    sock = sock or bind(settings)
    try:
        _raise_file_limit()
        logged = settings.access_log and settings.uvicorn_log_level in ("info", "debug", "trace")
        app = create_app(models, settings, log_to=sys.stdout if logged else None)
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
    finally:
        sock.close()
        if settings.uds is not None:
            unlink(settings.uds)


class Server(uvicorn.Server):
    """uvicorn's server with our protocol, our sweep and our way to stop."""

    def __init__(self, app: App, settings: ServerSettings):
        self._protocol = bounded_protocol(settings, app.in_flight)
        super().__init__(_uvicorn_config(app, settings, self._protocol))
        self._settings = settings
        self._loop: asyncio.AbstractEventLoop | None = None
        self._watching: asyncio.Task[None] | None = None

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        self._loop = asyncio.get_running_loop()
        self._watching = self._loop.create_task(self._watch())
        await super().startup(sockets)
        # uvicorn's words, which scripts wait for before they send requests.
        _log.info("Application startup complete.")

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        self._protocol.stopping = True
        await super().shutdown(sockets)
        if self._watching is not None:
            self._watching.cancel()

    async def _watch(self) -> None:
        """What has to be looked after, also while the server stops: slow clients, new certificates."""
        loop = asyncio.get_running_loop()
        certificates = None
        if self.config.ssl is not None and self._settings.enable_ssl_refresh:
            certificates = CertificateWatch(self.config.ssl, self._settings)
        while True:
            await asyncio.sleep(WATCH_SECONDS)
            now = loop.time()
            for connection in list(self.server_state.connections):
                if isinstance(connection, BoundedHttp):
                    connection.sweep(now)
            if certificates is not None:
                certificates.refresh()

    @contextlib.contextmanager
    def capture_signals(self) -> Generator[None, None, None]:
        """uvicorn raises the signals again when it has stopped; a server that stopped in order should end in order."""
        if threading.current_thread() is not threading.main_thread():
            yield
            return
        before = {number: signal.signal(number, self.handle_exit) for number in HANDLED_SIGNALS}
        try:
            yield
        finally:
            for number, handler in before.items():
                signal.signal(number, handler)

    def handle_exit(self, sig: int, frame: FrameType | None) -> None:
        if self.should_exit:
            self.force_exit = True
            if self._loop is not None:
                self._loop.call_soon_threadsafe(self._drop_connections)
        self.should_exit = True

    def _drop_connections(self) -> None:
        """A request whose client is gone ends by itself."""
        for connection in list(self.server_state.connections):
            connection.transport.abort()


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
