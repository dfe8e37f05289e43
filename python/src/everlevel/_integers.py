"""Encrypted arrays of typed integers, with the operators and functions of NumPy's."""

from __future__ import annotations

import math
import operator
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, NoReturn

import numpy as np
import numpy.typing as npt

from . import _everlevel as _rust
from ._columns import Stored
from ._encrypted import Encrypted, missing, not_homomorphic
from ._html import facts
from ._kinds import Interval, Kind, dtype_of, entries, interval_of, named
from ._params import Params
from ._totals import EncryptedTotal
from .errors import DtypeError, NoServerError, OtherParametersError, RangeError, ShapeError

if TYPE_CHECKING:
    from ._programs import Tracer
    from ._server import Server


class EncryptedIntegers(Encrypted, Stored):
    """An encrypted array of integers: ``bool``, ``uint8`` to ``int64``, or of an interval.

    Which values entries can have is public, follows from types and operations alone, and is :attr:`interval`: nothing wraps, what could leave its range is refused
    before anything is computed, and :attr:`dtype` is the smallest one that holds the interval. :meth:`wrapping` makes arithmetic modulo 2^k instead.

    Operators and NumPy's functions work entry by entry with arrays of the same shape, NumPy arrays and integers. Comparisons are encrypted arrays of ``bool``.
    What cannot be done is a ``TypeError`` that says what to do instead.
    """

    __slots__ = ("_blocks", "_shape", "_server", "_wrap", "_params")

    #: Entries in row-major order, as many in each as a ciphertext has slots.
    _blocks: tuple[_rust.Column, ...]
    _shape: tuple[int, ...]
    _server: Server | Tracer | None
    #: The dtype modulo which it computes.
    _wrap: np.dtype[Any] | None
    _params: _rust.Params

    def __init__(self) -> None:
        raise TypeError("encrypted integers come from Client.encrypt and PublicKey.encrypt")

    @classmethod
    def _make(
        cls,
        blocks: Sequence[_rust.Column],
        shape: tuple[int, ...],
        server: Server | Tracer | None = None,
        wrap: np.dtype[Any] | None = None,
    ) -> EncryptedIntegers:
        self = object.__new__(EncryptedIntegers)
        self._blocks, self._shape, self._server, self._wrap, self._params = tuple(blocks), shape, server, wrap, blocks[0].params
        return self

    # What is known of them

    @property
    def params(self) -> Params:
        """The parameter set."""
        return Params._of(self._params)

    @property
    def key_id(self) -> str | None:
        """The public id of the secret key that it decrypts under; none if all entries are public."""
        return next((x.key_id for x in self._blocks if x.key_id is not None), None)

    @property
    def shape(self) -> tuple[int, ...]:
        """The shape, as NumPy's."""
        return self._shape

    @property
    def ndim(self) -> int:
        """The number of dimensions."""
        return len(self._shape)

    @property
    def size(self) -> int:
        """The number of entries."""
        return math.prod(self._shape)

    def __len__(self) -> int:
        if not self._shape:
            raise TypeError("len() of an array without dimensions")
        return self._shape[0]

    @property
    def interval(self) -> Interval:
        """Which values entries can have: public, and never from the data."""
        low, high = zip(*(x.interval for x in self._blocks))
        return min(low), max(high)

    @property
    def dtype(self) -> np.dtype[Any]:
        """The smallest dtype that holds the interval, which ``decrypt`` gives; ``object``, with Python's integers, beyond 64 bits."""
        return dtype_of(self.interval) if self._wrap is None else self._wrap

    @property
    def ciphertexts(self) -> int:
        """How many ciphertexts hold the entries."""
        return sum(x.ciphertexts for x in self._blocks)

    @property
    def capacity_bits(self) -> float:
        """What the ciphertext with the least has left to compute with; infinite if all entries are public."""
        return min((x.capacity_bits for x in self._blocks if x.capacity_bits is not None), default=math.inf)

    @property
    def server(self) -> Server | Tracer | None:
        """The server that computes on it."""
        return self._server

    def __repr__(self) -> str:
        low, high = self.interval
        where = "" if self._server is not None else ", no server"
        kind = f"wrapping {self.dtype}" if self._wrap is not None else f"{self.dtype} from {low} to {high}"
        return f"<EncryptedIntegers of shape {self._shape}, {kind}, {self._params.name} in {self.ciphertexts} ciphertexts{where}>"

    def _repr_html_(self) -> str:
        low, high = self.interval
        rows = [
            ("shape", self._shape),
            ("dtype", f"{self.dtype}, wrapping" if self._wrap is not None else self.dtype),
            ("values", f"{low} to {high}"),
            ("parameter set", self._params.name),
            ("ciphertexts", self.ciphertexts),
            ("capacity", f"{self.capacity_bits:.1f} bits"),
            ("server", "none: Server.load" if self._server is None else "loaded"),
        ]
        return facts("EncryptedIntegers", rows)

    def _set(self) -> Params:
        return self.params

    # Operations

    def _apply(self, name: str, *operands: Any, numbers: Sequence[int] = ()) -> EncryptedIntegers:
        """An operation of the library on this array and others, entry by entry."""
        return _apply(name, (self, *operands), numbers)

    def _arithmetic(self, name: str, *operands: Any, numbers: Sequence[int] = ()) -> EncryptedIntegers:
        """The same, modulo 2^k if this array or an operand wraps."""
        return _wrapped(_apply(name, (self, *operands), numbers), (self, *operands))

    def _operand(self, other: Any) -> Any:
        """An operand in a form that is computed on: encrypted integers, a Python integer or an array of integers."""
        if isinstance(other, (EncryptedIntegers, bool, int)):
            return other
        if isinstance(other, EncryptedTotal):
            other._no_operation()
        if isinstance(other, (float, np.inexact)):
            raise DtypeError(f"{other!r}: expected integers; scale and round it first", code="integers.value")
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
        """Absolute value: a comparison and a selection."""
        return self._arithmetic("abs")

    def __mul__(self, other: Any) -> EncryptedIntegers:
        """Product. By a public integer: nothing where digits allow it, else tables. By truth values: a selection.

        Of two encrypted arrays: 164, 540 and 1,850 products of ciphertexts for 8, 16 and 32 bits; squares cost half.
        """
        other = self._operand(other)
        if isinstance(other, int):
            return self._arithmetic("mul_public", numbers=[other])
        if isinstance(other, np.ndarray):
            other = _constants(self, other)
        low, high = other.interval
        if 0 <= low and high <= 1:
            return _wrapped(_apply("select", (other, self, 0)), (self, other))
        least, most = self.interval
        if 0 <= least and most <= 1:
            return _wrapped(_apply("select", (self, other, 0)), (self, other))
        kind = _modulus((self, other))
        if kind is not None:
            return EncryptedIntegers._make(self._apply("mul_wrapped", other, numbers=interval_of(kind))._blocks, self._shape, self._server, kind)
        return self._apply("square") if other is self else self._apply("mul", other)

    __rmul__ = __mul__

    def __floordiv__(self, other: Any) -> EncryptedIntegers:
        """Quotient, rounded down, and 0 where the divisor is 0, as NumPy's value is.

        By public integers: shifts, tables or a product. By encrypted ones, of values that are not negative: a product, or bit by bit.
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
            divisor = _constants(self, divisor)
        if not isinstance(divisor, int):
            return self._arithmetic(name, divisor)
        if divisor == 0:
            raise ZeroDivisionError("integer division or modulo by zero")
        return self._apply(name + "_public", numbers=[divisor])

    def __truediv__(self, other: Any) -> NoReturn:
        raise not_homomorphic("a quotient of integers is no integer", "divide with //, which rounds down, or decrypt first")

    __rtruediv__ = __truediv__

    def __pow__(self, exponent: Any) -> EncryptedIntegers:
        """A power with a public exponent, by products."""
        if not isinstance(exponent, (int, np.integer)) or exponent < 1:
            raise not_homomorphic(f"a power with exponent {exponent!r}", "exponents are public integers from 1; everlevel.Table has any function of few values")
        whole: EncryptedIntegers | None = None
        power, left = self, int(exponent)
        while True:
            if left & 1:
                whole = power if whole is None else whole * power
            left >>= 1
            if not left:
                return whole if whole is not None else self
            power = power * power

    def __rpow__(self, other: Any) -> NoReturn:
        raise not_homomorphic("a power with an encrypted exponent", "everlevel.Table(powers)[x] has any function of few values")

    def __matmul__(self, other: Any) -> EncryptedTotal:
        """The scalar product with a vector, which is decrypted."""
        return (self * other).sum() if isinstance(other, EncryptedIntegers) else self.dot(other)

    __rmatmul__ = __matmul__

    def __lshift__(self, bits: Any) -> EncryptedIntegers:
        """Times a power of 2; wider, unless it wraps."""
        bits = self._operand(bits)
        if not isinstance(bits, int):
            return self._arithmetic("shift_left_by", _column(self, bits))
        return self * (1 << _bits(bits))

    def __rshift__(self, bits: Any) -> EncryptedIntegers:
        """Divided by a power of 2, rounded down. Nothing for multiples of 4 bits, else a table a digit."""
        bits = self._operand(bits)
        return self._apply("shift_right", numbers=[_bits(bits)]) if isinstance(bits, int) else self._apply("shift_right_by", _column(self, bits))

    def __rlshift__(self, other: Any) -> EncryptedIntegers:
        return _apply("shift_left_by", (_column(self, self._operand(other)), self))

    def __rrshift__(self, other: Any) -> EncryptedIntegers:
        return _apply("shift_right_by", (_column(self, self._operand(other)), self))

    def _logic(self, name: str, other: Any) -> EncryptedIntegers:
        """Of truth values a product, of integers a table a digit."""
        other = self._operand(other)
        if isinstance(other, np.ndarray):
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
        """The same entries, with arithmetic modulo 2^k as NumPy's, in their dtype or another one that holds them."""
        kind = named(self.dtype if dtype is None else dtype)
        if kind.kind == "b":
            raise DtypeError("truth values do not wrap: take .astype(np.uint8).wrapping()", code="integers.type")
        return EncryptedIntegers._make(self.astype(kind)._blocks, self._shape, self._server, kind)

    def checked(self) -> EncryptedIntegers:
        """The same entries, with arithmetic that does not wrap."""
        return EncryptedIntegers._make(self._blocks, self._shape, self._server)

    def astype(self, dtype: npt.DTypeLike, *, wrap: bool = False, copy: bool = True) -> EncryptedIntegers:
        """Entries of another dtype: free where it holds them all, refused where it does not; with ``wrap`` modulo 2^k. To ``bool``: whether they are not 0."""
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
            f"entries from {least} to {most} as {kind}, {low} to {high}: clip them first, or say astype({str(kind)!r}, wrap=True) for the lowest bits",
            code="integers.range",
            low=least,
            high=most,
        )

    def normalised(self) -> EncryptedIntegers:
        """The same entries with all carries computed, so that who decrypts sees their values only."""
        return self._apply("normalised")

    # Shapes

    def reshape(self, *shape: Any) -> EncryptedIntegers:
        """The same entries in another shape. Free."""
        wanted = shape[0] if len(shape) == 1 and not isinstance(shape[0], (int, np.integer)) else shape
        try:
            found = np.broadcast_to(np.int8(0), self._shape).reshape(wanted).shape
        except ValueError as error:
            raise ShapeError(str(error), code="python.shape") from None
        return EncryptedIntegers._make(self._blocks, found, self._server, self._wrap)

    def ravel(self) -> EncryptedIntegers:
        """The entries as a vector, in row-major order. Free."""
        return self.reshape(-1)

    def __getitem__(self, key: Any) -> EncryptedIntegers:
        if key is Ellipsis or (isinstance(key, slice) and key == slice(None)):
            return self
        raise not_homomorphic(
            "parts of an array of typed integers",
            "choose with np.where(mask, x, 0), which takes a mask of NumPy's, or encrypt the parts as arrays of their own",
        )

    def __setitem__(self, key: Any, value: Any) -> NoReturn:
        raise not_homomorphic("encrypted arrays are not changed", "take np.where(mask, value, x), which is a new one")

    def __iter__(self) -> NoReturn:
        raise not_homomorphic("a loop over encrypted entries", "operators work on all entries at once; client.decrypt(x) gives an array to loop over")

    # Along the array

    def sum(self, axis: int | None = None) -> EncryptedTotal:
        """The sum of all entries, which is decrypted: log2 of the slots rotations for each digit."""
        if axis is not None and (self.ndim != 1 or axis not in (0, -1)):
            raise not_homomorphic("sums along an axis", "sum arrays of one dimension each, or take client.encrypt_modular")
        server = _on(self._server)
        return EncryptedTotal._make([server._integers.totals("sum", x)[0] for x in self._blocks], server._factor)

    def mean(self) -> EncryptedTotal:
        """The mean of all entries, rounded down when it is decrypted, so whoever decrypts sees the sum; of at most as many as there are slots."""
        return EncryptedTotal._make(_on(self._server)._integers.totals("mean", self._vector("mean")), 1)

    def dot(self, weights: npt.ArrayLike) -> EncryptedTotal:
        """The scalar product with a vector of public integers."""
        array, server = entries(weights), _on(self._server)
        if isinstance(weights, Encrypted) or array.shape != self._shape or self.ndim != 1:
            raise ShapeError(f"a scalar product of shapes {array.shape} and {self._shape}: expected vectors of one length", code="python.shape")
        slots, flat = self._params.slots, array.tolist()
        parts = [server._integers.totals("dot", x, flat[i * slots : (i + 1) * slots])[0] for i, x in enumerate(self._blocks)]
        return EncryptedTotal._make(parts, server._factor)

    def _vector(self, operation: str) -> _rust.Column:
        """The only block of a vector."""
        if self.ndim != 1 or self.size > self._params.slots:
            raise ShapeError(
                f"{operation} of an array of shape {self._shape}: expected a vector of at most {self._params.slots} entries", code="python.shape"
            )
        return self._blocks[0]

    def _along(self, name: str, *numbers: int, shape: tuple[int, ...] = ()) -> EncryptedIntegers:
        """An operation along a vector."""
        server, block = _on(self._server), self._vector(name)
        return EncryptedIntegers._make(server._integers.apply(name, [block], list(numbers)), shape, server)

    def max(self) -> EncryptedIntegers:
        """The largest entry, of few: all pairs are compared side by side."""
        return self._along("maximum")

    def min(self) -> EncryptedIntegers:
        """The least entry, as ``max``."""
        return self._along("minimum")

    def argmax(self) -> EncryptedIntegers:
        """Where the largest entry is, the first one of equal ones, as ``max``."""
        return self._along("argmax")

    def argmin(self) -> EncryptedIntegers:
        """Where the least entry is, the first one of equal ones, as ``max``."""
        return self._along("argmin")

    def argsort(self) -> EncryptedIntegers:
        """The places of entries in order: a stable sort of few."""
        return self._along("argsort", self.size, shape=self._shape)

    def cumsum(self) -> EncryptedIntegers:
        """Prefix sums: log2 n rotations, and carries."""
        return self._along("cumsum", shape=self._shape)

    def clip(self, low: int, high: int) -> EncryptedIntegers:
        """Entries, or the nearer one of two bounds."""
        return self._apply("clip", numbers=[operator.index(low), operator.index(high)])

    def __array_ufunc__(self, ufunc: np.ufunc, method: str, *inputs: Any, out: Any = None, **options: Any) -> Any:
        from ._numpy import ufunc as apply

        return apply(ufunc, method, inputs, out, options)

    def __array_function__(self, function: Any, types: Any, arguments: Any, options: Any) -> Any:
        from ._numpy import function as apply

        return apply(function, arguments, options)

    def __getattr__(self, name: str) -> Any:
        from ._numpy import way

        raise missing(self, name, "encrypted integers", way(name))


