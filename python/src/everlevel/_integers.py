"""Encrypted arrays of typed integers, with the operators and functions of NumPy's."""

from __future__ import annotations

import itertools
import operator
from collections.abc import Iterator, Sequence
from typing import Any, NoReturn, overload

import numpy as np
import numpy.typing as npt

from . import _everlevel as _rust
from . import _layout
from ._encrypted import Encrypted, missing, not_homomorphic
from ._kinds import MOST, Kind, entries, interval_of, named, whole
from ._operands import (
    _apply,
    _bits,
    _check_wrapping,
    _column,
    _constants,
    _each,
    _modulus,
    _on,
    _tabulated,
    _wrapped,
)
from ._totals import EncryptedTotal
from ._typed import Typed
from ._values import is_integer
from .errors import DtypeError, RangeError, ShapeError


#: The largest multiples that are exact before they wrap: digits may begin up to 16 times lower.
EXACT = MOST // 16


class EncryptedIntegers(Typed):
    """An encrypted array of integers: ``bool``, ``uint8`` to ``int64``, or of an interval.

    Which values entries can have is public, follows from types and operations alone, and is
    :attr:`interval`: nothing wraps, what could leave its range is refused before anything is
    computed, and :attr:`dtype` is the smallest one that holds the interval. :meth:`wrapping` makes
    arithmetic modulo 2^k instead.

    Operators and NumPy's functions work entry by entry with arrays of the same shape, NumPy arrays
    and integers. Comparisons are encrypted arrays of ``bool``. What cannot be done is a
    ``TypeError`` that says what to do instead.
    """

    __slots__ = ()

    def __init__(self) -> None:
        raise TypeError("encrypted integers come from Client.encrypt and PublicKey.encrypt")

    # Operations

    def _apply(self, name: str, *operands: Any, numbers: Sequence[int] = ()) -> EncryptedIntegers:
        """An operation of the library on this array and others, entry by entry."""
        return _apply(name, (self, *operands), numbers)

    def _arithmetic(
        self, name: str, *operands: Any, numbers: Sequence[int] = ()
    ) -> EncryptedIntegers:
        """The same, modulo 2^k if this array or an operand wraps."""
        return _wrapped(_apply(name, (self, *operands), numbers), (self, *operands))

    def _operand(self, other: Any) -> Any:
        """An operand in a form that is computed on: encrypted integers, a Python integer or an
        array of integers.
        """
        if isinstance(other, EncryptedIntegers):
            return other
        if isinstance(other, (bool, int)):
            return whole(other)
        if isinstance(other, EncryptedTotal):
            other._no_operation()
        if isinstance(other, (float, np.inexact)):
            raise DtypeError(
                f"{other!r}: expected integers; scale and round it first", code="integers.value"
            )
        array = entries(other)
        return int(array[()]) if array.shape == () else array

    def _truth(self) -> EncryptedIntegers:
        """Truth values: of integers, whether they are not 0."""
        low, high = self.interval
        return self if 0 <= low and high <= 1 else self._apply("ne", 0)

    def _is_bool(self) -> bool:
        low, high = self.interval
        return self._wrap is None and 0 <= low and high <= 1

    def __add__(self, other: Any) -> EncryptedIntegers:
        """Sum. Nothing, or carries of what is a sum itself."""
        return self._arithmetic("add", self._operand(other))

    __radd__ = __add__

    def __sub__(self, other: Any) -> EncryptedIntegers:
        """Difference. As sums."""
        return self._arithmetic("sub", self._operand(other))

    def __rsub__(self, other: Any) -> EncryptedIntegers:
        return _wrapped(_apply("sub", (self._operand(other), self)), (self, other))

    def __neg__(self) -> EncryptedIntegers:
        return self._arithmetic("neg")

    def __pos__(self) -> EncryptedIntegers:
        return self

    def __abs__(self) -> EncryptedIntegers:
        """Absolute value: a table for up to 256 values, else a comparison and a selection."""
        found = _tabulated(self, abs)
        return self._arithmetic("abs") if found is None else found

    def __mul__(self, other: Any) -> EncryptedIntegers:
        """Product.

        By a public integer: nothing where digits allow it, else tables. By truth values: a
        selection.

        Of two encrypted arrays: 164, 540 and 1,850 products of ciphertexts for 8, 16 and 32 bits;
        squares cost half.
        """
        other = self._operand(other)
        if isinstance(other, int):
            _check_wrapping((self, other))
            return self._multiple(other)
        if isinstance(other, np.ndarray):
            found = _each(self, other, operator.mul)
            if found is not None:
                return found
            other = _constants(self, other)
        low, high = other.interval
        if 0 <= low and high <= 1:
            return _wrapped(_apply("select", (other, self, 0)), (self, other))
        least, most = self.interval
        if 0 <= least and most <= 1:
            return _wrapped(_apply("select", (self, other, 0)), (self, other))
        kind = _modulus((self, other))
        if kind is not None:
            return self._apply("mul_wrapped", other, numbers=interval_of(kind))._wrapping(kind)
        return self._apply("square") if other is self else self._apply("mul", other)

    __rmul__ = __mul__

    def _multiple(self, factor: int) -> EncryptedIntegers:
        """This array times a public integer: exactly, and then modulo 2^k if it wraps, unless what
        is exact could be too large.
        """
        if self._wrap is not None and max(map(abs, self.interval)) * abs(factor) > EXACT:
            low, high = interval_of(self._wrap)
            factor = (factor - low) % (high - low + 1) + low
            return self._apply("mul_wrapped", factor, numbers=[low, high])._wrapping(self._wrap)
        return self._arithmetic("mul_public", numbers=[factor])

    def __floordiv__(self, other: Any) -> EncryptedIntegers:
        """Quotient, rounded down, and 0 where the divisor is 0, as NumPy's value is.

        By public integers: shifts, tables or a product. By encrypted ones: a product, or bit by
        bit.
        """
        return self._divided(self._operand(other), "div")

    def __mod__(self, other: Any) -> EncryptedIntegers:
        """Remainder, of the sign of the divisor. As quotients."""
        return self._divided(self._operand(other), "rem")

    def __rfloordiv__(self, other: Any) -> EncryptedIntegers:
        return _apply("div", (_column(self, self._operand(other)), self))

    def __rmod__(self, other: Any) -> EncryptedIntegers:
        return _apply("rem", (_column(self, self._operand(other)), self))

    def __divmod__(self, other: Any) -> tuple[EncryptedIntegers, EncryptedIntegers]:
        return self // other, self % other

    def __rdivmod__(self, other: Any) -> tuple[EncryptedIntegers, EncryptedIntegers]:
        return other // self, other % self

    def _divided(self, divisor: Any, name: str) -> EncryptedIntegers:
        if isinstance(divisor, np.ndarray):
            found = (
                _each(self, divisor, operator.floordiv if name == "div" else operator.mod)
                if np.all(divisor)
                else None
            )
            if found is not None:
                return found
            divisor = _constants(self, divisor)
        if not isinstance(divisor, int):
            return self._arithmetic(name, divisor)
        if divisor == 0:
            raise ZeroDivisionError("integer division or modulo by zero")
        _check_wrapping((self, divisor))
        return self._apply(name + "_public", numbers=[divisor])

    def __truediv__(self, other: Any) -> NoReturn:
        raise not_homomorphic(
            "a quotient of integers is not an integer",
            "divide with //, which rounds down, or decrypt first",
        )

    __rtruediv__ = __truediv__

    def __pow__(self, exponent: Any, modulus: Any = None) -> EncryptedIntegers:
        """A power with a public exponent, by products; with a public modulus, as of ``pow(x, n,
        m)``, the remainder is taken after each.
        """
        if not is_integer(exponent) or exponent < 0:
            raise not_homomorphic(
                f"a power with exponent {exponent!r}",
                "exponents are public integers from 0; everlevel.Table has any function of few "
                "values",
            )
        if modulus is not None and not is_integer(modulus):
            raise not_homomorphic(
                f"a power modulo {modulus!r}", "use a public integer, or x**n % m"
            )
        base = self if modulus is None else self.checked()
        if modulus in (1, -1):
            return base * 0
        if not exponent:
            return base * 0 + (1 if modulus is None else 1 % int(modulus))

        def rest(x: EncryptedIntegers) -> EncryptedIntegers:
            return x if modulus is None else x % int(modulus)

        whole: EncryptedIntegers | None = None
        power, left = rest(base), int(exponent)
        while True:
            if left & 1:
                whole = power if whole is None else rest(whole * power)
            left >>= 1
            if not left:
                return whole if whole is not None else self
            power = rest(power * power)

    def __rpow__(self, other: Any) -> NoReturn:
        raise not_homomorphic(
            "a power with an encrypted exponent",
            "everlevel.Table(powers)[x] has any function of few values",
        )

    def __matmul__(self, other: Any) -> EncryptedTotal | EncryptedIntegers:
        """The scalar product with a vector, which is decrypted; of a vector that was encrypted with
        ``rows=True`` it is computed on.
        """
        if self.ndim != 1:
            raise not_homomorphic(
                "x @ y of an encrypted matrix x, whose rows lie in ciphertexts",
                "y.T @ x.T with a public y and an x that was encrypted transposed, with "
                "rows=True; of two encrypted ones (x * y).sum(axis=0)",
            )
        if not isinstance(other, EncryptedIntegers):
            return self.dot(other)
        if other._shape != self._shape:
            raise ShapeError(
                f"a scalar product of shapes {self._shape} and {other._shape}: expected vectors of "
                "one length; (x * y).sum(axis=0) adds up products of rows",
                code="python.shape",
            )
        return (self * other).sum()

    def __rmatmul__(self, other: Any) -> EncryptedTotal | EncryptedIntegers:
        """The product of a public matrix and rows: each row of it a sum of multiples.

        With few values of entries, and small weights, few carries are needed.
        """
        from ._rows import product

        return self.dot(other) if self.ndim == 1 and self._runs == 1 else product(other, self)

    def __lshift__(self, bits: Any) -> EncryptedIntegers:
        """Times a power of 2; wider, unless it wraps."""
        bits = self._operand(bits)
        if not isinstance(bits, int):
            found = _each(self, bits, operator.lshift)
            return (
                self._arithmetic("shift_left_by", _column(self, bits)) if found is None else found
            )
        # The factor may exceed a type that wraps.
        return self._multiple(1 << _bits(bits))

    def __rshift__(self, bits: Any) -> EncryptedIntegers:
        """Divided by a power of 2, rounded down.

        Nothing for multiples of 4 bits, else a table a digit.
        """
        bits = self._operand(bits)
        if not isinstance(bits, int):
            found = _each(self, bits, operator.rshift)
            return self._apply("shift_right_by", _column(self, bits)) if found is None else found
        return self._apply("shift_right", numbers=[_bits(bits)])

    def __rlshift__(self, other: Any) -> EncryptedIntegers:
        found = _apply("shift_left_by", (_column(self, self._operand(other)), self))
        return _wrapped(found, (self, other))

    def __rrshift__(self, other: Any) -> EncryptedIntegers:
        return _apply("shift_right_by", (_column(self, self._operand(other)), self))

    def _logic(self, name: str, other: Any) -> EncryptedIntegers:
        """Of truth values a product, of integers a table a digit."""
        other = self._operand(other)
        if isinstance(other, np.ndarray):
            found = _each(self, other, lambda x, k: x._logic(name, k))
            if found is not None:
                return found
            other = _constants(self, other)
        if isinstance(other, EncryptedIntegers):
            if self._is_bool() and other._is_bool():
                return self._apply(name, other)
        elif self._is_bool() and other in (0, 1):
            if name == "and":
                return self * int(other)
            if name == "or":
                return self if not other else self * 0 + 1
            return self._apply("not") if other else self
        if name == "and" and isinstance(other, int) and other > 0 and other & (other + 1) == 0:
            # The lowest bits: with the interval that they have.
            _check_wrapping((self, other))
            return self._arithmetic("rem_public", numbers=[other + 1])
        return self._arithmetic("bit_" + name, other)

    def __and__(self, other: Any) -> EncryptedIntegers:
        """Bits that are 1 in both; of truth values: both."""
        return self._logic("and", other)

    def __or__(self, other: Any) -> EncryptedIntegers:
        """Bits that are 1 in one at least; of truth values: one at least."""
        return self._logic("or", other)

    def __xor__(self, other: Any) -> EncryptedIntegers:
        """Bits that are 1 in exactly one; of truth values: exactly one."""
        return self._logic("xor", other)

    __rand__, __ror__, __rxor__ = __and__, __or__, __xor__

    def __invert__(self) -> EncryptedIntegers:
        """Of truth values: not; of integers -x - 1, as Python's, and as NumPy's where it wraps."""
        return self._apply("not") if self._is_bool() else -self - 1

    def __lt__(self, other: Any) -> EncryptedIntegers:
        """Where it is less: a tree of signs of digits."""
        return self._apply("lt", self._operand(other))

    def __le__(self, other: Any) -> EncryptedIntegers:
        return self._apply("le", self._operand(other))

    def __gt__(self, other: Any) -> EncryptedIntegers:
        return self._apply("gt", self._operand(other))

    def __ge__(self, other: Any) -> EncryptedIntegers:
        return self._apply("ge", self._operand(other))

    def __eq__(self, other: object) -> EncryptedIntegers:  # type: ignore[override]
        """Where they are equal, encrypted: 10 products a digit."""
        return self._apply("eq", self._operand(other))

    def __ne__(self, other: object) -> EncryptedIntegers:  # type: ignore[override]
        return self._apply("ne", self._operand(other))

    __hash__ = Encrypted.__hash__

    # Types

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
        return self._wrapping(None)

    def astype(
        self, dtype: npt.DTypeLike, *, wrap: bool = False, copy: bool = True
    ) -> EncryptedIntegers:
        """Entries of another dtype: free where it holds them all, refused where it does not; with
        ``wrap`` modulo 2^k. To ``bool``: whether they are not 0.
        """
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

    # Shapes

    def reshape(self, *shape: Any) -> EncryptedIntegers:
        """The same entries in another shape. Free."""
        wanted = (
            shape[0] if len(shape) == 1 and not isinstance(shape[0], (int, np.integer)) else shape
        )
        try:
            found = np.broadcast_to(np.int8(0), self._shape).reshape(wanted).shape
        except ValueError as error:
            raise ShapeError(str(error), code="python.shape") from None
        return EncryptedIntegers._make(self._blocks, found, self._server, self._wrap, self._runs)

    def ravel(self) -> EncryptedIntegers:
        """The entries as a vector, in row-major order. Free."""
        return self.reshape(-1)

    flatten = ravel

    def copy(self) -> EncryptedIntegers:
        """The array itself, as encrypted arrays are not changed."""
        return self

    def __getitem__(self, key: Any) -> EncryptedIntegers:
        """Rows, by any index of NumPy's, of an array that was encrypted with ``rows=True`` or
        stacked. Free.
        """
        if key is Ellipsis or (isinstance(key, slice) and key == slice(None)):
            return self
        from ._rows import picked

        return picked(self, key)

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

    # Along the array

    @overload
    def sum(self, axis: None = None) -> EncryptedTotal: ...

    @overload
    def sum(self, axis: int) -> EncryptedTotal | EncryptedIntegers: ...

    def sum(self, axis: int | None = None) -> EncryptedTotal | EncryptedIntegers:
        """The sum of all entries, which is decrypted: log2 of the slots rotations for each digit.

        Along an axis of rows sums that are computed on.
        """
        from ._rows import along, total

        if axis is not None and not self._is_vector(axis, "sums"):
            return total(along(self, axis, "sums"))
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
                f"means along axis {axis}", "x.sum(axis=0) // n rounds down, or decrypt the sums"
            )
        return EncryptedTotal._make(
            _on(self._server)._integers.totals("mean", self._vector("mean")), 1
        )

    def dot(self, weights: npt.ArrayLike) -> EncryptedTotal | EncryptedIntegers:
        """The scalar product with a vector of public integers."""
        array, server = entries(weights), _on(self._server)
        if isinstance(weights, Encrypted) or array.shape != self._shape or self.ndim != 1:
            raise ShapeError(
                f"a scalar product of shapes {array.shape} and {self._shape}: expected vectors of "
                "one length",
                code="python.shape",
            )
        if self._runs > 1:
            from ._rows import product

            return product(array, self)
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
        from ._rows import axis_of

        if axis is not None:
            axis_of(axis, self.ndim, what)
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
        return EncryptedIntegers._make(
            server._integers.apply(name, [block], list(numbers)), shape, server
        )

    def _ordered(self, name: str, axis: int | None) -> EncryptedIntegers:
        """An order statistic: of a vector with all entries side by side, of rows one after the
        other.
        """
        from . import _rows

        if self._is_vector(axis, name) or (axis is None and self.ndim != 1):
            return self._along(name)
        return _rows.ORDERED[name](_rows.along(self, 0 if axis is None else axis, name))

    def max(self, axis: int | None = None) -> EncryptedIntegers:
        """The largest entry, of at most as many as there are slots.

        Along an axis of rows one comparison less than there are rows, on whole rows.
        """
        return self._ordered("maximum", axis)

    def min(self, axis: int | None = None) -> EncryptedIntegers:
        """The least entry, as ``max``."""
        return self._ordered("minimum", axis)

    def argmax(self, axis: int | None = None) -> EncryptedIntegers:
        """Where the largest entry is, the first one of equal ones, as ``max``."""
        return self._ordered("argmax", axis)

    def argmin(self, axis: int | None = None) -> EncryptedIntegers:
        """Where the least entry is, the first one of equal ones, as ``max``."""
        return self._ordered("argmin", axis)

    def any(self, axis: int | None = None) -> EncryptedIntegers:
        """Whether one entry at least is not 0: of a vector by the sum in each entry and a
        comparison, along an axis of rows by logic of whole rows.
        """
        from . import _rows

        if self._is_vector(axis, "any"):
            return self.checked()._truth()._of_count("any", "gt", 0)
        found: EncryptedIntegers = _rows.reduced(
            [x._truth() for x in _rows.along(self.checked(), axis, "any")], operator.or_
        )
        return found

    def all(self, axis: int | None = None) -> EncryptedIntegers:
        """Whether no entry is 0, as ``any``."""
        from . import _rows

        if self._is_vector(axis, "all"):
            return self.checked()._truth()._of_count("all", "eq", self.size)
        found: EncryptedIntegers = _rows.reduced(
            [x._truth() for x in _rows.along(self.checked(), axis, "all")], operator.and_
        )
        return found

    def _of_count(self, what: str, comparison: str, limit: int) -> EncryptedIntegers:
        """How a public integer compares with the number of entries of a vector that are 1."""
        server, block = _on(self._server), self._vector(what)
        count = server._integers.apply("sum_of_each", [block], [])[0]
        reached = server._integers.apply(comparison, [count, limit], [])[0]
        return EncryptedIntegers._make(
            server._integers.apply("shortened", [reached], [1]), (), server
        )

    def ptp(self, axis: int | None = None) -> EncryptedIntegers:
        """The largest entry minus the least one, as ``max``."""
        return self.max(axis) - self.min(axis)

    def argsort(self, *, take: int | None = None, descending: bool = False) -> EncryptedIntegers:
        """The places of entries in order, or of the first ``take`` of them: a stable sort."""
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
        and carries after each; along an axis of rows sums of whole rows.
        """
        from . import _rows

        if axis is not None and not self._is_vector(axis, "prefix sums"):
            parts = _rows.along(self, axis, "prefix sums")
            return _rows.joined(list(itertools.accumulate(parts)), axis)
        return self._along("cumsum", shape=self._shape)

    def clip(self, low: Any = None, high: Any = None) -> EncryptedIntegers:
        """Entries, or the nearer one of two bounds: a table for up to 256 values, else two
        comparisons and selections. Bounds may be arrays, or none, as those of ``np.clip``.
        """
        if not (is_integer(low) and is_integer(high)):
            from ._numpy import clip

            clipped: EncryptedIntegers = clip(self, low, high)
            return clipped
        least, most = whole(int(low)), whole(int(high))
        _check_wrapping((self, least, most))
        found = _tabulated(self, lambda v: min(max(v, least), most))
        if found is None and least > most:
            # As NumPy.
            return self._apply("max", least)._apply("min", most)
        return self._apply("clip", numbers=[least, most]) if found is None else found

    def __array_ufunc__(
        self, ufunc: np.ufunc, method: str, *inputs: Any, out: Any = None, **options: Any
    ) -> Any:
        from ._numpy import ufunc as apply

        return apply(ufunc, method, inputs, out, options)

    def __array_function__(self, function: Any, types: Any, arguments: Any, options: Any) -> Any:
        from ._numpy import function as apply

        return apply(function, arguments, options)

    def __getattr__(self, name: str) -> Any:
        from ._numpy import way

        raise missing(self, name, "encrypted integers", way(name))


def encrypted(
    key: dict[str, Any],
    params: _rust.Params,
    array: npt.NDArray[Any],
    kind: Kind,
    rows: bool = False,
) -> EncryptedIntegers:
    """An array under a key."""
    runs, slots = (array.shape[0] if rows else 1), params.slots
    blocks = [
        _rust.encrypt_column(run[i : i + slots].tolist(), kind.low, kind.high, **key)
        for run in array.reshape(runs, -1)
        for i in range(0, run.size, slots)
    ]
    return EncryptedIntegers._make(blocks, array.shape, runs=runs)


def decrypted(key: _rust.SecretKey, x: EncryptedIntegers | EncryptedTotal) -> Any:
    """The entries of an array, or a total."""
    if isinstance(x, EncryptedTotal):
        return sum(_rust.decrypt_total(key, part) for part in x._parts)
    values: list[int] = []
    for block, size in zip(x._blocks, _layout.sizes(x._shape, x._runs, x._params.slots)):
        found = _rust.decrypt_column(key, block)
        values.extend(found if len(found) == size else found[:1] * size)
    array = np.array(values, dtype=x.dtype).reshape(x._shape)
    return array if array.shape else array[()]
