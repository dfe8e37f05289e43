"""Encrypted sums of typed integers."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NoReturn

import numpy as np

from . import _everlevel as _rust
from ._encrypted import Encrypted, not_homomorphic
from ._html import facts
from ._kinds import Interval, dtype_of
from ._params import Params
from ._stored import Stated, Stored


class EncryptedTotal(Encrypted, Stored):
    """The encrypted sum of an array. It can be decrypted, not computed on."""

    __slots__ = ("_parts", "_factor")
    __array_ufunc__ = None

    _parts: tuple[_rust.Total, ...]
    _factor: int

    def __init__(self) -> None:
        raise TypeError("encrypted totals come from EncryptedIntegers.sum")

    @classmethod
    def _make(cls, parts: Sequence[_rust.Total], factor: int) -> EncryptedTotal:
        self = object.__new__(cls)
        self._parts, self._factor = tuple(parts), factor
        return self

    @property
    def shape(self) -> tuple[()]:
        """()."""
        return ()

    @property
    def interval(self) -> Interval:
        """The least and the largest value that the sum can have."""
        low, high = zip(*(part.interval for part in self._parts))
        return self._factor * sum(low), self._factor * sum(high)

    @property
    def dtype(self) -> np.dtype[Any]:
        """The smallest dtype of integers that holds all of these values."""
        return dtype_of(self.interval, counted=True)

    @property
    def ciphertexts(self) -> int:
        """The number of ciphertexts that hold it."""
        return self._factor * sum(part.ciphertexts for part in self._parts)

    def _set(self) -> Params:
        return Params._of(self._parts[0].params)

    def _stated(self) -> Stated:
        return self._parts, None, 1, None, False

    def _no_operation(self, *_: Any) -> NoReturn:
        raise not_homomorphic(
            "a total is decrypted, not computed on",
            "compute on client.decrypt(total), or on x.sum_of_each(), the sum in each entry",
        )

    __add__ = __radd__ = __sub__ = __rsub__ = __mul__ = __rmul__ = __floordiv__ = __rfloordiv__ = (
        __truediv__
    ) = __rtruediv__ = _no_operation
    __mod__ = __rmod__ = __neg__ = __abs__ = __lt__ = __le__ = __gt__ = __ge__ = _no_operation

    def __eq__(self, other: object) -> Any:
        self._no_operation()

    def __ne__(self, other: object) -> Any:
        self._no_operation()

    __hash__ = Encrypted.__hash__

    def _repr_html_(self) -> str:
        low, high = self.interval
        rows = [
            ("values", f"{low} to {high}"),
            ("parameter set", self._set().name),
            ("ciphertexts", self.ciphertexts),
        ]
        return facts("EncryptedTotal", rows)

    def __repr__(self) -> str:
        low, high = self.interval
        return f"<EncryptedTotal of {low} to {high} in {self.ciphertexts} ciphertexts>"
