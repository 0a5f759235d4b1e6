"""HTTPS, client certificates, and certificates that change."""

from __future__ import annotations

import logging
import os
import shutil
import socket
import ssl
from pathlib import Path
from typing import Any

import pytest
from tests.server.serving import TIMEOUT, Running, eventually, read_all, running, statuses

CERTIFICATES = Path(__file__).parent / "certificates"
REQUEST = b"GET /health HTTP/1.1\r\nHost: h\r\nConnection: close\r\n\r\n"


def files(name: str) -> dict[str, Any]:
    return {
        "ssl_certfile": str(CERTIFICATES / f"{name}.pem"),
        "ssl_keyfile": str(CERTIFICATES / f"{name}.key"),
    }


def connect(server: Running, trusted: str = "first", client: str | None = None) -> ssl.SSLSocket:
    context = ssl.create_default_context(cafile=str(CERTIFICATES / f"{trusted}.pem"))
    if client is not None:
        context.load_cert_chain(CERTIFICATES / f"{client}.pem", CERTIFICATES / f"{client}.key")
    plain = socket.create_connection(("127.0.0.1", server.port), timeout=TIMEOUT)
    return context.wrap_socket(plain, server_hostname="localhost")


def answers(server: Running, client: str | None) -> bool:
    """With TLS 1.3 a client learns at its first read only that it isn't trusted."""
    try:
        with connect(server, client=client) as connection:
            connection.sendall(REQUEST)
            return bool(read_all(connection))
    except OSError:
        return False


def test_https() -> None:
    with running(**files("first")) as server:
        with connect(server) as connection:
            connection.sendall(REQUEST)
            assert statuses(read_all(connection)) == [200]
        with connect(server) as connection:
            connection.sendall(b"POST /none HTTP/1.1\r\nA: " + b"x" * 100 + b"\x00\r\n\r\n")
            assert statuses(read_all(connection)) == [400]
        assert b"200" not in server.raw(b"GET /health HTTP/1.1\r\n\r\n")
        with connect(server) as connection:
            connection.sendall(REQUEST)
            assert statuses(read_all(connection)) == [200]


def test_client_certificates() -> None:
    authority = str(CERTIFICATES / "second.pem")
    with running(**files("first"), ssl_ca_certs=authority, ssl_cert_reqs=2) as server:
        with connect(server, client="second") as connection:
            connection.sendall(REQUEST)
            assert statuses(read_all(connection)) == [200]
        for client in (None, "first"):
            assert not answers(server, client)


def test_a_changed_certificate_is_used(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    certificate, key = tmp_path / "tls.pem", tmp_path / "tls.key"

    def install(name: str, *, key_of: str) -> None:
        for source, target in ((f"{name}.pem", certificate), (f"{key_of}.key", key)):
            shutil.copyfile(CERTIFICATES / source, tmp_path / "new")
            os.replace(tmp_path / "new", target)

    def presents(server: Running, name: str) -> bool:
        try:
            with connect(server, trusted=name) as connection:
                return bool(connection.getpeercert())
        except ssl.SSLError:
            return False

    install("first", key_of="first")
    settings: dict[str, Any] = {"ssl_certfile": str(certificate), "ssl_keyfile": str(key), "enable_ssl_refresh": True}
    with running(**settings) as server, caplog.at_level(logging.INFO, "typecase.server"):
        assert presents(server, "first")
        assert not presents(server, "second")
        install("second", key_of="first")
        eventually(lambda: "can't be loaded" in caplog.text)
        assert presents(server, "first"), "the old one stays in use while the files don't fit"
        install("second", key_of="second")
        eventually(lambda: presents(server, "second"))
