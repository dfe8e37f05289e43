"""Encrypted arrays."""

from __future__ import annotations

import math
import operator
from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING, Any, NoReturn

import numpy as np
import numpy.typing as npt

from . import _everlevel as _rust
from ._described import Described
from ._encrypted import Encrypted, missing, not_homomorphic
from ._moves import gather, matrix_product, window_sums
from ._params import Params
from ._values import Progress, bounds_of, in_slots, integers, is_integer, part_of, stepper
from .errors import NoServerError, OtherParametersError, ParameterError, RangeError, ShapeError

if TYPE_CHECKING:
    from ._server import Server


class EncryptedArray(Encrypted, Described):
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

    def __iter__(self) -> Iterator[EncryptedArray]:
        return (self[i] for i in range(len(self)))

    def __reduce__(self) -> Any:
        # Bounds of one's own pickle are trusted: who can change a pickle can run code.
        return _restore, (self.params, self.to_bytes())

    # Helpers

    def _on(self) -> Server:
        if self._server is None:
            raise NoServerError(
                "no server holds this array, and computing takes server keys: load it with "
                "Server.load first",
                code="python.no-server",
            )
        return self._server

    def _like(
        self, xs: Sequence[_rust.Ciphertext], shape: tuple[int, ...] | None = None, **changed: Any
    ) -> EncryptedArray:
        kept = {
            "server": self._server,
            "signed": self._signed,
            "padded": self._padded,
            "repeated": self._repeated,
            "elements": self._elements,
            "lost": self._ranged,
        }
        return EncryptedArray._make(
            xs, self._shape if shape is None else shape, **{**kept, **changed}
        )

    def _each(
        self, operation: Callable[[_rust.Ciphertext], _rust.Ciphertext], **changed: Any
    ) -> EncryptedArray:
        """The operation on every ciphertext."""
        return self._like([operation(x) for x in self._xs], **changed)

    def _slots(self) -> int:
        return self._xs[0].params.slots

    def _count(self, shape: tuple[int, ...]) -> int:
        return -(-math.prod(shape) // self._slots())

    def _full(self, shape: tuple[int, ...]) -> bool:
        """Whether there is no slot after the last entry."""
        return math.prod(shape) % self._slots() == 0

    def _spread(self, count: int) -> Sequence[_rust.Ciphertext]:
        """A ciphertext for each of that many; a single entry stands in one that serves for all."""
        return self._xs * count if self._repeated else self._xs

    def _integers(self, operation: str) -> None:
        if self._elements:
            raise ParameterError(
                f"{operation} is for entries that are integers; these are whole elements, which "
                "automorphisms conjugate",
                code="python.elements",
            )

    def _plain(self, values: npt.ArrayLike) -> tuple[list[npt.NDArray[np.int64]], tuple[int, ...]]:
        """Entries for the slots of each ciphertext, and the shape of the result."""
        array, tail = integers(values), (self._xs[0].params.slot_degree,) if self._elements else ()
        try:
            shape = np.broadcast_shapes(array.shape, self._shape + tail)
        except ValueError:
            shape = None
        if shape is not None and tail and (array.shape[-1:] != tail or self._repeated):
            shape = None
        if shape is None or (shape != self._shape + tail and not self._repeated):
            elements = f" of elements of {tail[0]} coefficients" if tail else ""
            raise ShapeError(
                f"an array of shape {array.shape} does not fit one of shape "
                f"{self._shape}{elements}",
                code="python.shape",
                found=array.shape,
            )
        return in_slots(np.broadcast_to(array, shape), self._xs[0].params, self._elements), shape[
            : len(shape) - len(tail)
        ]

    def _pair(self, other: EncryptedArray) -> tuple[Server, tuple[int, ...]]:
        """The server for both, and the shape of the result."""
        server = self._on() if self._server is not None else other._on()
        if not self._xs[0].params.same(other._xs[0].params):
            raise OtherParametersError(
                f"one array is of {self._xs[0].params.name}, the other of "
                f"{other._xs[0].params.name}",
                code="scheme.wrong-params",
            )
        if self._shape == other._shape or self._repeated or other._repeated:
            return server, np.broadcast_shapes(self._shape, other._shape)
        single = 1 in (self.size, other.size)
        hint = (
            "; .broadcast() brings a single entry to every slot"
            if single
            else "; np.broadcast_to(x, shape) repeats entries, which moves them"
        )
        raise ShapeError(
            f"shapes {self._shape} and {other._shape} differ{hint}", code="python.shape"
        )

    def _with(
        self, other: EncryptedArray, name: str
    ) -> tuple[list[_rust.Ciphertext], dict[str, Any]]:
        """The results of an operation on two arrays, ciphertext by ciphertext, and what is known of
        them.
        """
        server, shape = self._pair(other)
        repeated = self._repeated and other._repeated
        count = 1 if repeated else self._count(shape)
        operation = getattr(server._raw, name)
        elements = self._elements or other._elements
        server._takes(self._xs[0].params, elements, (*self._xs, *other._xs))
        xs = [operation(a, b) for a, b in zip(self._spread(count), other._spread(count))]
        signed = self._signed or other._signed
        lost = self._ranged and other._ranged
        return xs, {
            "shape": shape,
            "server": server,
            "repeated": repeated,
            "signed": signed,
            "elements": elements,
            "lost": lost,
        }

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

    def _spanning(self, found: tuple[int, int] | None) -> EncryptedArray:
        """With this range, which follows from what was computed; as it is if there is none."""
        return self if found is None else self._each(lambda x: x.within(*found))

    # NumPy

    def __array_ufunc__(
        self, ufunc: np.ufunc, method: str, *inputs: Any, out: Any = None, **options: Any
    ) -> Any:
        from ._modular import ufunc as apply

        return apply(ufunc, method, inputs, out, options)

    def __array_function__(self, function: Any, types: Any, arguments: Any, options: Any) -> Any:
        from ._modular import function as apply

        return apply(function, arguments, options)

    def __getattr__(self, name: str) -> Any:
        from ._modular import way

        raise missing(self, name, "an encrypted array modulo p^r", way(name))

    @property
    def dtype(self) -> np.dtype[np.int64]:
        """That of decrypted entries: ``int64``."""
        return np.dtype(np.int64)

    def transpose(self, axes: Sequence[int] | None = None) -> EncryptedArray:
        """Axes in another order, reversed by default.

        Entries move, at the cost of an index with as many distances.
        """
        self._integers("transpose")
        return self._gather(np.arange(self.size).reshape(self._shape).transpose(axes))

    @property
    def T(self) -> EncryptedArray:
        """With axes reversed, as ``transpose``."""
        return self.transpose()

    def __eq__(self, other: object) -> EncryptedArray:  # type: ignore[override]
        """1 where entries are equal modulo p, else 0, encrypted: as ``equals``."""
        return self.equals(other)

    def __ne__(self, other: object) -> EncryptedArray:  # type: ignore[override]
        """0 where entries are equal modulo p, else 1, encrypted."""
        return (-self.equals(other))._add(1, False)

    __hash__ = Encrypted.__hash__

    def _unordered(self, other: object) -> Any:
        from ._modular import way

        raise not_homomorphic("an order of entries modulo p^r", way("less"))

    __lt__ = __le__ = __gt__ = __ge__ = _unordered

    def _undivided(self, other: object) -> Any:
        from ._modular import way

        raise not_homomorphic("division modulo p^r", way("floor_divide"))

    __floordiv__ = __rfloordiv__ = __truediv__ = __rtruediv__ = __mod__ = __rmod__ = __divmod__ = (
        __rdivmod__
    ) = _undivided

    def _no_bits(self, *_: Any) -> NoReturn:
        from ._modular import way

        raise not_homomorphic("bits or the absolute value modulo p^r", way("bitwise_and"))

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
        chunks, shape = self._plain(other)
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
        k, t = int(integer), self.modulus
        if not -t < k < t:
            raise RangeError(
                f"{k}: expected an integer above -{t} and below {t}, the plaintext modulus",
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

    # Moves

    def reshape(self, *shape: Any) -> EncryptedArray:
        """The same entries in another shape. Free."""
        wanted = shape[0] if len(shape) == 1 and not is_integer(shape[0]) else shape
        try:
            found = np.broadcast_to(np.int8(0), self._shape).reshape(wanted).shape
        except ValueError as error:
            raise ShapeError(str(error), code="python.shape") from None
        return self._like(self._xs, found, encryption=self._encryption)

    def __getitem__(self, key: Any) -> EncryptedArray:
        """Entries by any index of NumPy's: ``x[i]``, ``x[a:b]``, ``x[::2]``, ``x[::-1]``, ``x[1:,
        3]``, ``x[[4, 2, 2]]``, ``x[mask]``.

        Free: what begins where a ciphertext begins and is in one piece, such as ``x[:b]``. Else a
        level, and a rotation and a product with a plaintext for each distance that entries move,
        twice that where they cross rows of slots: one for ``x[a:b]`` and for ``x[i]``. More than 16
        distances in ascending or descending order, as with steps, take ⌈log4⌉ of the way instead,
        with three rotations and a level each, twice that if descending, where the server
        bootstraps.
        """
        if not self._shape:
            raise ShapeError("an array without dimensions has no parts", code="python.shape")
        places = np.asarray(np.arange(self.size).reshape(self._shape)[key])
        if places.size == 0:
            raise ShapeError(
                f"{key} of an array of shape {self._shape} is empty", code="python.empty"
            )
        return self._gather(places)

    def _gather(self, places: npt.NDArray[np.int64]) -> EncryptedArray:
        """Entries from these places, in an array of this shape."""
        source, shape = places.reshape(-1), places.shape
        if source.size == self.size and (source == np.arange(self.size)).all():
            return self._like(self._xs, shape, encryption=self._encryption)
        if self._server is None and (source == np.arange(source.size)).all():
            return self._like(
                self._xs[: self._count(shape)], shape, padded=self._full(shape), repeated=False
            )
        server = self._on()
        xs, clean = gather(server._raw, self._xs, source, server.can_bootstrap, self._elements)
        return self._like(xs, shape, padded=clean, repeated=False)._spanning(_times(self.range, 1))

    def rotate(self, k: int) -> EncryptedArray:
        """A vector turned to the left: ``out[i] = x[(i + k) % len(x)]``, as ``numpy.roll(x, -k)``.

        A level, and two to four rotations with a product with a plaintext each; one rotation and no
        level where the vector fills a single row of slots.
        """
        self._integers("rotate")
        if self.ndim != 1:
            raise ShapeError(
                f"an array of shape {self._shape} cannot be rotated: use .reshape(-1)",
                code="python.shape",
            )
        n = self._shape[0]
        k = operator.index(k) % n
        if k == 0:
            return self
        if [d for d in self._xs[0].params.dimensions if d > 1] == [n]:
            return self._each(lambda x: self._on()._raw.rotate_columns(x, k))
        return self._gather((np.arange(n) + k) % n)

    def rotate_columns(self, k: int) -> EncryptedArray:
        """All slots of each ciphertext, whatever they hold: the columns of every row by ``k`` to
        the left. A rotation, no level.
        """
        self._integers("rotate_columns")
        server, k = (
            self._on()._raw,
            _within(operator.index(k), -(1 << 62), 1 << 62, "a rotation by"),
        )
        return self._each(lambda x: server.rotate_columns(x, k), padded=self._full(self._shape))

    def swap_rows(self) -> EncryptedArray:
        """All slots of each ciphertext: the two rows exchanged; the identity where there is one.

        A rotation, no level.
        """
        self._integers("swap_rows")
        return self._each(self._on()._raw.swap_rows, padded=self._full(self._shape))

    def _alone(self) -> EncryptedArray:
        """With 0 in all slots after the last entry. A level unless it is known to be so."""
        if self._padded or self._full(self._shape):
            return self
        *whole, last = self._xs
        ones = np.ones(self.size - len(whole) * self._slots(), np.int64)
        return self._like(
            [*whole, self._on()._raw.mul_plain(last, ones, False)], padded=True, repeated=False
        )

    def sum(self, axis: int | None = None) -> EncryptedArray:
        """The sum of all entries, without dimensions, in every slot; or the sums along an axis.

        Of all: ciphertexts are added up, then a rotation for each doubling of the slots; before it
        a level if other slots are not known to be 0, as after ``x + 1``. Along an axis of n
        entries: at most 2 log2 n rotations, each with a level where the array is larger than a row
        of slots (``params.dimensions[-1]``), and the cost of bringing the sums together: of ``x[:,
        0]`` for the last of two axes, nothing for the first.
        """
        self._integers("sum")
        if axis is not None:
            place = self._axis(axis)
            if self.ndim > 1:
                return self._sum_along(place)
        if self._repeated:
            return self._like(self._xs, ())
        alone = self._alone()
        server, total = alone._on()._raw, alone._xs[0]
        for x in alone._xs[1:]:
            total = server.add(total, x)
        found = _times(alone.range, self.size, not self._full(self._shape))
        return alone._like([server.sum(total)], (), padded=False, repeated=True)._spanning(found)

    def _axis(self, axis: Any) -> int:
        """The place of an axis, from 0; a truth value, which Python has as 0 or 1, is none."""
        truth = isinstance(axis, (bool, np.bool_))
        if truth or not is_integer(axis) or not -self.ndim <= axis < self.ndim:
            raise ShapeError(
                f"axis {axis} of an array of shape {self._shape}", code="python.axis", axis=axis
            )
        return int(axis) % self.ndim

    def _sum_along(self, axis: int) -> EncryptedArray:
        places = np.asarray(np.arange(self.size).reshape(self._shape).take(0, axis))
        stride = math.prod(self._shape[axis + 1 :])
        xs = window_sums(self._on()._raw, self._xs, self.size, self._shape[axis], stride)
        return (
            self._like(xs, padded=False)
            ._spanning(_times(self.range, self._shape[axis]))
            ._gather(places)
        )

    def broadcast(self) -> EncryptedArray:
        """A single entry in every slot, so that it goes with arrays of any shape. As ``sum``."""
        if self.size != 1:
            raise ShapeError(
                f"an array of shape {self._shape}: expected a single entry", code="python.shape"
            )
        return self.sum()

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


def _times(
    found: tuple[int, int] | None, count: int, padded: bool = True
) -> tuple[int, int] | None:
    """The range of sums of that many integers of a range, or with ``padded`` of zeros instead."""
    if found is None:
        return None
    low, high = (min(found[0], 0), max(found[1], 0)) if padded else found
    most = 1 << 100
    return (count * low, count * high) if -most <= count * low and count * high <= most else None


def _within(k: int, low: int, high: int, what: str) -> int:
    if not low <= k <= high:
        raise RangeError(
            f"{what} {k}: expected {low} to {high}", code="python.value-range", found=k
        )
    return k


def _restore(params: Params, data: bytes) -> EncryptedArray:
    return EncryptedArray.from_bytes(data, params=params, bounds="stated", allow_unknown_owner=True)
