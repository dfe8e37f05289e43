"""Computations along the last axis of arrays whose entries lie in one ciphertext: many short
arrays, one after the other, by the operations of one of them.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, cast

from . import _layout, _rows
from ._encrypted import not_homomorphic
from ._nodes import recorder_of
from ._operands import _on
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

#: Operations as they are called, where that is another name.
SHOWN = {"maximum": "max", "minimum": "min"}


def length(x: Typed, axis: Any, what: str) -> int | None:
    """The number of entries along an axis, if it is the last one and entries along it lie in one
    ciphertext with all others; none if it is another axis.
    """
    if axis is None or x.ndim < 2 or x._runs > 1:
        return None
    place = _rows.axis_of(axis, x.ndim, what)
    if place != x.ndim - 1 or place < _layout.leading(x._shape, x._runs):
        return None
    if recorder_of(x) is not None:
        raise not_homomorphic(
            f"{SHOWN.get(what, what)} along the last axis of an array of a service",
            "compute() what it is made of, and do this on a server of your own",
        )
    slots = x._params.slots
    if x.size > slots:
        raise ShapeError(
            f"{SHOWN.get(what, what)} along the last axis of an array of shape {x._shape}: "
            f"expected at most {slots} entries, which share a ciphertext; compute on fewer arrays "
            "at a time, or put entry j of all arrays in row j, encrypt with rows=True, and take "
            "axis=0",
            code="python.shape",
        )
    return x._shape[-1]


def _of(x: Typed, name: str, shape: tuple[int, ...], *numbers: int) -> EncryptedIntegers:
    """An operation on each array of entries along the last axis, exactly."""
    server = _on(x._server)
    blocks = server._integers.apply(name, [x._blocks[0]], [x._shape[-1], *numbers])
    # Entries that are chosen are what they were; sums and places are no truth values.
    counted = x._counted or name not in ("arrays_nth", "arrays_sort")
    return cast("EncryptedIntegers", x._make(blocks, shape, server, None, 1, counted))


def total(x: Typed) -> EncryptedIntegers:
    """The sum of each array, which does not wrap, as that of a vector."""
    return _of(x, "arrays_sum", x._shape[:-1])


def cumulative(x: Typed) -> EncryptedIntegers:
    """The sum of each array up to each entry, which does not wrap, as that of a vector."""
    return _of(x, "arrays_cumsum", x._shape)


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


def places(x: Typed, descending: bool = False) -> EncryptedIntegers:
    """The places of the entries of each array in order: a stable sort."""
    return _of(x, "arrays_argsort", x._shape, int(descending))
