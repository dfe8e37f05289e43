"""NumPy's functions that choose, repeat and arrange rows of encrypted integers, or give them
another shape; all of them are free.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from . import _rows
from ._encrypted import Encrypted, not_homomorphic
from ._integers import EncryptedIntegers
from ._kinds import entries
from ._values import truths
from .errors import RangeError, ShapeError


def _axis(a: EncryptedIntegers, axis: Any, what: str) -> int:
    """The index of an axis; a vector has only one axis."""
    if axis is not None:
        return _rows.axis_of(axis, a.ndim, what)
    if a.ndim != 1:
        raise not_homomorphic(
            f"{what} of all entries", "take axis=0 of an array that was encrypted with rows=True"
        )
    return 0


def _at(a: EncryptedIntegers, places: npt.NDArray[Any], axis: int) -> EncryptedIntegers:
    """The entries at some positions along an axis of rows."""
    return _rows.picked(a, (*[slice(None)] * axis, places))


def take(
    a: EncryptedIntegers, indices: Any, axis: Any = None, out: Any = None, mode: str = "raise"
) -> EncryptedIntegers:
    """Rows by public indices."""
    if out is not None or mode != "raise":
        raise not_homomorphic(
            f"np.take with {'out' if out is not None else f'mode={mode!r}'}",
            "results of encrypted operands are new arrays, and indices are those of entries",
        )
    places, ends = entries(indices), np.iinfo(np.intp)
    if places.size and not ends.min <= int(places.min()) <= int(places.max()) <= ends.max:
        raise RangeError(
            f"np.take of {indices!r:.80}: expected places of entries", code="python.take"
        )
    return _at(a, places.astype(np.intp), _axis(a, axis, "np.take"))


def compress(
    condition: Any, a: EncryptedIntegers, axis: Any = None, out: Any = None
) -> EncryptedIntegers:
    """Rows by public truth values."""
    if isinstance(condition, Encrypted):
        raise not_homomorphic(
            "np.compress by encrypted truth values",
            "np.where(condition, x, 0): how many entries it chooses would be seen",
        )
    mask = truths(condition)
    if mask.ndim != 1:
        raise ShapeError(
            f"truth values of shape {mask.shape}: expected a vector", code="python.shape"
        )
    return take(a, np.flatnonzero(mask), axis, out)


def repeat(a: EncryptedIntegers, repeats: Any, axis: Any = None) -> EncryptedIntegers:
    place = _axis(a, axis, "np.repeat")
    return _at(a, np.repeat(np.arange(a.shape[place]), entries(repeats)), place)


def roll(a: EncryptedIntegers, shift: Any, axis: Any = None) -> EncryptedIntegers:
    place = _axis(a, axis, "np.roll")
    return _at(a, np.roll(np.arange(a.shape[place]), shift), place)


def flip(m: EncryptedIntegers, axis: Any = None) -> EncryptedIntegers:
    place = _axis(m, axis, "np.flip")
    return _at(m, np.arange(m.shape[place])[::-1], place)


def _divided(divide: Callable[..., Any]) -> Callable[..., Any]:
    def apply(ary: EncryptedIntegers, indices_or_sections: Any, axis: Any = 0) -> Any:
        place = _axis(ary, axis, "np.split")
        parts = divide(np.arange(ary.shape[place]), indices_or_sections)
        return [_at(ary, part, place) for part in parts]

    return apply


def vstack(tup: Sequence[Any]) -> EncryptedIntegers:
    """Rows one below the other; vectors are rows."""
    return _rows.concatenate([x if np.ndim(x) > 1 else _row(x) for x in tup])


def _row(x: Any) -> Any:
    return (x if isinstance(x, EncryptedIntegers) else np.asarray(x)).reshape(1, -1)


def hstack(tup: Sequence[Any]) -> EncryptedIntegers:
    arrays = list(tup)
    return _rows.concatenate(arrays, 0 if all(np.ndim(x) < 2 for x in arrays) else 1)


def _reshaped(shaped: Callable[..., Any]) -> Callable[..., Any]:
    """A NumPy function that gives an array another shape."""

    def apply(a: EncryptedIntegers, *arguments: Any, **options: Any) -> EncryptedIntegers:
        like = np.broadcast_to(np.int8(0), a.shape)
        return a.reshape(shaped(like, *arguments, **options).shape)

    return apply


FUNCTIONS: dict[Any, Callable[..., Any]] = {
    np.take: take,
    np.compress: compress,
    np.repeat: repeat,
    np.roll: roll,
    np.flip: flip,
    np.flipud: lambda m: flip(m, 0),
    np.split: _divided(np.split),
    np.array_split: _divided(np.array_split),
    np.stack: lambda arrays, axis=0: _rows.stack(arrays, axis),
    np.concatenate: lambda arrays, axis=0: _rows.concatenate(arrays, axis),
    np.vstack: vstack,
    np.hstack: hstack,
    np.broadcast_to: lambda x, shape: _rows.repeated(x, shape),
    np.reshape: lambda a, shape, order="C", copy=None: a.reshape(shape, order=order),
    np.ravel: lambda a, order="C": a.ravel(order),
    np.squeeze: _reshaped(np.squeeze),
    np.expand_dims: _reshaped(np.expand_dims),
    np.atleast_1d: lambda a: _reshaped(np.atleast_1d)(a),
    np.atleast_2d: lambda a: _reshaped(np.atleast_2d)(a),
    np.copy: lambda a, order="K", subok=False: a,
    np.shape: lambda x: x.shape,
    np.ndim: lambda x: x.ndim,
    np.size: lambda x: x.size,
}
