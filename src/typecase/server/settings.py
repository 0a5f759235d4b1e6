"""Everything the HTTP side needs to know, decided once at the start.

Nothing here is about models. Names follow vLLM's flags where there is one (``--ssl-keyfile`` is ``ssl_keyfile``);
the rest are ours. The values are taken as they are: what can't work is refused by ``check``, with a sentence that
names the flag.
"""

from __future__ import annotations

__all__ = ["LOG_LEVELS", "ServerSettings", "SettingsError", "TemplateBudget"]

from dataclasses import dataclass, field

LOG_LEVELS = ("critical", "error", "warning", "info", "debug", "trace")

MB = 1024 * 1024


class SettingsError(Exception):
    """The server can't be started like this. The message is one line and says which flag to change."""


@dataclass(frozen=True, slots=True)
class TemplateBudget:
    """What one rendering of a chat template may use: loop rounds and calls, characters made, seconds (None: any)."""

    steps: int
    characters: int
    seconds: float | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class ServerSettings:
    """How the server listens, whom it serves, and how much it takes."""

    # Listening. ``host`` None is all IPv4 interfaces, as vLLM binds; ``uds`` replaces host and port.
    host: str | None = None
    port: int = 8000
    uds: str | None = None
    root_path: str = ""

    # Access. Empty strings among the keys are dropped; no key left means that nothing is guarded.
    api_keys: tuple[str, ...] = ()
    allowed_origins: tuple[str, ...] = ()
    allowed_methods: tuple[str, ...] = ("*",)
    allowed_headers: tuple[str, ...] = ("*",)
    allow_credentials: bool = False

    # TLS. Key and certificate go together; ``ssl_cert_reqs`` is 0 none, 1 optional, 2 required.
    ssl_keyfile: str | None = None
    ssl_certfile: str | None = None
    ssl_ca_certs: str | None = None
    ssl_cert_reqs: int = 0
    ssl_ciphers: str | None = None
    enable_ssl_refresh: bool = False

    # Bounds on what clients send. A head is a request line with its headers: ``max_header_bytes`` is
    # ``--h11-max-incomplete-event-size``, ``max_header_count`` is ``--h11-max-header-count``.
    max_body_bytes: int = 512 * MB
    max_bytes_in_flight: int = 1024 * MB
    max_json_nodes: int = 2_000_000
    max_header_bytes: int = 4 * MB
    max_header_count: int = 256
    max_pipelined: int = 32

    # Slow clients, in seconds. A body must arrive within ``body_timeout`` plus its bytes at ``min_body_rate`` a second;
    # an answer that the client doesn't read at all for ``write_timeout`` is given up. None or 0 switches one off.
    header_timeout: float | None = 60.0
    body_timeout: float | None = 60.0
    min_body_rate: int = 4096
    write_timeout: float | None = 60.0
    keep_alive: float = 5.0
    # How long requests under way may hold up a stop; None: as long as they take (each has its own limits).
    graceful_timeout: float | None = None

    # Routes.
    disable_fastapi_docs: bool = False
    enable_offline_docs: bool = False
    enable_tokenizer_info_endpoint: bool = False
    enable_request_id_headers: bool = False

    # Logs. ``access_log_excluded`` are the paths of ``--disable-access-log-for-endpoints``.
    uvicorn_log_level: str = "info"
    access_log: bool = True
    access_log_excluded: frozenset[str] = frozenset()
    enable_log_requests: bool = False
    max_log_len: int | None = None

    # Processes that serve, sharing the socket. Each has its own threads, and its own bounds on what it holds.
    api_server_count: int = 1

    # Work. A body up to ``inline_body_bytes`` is rendered on the event loop within ``small_budget``; longer ones and
    # those that need more go to threads, ``renderer_num_workers`` of them, within ``full_budget``.
    renderer_num_workers: int = 1
    inline_body_bytes: int = 16 * 1024
    small_budget: TemplateBudget = field(default=TemplateBudget(steps=10_000, characters=200_000))
    full_budget: TemplateBudget = field(default=TemplateBudget(steps=10_000_000, characters=1 << 28, seconds=30.0))

    def check(self) -> None:
        """Raise ``SettingsError`` for what can't work."""
        if not 0 <= self.port <= 65535:
            raise SettingsError(f"--port must be between 0 and 65535, got {self.port}")
        if bool(self.ssl_keyfile) != bool(self.ssl_certfile):
            have, lack = (
                ("--ssl-keyfile", "--ssl-certfile") if self.ssl_keyfile else ("--ssl-certfile", "--ssl-keyfile")
            )
            raise SettingsError(f"{have} needs {lack}: TLS takes both a key and a certificate")
        if self.ssl_cert_reqs not in (0, 1, 2):
            raise SettingsError(
                f"--ssl-cert-reqs must be 0 (none), 1 (optional) or 2 (required), got {self.ssl_cert_reqs}"
            )
        if self.uvicorn_log_level not in LOG_LEVELS:
            raise SettingsError(
                f"--uvicorn-log-level must be one of {', '.join(LOG_LEVELS)}, got {self.uvicorn_log_level!r}"
            )
        for flag, number in (
            ("--api-server-count", self.api_server_count),
            ("--renderer-num-workers", self.renderer_num_workers),
            ("--max-body-mb", self.max_body_bytes),
            ("--max-json-nodes", self.max_json_nodes),
            ("--h11-max-incomplete-event-size", self.max_header_bytes),
            ("--h11-max-header-count", self.max_header_count),
        ):
            if number < 1:
                raise SettingsError(f"{flag} must be at least 1, got {number}")
        for key in self.api_keys:
            try:
                key.encode("utf-8")
            except UnicodeEncodeError:
                raise SettingsError("--api-key holds bytes that are no UTF-8; choose another key") from None

    @property
    def prefix(self) -> str:
        """``root_path`` without its last slash: what a proxy puts before our paths, or the empty string."""
        path = self.root_path.rstrip("/")
        return path if not path or path.startswith("/") else "/" + path

    @property
    def tls(self) -> bool:
        return bool(self.ssl_keyfile and self.ssl_certfile)