# Helpers


def _bits(bits: int) -> int:
    if not 0 <= bits < 64:
        raise RangeError(f"a shift by {bits} bits: expected 0 to 63", code="integers.range", bits=bits)
    return int(bits)


def _on(server: Server | Tracer | None) -> Server | Tracer:
    if server is None:
        raise NoServerError("no server holds this array, and computing takes server keys: load it with Server.load first", code="python.no-server")
    return server


def _shape(operands: Sequence[Any]) -> tuple[int, ...]:
    """The shape of a result: that of all encrypted arrays, to which public ones are brought."""
    shapes = {x.shape for x in operands if isinstance(x, EncryptedIntegers)}
    if len(shapes) > 1:
        found = " and ".join(map(str, sorted(shapes)))
        raise ShapeError(f"encrypted arrays of shapes {found}: expected one shape; repeat entries before they are encrypted", code="python.shape")
    (shape,) = shapes
    for x in operands:
        if isinstance(x, np.ndarray):
            try:
                fits = np.broadcast_shapes(x.shape, shape) == shape
            except ValueError:
                fits = False
            if not fits:
                raise ShapeError(f"an array of shape {x.shape} does not fit an encrypted one of shape {shape}", code="python.shape")
    return shape


def _constants(like: EncryptedIntegers, array: npt.NDArray[Any]) -> EncryptedIntegers:
    """Public integers beside an encrypted array, in ciphertexts without noise."""
    shape = _shape((like, array))
    flat, server, slots = np.broadcast_to(array, shape).reshape(-1), _on(like._server), like._params.slots
    chunks = (flat[i : i + slots].tolist() for i in range(0, flat.size, slots))
    return EncryptedIntegers._make([server._integers.constant(x, chunk) for x, chunk in zip(like._blocks, chunks)], shape, like._server)


