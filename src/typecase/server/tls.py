"""Certificates that change while the server runs (``--enable-ssl-refresh``)."""

from __future__ import annotations

__all__ = ["CertificateWatch"]

import logging
import ssl
from pathlib import Path

from typecase.server.settings import ServerSettings

_log = logging.getLogger("typecase.server")


class CertificateWatch:
    """Looks whether the certificate files changed; connections made after ``refresh`` use the new ones."""

    def __init__(self, context: ssl.SSLContext, settings: ServerSettings):
        self._context = context
        self._certificate = str(settings.ssl_certfile)
        self._key = str(settings.ssl_keyfile)
        self._authorities = settings.ssl_ca_certs
        self._seen = self._stamps()

    def refresh(self) -> None:
        """Load the files again if one of them is another than before."""
        stamps = self._stamps()
        if stamps == self._seen:
            return
        try:
            # Half of a pair that doesn't fit would stay in the context, so they are tried on another one first.
            ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER).load_cert_chain(self._certificate, self._key)
            self._context.load_cert_chain(self._certificate, self._key)
            if self._authorities is not None:
                self._context.load_verify_locations(self._authorities)
        except (OSError, ValueError) as error:  # half-written files: the next look finds them whole
            _log.warning("The changed certificate can't be loaded, the old one stays in use: %s", error)
        else:
            _log.info("Loaded the changed certificate %s", self._certificate)
        self._seen = stamps

    def _stamps(self) -> tuple[tuple[int, int, int] | None, ...]:
        files = (self._certificate, self._key, self._authorities)
        return tuple(_stamp(file) for file in files if file is not None)


def _stamp(file: str) -> tuple[int, int, int] | None:
    try:
        status = Path(file).stat()
    except OSError:
        return None
    return status.st_mtime_ns, status.st_size, status.st_ino
