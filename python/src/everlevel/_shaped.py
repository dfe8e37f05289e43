"""Shapes of encrypted arrays, which are public."""

from __future__ import annotations

import math


class Shaped:
    """What has a shape, as NumPy's arrays have one."""

    __slots__ = ()

    _shape: tuple[int, ...]

    @property
    def shape(self) -> tuple[int, ...]:
        """The shape, as NumPy's; where slots hold elements, without the axis of their
        coefficients.
        """
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
