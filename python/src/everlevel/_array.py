"""Encrypted arrays modulo p^r, with the operators of NumPy's."""

from __future__ import annotations

import operator
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any, NoReturn, cast

import numpy as np
import numpy.typing as npt

from ._encrypted import Encrypted, missing, not_homomorphic
from ._handlers import HANDLERS, MODULAR
from ._indexed import Indexed
from ._moves import matrix_product
from ._params import Params
from ._slotwise import _within
from ._values import SIGNED, Progress, bounds_of, integers, is_integer, part_of, stepper
from .errors import ParameterError, RangeError, ShapeError

if TYPE_CHECKING:
    from ._server import Server


class EncryptedArray(Encrypted, Indexed):
    """An array of integers modulo p^e, entry i (row-major) in slot i % s of ciphertext i // s, s
    being the slots of a ciphertext: one ciphertext for up to s entries.

    Arithmetic is slot by slot with arrays of the same shape, with NumPy arrays and integers, and
    takes a server (``Server.load``), which bootstraps by itself. Arrays are not changed by
    operations; the ciphertexts behind one may be replaced by fresher ones of the same values.

    What an operation costs is said with it for one ciphertext, in ciphertext products, rotations
    (each a key switch or a few) and levels. With several it costs that for each, one after the
    other; operations that move entries say more.

    Entries may also be whole elements of GR(p^r, d), d integers each (``Client.encrypt_modular``
    with ``elements``): NumPy arrays that go with them have one more axis of d coefficients at the
    end. Elements are added and multiplied, not moved.
    """

    __slots__ = ()

    def __init__(self) -> None:
        raise TypeError(
            "encrypted arrays come from Client.encrypt_modular, PublicKey.encrypt_modular, "
            "Server.read and EncryptedArray.from_bytes"
        )

    @property
    def server(self) -> Server | None:
        """The server that computes on this array."""
        return cast("Server | None", self._server)

    def __iter__(self) -> Iterator[EncryptedArray]:
        return (self[i] for i in range(len(self)))

    def __reduce__(self) -> Any:
        # A pickle's own bounds are trusted: whoever can change a pickle can run code anyway.
        return _restore, (self.params, self.to_bytes())

    def within(self, low: int, high: int) -> EncryptedArray:
        """The same entries, as the integers from ``low`` to ``high`` that their residues stand for:
        so you say, and nobody can check it. Free.

        For what encryption did not know, such as the result of an own circuit. Where entries are
        something else, what is computed from their range is unspecified. Any ``modulus`` integers
        in a row are right for all residues: ``x.within(-(t // 2), t // 2)`` for odd t takes those
        of least absolute value.
        """
        self._integers("within")
        low, high = (
            _within(k, -(1 << 100), 1 << 100, "a bound of") for k in bounds_of((low, high))
        )
        return self._each(lambda x: x.within(low, high), signed=low < 0)

    # NumPy

    def __array_ufunc__(
        self, ufunc: np.ufunc, method: str, *inputs: Any, out: Any = None, **options: Any
    ) -> Any:
        return HANDLERS[MODULAR].ufunc(ufunc, method, inputs, out, options)

    def __array_function__(self, function: Any, types: Any, arguments: Any, options: Any) -> Any:
        return HANDLERS[MODULAR].function(function, arguments, options)

    def __getattr__(self, name: str) -> Any:
        raise missing(self, name, "an encrypted array modulo p^r", HANDLERS[MODULAR].way(name))

    @property
    def dtype(self) -> np.dtype[Any]:
        """That of decrypted entries: ``int64``, or ``uint64`` if these may be above 2^63 - 1."""
        known = self.range
        if known is None:
            unsigned = self.modulus > SIGNED and not self._signed
        else:
            unsigned = known[1] >= SIGNED
        return np.dtype(np.uint64 if unsigned else np.int64)

    def __eq__(self, other: object) -> EncryptedArray:  # type: ignore[override]
        """1 where entries are equal modulo p, else 0, encrypted: as ``equals``."""
        return self.equals(other)

    def __ne__(self, other: object) -> EncryptedArray:  # type: ignore[override]
        """0 where entries are equal modulo p, else 1, encrypted."""
        return (-self.equals(other))._add(1, False)

    __hash__ = Encrypted.__hash__

    def _unordered(self, other: object) -> Any:
        raise not_homomorphic("an order of entries modulo p^r", HANDLERS[MODULAR].way("less"))

    __lt__ = __le__ = __gt__ = __ge__ = _unordered

    def _undivided(self, other: object) -> Any:
        raise not_homomorphic("division modulo p^r", HANDLERS[MODULAR].way("floor_divide"))

    __floordiv__ = __rfloordiv__ = __truediv__ = __rtruediv__ = __mod__ = __rmod__ = __divmod__ = (
        __rdivmod__
    ) = _undivided

    def _no_bits(self, *_: Any) -> NoReturn:
        raise not_homomorphic(
            "bits or the absolute value modulo p^r", HANDLERS[MODULAR].way("bitwise_and")
        )

    __and__ = __rand__ = __or__ = __ror__ = __xor__ = __rxor__ = _no_bits
    __lshift__ = __rlshift__ = __rshift__ = __rrshift__ = __invert__ = __abs__ = _no_bits

    def __setitem__(self, key: Any, value: Any) -> NoReturn:
        raise not_homomorphic(
            "encrypted arrays are not changed", "take np.where(mask, value, x), which is a new one"
        )

    # Arithmetic

    def _add(self, other: Any, negative: bool) -> EncryptedArray:
        if isinstance(other, EncryptedArray):
            xs, known = self._with(other, "sub" if negative else "add")
            both = all(x._padded or self._full(known["shape"]) for x in (self, other))
            return self._like(xs, padded=both and not (self._repeated or other._repeated), **known)
        if is_integer(other):
            k, server = self._scalar(other), self._on()._raw
            return self._each(
                lambda x: server.add_scalar(x, -k if negative else k),
                padded=self._full(self._shape),
            )
        chunks, shape = self._plain(other, negative)
        server = self._on()._raw
        xs = [
            server.add_plain(x, -v if negative else v, self._elements)
            for x, v in zip(self._spread(len(chunks)), chunks)
        ]
        return self._like(
            xs,
            shape,
            padded=(self._padded or self._full(shape)) and not self._repeated,
            repeated=False,
        )

    def _scalar(self, integer: Any) -> int:
        k, t = int(integer), min(self.modulus, SIGNED)
        if not -t < k < t:
            what = "the plaintext modulus" if t < SIGNED else "of 64 bits with a sign"
            raise RangeError(
                f"{k}: expected an integer above -{t} and below {t}, {what}",
                code="python.value-range",
                found=k,
            )
        return k

    def __add__(self, other: Any) -> EncryptedArray:
        """Sum. No level."""
        return self._add(other, False)

    __radd__ = __add__

    def __sub__(self, other: Any) -> EncryptedArray:
        """Difference. No level."""
        return self._add(other, True)

    def __rsub__(self, other: Any) -> EncryptedArray:
        return (-self)._add(other, False)

    def __neg__(self) -> EncryptedArray:
        return self._each(self._on()._raw.neg)

    def __pos__(self) -> EncryptedArray:
        return self

    def __mul__(self, other: Any) -> EncryptedArray:
        """Product.

        Of two encrypted arrays: one product with its key switch. With a NumPy array: a level; with
        an integer: the bits of the integer.
        """
        if isinstance(other, EncryptedArray):
            xs, known = self._with(other, "mul")
            padded = self._padded or other._padded or self._full(known["shape"])
            return self._like(xs, padded=padded and not known["repeated"], **known)
        if is_integer(other):
            k, server = self._scalar(other), self._on()._raw
            return self._each(lambda x: server.mul_scalar(x, k))
        chunks, shape = self._plain(other)
        server = self._on()._raw
        xs = [
            server.mul_plain(x, v, self._elements)
            for x, v in zip(self._spread(len(chunks)), chunks)
        ]
        return self._like(xs, shape, padded=True, repeated=False)

    __rmul__ = __mul__

    def __pow__(self, exponent: int) -> EncryptedArray:
        """A power with an exponent from 1 to 2^63, at depth ⌈log2⌉."""
        try:
            exponent = operator.index(exponent)
        except TypeError:
            raise not_homomorphic(
                f"a power with exponent {exponent!r}", "exponents are public integers from 1"
            ) from None
        if not 1 <= exponent < 1 << 63:
            raise RangeError(
                f"exponent {exponent}: expected 1 to 2^63 - 1",
                code="python.exponent",
                found=exponent,
            )
        server = self._on()._raw
        return self._each(lambda x: server.pow(x, exponent))

    def __rpow__(self, other: Any) -> NoReturn:
        raise not_homomorphic(
            "a power with an encrypted exponent",
            "everlevel.Table(powers)[x] of client.encrypt(values, dtype=...) has any function of "
            "few values",
        )

    def __rmatmul__(self, matrix: npt.ArrayLike) -> EncryptedArray:
        """``matrix @ x`` for a matrix of plain integers and a vector; a vector from the left gives
        their scalar product.

        By diagonals: for k that are not 0, k products with plaintexts and about 2 √k rotations, one
        level. This for each block of as many rows and columns as the slots have columns
        (``params.dimensions[-1]``); with several blocks, two levels more, and a move for each block
        of rows and of columns.
        """
        self._integers("@")
        array = integers(matrix)
        if self.ndim != 1 or array.ndim not in (1, 2) or array.shape[-1] != self._shape[0]:
            raise ShapeError(
                f"a matrix of shape {array.shape} times a vector of shape {self._shape}",
                code="python.shape",
            )
        xs = matrix_product(self._on()._raw, self._xs, np.atleast_2d(array))
        return self._like(xs, array.shape[:-1], padded=True, repeated=False)

    def __matmul__(self, matrix: npt.ArrayLike) -> EncryptedArray:
        return self.__rmatmul__(integers(matrix).T)

    # Noise

    def refresh(self, *, progress: Progress = None) -> EncryptedArray:
        """Bootstrapped now.

        Not needed: operations do so by themselves. ``progress`` is told of stages.
        """
        server, step, fresh = self._on()._raw, stepper(progress), []
        for number, x in enumerate(self._xs):
            fresh.append(server.refresh(x, part_of(step, number, len(self._xs))))
        return self._like(fresh)

    # Digits

    def truncate(self, digits: int, *, rounding: str = "nearest") -> EncryptedArray:
        """Divided by p^digits, to the ``"nearest"`` integer or the next below (``"floor"``): modulo
        p^(e - digits).

        Refused unless the range of the entries is known and has at most p^e integers:
        ``encrypt_modular`` with ``bounds``, or ``within``. One digit removal, whose depth grows
        with p and e. What is modulo less than p^r cannot be bootstrapped: do what is deep before.
        """
        self._integers("truncate")
        if rounding not in ("nearest", "floor"):
            raise RangeError(
                f"rounding = {rounding!r}: expected 'nearest' or 'floor'", code="python.rounding"
            )
        server, digits = (
            self._on()._raw,
            _within(operator.index(digits), 0, 1 << 30, "digits to truncate:"),
        )
        return self._each(lambda x: server.truncate(x, digits, rounding == "floor"))

    def clear_lowest_digit(self) -> EncryptedArray:
        """Less the balanced lowest digit to the base p, still modulo p^e: to the nearest multiple
        of p.
        """
        self._integers("clear_lowest_digit")
        return self._each(self._on()._raw.clear_lowest_digit)

    @property
    def comparison_range(self) -> int:
        """T: comparisons are of integers from -T to T - 1."""
        return self._on()._raw.comparison_range(self._xs[0])

    def is_negative(self) -> EncryptedArray:
        """1 where an entry is below 0, else 0, modulo p.

        For odd p below 8192: a polynomial of degree p - 2, and for e > 1 a digit removal.

        Refused, as all comparisons, unless the range of the entries is known and within -T to T -
        1: ``encrypt_modular`` with ``bounds``, or ``within``.
        """
        self._integers("is_negative")
        return self._each(self._on()._raw.is_negative, signed=False)

    def sign(self) -> EncryptedArray:
        """-1, 0 or 1, modulo p, for entries whose range is within -T + 1 to T.

        As ``is_negative``, twice.
        """
        self._integers("sign")
        return self._each(self._on()._raw.sign, signed=True)

    def less_than(self, other: Any) -> EncryptedArray:
        """1 where an entry is below the other's, else 0, for differences whose range is within -T
        to T - 1. As ``is_negative``.
        """
        return self._add(other, True).is_negative()

    def between(self, low: Any, high: Any) -> EncryptedArray:
        """1 where low <= x <= high, else 0, for differences whose ranges are within -T to T - 1.

        Two comparisons and a product.
        """
        below, above = self.less_than(low), (-self)._add(high, False).is_negative()
        return (-below)._add(1, False) * (-above)._add(1, False)

    def equals(self, other: Any) -> EncryptedArray:
        """1 where entries are equal, else 0, modulo p (e = 1): 1 - (x - y)^(p - 1), of depth
        ⌈log2(p - 1)⌉.

        Residues are compared. Entries whose ranges are known are integers, and refused where
        different ones could have one residue.
        """
        self._integers("equals")
        if self._xs[0].plain_exponent != 1:
            raise ParameterError(
                f"entries modulo {self.modulus}: equality needs a prime modulus; truncate first",
                code="python.prime-modulus",
            )
        difference, prime = self._add(other, True), self._xs[0].params.plain_prime
        found = difference.range
        if difference._lost or (found is not None and not -prime < found[0] <= found[1] < prime):
            span = "past 2^100" if found is None else f"{found[0]}..{found[1]}"
            raise RangeError(
                f"equality: differences of range {span}: expected within "
                f"{1 - prime}..{prime - 1}, as integers that differ by {prime} have one residue",
                code="circuit.range",
            )
        one = (-(difference ** (prime - 1)))._add(1, False)
        return one._like(one._xs, signed=False).within(0, 1)


def _restore(params: Params, data: bytes) -> EncryptedArray:
    return EncryptedArray.from_bytes(data, params=params, bounds="stated", allow_unknown_owner=True)
