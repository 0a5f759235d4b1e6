"""The socket that the server listens on, bound before anything slow is done: a port in use is told at once."""

from __future__ import annotations

__all__ = ["bind", "describe", "unlink"]

import contextlib
import os
import socket
import stat
from ipaddress import IPv6Address

from typecase.server.settings import ServerSettings, SettingsError


def bind(settings: ServerSettings) -> socket.socket:
    """Bind as vLLM does: IPv4 unless the host is an IPv6 address, all interfaces without a host."""
    if settings.uds is not None:
        return _bind_path(settings.uds)
    host = settings.host or ""
    sock = socket.socket(socket.AF_INET6 if _is_ipv6(host) else socket.AF_INET, socket.SOCK_STREAM)
    try:
        sock.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        sock.bind((host, settings.port))
    except (OSError, OverflowError, UnicodeError) as error:
        sock.close()
        raise SettingsError(f"can't listen on {host or '0.0.0.0'}:{settings.port}: {_reason(error)}") from None
    return sock


def describe(sock: socket.socket, *, tls: bool) -> str:
    """Where the socket listens, as one writes it."""
    if sock.family == socket.AF_UNIX:
        return f"unix:{sock.getsockname()}"
    host, port = sock.getsockname()[:2]
    return f"{'https' if tls else 'http'}://{f'[{host}]' if ':' in host else host}:{port}"


def unlink(path: str) -> None:
    """Remove a Unix socket's file after the last connection."""
    with contextlib.suppress(OSError):
        os.unlink(path)


def _bind_path(path: str) -> socket.socket:
    sock = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    try:
        if _is_left_over(path):
            unlink(path)
        sock.bind(path)
    except OSError as error:
        sock.close()
        raise SettingsError(f"can't listen on --uds {path}: {_reason(error)}") from None
    return sock


def _is_left_over(path: str) -> bool:
    """A socket file that nobody listens on any more: its server was killed."""
    try:
        if not stat.S_ISSOCK(os.stat(path).st_mode):
            return False
    except OSError:
        return False
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as probe:
        try:
            probe.connect(path)
        except ConnectionRefusedError:
            return True
        except OSError:
            return False
    return False


def _is_ipv6(host: str) -> bool:
    try:
        IPv6Address(host)
    except ValueError:
        return False
    return True


def _reason(error: Exception) -> str:
    return getattr(error, "strerror", None) or str(error)
