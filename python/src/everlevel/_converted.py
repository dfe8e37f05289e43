"""Arrays of typed integers in other types and shapes, and by rows."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any, NoReturn, cast

import numpy.typing as npt

from . import _options, _rows
from ._encrypted import not_homomorphic
from ._kinds import interval_of, named
from ._operands import _apply
from ._typed import Typed
from .errors import DtypeError, RangeError

if TYPE_CHECKING:
    from ._integers import EncryptedIntegers


class Converted(Typed):
    """The same entries as another array of them."""

    __slots__ = ()

    def _apply(self, name: str, *operands: Any, numbers: Sequence[int] = ()) -> EncryptedIntegers:
        """An operation of the library on this array and others, entry by entry."""
        return _apply(name, (self, *operands), numbers)

    def _truth(self) -> EncryptedIntegers:
        """Truth values: of integers, whether they are not 0."""
        low, high = self.interval
        if 0 <= low and high <= 1:
            return cast("EncryptedIntegers", self._counting(False))
        return self._apply("ne", 0)

    def _is_bool(self) -> bool:
        low, high = self.interval
        return self._wrap is None and not self._counted and 0 <= low and high <= 1

    def wrapping(self, dtype: npt.DTypeLike | None = None) -> EncryptedIntegers:
        """The same entries, with arithmetic modulo 2^k as NumPy's, in their dtype or another one
        that holds them.
        """
        kind = named(self.dtype if dtype is None else dtype)
        if kind.kind == "b":
            raise DtypeError(
                "truth values do not wrap: use .astype(np.uint8).wrapping()", code="integers.type"
            )
        return self.astype(kind)._wrapping(kind)

    def checked(self) -> EncryptedIntegers:
        """The same entries, with arithmetic that does not wrap."""
        return cast("EncryptedIntegers", self._wrapping(None))

    def astype(
        self,
        dtype: npt.DTypeLike,
        *,
        wrap: bool = False,
        copy: bool = True,
        order: str = "K",
        casting: str = "unsafe",
        subok: bool = True,
    ) -> EncryptedIntegers:
        """Entries of another dtype: free where it holds them all, refused where it does not; with
        ``wrap`` modulo 2^k. To ``bool``: whether they are not 0. Of NumPy's other options the
        defaults are taken.
        """
        _options.read("astype", order=order, casting=casting)
        kind = named(dtype)
        low, high = interval_of(kind)
        least, most = self.interval
        if kind.kind == "b":
            return self.checked()._truth()
        if low <= least and most <= high:
            return self.checked()
        if wrap:
            return self.checked()._apply("wrapped", numbers=[low, high])
        raise RangeError(
            f"entries from {least} to {most} as {kind}, {low} to {high}: clip them first, or say "
            f"astype({str(kind)!r}, wrap=True) for the lowest bits",
            code="integers.range",
            low=least,
            high=most,
        )

    def normalized(self) -> EncryptedIntegers:
        """The same entries with all carries computed: decryption shows their values only."""
        return self._apply("normalized")

    def reshape(self, *shape: Any, order: str = "C", copy: bool | None = None) -> EncryptedIntegers:
        """The same entries in another shape, in row-major order. Free."""
        _options.read("reshape", order=order)
        found = self._make(
            self._blocks, self._reshaped(shape), self._server, self._wrap, self._runs, self._counted
        )
        return cast("EncryptedIntegers", found)

    def ravel(self, order: str = "C") -> EncryptedIntegers:
        """The entries as a vector, in row-major order. Free."""
        return self.reshape(-1, order=order)

    flatten = ravel

    def copy(self, order: str = "C") -> EncryptedIntegers:
        """The array itself, as encrypted arrays are not changed, whatever the order in memory."""
        return cast("EncryptedIntegers", self)

    def __getitem__(self, key: Any) -> EncryptedIntegers:
        """Rows, by any index of NumPy's, of an array that was encrypted with ``rows=True`` or
        stacked. Free.
        """
        if key is Ellipsis or (isinstance(key, slice) and key == slice(None)):
            return cast("EncryptedIntegers", self)
        return _rows.picked(self, key)

    def __setitem__(self, key: Any, value: Any) -> NoReturn:
        raise not_homomorphic(
            "encrypted arrays are immutable", "use np.where(mask, value, x), which is a new array"
        )

    def __iter__(self) -> Iterator[EncryptedIntegers]:
        """The rows of an array that was encrypted with ``rows=True`` or stacked."""
        if not self._shape or self._runs % self._shape[0]:
            raise not_homomorphic(
                "a loop over encrypted entries",
                "operators work on all entries at once; client.decrypt(x) gives an array to loop "
                "over",
            )
        return (self[i] for i in range(self._shape[0]))
