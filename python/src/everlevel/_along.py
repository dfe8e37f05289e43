"""Computations along arrays of typed integers: sums, extremes, order."""

from __future__ import annotations

import itertools
import operator
from typing import TYPE_CHECKING, Any, cast, overload

import numpy.typing as npt

from . import _everlevel as _rust
from . import _options, _rows, _short
from ._converted import Converted
from ._encrypted import not_homomorphic
from ._kinds import entries
from ._operands import _on, is_typed
from ._totals import EncryptedTotal
from .errors import RangeError, ShapeError

if TYPE_CHECKING:
    from ._integers import EncryptedIntegers

#: Operations of all entries that are also those of each array along the last axis.
LAST = frozenset({"maximum", "minimum", "argmax", "argmin", "nth", "cumsum", "argsort"})

#: Operations along a vector whose results are entries of it, which wrap where it does.
CHOSEN = frozenset({"sort", "maximum", "minimum", "nth"})

#: Those whose results are sums or places: no truth values, also of a vector of one or two entries.
COUNTED = frozenset({"sum_of_each", "cumsum", "argsort", "argmax", "argmin"})


class Along(Converted):
    """Entries that are computed with each other: those of a vector, or along an axis of rows."""

    __slots__ = ()

    @overload
    def sum(
        self,
        axis: None = None,
        dtype: None = None,
        out: None = None,
        keepdims: bool = False,
        initial: int = 0,
        where: bool = True,
    ) -> EncryptedTotal: ...

    @overload
    def sum(
        self,
        axis: int | tuple[int, ...],
        dtype: None = None,
        out: None = None,
        keepdims: bool = False,
        initial: int = 0,
        where: bool = True,
    ) -> EncryptedTotal | EncryptedIntegers: ...

    def sum(
        self,
        axis: int | tuple[int, ...] | None = None,
        dtype: None = None,
        out: None = None,
        keepdims: bool = False,
        initial: int = 0,
        where: bool = True,
    ) -> EncryptedTotal | EncryptedIntegers:
        """The sum of all entries, which is decrypted: log2 of the slots rotations for each digit.

        Along an axis of rows, or the last axis, sums that are computed on. Options are those of
        NumPy's: ``keepdims`` where results are arrays, others with the values that they have there.
        """
        keep = _options.read(
            "sum", dtype=dtype, out=out, keepdims=keepdims, initial=initial, where=where
        )
        place = _rows.one_axis(axis, self.ndim, "sums")
        if place is not None and not self._is_vector(place, "sums"):
            if _short.length(self, place, "sums") is not None:
                return self._kept(_short.total(self), place, keep)
            return self._kept(_rows.total(_rows.along(self, place, "sums")), place, keep)
        _options.no_total("sum", keep)
        server = _on(self._server)
        return EncryptedTotal._make(
            [server._integers.totals("sum", x)[0] for x in self._blocks], server._factor
        )

    def sum_of_each(self) -> EncryptedIntegers:
        """The sum of all entries, in each entry of an array of the same shape, which is computed
        on: ``x > x.sum_of_each() // 10``. Of at most as many as there are slots; log2 of the slots
        rotations for each digit, and carries after each.
        """
        return self._along("sum_of_each", shape=self._shape)

    def _kept(self, found: EncryptedIntegers, axis: Any, keep: bool) -> EncryptedIntegers:
        """A result along an axis, which stays with one entry if asked for."""
        return _rows.kept(self, found, axis, keep)

    def mean(
        self,
        axis: int | tuple[int, ...] | None = None,
        dtype: None = None,
        out: None = None,
        keepdims: bool = False,
        *,
        where: bool = True,
    ) -> EncryptedTotal:
        """The mean of all entries, rounded down when it is decrypted, so the party that decrypts
        sees the sum; of at most as many as there are slots.
        """
        keep = _options.read("mean", dtype=dtype, out=out, keepdims=keepdims, where=where)
        place = _rows.one_axis(axis, self.ndim, "means")
        if place is not None and not self._is_vector(place, "means"):
            raise not_homomorphic(
                f"means along axis {place}",
                f"x.sum(axis={place}) // n rounds down, or decrypt the sums",
            )
        _options.no_total("mean", keep)
        return EncryptedTotal._make(
            _on(self._server)._integers.totals("mean", self._vector("mean")), 1
        )

    def dot(
        self, weights: npt.ArrayLike | EncryptedIntegers, out: None = None
    ) -> EncryptedTotal | EncryptedIntegers:
        """The scalar product with a vector of public integers; with an encrypted one, as ``@``."""
        _options.read("dot", out=out)
        if is_typed(weights):
            return cast("EncryptedIntegers", self) @ weights
        array, server = entries(weights), _on(self._server)
        if array.shape != self._shape or self.ndim != 1:
            raise ShapeError(
                f"a scalar product of shapes {array.shape} and {self._shape}: expected vectors of "
                "one length",
                code="python.shape",
            )
        if self._runs > 1:
            return _rows.product(array, self)
        slots, flat = self._params.slots, array.tolist()
        parts = [
            server._integers.totals("dot", x, flat[i * slots : (i + 1) * slots])[0]
            for i, x in enumerate(self._blocks)
        ]
        return EncryptedTotal._make(parts, server._factor)

    def _is_vector(self, axis: int | None, what: str) -> bool:
        """Whether it is a vector, not by rows, of which this is the axis; what is no axis is
        refused.
        """
        if axis is not None:
            _rows.axis_of(axis, self.ndim, what)
        return self.ndim == 1 and self._runs == 1

    def _vector(self, operation: str) -> _rust.Column:
        """The only block of a vector."""
        if self.ndim != 1 or self._runs > 1 or self.size > self._params.slots:
            if self.ndim > 1 and self._runs == 1 and operation in LAST:
                raise ShapeError(
                    f"{_short.SHOWN.get(operation, operation)} of all entries of an array of shape "
                    f"{self._shape}: {_rows.of_all(self)}",
                    code="python.shape",
                )
            rows = " by rows" if self._runs > 1 else ""
            raise ShapeError(
                f"{operation} of an array of shape {self._shape}{rows}: expected a vector of at "
                f"most {self._params.slots} entries, or axis=0 of an array that was "
                "encrypted with rows=True",
                code="python.shape",
            )
        return self._blocks[0]

    def _along(self, name: str, *numbers: int, shape: tuple[int, ...] = ()) -> EncryptedIntegers:
        """An operation along a vector."""
        server, block = _on(self._server), self._vector(name)
        blocks = server._integers.apply(name, [block], list(numbers))
        wrap = self._wrap if name in CHOSEN else None
        counted = name in COUNTED or (name in CHOSEN and self._counted)
        return cast("EncryptedIntegers", self._make(blocks, shape, server, wrap, 1, counted))

    def _ordered(self, name: str, axis: Any, keep: bool) -> EncryptedIntegers:
        """An order statistic: of a vector with all entries side by side, of rows one after the
        other.
        """
        what = _short.SHOWN.get(name, name)
        if self._is_vector(axis, what) or (axis is None and self.ndim != 1):
            found = self._along(name)
        elif _short.length(self, axis, name) is not None:
            found = _short.extreme(self, name)
        else:
            found = _rows.ORDERED[name](_rows.along(self, 0 if axis is None else axis, what))
        return self._kept(found, axis, keep)

    def max(
        self,
        axis: int | tuple[int, ...] | None = None,
        out: None = None,
        keepdims: bool = False,
        initial: Any = _options.UNSET,
        where: bool = True,
    ) -> EncryptedIntegers:
        """The largest entry, of at most as many as there are slots.

        Along an axis of rows one comparison less than there are rows, on whole rows. Along the last
        axis of an array in one ciphertext log2 n comparisons of all arrays of n entries at once.
        """
        keep = _options.read("max", out=out, keepdims=keepdims, initial=initial, where=where)
        return self._ordered("maximum", _rows.one_axis(axis, self.ndim, "max"), keep)

    def min(
        self,
        axis: int | tuple[int, ...] | None = None,
        out: None = None,
        keepdims: bool = False,
        initial: Any = _options.UNSET,
        where: bool = True,
    ) -> EncryptedIntegers:
        """The least entry, as ``max``."""
        keep = _options.read("min", out=out, keepdims=keepdims, initial=initial, where=where)
        return self._ordered("minimum", _rows.one_axis(axis, self.ndim, "min"), keep)

    def argmax(
        self, axis: int | None = None, out: None = None, *, keepdims: bool = False
    ) -> EncryptedIntegers:
        """The position of the largest entry, the first one of equal ones; it costs as ``max``."""
        keep = _options.read("argmax", out=out, keepdims=keepdims)
        return self._ordered("argmax", axis, keep)

    def argmin(
        self, axis: int | None = None, out: None = None, *, keepdims: bool = False
    ) -> EncryptedIntegers:
        """The position of the least entry, the first one of equal ones; it costs as ``max``."""
        keep = _options.read("argmin", out=out, keepdims=keepdims)
        return self._ordered("argmin", axis, keep)

    def any(
        self,
        axis: int | tuple[int, ...] | None = None,
        out: None = None,
        keepdims: bool = False,
        *,
        where: bool = True,
    ) -> EncryptedIntegers:
        """True, encrypted, if at least one entry is not 0: of a vector by the sum in each entry and
        a comparison, along an axis of rows by logic of whole rows, and along the last axis by sums
        and a comparison.
        """
        keep = _options.read("any", out=out, keepdims=keepdims, where=where)
        place = _rows.one_axis(axis, self.ndim, "any")
        found: EncryptedIntegers
        if self._is_vector(place, "any"):
            found = self.checked()._truth()._of_count("any", "gt", 0)
        elif _short.length(self, place, "any") is not None:
            found = _short.total(self.checked()._truth()) > 0
        else:
            parts = _rows.along(self.checked(), place, "any")
            found = _rows.reduced([x._truth() for x in parts], operator.or_)
        return self._kept(found, place, keep)

    def all(
        self,
        axis: int | tuple[int, ...] | None = None,
        out: None = None,
        keepdims: bool = False,
        *,
        where: bool = True,
    ) -> EncryptedIntegers:
        """True, encrypted, if no entry is 0; computed as ``any``."""
        keep = _options.read("all", out=out, keepdims=keepdims, where=where)
        place = _rows.one_axis(axis, self.ndim, "all")
        found: EncryptedIntegers
        if self._is_vector(place, "all"):
            found = self.checked()._truth()._of_count("all", "eq", self.size)
        elif (count := _short.length(self, place, "all")) is not None:
            found = _short.total(self.checked()._truth()) == count
        else:
            parts = _rows.along(self.checked(), place, "all")
            found = _rows.reduced([x._truth() for x in parts], operator.and_)
        return self._kept(found, place, keep)

    def _of_count(self, what: str, comparison: str, limit: int) -> EncryptedIntegers:
        """How a public integer compares with the number of entries of a vector that are 1."""
        server, block = _on(self._server), self._vector(what)
        count = server._integers.apply("sum_of_each", [block], [])[0]
        reached = server._integers.apply(comparison, [count, limit], [])[0]
        blocks = server._integers.apply("shortened", [reached], [1])
        return cast("EncryptedIntegers", self._make(blocks, (), server))

    def ptp(
        self,
        axis: int | tuple[int, ...] | None = None,
        out: None = None,
        keepdims: bool = False,
    ) -> EncryptedIntegers:
        """The largest entry minus the least one, as ``max``."""
        keep = _options.read("ptp", out=out, keepdims=keepdims)
        return self.max(axis, keepdims=keep) - self.min(axis, keepdims=keep)

    def argsort(
        self,
        axis: int | None = -1,
        kind: Any = None,
        order: None = None,
        *,
        stable: bool | None = None,
        take: int | None = None,
        descending: bool = False,
    ) -> EncryptedIntegers:
        """The places of entries in order, or of the first ``take`` of them: a stable sort, whatever
        ``kind`` says; along the last axis of an array in one ciphertext all places.
        """
        _options.read("argsort", order=order)
        what = "places in order"
        if _short.length(self, axis, what) is not None:
            if take is not None:
                raise not_homomorphic(
                    f"the first {take} {what} along the last axis",
                    "x.argsort() has all of them, and costs the same",
                )
            return _short.places(self, descending)
        place = None if axis is None else _rows.axis_of(axis, self.ndim, what)
        if place is not None and self.ndim > 1 and self._shape[place] == 1:
            # The only entry along the axis is the first one.
            self._taken(1 if take is None else take, 1)
            return (self.checked() * 0)._counting()
        if place is not None and self.ndim > 1:
            raise not_homomorphic(
                f"{what} along axis {place}",
                "x.argsort() has those along the last axis of an array that was encrypted without "
                "rows=True",
            )
        return self._first("argsort", self.size if take is None else take, descending)

    def nlargest(self, n: int) -> EncryptedIntegers:
        """The ``n`` largest entries, the largest first, as of a series in pandas."""
        return self._first("sort", n, True)

    def nsmallest(self, n: int) -> EncryptedIntegers:
        """The ``n`` least entries, the least first, as of a series in pandas."""
        return self._first("sort", n, False)

    def _first(self, name: str, take: int, descending: bool) -> EncryptedIntegers:
        take = self._taken(take, self.size)
        return self._along(name, take, int(descending), shape=(take,))

    def _taken(self, take: int, size: int) -> int:
        """How many of a number of entries in order are taken."""
        take = operator.index(take)
        if not 1 <= take <= size:
            raise RangeError(f"the first {take} entries: expected 1 to {size}", code="python.take")
        return take

    def cumsum(
        self, axis: int | None = None, dtype: None = None, out: None = None
    ) -> EncryptedIntegers:
        """Prefix sums: of a vector of at most as many entries as there are slots log2 n rotations,
        and carries after each; so along the last axis, with n entries along it. Along an axis of
        rows sums of whole rows.
        """
        _options.read("cumsum", dtype=dtype, out=out)
        if axis is not None and not self._is_vector(axis, "prefix sums"):
            if _short.length(self, axis, "prefix sums") is not None:
                return _short.cumulative(self)
            parts = _rows.along(self, axis, "prefix sums")
            return _rows.joined(list(itertools.accumulate(parts)), axis)._counting()
        return self._along("cumsum", shape=self._shape)
