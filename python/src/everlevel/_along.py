"""Computations along arrays of typed integers: sums, extremes, order."""

from __future__ import annotations

import itertools
import operator
from typing import TYPE_CHECKING, cast, overload

import numpy.typing as npt

from . import _everlevel as _rust
from . import _rows, _short
from ._converted import Converted
from ._encrypted import not_homomorphic
from ._kinds import entries
from ._operands import _on, is_typed
from ._totals import EncryptedTotal
from .errors import RangeError, ShapeError

if TYPE_CHECKING:
    from ._integers import EncryptedIntegers

#: Operations along a vector whose results are entries of it, which wrap where it does.
CHOSEN = frozenset({"sort", "maximum", "minimum", "nth"})

#: Those whose results are sums or places: no truth values, also of a vector of one or two entries.
COUNTED = frozenset({"sum_of_each", "cumsum", "argsort", "argmax", "argmin"})


class Along(Converted):
    """Entries that are computed with each other: those of a vector, or along an axis of rows."""

    __slots__ = ()

    @overload
    def sum(self, axis: None = None) -> EncryptedTotal: ...

    @overload
    def sum(self, axis: int) -> EncryptedTotal | EncryptedIntegers: ...

    def sum(self, axis: int | None = None) -> EncryptedTotal | EncryptedIntegers:
        """The sum of all entries, which is decrypted: log2 of the slots rotations for each digit.

        Along an axis of rows, or the last axis, sums that are computed on.
        """
        if axis is not None and not self._is_vector(axis, "sums"):
            if _short.length(self, axis, "sums") is not None:
                return _short.total(self)
            return _rows.total(_rows.along(self, axis, "sums"))
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

    def mean(self, axis: int | None = None) -> EncryptedTotal:
        """The mean of all entries, rounded down when it is decrypted, so the party that decrypts
        sees the sum; of at most as many as there are slots.
        """
        if axis is not None and not self._is_vector(axis, "means"):
            raise not_homomorphic(
                f"means along axis {axis}",
                f"x.sum(axis={axis}) // n rounds down, or decrypt the sums",
            )
        return EncryptedTotal._make(
            _on(self._server)._integers.totals("mean", self._vector("mean")), 1
        )

    def dot(self, weights: npt.ArrayLike | EncryptedIntegers) -> EncryptedTotal | EncryptedIntegers:
        """The scalar product with a vector of public integers; with an encrypted one, as ``@``."""
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

    def _ordered(self, name: str, axis: int | None) -> EncryptedIntegers:
        """An order statistic: of a vector with all entries side by side, of rows one after the
        other.
        """
        if self._is_vector(axis, name) or (axis is None and self.ndim != 1):
            return self._along(name)
        if _short.length(self, axis, name) is not None:
            return _short.extreme(self, name)
        return _rows.ORDERED[name](_rows.along(self, 0 if axis is None else axis, name))

    def max(self, axis: int | None = None) -> EncryptedIntegers:
        """The largest entry, of at most as many as there are slots.

        Along an axis of rows one comparison less than there are rows, on whole rows. Along the last
        axis of an array in one ciphertext log2 n comparisons of all arrays of n entries at once.
        """
        return self._ordered("maximum", axis)

    def min(self, axis: int | None = None) -> EncryptedIntegers:
        """The least entry, as ``max``."""
        return self._ordered("minimum", axis)

    def argmax(self, axis: int | None = None) -> EncryptedIntegers:
        """The position of the largest entry, the first one of equal ones; it costs as ``max``."""
        return self._ordered("argmax", axis)

    def argmin(self, axis: int | None = None) -> EncryptedIntegers:
        """The position of the least entry, the first one of equal ones; it costs as ``max``."""
        return self._ordered("argmin", axis)

    def any(self, axis: int | None = None) -> EncryptedIntegers:
        """True, encrypted, if at least one entry is not 0: of a vector by the sum in each entry and
        a comparison, along an axis of rows by logic of whole rows, and along the last axis by sums
        and a comparison.
        """
        if self._is_vector(axis, "any"):
            return self.checked()._truth()._of_count("any", "gt", 0)
        if _short.length(self, axis, "any") is not None:
            return _short.total(self.checked()._truth()) > 0
        found: EncryptedIntegers = _rows.reduced(
            [x._truth() for x in _rows.along(self.checked(), axis, "any")], operator.or_
        )
        return found

    def all(self, axis: int | None = None) -> EncryptedIntegers:
        """True, encrypted, if no entry is 0; computed as ``any``."""
        if self._is_vector(axis, "all"):
            return self.checked()._truth()._of_count("all", "eq", self.size)
        count = _short.length(self, axis, "all")
        if count is not None:
            return _short.total(self.checked()._truth()) == count
        found: EncryptedIntegers = _rows.reduced(
            [x._truth() for x in _rows.along(self.checked(), axis, "all")], operator.and_
        )
        return found

    def _of_count(self, what: str, comparison: str, limit: int) -> EncryptedIntegers:
        """How a public integer compares with the number of entries of a vector that are 1."""
        server, block = _on(self._server), self._vector(what)
        count = server._integers.apply("sum_of_each", [block], [])[0]
        reached = server._integers.apply(comparison, [count, limit], [])[0]
        blocks = server._integers.apply("shortened", [reached], [1])
        return cast("EncryptedIntegers", self._make(blocks, (), server))

    def ptp(self, axis: int | None = None) -> EncryptedIntegers:
        """The largest entry minus the least one, as ``max``."""
        return self.max(axis) - self.min(axis)

    def argsort(
        self, axis: int | None = -1, *, take: int | None = None, descending: bool = False
    ) -> EncryptedIntegers:
        """The places of entries in order, or of the first ``take`` of them: a stable sort; along
        the last axis of an array in one ciphertext all places.
        """
        what = "places in order"
        if _short.length(self, axis, what) is not None:
            if take is not None:
                raise not_homomorphic(
                    f"the first {take} {what} along the last axis",
                    "x.argsort() has all of them, and costs the same",
                )
            return _short.places(self, descending)
        if axis is not None and _rows.axis_of(axis, self.ndim, what) not in (0, self.ndim - 1):
            # Along another axis there are no places.
            _rows.along(self, axis, what)
        return self._first("argsort", self.size if take is None else take, descending)

    def nlargest(self, n: int) -> EncryptedIntegers:
        """The ``n`` largest entries, the largest first, as of a series in pandas."""
        return self._first("sort", n, True)

    def nsmallest(self, n: int) -> EncryptedIntegers:
        """The ``n`` least entries, the least first, as of a series in pandas."""
        return self._first("sort", n, False)

    def _first(self, name: str, take: int, descending: bool) -> EncryptedIntegers:
        take = operator.index(take)
        if not 1 <= take <= self.size:
            raise RangeError(
                f"the first {take} entries: expected 1 to {self.size}", code="python.take"
            )
        return self._along(name, take, int(descending), shape=(take,))

    def cumsum(self, axis: int | None = None) -> EncryptedIntegers:
        """Prefix sums: of a vector of at most as many entries as there are slots log2 n rotations,
        and carries after each; so along the last axis, with n entries along it. Along an axis of
        rows sums of whole rows.
        """
        if axis is not None and not self._is_vector(axis, "prefix sums"):
            if _short.length(self, axis, "prefix sums") is not None:
                return _short.cumulative(self)
            parts = _rows.along(self, axis, "prefix sums")
            return _rows.joined(list(itertools.accumulate(parts)), axis)._counting()
        return self._along("cumsum", shape=self._shape)
