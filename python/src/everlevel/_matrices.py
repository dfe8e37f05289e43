"""NumPy's functions of matrices and of vectors as in linear algebra."""

from __future__ import annotations

import operator
from typing import Any

import numpy as np

from . import _options
from ._encrypted import Encrypted, not_homomorphic
from ._integers import EncryptedIntegers
from ._kinds import entries
from ._ways import WAYS
from .errors import ShapeError


def outer(a: Any, b: Any) -> Any:
    """A public vector times an encrypted one: a row for each entry of the public one."""
    if isinstance(a, Encrypted) or not isinstance(b, EncryptedIntegers) or b.ndim != 1:
        raise not_homomorphic("np.outer of these", WAYS["outer"])
    return entries(a).reshape(-1, 1) * b


def inner(a: Any, b: Any) -> Any:
    """The scalar product of two vectors."""
    if np.ndim(a) != 1 or np.ndim(b) != 1:
        raise not_homomorphic("a scalar product of matrices", WAYS["matmul"])
    return dot(a, b)


def trace(a: EncryptedIntegers, offset: int = 0) -> Any:
    """The sum of a diagonal, which is decrypted."""
    return (a * np.eye(*_matrix(a, "np.trace"), k=operator.index(offset), dtype=int)).sum()


def tril(m: EncryptedIntegers, k: int = 0) -> Any:
    """The entries on and below a diagonal, and 0 above it."""
    return m * np.tri(*_matrix(m, "np.tril"), k=operator.index(k), dtype=int)


def triu(m: EncryptedIntegers, k: int = 0) -> Any:
    """The entries on and above a diagonal, and 0 below it."""
    # Of an unsigned integer of NumPy's, 0 less 1 would be another one.
    return m * (1 - np.tri(*_matrix(m, "np.triu"), k=operator.index(k) - 1, dtype=int))


def _matrix(a: EncryptedIntegers, what: str) -> tuple[int, int]:
    """The shape of a matrix."""
    if a.ndim != 2:
        raise ShapeError(
            f"{what} of an array of shape {a.shape}: expected two dimensions", code="python.shape"
        )
    return a.shape[0], a.shape[1]


def dot(a: Any, b: Any, out: None = None) -> Any:
    _options.read("dot", out=out)
    return a.__matmul__(b) if isinstance(a, EncryptedIntegers) else b.__rmatmul__(a)
