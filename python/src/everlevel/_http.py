"""Requests to a service, with JSON and bytes over HTTP; interrupted requests are repeated."""

from __future__ import annotations

import http.client
import ipaddress
import json
import re
import ssl
import time
from typing import Any
from urllib.parse import urlsplit

from . import errors
from ._tls import Trust, unproved
from .errors import Error, ServiceError

#: The most bytes of a part of an upload or of a download.
PART_BYTES = 4 << 20
#: The most bytes of a request in JSON.
JSON_BYTES = 2 << 20
#: The most bytes of an answer in JSON: a list of everything that a tenant may have.
ANSWER_BYTES = 64 << 20
#: How many times a request is sent before the service counts as unreachable.
TRIES = 5
#: How long an answer may take.
ANSWER_SECONDS = 90.0
#: The first pause before a request is sent again; each further one is twice as long.
PAUSE = 0.2

#: The exceptions of codes, and of all other codes of a layer, as the library raises them itself.
CLASSES: dict[str, type[Error]] = {
    "scheme.bad-params": errors.ParameterError,
    "scheme.unknown-params": errors.ParameterError,
    "scheme.insecure": errors.InsecureError,
    "scheme.frequent-failures": errors.FrequentFailuresError,
    "scheme.noise-overflow": errors.NoiseError,
    "scheme.plain-modulus-mismatch": errors.ParameterError,
    "scheme.form-mismatch": errors.ParameterError,
    "scheme.wrong-key": errors.WrongKeyError,
    "scheme.not-decryptable": errors.DecryptionError,
    "scheme.unknown-owner": errors.DecryptionError,
    "scheme.missing-key": errors.KeyMissingError,
    "scheme.key-too-short": errors.KeyMissingError,
    "scheme.unreadable-key": errors.FileError,
    "scheme.wrong-params": errors.OtherParametersError,
    "scheme": errors.RangeError,
    "circuit.no-route": errors.KeyMissingError,
    "circuit.no-bootstrapping": errors.KeyMissingError,
    "circuit.not-enough-capacity": errors.NoiseError,
    "circuit.missing-input": errors.ProgramError,
    "circuit.unknown-dimension": errors.RangeError,
    "circuit": errors.ParameterError,
    "integers.type": errors.DtypeError,
    "integers.length": errors.ShapeError,
    "integers.depth": errors.NoiseError,
    "integers.set": errors.ParameterError,
    "integers": errors.RangeError,
    "table.keys": errors.KeyMissingError,
    "table": errors.TableError,
    "expression": errors.ProgramError,
    "wire.other-params": errors.OtherParametersError,
    "wire": errors.FormatError,
}


def malformed(what: str, problem: str) -> ServiceError:
    """The exception for a part of a request or of an answer that cannot be understood."""
    return ServiceError(f"{what}: {problem}", code="service.malformed")


def unreachable(problem: object) -> ServiceError:
    """The exception for a service that does not answer, or answers something unexpected."""
    return ServiceError(f"cannot reach the service: {problem}", code="service.unreachable")


def told(error: Any) -> Error:
    """The error of the service as an exception of this package."""
    try:
        code, message = error["code"], error["message"]
    except (TypeError, KeyError):
        return malformed("the answer", "expected an error with a code and a message")
    if not isinstance(message, str) or not isinstance(code, str):
        return malformed("the answer", "expected an error with a code and a message")
    if not re.fullmatch(r"[a-z]{1,20}\.[a-z-]{1,60}", code):
        return malformed("the answer", "expected a stable code")
    kind = CLASSES.get(code) or CLASSES.get(code.partition(".")[0]) or ServiceError
    return kind(message[:4000], code=code)


def field(answer: Any, name: str, kind: type | tuple[type, ...]) -> Any:
    """A field of an answer, checked to have the expected type."""
    found = answer.get(name) if isinstance(answer, dict) else None
    if not isinstance(found, kind) or isinstance(found, bool) != (kind is bool):
        raise malformed("the answer", f"{name!r} is missing or of another type")
    return found


def count(answer: Any, name: str) -> int:
    """A field that is a count."""
    found = field(answer, name, int)
    if found < 0:
        raise malformed("the answer", f"{name!r} is negative")
    return int(found)


