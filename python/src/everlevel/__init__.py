"""Exact homomorphic encryption of integers, for computations of any length.

    >>> import everlevel, numpy as np
    >>> # A toy: for data, everlevel.Params("bgv-65537-n15").
    >>> params = everlevel.Params("insecure_bgv-65537-n11", insecure_research=True)
    >>> client = everlevel.Client(params)          # holds the secret key
    >>> server = client.server()                   # holds server keys only
    >>> x = server.load(client.encrypt_modular(np.arange(10)))
    >>> y = 3 * x * (1 - x)                        # bootstraps by itself when it must
    >>> client.decrypt(y, signed=True)
    array([   0,    0,   -6,  -18,  -36,  -60,  -90, -126, -168, -216])

    >>> age = server.load(client.encrypt(np.array([17, 20, 70]), dtype=np.uint8))
    >>> client.decrypt(np.where(age < 18, 2, 5))
    array([2, 5, 5], dtype=uint8)

Roles: :class:`Client` (the key's owner), :class:`PublicKey` (encrypts), :class:`Server` (computes).
:class:`EncryptedIntegers`
behaves like a NumPy array of integers that never wraps, :class:`EncryptedArray` like one of
integers modulo p^r. :mod:`everlevel.tables` answers queries in SQL, :mod:`everlevel.aes` takes
AES data, :mod:`everlevel.cluster` many machines; :class:`Remote` asks a service. All errors are
below :class:`everlevel.Error`.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from . import _everlevel as _rust
from . import _modular, _numpy  # noqa: F401  They enter what NumPy's functions do with arrays.
from ._array import EncryptedArray
from ._columns import integers_from_bytes, integers_to_bytes
from ._inspect import inspect
from ._integers import EncryptedIntegers
from ._keys import KeyChange
from ._kinds import indexed, ranged
from ._manifest import Manifest, ManifestKey
from ._params import Params, names
from ._planned import Plan
from ._programs import (
    Program,
    bool_,
    int8,
    int16,
    int32,
    int64,
    program,
    uint8,
    uint16,
    uint32,
    uint64,
)
from ._public_key import PublicKey
from ._remote import Remote
from ._roles import Client
from ._rows import rows
from ._server import Explanation, Server, plan_bytes
from ._tables import Table
from ._totals import EncryptedTotal
from .errors import (
    AesError,
    ClusterError,
    DecryptionError,
    DtypeError,
    Error,
    FailureWarning,
    FileError,
    FormatError,
    FrequentFailuresError,
    InsecureError,
    KeyMissingError,
    MissingMethodError,
    NoiseError,
    NoServerError,
    NotHomomorphicError,
    OtherParametersError,
    ParameterError,
    ProgramError,
    RangeError,
    RecoveryWarning,
    SecretKeyError,
    ServiceError,
    ShapeError,
    TableError,
    UncheckedWarning,
    WrongKeyError,
)

if TYPE_CHECKING:
    from . import aes, bench, cluster, planner, plot, selftest, tables

__version__: str = _rust.build()[0]

# Imported when they are first used, so that `import everlevel` stays quick.
_MODULES = ("aes", "bench", "cluster", "planner", "plot", "selftest", "tables")

__all__ = [
    "AesError",
    "Client",
    "ClusterError",
    "DecryptionError",
    "DtypeError",
    "EncryptedArray",
    "EncryptedIntegers",
    "EncryptedTotal",
    "Error",
    "Explanation",
    "FailureWarning",
    "FileError",
    "FormatError",
    "FrequentFailuresError",
    "InsecureError",
    "KeyChange",
    "KeyMissingError",
    "Manifest",
    "ManifestKey",
    "MissingMethodError",
    "NoServerError",
    "NoiseError",
    "NotHomomorphicError",
    "OtherParametersError",
    "ParameterError",
    "Params",
    "Plan",
    "Program",
    "ProgramError",
    "PublicKey",
    "RangeError",
    "RecoveryWarning",
    "Remote",
    "SecretKeyError",
    "Server",
    "ServiceError",
    "ShapeError",
    "Table",
    "TableError",
    "UncheckedWarning",
    "WrongKeyError",
    "aes",
    "bench",
    "bool_",
    "cluster",
    "config",
    "get_num_threads",
    "indexed",
    "inspect",
    "int16",
    "int32",
    "int64",
    "int8",
    "integers_from_bytes",
    "integers_to_bytes",
    "names",
    "plan_bytes",
    "planner",
    "plot",
    "program",
    "ranged",
    "rows",
    "selftest",
    "set_num_threads",
    "show_config",
    "tables",
    "uint16",
    "uint32",
    "uint64",
    "uint8",
]


# Type checkers take the modules from the imports above, and so find mistaken names.
if not TYPE_CHECKING:

    def __getattr__(name: str) -> Any:
        if name in _MODULES:
            return import_module(f".{name}", __name__)
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}", name=name)


def __dir__() -> list[str]:
    return sorted({*globals(), *_MODULES})


def set_num_threads(count: int) -> None:
    """Sets the number of threads; 0 means one for each core.

    Results do not depend on it.
    """
    from ._values import counted

    _rust.set_num_threads(counted("threads", count, code="python.threads"))


def get_num_threads() -> int:
    """The number of threads."""
    return _rust.num_threads()


def config() -> dict[str, Any]:
    """The versions, the instruction set in use, and the number of threads."""
    import platform

    import numpy

    version, backend, wire_format = _rust.build()
    return {
        "everlevel": version,
        "wire format": wire_format,
        "instruction set": backend,
        "threads": get_num_threads(),
        "numpy": numpy.__version__,
        "python": platform.python_version(),
        "machine": platform.machine(),
    }


def show_config() -> None:
    """Prints the information that a bug report should contain."""
    for name, value in config().items():
        print(f"{name:16} {value}")
