"""TLS: which services are trusted, and the certificate of a client."""

from __future__ import annotations

import os
import re
import ssl
from typing import NamedTuple

from ._values import Path, path_text
from .errors import ServiceError

#: The alerts of a service that does not accept what a client has shown.
ABOUT_CLIENTS = re.compile("ALERT.*(CERTIFICATE|UNKNOWN_CA|DECRYPT_ERROR|ACCESS_DENIED)")


def _wrong(where: str, problem: str) -> ServiceError:
    return ServiceError(f"{where}: {problem}", code="service.tls")


class Trust(NamedTuple):
    """The PEM files for HTTPS connections."""

    #: Authorities that are believed, and no others; without them those of the system.
    ca: Path | None = None
    #: A certificate for a service that asks its clients for one, and its private key.
    certificate: Path | None = None
    key: Path | None = None

    def context(self) -> ssl.SSLContext:
        """The TLS context for connections."""
        ca = None if self.ca is None else path_text(self.ca)
        try:
            context = ssl.create_default_context(cafile=ca)
        except (OSError, ValueError) as error:
            raise _wrong(str(ca), f"expected certificates in PEM: {error}") from None
        if ca is None and not context.get_ca_certs() and not _has_directory():
            raise _wrong(
                "the certificates of the system",
                "there are none: give ca= with the authority of the service",
            )
        if (self.certificate is None) != (self.key is None):
            raise _wrong("certificate= and key=", "expected both or neither")
        if self.certificate is not None and self.key is not None:
            _show(context, path_text(self.certificate), path_text(self.key))
        return context


def _has_directory() -> bool:
    """Whether the system has authorities that are looked up when they are needed."""
    directory = ssl.get_default_verify_paths().capath
    return directory is not None and bool(os.listdir(directory))


def _show(context: ssl.SSLContext, certificate: str, key: str) -> None:
    """Adds the certificate of the client to a context."""
    try:
        shared = os.name == "posix" and os.stat(key).st_mode & 0o007
        # A key with a passphrase is refused instead of asking for it.
        context.load_cert_chain(certificate, key, password="")
    except OSError as error:
        found = error.reason if isinstance(error, ssl.SSLError) else error.strerror
        raise _wrong(
            key, f"expected a private key without a passphrase, of {certificate}: {found}"
        ) from None
    if shared:
        raise _wrong(key, "other users of the machine can read this private key: chmod o=")


def unproved(error: Exception) -> ServiceError | None:
    """The exception for a refusal of TLS, which a retry would not change; ``None`` for other
    errors.
    """
    if isinstance(error, ssl.SSLCertVerificationError):
        problem = (
            "expected a certificate for the address of the service, from an authority that is "
            f"trusted, found another ({error.verify_message}): check the address, and give ca= "
            "with the service's authority if it has one of its own"
        )
    elif isinstance(error, ssl.SSLError) and ABOUT_CLIENTS.search(error.reason or ""):
        problem = (
            "the service expects a certificate of its clients, and found none that it accepts "
            f"({error.reason}): ask its operator for one, and give certificate= and key="
        )
    else:
        return None
    return ServiceError(problem, code="service.certificate")
