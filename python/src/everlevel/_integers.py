"""Encrypted arrays of typed integers, with the operators and functions of NumPy's."""

from __future__ import annotations

import operator
from collections.abc import Sequence
from typing import Any, NoReturn

import numpy as np

from . import _rows
from ._along import Along
from ._encrypted import Encrypted, missing, not_homomorphic
from ._handlers import HANDLERS, INTEGERS
from ._kinds import MOST, entries, interval_of, whole
from ._operands import (
    _apply,
    _bits,
    _check_wrapping,
    _column,
    _constants,
    _each,
    _modulus,
    _results,
    _scalar_product,
    _tabulated,
    _wrapped,
    clip,
)
from ._totals import EncryptedTotal
from ._values import is_integer
from .errors import DtypeError, ShapeError

#: The largest multiples that are exact before they wrap: digits may begin up to 16 times lower.
EXACT = MOST // 16


class EncryptedIntegers(Along):
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

    def _arithmetic(
        self, name: str, *operands: Any, numbers: Sequence[int] = ()
    ) -> EncryptedIntegers:
        """An operation of the library, modulo 2^k if this array or an operand wraps."""
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
                f"{other!r}: expected integers; scale and round it as the entries were",
                code="integers.value",
            )
        array = entries(other)
        return int(array[()]) if array.shape == () else array

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
            chosen = _apply("select", (other, self, 0))
            return _wrapped(chosen, (self, other))._counting(self._counted or other._counted)
        least, most = self.interval
        if 0 <= least and most <= 1:
            chosen = _apply("select", (self, other, 0))
            return _wrapped(chosen, (self, other))._counting(self._counted or other._counted)
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
        """Quotient and remainder: by encrypted integers at little more than the cost of one."""
        divisor = self._operand(other)
        if not isinstance(divisor, EncryptedIntegers):
            return self // divisor, self % divisor
        quotient, remainder = _results("divmod", (self, divisor))
        return quotient, remainder

    def __rdivmod__(self, other: Any) -> tuple[EncryptedIntegers, EncryptedIntegers]:
        quotient, remainder = _results("divmod", (_column(self, self._operand(other)), self))
        return quotient, remainder

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

        Of two encrypted vectors: 4, 16 and 64 products of ciphertexts for 8, 16 and 32 bits, where
        ``(x * y).sum()`` takes 164, 540 and 1,850, and then as sums. Whoever decrypts it sees sums
        of products of digits.
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
        if self._runs > 1 or other._runs > 1:
            return (self * other).sum()
        # Exact, as all totals are, also those with public vectors.
        return _scalar_product(self.checked(), other.checked())

    def __rmatmul__(self, other: Any) -> EncryptedTotal | EncryptedIntegers:
        """The product of a public matrix and rows: each row of it a sum of multiples.

        With few values of entries, and small weights, few carries are needed.
        """
        if self.ndim == 1 and self._runs == 1:
            return self.dot(other)
        return _rows.product(other, self)

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
        """True, encrypted, where it is less: a tree of signs of digits."""
        return self._apply("lt", self._operand(other))

    def __le__(self, other: Any) -> EncryptedIntegers:
        return self._apply("le", self._operand(other))

    def __gt__(self, other: Any) -> EncryptedIntegers:
        return self._apply("gt", self._operand(other))

    def __ge__(self, other: Any) -> EncryptedIntegers:
        return self._apply("ge", self._operand(other))

    def __eq__(self, other: object) -> EncryptedIntegers:  # type: ignore[override]
        """True, encrypted, where they are equal: 10 products a digit."""
        return self._apply("eq", self._operand(other))

    def __ne__(self, other: object) -> EncryptedIntegers:  # type: ignore[override]
        return self._apply("ne", self._operand(other))

    __hash__ = Encrypted.__hash__

    def clip(
        self, low: Any = None, high: Any = None, out: None = None, **bounds: Any
    ) -> EncryptedIntegers:
        """Entries, or the nearer one of two bounds: a table for up to 256 values, else two
        comparisons and selections. Bounds may be arrays, or none, and have the names ``min`` and
        ``max``, as those of ``np.clip``.
        """
        if out is not None or bounds or not (is_integer(low) and is_integer(high)):
            clipped: EncryptedIntegers = clip(self, low, high, out, **bounds)
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
        return HANDLERS[INTEGERS].ufunc(ufunc, method, inputs, out, options)

    def __array_function__(self, function: Any, types: Any, arguments: Any, options: Any) -> Any:
        return HANDLERS[INTEGERS].function(function, arguments, options)

    def __getattr__(self, name: str) -> Any:
        raise missing(self, name, "encrypted integers", HANDLERS[INTEGERS].way(name))
