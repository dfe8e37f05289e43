"""Arrays modulo p^r with their entries in other places: shapes, indices, rotations, sums."""

from __future__ import annotations

import math
import operator
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from . import _options
from ._encrypted import not_homomorphic
from ._moves import gather, window_sums
from ._slotwise import Slotwise, _within
from ._values import is_integer
from .errors import ShapeError

if TYPE_CHECKING:
    from typing_extensions import Self


class Indexed(Slotwise):
    """Entries that move between the slots of ciphertexts."""

    __slots__ = ()

    def reshape(self, *shape: Any, order: str = "C", copy: bool | None = None) -> Self:
        """The same entries in another shape, in row-major order. Free."""
        _options.read("reshape", order=order)
        return self._like(self._xs, self._reshaped(shape), encryption=self._encryption)

    def transpose(self, axes: Sequence[int] | None = None) -> Self:
        """Axes in another order, reversed by default.

        Entries move, at the cost of an index with as many distances.
        """
        self._integers("transpose")
        return self._gather(np.arange(self.size).reshape(self._shape).transpose(axes))

    @property
    def T(self) -> Self:
        """With axes reversed, as ``transpose``."""
        return self.transpose()

    def __getitem__(self, key: Any) -> Self:
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

    def _gather(self, places: npt.NDArray[np.int64]) -> Self:
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

    def rotate(self, k: int) -> Self:
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

    def rotate_columns(self, k: int) -> Self:
        """All slots of each ciphertext, whatever they hold: the columns of every row by ``k`` to
        the left. A rotation, no level.
        """
        self._integers("rotate_columns")
        server, k = (
            self._on()._raw,
            _within(operator.index(k), -(1 << 62), 1 << 62, "a rotation by"),
        )
        return self._each(lambda x: server.rotate_columns(x, k), padded=self._full(self._shape))

    def swap_rows(self) -> Self:
        """All slots of each ciphertext: the two rows exchanged; the identity where there is one.

        A rotation, no level.
        """
        self._integers("swap_rows")
        return self._each(self._on()._raw.swap_rows, padded=self._full(self._shape))

    def _alone(self) -> Self:
        """With 0 in all slots after the last entry. A level unless it is known to be so."""
        if self._padded or self._full(self._shape):
            return self
        *whole, last = self._xs
        ones = np.ones(self.size - len(whole) * self._slots(), np.int64)
        return self._like(
            [*whole, self._on()._raw.mul_plain(last, ones, False)], padded=True, repeated=False
        )

    def sum(
        self,
        axis: int | tuple[int, ...] | None = None,
        dtype: None = None,
        out: None = None,
        keepdims: bool = False,
        initial: int = 0,
        where: bool = True,
    ) -> Self:
        """The sum of all entries, without dimensions, in every slot; or the sums along an axis.

        Of all: ciphertexts are added up, then a rotation for each doubling of the slots; before it
        a level if other slots are not known to be 0, as after ``x + 1``. Along an axis of n
        entries: at most 2 log2 n rotations, each with a level where the array is larger than a row
        of slots (``params.dimensions[-1]``), and the cost of bringing the sums together: of ``x[:,
        0]`` for the last of two axes, nothing for the first.
        """
        if _options.read(
            "sum", dtype=dtype, out=out, keepdims=keepdims, initial=initial, where=where
        ):
            raise not_homomorphic("sum with keepdims", "sums.reshape(shape) is free")
        self._integers("sum")
        if axis is not None:
            place = self._axis(axis[0] if isinstance(axis, tuple) and len(axis) == 1 else axis)
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

    def _sum_along(self, axis: int) -> Self:
        places = np.asarray(np.arange(self.size).reshape(self._shape).take(0, axis))
        stride = math.prod(self._shape[axis + 1 :])
        xs = window_sums(self._on()._raw, self._xs, self.size, self._shape[axis], stride)
        return (
            self._like(xs, padded=False)
            ._spanning(_times(self.range, self._shape[axis]))
            ._gather(places)
        )

    def broadcast(self) -> Self:
        """A single entry in every slot, so that it goes with arrays of any shape. As ``sum``."""
        if self.size != 1:
            raise ShapeError(
                f"an array of shape {self._shape}: expected a single entry", code="python.shape"
            )
        return self.sum()


def _times(
    found: tuple[int, int] | None, count: int, padded: bool = True
) -> tuple[int, int] | None:
    """The range of sums of that many integers of a range, or with ``padded`` of zeros instead."""
    if found is None:
        return None
    low, high = (min(found[0], 0), max(found[1], 0)) if padded else found
    most = 1 << 100
    return (count * low, count * high) if -most <= count * low and count * high <= most else None
