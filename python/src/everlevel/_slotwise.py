"""Arrays modulo p^r as operands: the server, what stands beside them, what is known of results."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from . import _everlevel as _rust
from ._described import Described
from ._encrypted import no_server
from ._places import Serving
from ._values import SIGNED, in_slots, integers
from .errors import OtherParametersError, ParameterError, RangeError, ShapeError

if TYPE_CHECKING:
    from typing_extensions import Self


class Slotwise(Described):
    """Entries in ciphertexts, as operations take them slot by slot."""

    __slots__ = ()

    def _on(self) -> Serving:
        if self._server is None:
            raise no_server()
        return self._server

    def _like(
        self, xs: Sequence[_rust.Ciphertext], shape: tuple[int, ...] | None = None, **changed: Any
    ) -> Self:
        kept = {
            "server": self._server,
            "signed": self._signed,
            "padded": self._padded,
            "repeated": self._repeated,
            "elements": self._elements,
            "lost": self._ranged,
        }
        return self._make(xs, self._shape if shape is None else shape, **{**kept, **changed})

    def _each(
        self, operation: Callable[[_rust.Ciphertext], _rust.Ciphertext], **changed: Any
    ) -> Self:
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

    def _plain(
        self, values: npt.ArrayLike, negative: bool = False
    ) -> tuple[list[npt.NDArray[np.int64]], tuple[int, ...]]:
        """Entries for the slots of each ciphertext, which may be negated if ``negative``, and the
        shape of the result.
        """
        array, tail = integers(values), (self._xs[0].params.slot_degree,) if self._elements else ()
        if negative and self.modulus > SIGNED and int(array.min()) == -SIGNED:
            raise RangeError(
                f"{-SIGNED}: expected integers whose negatives have 64 bits, too",
                code="python.value-range",
                found=-SIGNED,
            )
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

    def _pair(self, other: Slotwise) -> tuple[Serving, tuple[int, ...]]:
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

    def _with(self, other: Slotwise, name: str) -> tuple[list[_rust.Ciphertext], dict[str, Any]]:
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

    def _spanning(self, found: tuple[int, int] | None) -> Self:
        """With this range, which follows from what was computed; as it is if there is none."""
        if found is None:
            return self
        low, high = found
        return self._each(lambda x: x.within(low, high))


def _within(k: int, low: int, high: int, what: str) -> int:
    """A number that the compiled half takes, if it is in an interval."""
    if not low <= k <= high:
        raise RangeError(
            f"{what} {k}: expected {low} to {high}", code="python.value-range", found=k
        )
    return k
