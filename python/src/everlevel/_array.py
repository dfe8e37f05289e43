"""Encrypted arrays."""

from __future__ import annotations

import math
import operator
from typing import TYPE_CHECKING, Any, Sequence

import numpy as np
import numpy.typing as npt

from . import _everlevel as _rust
from ._params import Params, params_with
from ._values import Buffer, Progress, integers, octets, path_text, stepper
from .errors import FormatError, NoServerError, OtherParametersError, ParameterError, RangeError, ShapeError

if TYPE_CHECKING:
    from ._roles import Server


class EncryptedArray:
    """An array of integers modulo p^e in the slots of one ciphertext, entry i (row-major) in slot i.

    Arithmetic is slot by slot with arrays of the same shape, with NumPy arrays and integers, and takes a server (``Server.load``), which bootstraps by
    itself. Arrays are not changed by operations; the ciphertext behind one may be replaced by a fresher one of the same values.

    What an operation costs is said with it, in ciphertext products, rotations (each a key switch or a few) and levels.
    """

    __slots__ = ("_x", "_server", "_shape", "_signed", "_padded", "_repeated", "_encryption")
    __array_ufunc__ = None

    _x: _rust.Ciphertext
    _server: Server | None
    _shape: tuple[int, ...]
    _signed: bool
    _padded: bool
    _repeated: bool
    _encryption: str | None

    def __init__(self) -> None:
        raise TypeError("encrypted arrays come from Client.encrypt, PublicKey.encrypt, Server.read and EncryptedArray.from_bytes")

    @classmethod
    def _make(
        cls,
        x: _rust.Ciphertext,
        shape: tuple[int, ...],
        *,
        server: Server | None = None,
        signed: bool = False,
        padded: bool = False,
        repeated: bool = False,
        encryption: str | None = None,
    ) -> EncryptedArray:
        """``padded``: slots after the last entry are known to be 0. ``repeated``: the only entry is in every slot."""
        self = object.__new__(cls)
        self._x, self._shape, self._server, self._signed = x, shape, server, signed
        self._padded, self._repeated, self._encryption = padded, repeated, encryption
        return self

    # What it is

    @property
    def params(self) -> Params:
        """The parameter set."""
        return Params._of(self._x.params)

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
    def signed(self) -> bool:
        """Whether entries are decrypted as the integers of least absolute value."""
        return self._signed

    @property
    def modulus(self) -> int:
        """p^e: what entries are taken modulo."""
        return self._x.params.plain_modulus(self._x.plain_exponent)

    @property
    def level(self) -> int:
        """The level: 0 is the lowest."""
        return self._x.level

    @property
    def noise_bound_bits(self) -> float:
        """log2 of the proved bound on the noise."""
        return self._x.noise_bound_bits

    @property
    def capacity_bits(self) -> float:
        """What is left to compute with: log2(modulus / (2 noise bound))."""
        return self._x.capacity_bits

    @property
    def multiplications_left(self) -> int:
        """How many squarings in a row still leave what can be decrypted, without bootstrapping."""
        return self._x.multiplications_left

    def explain(self) -> str:
        """What is known of the noise, without any key: it follows from what was computed, so it may be shown to anybody."""
        x = self._x
        return (
            f"{x.params.name}, level {x.level} of {x.params.levels - 1}: modulus 2^{x.modulus_bits:.1f}, noise bound 2^{x.noise_bound_bits:.1f}, "
            f"{x.capacity_bits:.1f} bits of capacity\n"
            f"{x.depth} products deep; {self.multiplications_left} squarings in a row are left before decryption would be refused\n"
            f"{self.size} of {x.params.slots} slots modulo {self.modulus}, in {x.form.upper()} form"
        )

    @property
    def depth(self) -> int:
        """Products in a row since the encryption or the last bootstrapping, as noise bounds count them."""
        return self._x.depth

    @property
    def fingerprint(self) -> int:
        """64 bits of all residues, equal for equal ciphertexts on every machine. Not collision-resistant."""
        return self._x.fingerprint

    @property
    def server(self) -> Server | None:
        """The server that computes on it."""
        return self._server

    def __repr__(self) -> str:
        where = "" if self._server is not None else ", no server"
        sign = ", signed" if self._signed else ""
        return (
            f"<EncryptedArray of shape {self._shape} modulo {self.modulus}{sign}, {self._x.params.name}: level {self.level}, "
            f"noise bound 2^{self.noise_bound_bits:.1f}, {self.capacity_bits:.1f} bits of capacity{where}>"
        )

    # Bytes

    def _metadata(self) -> dict[str, str]:
        found = {"values": str(self.size), "shape": ",".join(map(str, self._shape)), "signed": "true" if self._signed else "false"}
        if self._repeated:
            found["slots"] = "repeated"
        elif self._padded:
            found["slots"] = "zero-padded"
        if self._encryption is not None:
            found["encryption"] = self._encryption
        return found

    def to_bytes(self) -> bytes:
        """As bytes of the wire format, version 1, which every role of the program reads, too. Not authenticated."""
        return self._x.to_bytes(self._metadata())

    @classmethod
    def from_bytes(
        cls,
        data: Buffer,
        *,
        params: Params | None = None,
        insecure_research: bool = False,
        bounds: str = "untrusted",
        server: Server | None = None,
    ) -> EncryptedArray:
        """From bytes or any contiguous buffer of them, such as a mapped file, which is not copied.

        ``bounds`` says what is believed of noise bounds: ``"untrusted"`` nothing, which is enough to decrypt; ``"fresh"``: it must be what ``encrypt`` made;
        ``"stated"``: what the bytes say, within reason. Whoever states too little makes results wrong.
        """
        raw = octets(data)
        if params is None and server is not None:
            params = server.params
        if params is None:
            params = params_with(_rust.inspect(raw)[1], insecure_research)
        if params is None:
            raise ParameterError("the parameter set of these bytes has no name: give it with params=", code="python.params")
        found, metadata = _rust.ciphertexts_from_bytes(params._raw, raw, bounds)
        if len(found) != 1:
            raise FormatError(f"expected one ciphertext, found {len(found)}", code="python.one", found=len(found))
        return cls._from_metadata(found[0], metadata, server)

    @classmethod
    def _from_metadata(cls, x: _rust.Ciphertext, metadata: dict[str, str], server: Server | None) -> EncryptedArray:
        slots = x.params.slots
        encryption = metadata.get("encryption") if metadata.get("encryption") in ("secret", "public") else None
        shape = _shape_of(metadata, slots)
        tail = metadata.get("slots")
        repeated = tail == "repeated" and math.prod(shape) == 1
        padded = tail == "zero-padded" or (tail is None and encryption is not None) or math.prod(shape) == slots
        signed = metadata.get("signed") == "true"
        return cls._make(x, shape, server=server, signed=signed, padded=padded, repeated=repeated, encryption=encryption)

    def save(self, path: Any, *, overwrite: bool = False) -> None:
        """Writes a file, in one step: ``NAME.ct`` by the program's custom."""
        _rust.write_file(path_text(path), self.to_bytes(), overwrite)

    def compact(self) -> bytes:
        """Cut to what decryption needs: a few percent of the bytes, for ``Client.decrypt`` and ``everlevel decrypt``. Nothing can be computed on it."""
        return self._x.compact(self._metadata())

    def __reduce__(self) -> Any:
        # Bounds of one's own pickle are believed: who can change a pickle can run code.
        return _restore, (self.params, self.to_bytes())

    # Helpers

    def _on(self) -> Server:
        if self._server is None:
            raise NoServerError(
                "no server holds this array, and computing takes server keys: load it with Server.load first", code="python.no-server"
            )
        return self._server

    def _like(self, x: _rust.Ciphertext, shape: tuple[int, ...] | None = None, **changed: Any) -> EncryptedArray:
        kept = {"server": self._server, "signed": self._signed, "padded": self._padded, "repeated": self._repeated}
        return EncryptedArray._make(x, self._shape if shape is None else shape, **{**kept, **changed})

    def _slots(self) -> int:
        return self._x.params.slots

    def _fits(self, size: int) -> None:
        if size > self._slots():
            raise ShapeError(f"{size} entries: a ciphertext of {self._x.params.name} has {self._slots()} slots", code="python.slots")

    def _plain(self, values: npt.ArrayLike) -> tuple[npt.NDArray[np.int64], tuple[int, ...]]:
        """Entries for the slots, and the shape of the result."""
        array = integers(values)
        try:
            shape = np.broadcast_shapes(array.shape, self._shape)
        except ValueError:
            shape = None
        if shape is None or (shape != self._shape and not self._repeated):
            raise ShapeError(
                f"an array of shape {array.shape} does not fit one of shape {self._shape}", code="python.shape", found=array.shape
            )
        self._fits(math.prod(shape))
        return np.ascontiguousarray(np.broadcast_to(array, shape)).reshape(-1), shape

    def _pair(self, other: EncryptedArray) -> tuple[Server, tuple[int, ...]]:
        """The server for both, and the shape of the result."""
        server = self._on() if self._server is not None else other._on()
        if not self._x.params.same(other._x.params):
            raise OtherParametersError(
                f"one array is of {self._x.params.name}, the other of {other._x.params.name}", code="scheme.wrong-params"
            )
        if self._shape == other._shape or other._repeated:
            return server, self._shape
        if self._repeated:
            return server, other._shape
        hint = "; .broadcast() brings a single entry to every slot" if 1 in (self.size, other.size) else ""
        raise ShapeError(f"shapes {self._shape} and {other._shape} differ{hint}", code="python.shape")

    # Arithmetic

    def _add(self, other: Any, negative: bool) -> EncryptedArray:
        if isinstance(other, EncryptedArray):
            server, shape = self._pair(other)
            x = (server._raw.sub if negative else server._raw.add)(self._x, other._x)
            both = (self._padded or self._full(shape)) and (other._padded or other._full(shape))
            padded = both and not (self._repeated or other._repeated)
            repeated = self._repeated and other._repeated
            signed = self._signed or other._signed
            return self._like(x, shape, server=server, padded=padded, repeated=repeated, signed=signed)
        if _is_integer(other):
            k = self._scalar(other)
            return self._like(self._on()._raw.add_scalar(self._x, -k if negative else k), padded=self._full(self._shape))
        values, shape = self._plain(other)
        x = self._on()._raw.add_plain(self._x, -values if negative else values)
        return self._like(x, shape, padded=self._padded and not self._repeated, repeated=False)

    def _full(self, shape: tuple[int, ...]) -> bool:
        return math.prod(shape) == self._slots()

    def _scalar(self, integer: Any) -> int:
        k, t = int(integer), self.modulus
        if not -t < k < t:
            raise RangeError(f"{k}: expected an integer above -{t} and below {t}, the plaintext modulus", code="python.value-range", found=k)
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
        return self._like(self._on()._raw.neg(self._x))

    def __pos__(self) -> EncryptedArray:
        return self

    def __mul__(self, other: Any) -> EncryptedArray:
        """Product. Of two encrypted arrays: one product with its key switch. With a NumPy array: a level; with an integer: the bits of the integer."""
        if isinstance(other, EncryptedArray):
            server, shape = self._pair(other)
            x = server._raw.mul(self._x, other._x)
            padded = self._padded or other._padded or self._full(shape)
            repeated = self._repeated and other._repeated
            signed = self._signed or other._signed
            return self._like(x, shape, server=server, padded=padded and not repeated, repeated=repeated, signed=signed)
        if _is_integer(other):
            return self._like(self._on()._raw.mul_scalar(self._x, self._scalar(other)))
        values, shape = self._plain(other)
        return self._like(self._on()._raw.mul_plain(self._x, values), shape, padded=True, repeated=False)

    __rmul__ = __mul__

    def __pow__(self, exponent: int) -> EncryptedArray:
        """A power with an exponent from 1 to 2^63, at depth ⌈log2⌉."""
        exponent = operator.index(exponent)
        if not 1 <= exponent < 1 << 63:
            raise RangeError(f"exponent {exponent}: expected 1 to 2^63 - 1", code="python.exponent", found=exponent)
        return self._like(self._on()._raw.pow(self._x, exponent))

    def __rmatmul__(self, matrix: npt.ArrayLike) -> EncryptedArray:
        """``matrix @ x`` for a matrix of plain integers and a vector; a vector from the left gives their scalar product.

        By diagonals: for k that are not 0, k products with plaintexts and about 2 √k rotations, one level. At most as many rows and columns as the slots have
        columns (``params.dimensions[-1]``).
        """
        array = integers(matrix)
        if self.ndim != 1 or array.ndim not in (1, 2) or array.shape[-1] != self._shape[0]:
            raise ShapeError(f"a matrix of shape {array.shape} times a vector of shape {self._shape}", code="python.shape")
        x = self._on()._raw.mul_matrix(self._x, np.ascontiguousarray(np.atleast_2d(array)))
        return self._like(x, array.shape[:-1], padded=True, repeated=False)

    def __matmul__(self, matrix: npt.ArrayLike) -> EncryptedArray:
        return self.__rmatmul__(np.asarray(matrix).T)

    # Moves

    def reshape(self, *shape: Any) -> EncryptedArray:
        """The same entries in another shape. Free."""
        wanted = shape[0] if len(shape) == 1 and not _is_integer(shape[0]) else shape
        try:
            found = np.broadcast_to(np.int8(0), self._shape).reshape(wanted).shape
        except ValueError as error:
            raise ShapeError(str(error), code="python.shape") from None
        return self._like(self._x, found, encryption=self._encryption)

    def __getitem__(self, key: Any) -> EncryptedArray:
        """Entries of the first dimension: ``x[i]``, ``x[a:b]``, without steps.

        From the beginning (``x[:b]``) free. Else as ``rotate``, half of it: a rotation and a product with a plaintext for each row of slots that entries come from.
        """
        if not self._shape:
            raise ShapeError("an array without dimensions has no parts", code="python.shape")
        n, entry = self._shape[0], math.prod(self._shape[1:])
        if isinstance(key, slice):
            start, stop, step = key.indices(n)
            if step != 1:
                raise RangeError(f"a step of {step}: expected parts without steps", code="python.slice", found=step)
            shape = (max(stop - start, 0), *self._shape[1:])
        else:
            start = operator.index(key)
            if not -n <= start < n:
                raise IndexError(f"index {start} is out of bounds for {n} entries")
            start, shape = start % n, self._shape[1:]
        size = math.prod(shape)
        if size == 0:
            raise ShapeError(f"[{key.start}:{key.stop}] of {n} entries is empty", code="python.empty")
        if shape == self._shape:
            return self
        if start == 0:
            return self._like(self._x, shape, padded=False, repeated=False, encryption=None)
        x = self._on()._raw.copy_slots(self._x, [(start * entry, 0, size)])
        return self._like(x, shape, padded=True, repeated=False)

    def rotate(self, k: int) -> EncryptedArray:
        """A vector turned to the left: ``out[i] = x[(i + k) % len(x)]``, as ``numpy.roll(x, -k)``.

        A level, and two to four rotations with a product with a plaintext each; one rotation and no level where the vector fills a single row of slots.
        """
        if self.ndim != 1:
            raise ShapeError(f"an array of shape {self._shape} cannot be rotated: take .reshape(-1)", code="python.shape")
        n = self._shape[0]
        k = operator.index(k) % n
        if k == 0:
            return self
        if [d for d in self._x.params.dimensions if d > 1] == [n]:
            return self._like(self._on()._raw.rotate_columns(self._x, k))
        x = self._on()._raw.copy_slots(self._x, [(k, 0, n - k), (k - n, n - k, n)])
        return self._like(x, padded=True)

    def rotate_columns(self, k: int) -> EncryptedArray:
        """All slots, whatever they hold: the columns of every row by ``k`` to the left. A rotation, no level."""
        return self._like(self._on()._raw.rotate_columns(self._x, operator.index(k)), padded=self._full(self._shape))

    def swap_rows(self) -> EncryptedArray:
        """All slots: the two rows exchanged; the identity where there is one. A rotation, no level."""
        return self._like(self._on()._raw.swap_rows(self._x), padded=self._full(self._shape))

    def _alone(self) -> EncryptedArray:
        """With 0 in all slots after the last entry. A level unless it is known to be so."""
        if self._padded or self._full(self._shape):
            return self
        return self._like(self._on()._raw.mul_plain(self._x, np.ones(self.size, np.int64)), padded=True, repeated=False)

    def sum(self) -> EncryptedArray:
        """The sum of all entries, without dimensions, in every slot.

        A rotation for each doubling of the slots; before it a level if other slots are not known to be 0, as after ``x + 1``.
        """
        if self._repeated:
            return self
        alone = self._alone()
        return alone._like(alone._on()._raw.sum(alone._x), (), padded=False, repeated=True)

    def broadcast(self) -> EncryptedArray:
        """A single entry in every slot, so that it goes with arrays of any shape. As ``sum``."""
        if self.size != 1:
            raise ShapeError(f"an array of shape {self._shape}: expected a single entry", code="python.shape")
        return self.sum()

    # Noise

    def refresh(self, *, progress: Progress = None) -> EncryptedArray:
        """Bootstrapped now. Not needed: operations do so by themselves. ``progress`` is told of stages."""
        return self._like(self._on()._raw.refresh(self._x, stepper(progress)))

    # Digits

    def truncate(self, digits: int, *, rounding: str = "nearest") -> EncryptedArray:
        """Divided by p^digits, to the ``"nearest"`` integer (of signed entries) or the next below (``"floor"``, of entries from 0): modulo p^(e - digits).

        One digit removal, whose depth grows with p and e. What is modulo less than p^r cannot be bootstrapped: do what is deep before.
        """
        if rounding not in ("nearest", "floor"):
            raise RangeError(f"rounding = {rounding!r}: expected 'nearest' or 'floor'", code="python.rounding")
        return self._like(self._on()._raw.truncate(self._x, digits, rounding == "floor"))

    def clear_lowest_digit(self) -> EncryptedArray:
        """Less the balanced lowest digit to the base p, still modulo p^e: to the nearest multiple of p."""
        return self._like(self._on()._raw.clear_lowest_digit(self._x))

    @property
    def comparison_range(self) -> int:
        """T: comparisons are of integers from -T to T - 1."""
        return self._on()._raw.comparison_range(self._x)

    def is_negative(self) -> EncryptedArray:
        """1 where an entry x with -T <= x < T is below 0, else 0, modulo p. For odd p below 8192: a polynomial of degree p - 2, and for e > 1 a digit removal."""
        return self._like(self._on()._raw.is_negative(self._x), signed=False)

    def sign(self) -> EncryptedArray:
        """-1, 0 or 1, modulo p, for entries from -T to T. As ``is_negative``, twice."""
        return self._like(self._on()._raw.sign(self._x), signed=True)

    def less_than(self, other: Any) -> EncryptedArray:
        """1 where an entry is below the other's, else 0, for differences from -T to T - 1. As ``is_negative``."""
        return self._add(other, True).is_negative()

    def between(self, low: Any, high: Any) -> EncryptedArray:
        """1 where low <= x <= high, else 0, for differences from -T to T - 1. Two comparisons and a product."""
        below, above = self.less_than(low), (-self)._add(high, False).is_negative()
        return (-below)._add(1, False) * (-above)._add(1, False)

    def equals(self, other: Any) -> EncryptedArray:
        """1 where entries are equal, else 0, modulo p (e = 1): 1 - (x - y)^(p - 1), of depth ⌈log2(p - 1)⌉."""
        if self._x.plain_exponent != 1:
            raise ParameterError(
                f"entries modulo {self.modulus}: equality is told modulo a prime; truncate first", code="python.prime-modulus"
            )
        different = self._add(other, True) ** (self._x.params.plain_prime - 1)
        return (-different)._add(1, False)._unsigned()

    def _unsigned(self) -> EncryptedArray:
        return self._like(self._x, signed=False)


def _is_integer(k: Any) -> bool:
    return isinstance(k, (int, np.integer, np.bool_))


def _shape_of(metadata: dict[str, str], slots: int) -> tuple[int, ...]:
    """The shape that metadata state, if it fits the slots; else a vector of as many values as they state, or of all slots."""
    text = metadata.get("shape")
    if text is not None:
        try:
            shape = tuple(int(part) for part in text.split(",")) if text else ()
        except ValueError:
            shape = (0,)
        if len(shape) > 32 or any(not 1 <= n <= slots for n in shape) or math.prod(shape) > slots:
            raise FormatError(f"shape {text[:100]!r} does not fit {slots} slots", code="python.shape")
        return shape
    values = metadata.get("values", "")
    size = int(values) if values.isascii() and values.isdigit() and len(values) < 10 else slots
    return (size,) if 1 <= size <= slots else (slots,)


def _restore(params: Params, data: bytes) -> EncryptedArray:
    return EncryptedArray.from_bytes(data, params=params, bounds="stated")


def to_bytes(arrays: Sequence[EncryptedArray], metadata: dict[str, str]) -> bytes:
    return _rust.ciphertexts_to_bytes([x._x for x in arrays], metadata)