def _column(like: EncryptedIntegers, operand: Any) -> EncryptedIntegers:
    """An operand as encrypted integers: public ones in ciphertexts without noise."""
    return operand if isinstance(operand, EncryptedIntegers) else _constants(like, np.asarray(operand))


def _apply(name: str, operands: Sequence[Any], numbers: Sequence[int] = ()) -> EncryptedIntegers:
    encrypted = [x for x in operands if isinstance(x, EncryptedIntegers)]
    shape = _shape(operands)
    server = _on(next((x._server for x in encrypted if x._server is not None), None))
    if not all(encrypted[0]._params.same(x._params) for x in encrypted[1:]):
        raise OtherParametersError("arrays of different parameter sets", code="scheme.wrong-params")
    if any(x._server is not None and x._server is not server for x in encrypted):
        raise OtherParametersError("arrays on two servers: load both on one", code="python.other-server")
    _check_wrapping(operands)
    like = max(encrypted, key=lambda x: x.ciphertexts)
    if like._server is None:
        like = EncryptedIntegers._make(like._blocks, like._shape, server)
    columns = [_constants(like, x)._blocks if isinstance(x, np.ndarray) else x for x in operands]
    blocks = []
    for i in range(len(like._blocks)):
        given = [x._blocks[i] if isinstance(x, EncryptedIntegers) else x[i] if isinstance(x, tuple) else int(x) for x in columns]
        blocks.append(server._integers.apply(name, given, list(numbers))[0])
    return EncryptedIntegers._make(blocks, shape, server)