class Connection:
    """Requests with a token to the service at an address. Each request uses a connection of its
    own, so that threads may share this object. The token is sent neither to a proxy nor to another
    address.
    """

    __slots__ = ("host", "port", "_context", "_token")

    #: How the service proves who it is; none over HTTP.
    _context: ssl.SSLContext | None

    def __init__(self, url: str, token: str, insecure_http: bool, trust: Trust) -> None:
        what, expected = "the address of the service", "expected https://HOST:PORT"
        try:
            parts = urlsplit(url)
            host, port = parts.hostname or "", parts.port
        except (ValueError, AttributeError) as error:
            raise malformed(what, f"{expected}: {error}") from None
        # It may hold a password, and is not repeated in a message.
        plain = parts.scheme == "http"
        known = plain or parts.scheme == "https"
        if "@" in url or not known or not re.fullmatch(r"[\w.:-]+", host, re.ASCII):
            raise malformed(what, f"{expected}, or http:// on this machine, without a user name")
        if parts.path not in ("", "/") or parts.query or parts.fragment:
            raise malformed(what, f"{expected}, without a path")
        if plain and not insecure_http and not _is_near(host):
            raise malformed(
                what,
                f"{host} is another machine, and HTTP would reveal the token on the way: use "
                "https://, an encrypted tunnel that ends at 127.0.0.1, or insecure_http=True",
            )
        if plain and trust != Trust():
            raise malformed(what, f"{expected} with certificates, found http://, which uses none")
        if not isinstance(token, str) or not re.fullmatch(r"[!-~]+", token):
            raise malformed("the token", "expected printable characters without spaces")
        self._context = None if plain else trust.context()
        self.host, self._token = host, token
        self.port = (80 if plain else 443) if port is None else port

    def forget(self) -> None:
        """Forgets the token."""
        self._token = ""

    def _once(
        self, method: str, path: str, body: bytes | None, headers: dict[str, str], most: int
    ) -> tuple[int, bytes]:
        connection = (
            http.client.HTTPConnection(self.host, self.port, timeout=ANSWER_SECONDS)
            if self._context is None
            else http.client.HTTPSConnection(
                self.host, self.port, timeout=ANSWER_SECONDS, context=self._context
            )
        )
        # Its traces would have the token.
        connection.set_debuglevel(0)
        try:
            connection.request(method, path, body, headers)
            response = connection.getresponse()
            return response.status, _read(response, most)
        finally:
            connection.close()

    def send(
        self,
        method: str,
        path: str,
        body: bytes | None = None,
        *,
        headers: dict[str, str] | None = None,
        most: int = ANSWER_BYTES,
    ) -> bytes:
        """The body of the answer to a request, which may be sent several times: repeating any
        request that is made here has no further effect.
        """
        if not self._token:
            raise malformed("the request", "this connection was closed")
        headers = {
            "Authorization": f"Bearer {self._token}",
            "Connection": "close",
            **(headers or {}),
        }
        problem: Error = unreachable("no answer")
        for tried in range(TRIES):
            if tried:
                time.sleep(PAUSE * 2 ** (tried - 1))
            try:
                status, answer = self._once(method, path, body, headers, most)
            except (OSError, http.client.HTTPException) as error:
                refused = unproved(error)
                if refused is not None:
                    raise refused from None
                problem = unreachable(error or type(error).__name__)
                continue
            if 200 <= status < 300:
                return answer
            problem = _refused(status, answer)
            if method == "DELETE" and tried and problem.code == "service.not-found":
                # The answer to an earlier try was lost.
                return b""
            if status not in (502, 503, 504):
                break
        raise problem

    def json(
        self,
        method: str,
        path: str,
        request: Any = None,
        *,
        body: bytes | None = None,
        key: str | None = None,
    ) -> dict[str, Any]:
        """The object in the answer to a request in JSON, or with the bytes ``body``; ``key`` names
        the request, so that the service recognizes a repetition.
        """
        headers = {}
        if method == "POST":
            headers["Content-Type"] = "application/json"
            body = json.dumps(request, separators=(",", ":"), allow_nan=False).encode()
            if len(body) > JSON_BYTES:
                raise ServiceError(
                    f"bytes of a request: at most {JSON_BYTES} are accepted",
                    code="service.too-large",
                )
        if key is not None:
            headers["Idempotency-Key"] = key
        try:
            found = json.loads(self.send(method, path, body, headers=headers))
        except (ValueError, RecursionError) as error:
            if isinstance(error, Error):
                raise
            raise malformed("the answer", "expected JSON") from None
        if not isinstance(found, dict):
            raise malformed("the answer", "expected an object in JSON")
        return found


def _is_near(host: str) -> bool:
    """Whether the name is that of this machine."""
    if host == "localhost":
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


def _read(response: http.client.HTTPResponse, most: int) -> bytes:
    """A whole body; one that is too long, takes too long, or ends early is refused."""
    if response.length is None and not response.chunked:
        # Its head has ended early, which http.client takes for the end of the head.
        raise http.client.IncompleteRead(b"")
    until, data = time.monotonic() + ANSWER_SECONDS, bytearray()
    while part := response.read1(1 << 20):
        data += part
        if len(data) > most:
            raise malformed("the answer", f"expected at most {most} bytes")
        if time.monotonic() > until:
            raise TimeoutError("the answer took too long")
    if response.length:
        raise http.client.IncompleteRead(bytes(data[:0]), response.length)
    return bytes(data)


def _refused(status: int, answer: bytes) -> Error:
    """The exception for an answer that reports an error."""
    try:
        found = json.loads(answer)
        return told(found["error"])
    except (ValueError, TypeError, KeyError, RecursionError):
        return unreachable(f"it answered with status {status}")
