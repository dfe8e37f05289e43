"""The exceptions of the package, each with a stable ``code``, and with the numbers in its message
as attributes.
"""

from __future__ import annotations

from typing import Any


class Error(Exception):
    """The base of all exceptions of this package.

    ``code`` is stable, such as ``"wire.truncated"``; ``fields`` has the values in the message,
    which are also attributes.
    """

    def __init__(self, message: str, *, code: str = "error", **fields: Any) -> None:
        super().__init__(message)
        self.message = message
        self.code = code
        self.fields = fields

    def __getattr__(self, name: str) -> Any:
        fields = self.__dict__.get("fields", {})
        if name in fields:
            return fields[name]
        raise AttributeError(f"{type(self).__name__} has no attribute {name!r}")

    def __reduce__(self) -> Any:
        return _restore, (type(self), self.message, self.code, self.fields)

    def __str__(self) -> str:
        return f"{self.message} [{self.code}]"


def _restore(cls: type[Error], message: str, code: str, fields: dict[str, Any]) -> Error:
    return cls(message, code=code, **fields)


class ParameterError(Error, ValueError):
    """A parameter set that is inconsistent, or does not support the operation."""


class InsecureError(ParameterError):
    """A set below 128 bits without ``insecure_research=True``."""


class FrequentFailuresError(ParameterError):
    """A set whose bootstrapping gives wrong values with a probability above 2^-40,
    2^``failure_log2``, without ``allow_failures=True``.
    """


class FailureWarning(UserWarning):
    """Keys are made or values decrypted with a set whose bootstrapping gives wrong values with a
    probability above 2^-128.
    """


class UncheckedWarning(UserWarning):
    """Bytes are decrypted that a server has transciphered without a check of their AES key, their
    mode and their vector.
    """


class RecoveryWarning(UserWarning):
    """An earlier run was interrupted while it wrote files: its remains were removed, or a
    replacement that it had begun was finished.
    """


class OtherParametersError(ParameterError):
    """Objects of different parameter sets."""


class WrongKeyError(Error, ValueError):
    """Keys or arrays of two owners; ``left`` and ``right`` are short forms of the ids of their
    secret keys.
    """


class DecryptionError(Error, ValueError):
    """The decrypted values cannot be correct, because of another key, changed bytes, or a false
    noise bound or range; or it would be impossible to tell.
    """


class RangeError(Error, ValueError):
    """A value outside of its range. Nothing is reduced silently."""


class ShapeError(Error, ValueError):
    """Shapes that do not fit each other, or the slots."""


class DtypeError(Error, TypeError):
    """An array of other objects than integers."""


class NotHomomorphicError(Error, TypeError):
    """An operation that encrypted entries do not support, or not in this form; the message names an
    alternative.
    """


class MissingMethodError(NotHomomorphicError, AttributeError):
    """A method or an attribute of NumPy's arrays that encrypted ones do not have: ``hasattr`` says
    that it is not there; the message names an alternative.
    """


class NoiseError(Error, ArithmeticError):
    """A result that could be wrong: too much noise, even for bootstrapping."""


class KeyMissingError(Error, LookupError):
    """Server keys that are missing."""


class NoServerError(Error, RuntimeError):
    """A computation on an array that no server holds: see ``Server.load``."""


class ProgramError(Error, ValueError):
    """A program that cannot be parsed or run; ``column`` is the position in the text, from 1."""


class FormatError(Error, ValueError):
    """Bytes that are malformed, damaged or not the expected object."""


class FileError(Error, OSError):
    """A file that cannot be read or written; ``path`` is its path."""

    def __str__(self) -> str:
        return f"{self.message} [{self.code}]"


class TableError(Error, ValueError):
    """A schema, a cell or a query that encrypted tables do not support, or files of tables that do
    not belong together.
    """


class AesError(Error, ValueError):
    """AES data, keys or modes that are invalid or do not belong together."""


class SecretKeyError(Error, TypeError):
    """An operation that would disclose a secret key, such as pickling it."""


class ClusterError(Error, RuntimeError):
    """Work on a cluster that could not be finished."""


class ServiceError(Error, RuntimeError):
    """A service refused a request, failed, or cannot be reached."""
