"""Computations along the last axis of arrays whose entries lie in one ciphertext: many short
arrays, one after the other, by the operations of one of them.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, cast

from . import _layout, _rows
from ._operands import _in, _on
from ._typed import Typed
from .errors import ShapeError

if TYPE_CHECKING:
    from ._integers import EncryptedIntegers

#: Order statistics by the names of those of vectors: the operation, and whether the largest entries
#: come first.
EXTREMES = {
    "maximum": ("arrays_nth", 1),
    "minimum": ("arrays_nth", 0),
    "argmax": ("arrays_argnth", 1),
    "argmin": ("arrays_argnth", 0),
}


def length(x: Typed, axis: Any, what: str) -> int | None:
    """The number of entries along an axis, if it is the last one and entries along it lie in one
    ciphertext with all others; none if it is another axis.
    """
    if axis is None or x.ndim < 2 or x._runs > 1:
        return None
    place = _rows.axis_of(axis, x.ndim, what)
    if place != x.ndim - 1 or place < _layout.leading(x._shape, x._runs):
        return None
    slots = x._params.slots
    if x.size > slots:
        raise ShapeError(
            f"{what} along the last axis of an array of shape {x._shape}: expected at most {slots} "
            "entries, which share a ciphertext; compute on fewer arrays at a time, or put entry j "
            "of all arrays in row j, encrypt with rows=True, and take axis=0",
            code="python.shape",
        )
    return x._shape[-1]


def _of(x: Typed, name: str, shape: tuple[int, ...], *numbers: int) -> EncryptedIntegers:
    """An operation on each array of entries along the last axis, exactly."""
    server = _on(x._server)
    blocks = server._integers.apply(name, [x._blocks[0]], [x._shape[-1], *numbers])
    return cast("EncryptedIntegers", x._make(blocks, shape, server))


def total(x: Typed) -> EncryptedIntegers:
    """The sum of each array, modulo 2^k if it wraps."""
    return _in(_of(x, "arrays_sum", x._shape[:-1]), x._wrap)


def cumulative(x: Typed) -> EncryptedIntegers:
    """The sum of each array up to each entry, modulo 2^k if it wraps."""
    return _in(_of(x, "arrays_cumsum", x._shape), x._wrap)


def extreme(x: Typed, name: str) -> EncryptedIntegers:
    """The largest or the least entry of each array, or its place."""
    operation, descending = EXTREMES[name]
    found = _of(x, operation, x._shape[:-1], descending, 0)
    return found._wrapping(x._wrap) if operation == "arrays_nth" else found


def nth(x: Typed, place: int) -> EncryptedIntegers:
    """The entry of each array that has a place in ascending order."""
    return _of(x, "arrays_nth", x._shape[:-1], 0, place)._wrapping(x._wrap)


def ordered(x: Typed) -> EncryptedIntegers:
    """The entries of each array in ascending order."""
    return _of(x, "arrays_sort", x._shape, 0)._wrapping(x._wrap)


def places(x: Typed) -> EncryptedIntegers:
    """The places of the entries of each array in ascending order: a stable sort."""
    return _of(x, "arrays_argsort", x._shape, 0)