def _modulus(operands: Sequence[Any]) -> np.dtype[Any] | None:
    kinds = {x._wrap for x in operands if isinstance(x, EncryptedIntegers) and x._wrap is not None}
    if len(kinds) > 1:
        raise DtypeError(f"wrapping {' and '.join(sorted(map(str, kinds)))}: convert one with .astype(dtype, wrap=True)", code="integers.type")
    return kinds.pop() if kinds else None


def _check_wrapping(operands: Sequence[Any]) -> None:
    """Of operands one of which wraps, the others lie in its dtype."""
    kind = _modulus(operands)
    if kind is None:
        return
    low, high = interval_of(kind)
    for x in operands:
        least, most = x.interval if isinstance(x, EncryptedIntegers) else (int(np.min(x)), int(np.max(x)))
        if least < low or most > high:
            raise DtypeError(
                f"wrapping {kind} with values from {least} to {most}: take .astype({str(kind)!r}, wrap=True), or .checked() for exact arithmetic",
                code="integers.type",
            )


def _wrapped(x: EncryptedIntegers, operands: Sequence[Any]) -> EncryptedIntegers:
    kind = _modulus(operands)
    if kind is None:
        return x
    low, high = interval_of(kind)
    return EncryptedIntegers._make(x._apply("wrapped", numbers=[low, high])._blocks, x._shape, x._server, kind)


def encrypted(
    key: dict[str, Any], params: _rust.Params, array: npt.NDArray[Any], kind: Kind
) -> EncryptedIntegers:
    """An array under a key."""
    flat, slots = array.reshape(-1), params.slots
    blocks = [
        _rust.encrypt_column(flat[i : i + slots].tolist(), kind.low, kind.high, **key) for i in range(0, flat.size, slots)
    ]
    return EncryptedIntegers._make(blocks, array.shape)


def decrypted(key: _rust.SecretKey, x: EncryptedIntegers | EncryptedTotal) -> Any:
    """The entries of an array, or a total."""
    if isinstance(x, EncryptedTotal):
        return sum(_rust.decrypt_total(key, part) for part in x._parts)
    slots, values = x._params.slots, []
    for i, block in enumerate(x._blocks):
        found, size = _rust.decrypt_column(key, block), min(slots, x.size - i * slots)
        values.extend(found if len(found) == size else found[:1] * size)
    array = np.array(values, dtype=x.dtype).reshape(x._shape)
    return array if array.shape else array[()]
