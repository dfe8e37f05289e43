"""Shapes of encrypted arrays, which are public."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from ._values import is_integer
from .errors import ShapeError


class Shaped:
    """An object with a shape, like NumPy's arrays."""

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

    def _reshaped(self, shape: tuple[Any, ...]) -> tuple[int, ...]:
        """The shape that is meant by the arguments of ``reshape``."""
        wanted = shape[0] if len(shape) == 1 and not is_integer(shape[0]) else shape
        try:
            found: tuple[int, ...] = np.broadcast_to(np.int8(0), self._shape).reshape(wanted).shape
        except ValueError as error:
            raise ShapeError(str(error), code="python.shape") from None
        return found

    def __len__(self) -> int:
        if not self._shape:
            raise TypeError("len() of an array without dimensions")
        return self._shape[0]
