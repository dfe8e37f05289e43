"""What can go wrong: one tree of exceptions, each with a stable ``code`` and the numbers that its
message states as attributes.
"""

from __future__ import annotations

from typing import Any


class Error(Exception):
    """Any refusal of this package.

    ``code`` is a name for programs, such as ``"wire.truncated"``; ``fields`` holds what the message
    states, also as attributes.
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
    """A parameter set that does not hold together, or that cannot do what is asked."""


class InsecureError(ParameterError):
    """A set below 128 bits without ``insecure_research=True``."""


class FrequentFailuresError(ParameterError):
    """A set whose bootstrapping gives wrong values with a probability above 2^-40,
    2^``failure_log2``, without ``allow_failures=True``.
    """


class FailureWarning(UserWarning):
    """Keys are made or values decrypted of a set whose bootstrapping gives wrong values with a
    probability above 2^-128.
    """


class UncheckedWarning(UserWarning):
    """Bytes are decrypted that a server took from AES without a check of their AES key, their mode
    and their vector.
    """


class RecoveryWarning(UserWarning):
    """A run was interrupted while it wrote: what it had left was removed, or what it had begun to
    replace was finished.
    """


class OtherParametersError(ParameterError):
    """Objects of different parameter sets."""


class WrongKeyError(Error, ValueError):
    """Keys or arrays of two owners; ``left`` and ``right`` are the ids of their secret keys, in
    short.
    """


class DecryptionError(Error, ValueError):
    """What was decrypted cannot be what was encrypted: another key, changed bytes, a false noise
    bound or range; or nothing would tell.
    """


class RangeError(Error, ValueError):
    """A value outside of its range. Nothing is reduced silently."""


class ShapeError(Error, ValueError):
    """Shapes that do not fit each other, or the slots."""


class DtypeError(Error, TypeError):
    """An array of something else than integers."""


class NotHomomorphicError(Error, TypeError):
    """What cannot be done to encrypted entries, or not in this way; the message names the way."""


class NoiseError(Error, ArithmeticError):
    """A result that could be wrong: too much noise, even for bootstrapping."""


class KeyMissingError(Error, LookupError):
    """Server keys that were not made."""


class NoServerError(Error, RuntimeError):
    """A computation on an array that no server holds: see ``Server.load``."""


class ProgramError(Error, ValueError):
    """A program that cannot be read or run; ``column`` says where, from 1."""


class FormatError(Error, ValueError):
    """Bytes that are not what they should be."""


class FileError(Error, OSError):
    """A file that cannot be read or written; ``path`` says which."""

    def __str__(self) -> str:
        return f"{self.message} [{self.code}]"


class TableError(Error, ValueError):
    """A schema, a cell or a query that encrypted tables do not have, or files of them that do
    not belong together.
    """


class AesError(Error, ValueError):
    """AES data, keys or modes that do not fit."""


class SecretKeyError(Error, TypeError):
    """A secret key on its way to where it should not go."""


class ClusterError(Error, RuntimeError):
    """Work on a cluster that could not be finished."""


class ServiceError(Error, RuntimeError):
    """What a service refused or could not do, or that it cannot be reached."""
