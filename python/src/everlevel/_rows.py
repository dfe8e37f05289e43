"""Arrays of typed integers whose rows lie in ciphertexts of their own: indexed, stacked, and
computed with along their rows.
"""

from __future__ import annotations

import functools
import operator
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any, cast

import numpy as np

from . import _layout
from ._encrypted import Encrypted, not_homomorphic
from ._kinds import Kind, entries, interval_of, named
from ._operands import _check_wrapping, _constants, is_typed
from ._typed import Typed
from .errors import DtypeError, OtherParametersError, ShapeError

if TYPE_CHECKING:
    from ._integers import EncryptedIntegers

WAY = (
    "entries along this axis lie in one ciphertext: encrypt with rows=True, or np.stack arrays, "
    "and the first axis can be indexed and computed along; along the last axis of an array that "
    "was encrypted without rows there are sum, cumsum, max, min, argmax, argmin, any, all, "
    "np.sort, np.argsort and np.quantile; "
    "or choose with np.where(mask, x, 0), which takes a mask of NumPy's"
)

#: The same for arrays that were encrypted with ``rows=True``, or stacked.
WAY_IN_ROWS = (
    "entries of a row lie in one ciphertext, and are not computed with each other: encrypt the "
    "array without rows=True, whose last axis is axis=-1, or transposed with rows=True, whose "
    "axis=0 is this one"
)


def rows(count: int, kind: Any) -> Kind:
    """For annotations of programs: a number of rows of a dtype, or of ``everlevel.ranged(low,
    high)``, as ``client.encrypt(.., rows=True)`` makes them.
    """
    if operator.index(count) < 1:
        raise ShapeError(f"{count} rows: expected at least one", code="python.rows")
    found: Kind = kind if isinstance(kind, Kind) else Kind(*interval_of(named(kind)))
    return replace(found, rows=operator.index(count))


def _numbers(x: Typed) -> Any:
    """The numbers of runs by leading axes, and how many runs each stands for."""
    lead = x._shape[: _layout.leading(x._shape, x._runs)]
    count = int(np.prod(lead, dtype=np.int64))
    return np.arange(count).reshape(lead), x._runs // count


def _chosen(x: Typed, numbers: Any, each: int, tail: tuple[int, ...]) -> EncryptedIntegers:
    runs = (numbers.reshape(-1, 1) * each + np.arange(each)).reshape(-1)
    return cast("EncryptedIntegers", x._picked(runs, (*numbers.shape, *tail)))


def picked(x: Typed, key: Any) -> EncryptedIntegers:
    """x[key] for leading axes."""
    keys = key if isinstance(key, tuple) else (key,)
    if any(isinstance(k, Encrypted) for k in keys):
        raise not_homomorphic(
            "an encrypted index",
            "everlevel.Table(table)[x] for a table of public integers, np.where for encrypted ones",
        )
    given = sum(k is not None and k is not Ellipsis and not isinstance(k, bool) for k in keys)
    if given > x.ndim:
        raise IndexError(f"too many indices for an array of {x.ndim} dimensions")
    numbers, each = _numbers(x)
    whole = [k is Ellipsis or (isinstance(k, slice) and k == slice(None)) for k in keys]
    while keys and whole[-1] and (keys[-1] is Ellipsis or len(keys) > numbers.ndim):
        keys, whole = keys[:-1], whole[:-1]
    taken = sum(k is not None for k in keys)
    if taken > numbers.ndim or any(k is Ellipsis for k in keys):
        raise not_homomorphic("parts of an array of typed integers", WAY)
    found = numbers[keys]
    if not np.size(found):
        raise ShapeError(
            "an index that chooses nothing: expected at least one row", code="python.empty"
        )
    return _chosen(x, np.asarray(found), each, x._shape[numbers.ndim :])


def axis_of(axis: Any, ndim: int, what: str) -> int:
    """The number of an axis of an array of ``ndim`` dimensions, from 0."""
    if isinstance(axis, (bool, np.bool_)):
        raise ShapeError(f"axis {axis}: expected its number", code="python.shape")
    if isinstance(axis, tuple) and len(axis) == 1:
        raise not_homomorphic(f"{what} along {axis}", f"give the integer, axis={axis[0]!r}")
    if not isinstance(axis, (int, np.integer)):
        raise not_homomorphic(f"{what} along {axis!r}", "take one axis after the other")
    if not -ndim <= axis < ndim:
        raise ShapeError(f"axis {axis} of an array of {ndim} dimensions", code="python.shape")
    return int(axis) % ndim


def one_axis(axis: Any, ndim: int, what: str) -> Any:
    """The axis of a reduction, or none: a tuple of one is that one, as NumPy has it."""
    if not isinstance(axis, tuple):
        return axis
    places = [axis_of(one, ndim, what) for one in axis]
    if len(set(places)) < len(places):
        raise ShapeError(
            f"{what} along {axis}: one axis is given twice: give each once", code="python.shape"
        )
    return places[0] if len(places) == 1 else axis_of(axis, ndim, what)


def kept(x: Typed, found: EncryptedIntegers, axis: Any, keep: bool) -> EncryptedIntegers:
    """What was found of x along an axis, or of all entries, with that axis kept if asked for:
    another shape of the same entries, and free.
    """
    if not keep:
        return found
    if axis is None:
        return found.reshape((1,) * x.ndim)
    place = axis_of(axis, x.ndim, "a result")
    return found.reshape(x._shape[:place] + (1,) + x._shape[place + 1 :])


def of_all(x: Typed) -> str:
    """What to do instead of computing something of all entries of an array at once."""
    if x._runs > 1:
        return "use axis=0, which is along the rows"
    ways = ["axis=-1, for each array along the last axis"] if x.ndim else []
    if x.size <= x._params.slots:
        ways.append("x.ravel(), of which the only axis has all entries")
    return f"use {', or '.join(ways)}"


def along(x: Typed, axis: int | None, what: str) -> list[EncryptedIntegers]:
    """The parts of an array along an axis."""
    if axis is None:
        raise not_homomorphic(
            f"{what} of all entries of an array of shape {x._shape}",
            f"{of_all(x)}; or count: client.decrypt(np.count_nonzero(x))",
        )
    axis = axis_of(axis, x.ndim, what)
    numbers, each = _numbers(x)
    if axis >= numbers.ndim:
        raise not_homomorphic(f"{what} along axis {axis}", WAY if x._runs == 1 else WAY_IN_ROWS)
    return [
        _chosen(x, part, each, x._shape[numbers.ndim :]) for part in np.moveaxis(numbers, axis, 0)
    ]


def _first(arrays: Sequence[Any]) -> EncryptedIntegers:
    """The first encrypted one."""
    like = next((x for x in arrays if is_typed(x)), None)
    if like is None:
        raise DtypeError("no encrypted array among these", code="python.input")
    return like


def _alike(arrays: Sequence[Any]) -> list[EncryptedIntegers]:
    """Encrypted arrays for encrypted and public ones."""
    like = _first(arrays)
    for x in arrays:
        if not is_typed(x) and np.shape(x) != like._shape:
            raise ShapeError(
                f"a public array of shape {np.shape(x)} among encrypted ones of shape "
                f"{like._shape}: expected the same shape",
                code="python.shape",
            )
    found = [x if is_typed(x) else _constants(like, entries(x)) for x in arrays]
    if not all(like._params.same(x._params) for x in found):
        raise OtherParametersError("arrays of different parameter sets", code="scheme.wrong-params")
    if any(x._server is not like._server for x in found):
        raise OtherParametersError(
            "arrays on two servers, or some on none: load all on one", code="python.other-server"
        )
    if any(x._wrap != like._wrap for x in found):
        raise DtypeError(
            "arrays of which some wrap: use .checked() or .wrapping(dtype) on all",
            code="integers.type",
        )
    return found


def _together(parts: Sequence[EncryptedIntegers], shape: tuple[int, ...]) -> EncryptedIntegers:
    blocks = [block for x in parts for block in x._blocks]
    runs, counted = sum(x._runs for x in parts), any(x._counted for x in parts)
    return parts[0]._make(blocks, shape, parts[0]._server, parts[0]._wrap, runs, counted)


def stack(arrays: Sequence[Any], axis: int = 0) -> EncryptedIntegers:
    """Arrays of one shape as the rows of a new one. Free."""
    if is_typed(arrays):
        arrays = list(arrays)
    parts = _alike(arrays)
    if axis_of(axis, parts[0].ndim + 1, "np.stack") != 0:
        raise not_homomorphic(
            f"np.stack along axis {axis}",
            "use axis=0, whose entries lie in ciphertexts of their own",
        )
    if len({(x._shape, x._runs) for x in parts}) > 1:
        found = " and ".join(map(str, sorted({x._shape for x in parts})))
        raise ShapeError(
            f"np.stack of arrays of shapes {found}: expected one shape, all encrypted with "
            "rows=True or none",
            code="python.shape",
        )
    return _together(parts, (len(parts), *parts[0]._shape))


def concatenate(arrays: Sequence[Any], axis: int = 0) -> EncryptedIntegers:
    """Arrays with rows one after the other. Free."""
    arrays = list(arrays)
    # Refuses what is no axis before public arrays are taken apart.
    along(_first(arrays), axis, "np.concatenate")
    parts: list[Any] = []
    for x in arrays:
        if is_typed(x):
            parts += along(x, axis, "np.concatenate")
        else:
            parts += list(np.moveaxis(entries(x), axis, 0))
    return joined(_alike(parts), axis)


def joined(parts: Sequence[EncryptedIntegers], axis: int) -> EncryptedIntegers:
    """The array whose parts along an axis these are."""
    whole = stack(parts)
    if axis % whole.ndim == 0:
        return whole
    numbers, each = _numbers(whole)
    return _chosen(
        whole, np.moveaxis(numbers, 0, axis % whole.ndim), each, whole._shape[numbers.ndim :]
    )


def repeated(x: EncryptedIntegers, shape: Any) -> EncryptedIntegers:
    """The array repeated along axes of rows. Free."""
    wanted = tuple(np.broadcast_to(np.int8(0), shape).shape)
    whole, _, (place,) = _layout.aligned([(x._shape, x._runs)], [wanted])
    if whole != wanted:
        raise ShapeError(f"an array of shape {x._shape} does not fit {wanted}", code="python.shape")
    return x if place is None else x._picked(place, wanted)


def reduced(parts: Sequence[Any], operation: Callable[[Any, Any], Any]) -> Any:
    """An operation of neighbours, then of pairs of them, and so on: as deep as the logarithm of how
    many there are.
    """
    parts = list(parts)
    while len(parts) > 1:
        pairs = [operation(a, b) for a, b in zip(parts[::2], parts[1::2])]
        parts = pairs + parts[len(pairs) * 2 :]
    return parts[0]


def total(parts: Sequence[EncryptedIntegers]) -> EncryptedIntegers:
    """The sum of arrays."""
    return weighted(parts, [1] * len(parts))._counting()


def weighted(parts: Sequence[EncryptedIntegers], weights: Sequence[int]) -> EncryptedIntegers:
    """The sum of multiples of arrays, whose carries are computed once."""
    first, *others = parts
    _check_wrapping((first, *weights))
    return first._arithmetic("weighted_sum", *others, numbers=weights)


def product(matrix: Any, x: Typed) -> EncryptedIntegers:
    """matrix @ x for a public matrix or vector and the rows of x."""
    if isinstance(matrix, Encrypted):
        raise not_homomorphic(
            "a matrix product of two encrypted arrays",
            "(x * y).sum(axis=0) adds up products of rows",
        )
    weights = entries(matrix)
    rows = along(x, 0, "a matrix product")
    if weights.ndim not in (1, 2) or weights.shape[-1] != len(rows) or x.ndim > 2:
        raise ShapeError(
            f"a matrix product of shapes {weights.shape} and {x._shape}: expected as many columns "
            "as rows",
            code="python.shape",
        )
    if weights.ndim == 1:
        return weighted(rows, weights.tolist())._counting()
    return stack([weighted(rows, row)._counting() for row in weights.tolist()])


def _largest(
    parts: Sequence[EncryptedIntegers], better: Callable[[Any, Any], Any]
) -> EncryptedIntegers:
    """The place of the best of some arrays, the first of equal ones."""

    def rounds(a: tuple[Any, Any], b: tuple[Any, Any]) -> tuple[Any, Any]:
        later = better(b[0], a[0])
        return np.where(later, b[0], a[0]), np.where(later, b[1], a[1])

    found = reduced([(x, i) for i, x in enumerate(parts)], rounds)[1]
    return (found if is_typed(found) else parts[0].checked() * 0)._counting()


def exchanges(n: int) -> Iterator[tuple[int, int]]:
    """The pairs that sort n entries if each is put in order: merging by exchanges, Knuth, The Art
    of Computer Programming 3, 5.2.2, algorithm M.
    """
    top = 1 << max(n - 1, 0).bit_length() >> 1
    p = top
    while p:
        q, r, d = top, 0, p
        while True:
            yield from ((i, i + d) for i in range(n - d) if i & p == r)
            if q == p:
                break
            d, q, r = q - p, q >> 1, p
        p >>= 1


def ordered(parts: Sequence[EncryptedIntegers]) -> list[EncryptedIntegers]:
    """Entry by entry in ascending order: about n (log2 n)^2 / 4 comparisons of whole arrays."""
    found = list(parts)
    for i, j in exchanges(len(found)):
        a, b = found[i], found[j]
        swap = b < a
        found[i], found[j] = (
            swap._apply("select", *pair)._wrapping(a._wrap) for pair in ((b, a), (a, b))
        )
    return found


#: Order statistics of arrays, entry by entry, by the names of those of vectors.
ORDERED: dict[str, Callable[[Sequence[EncryptedIntegers]], EncryptedIntegers]] = {
    "maximum": functools.partial(reduced, operation=np.maximum),
    "minimum": functools.partial(reduced, operation=np.minimum),
    "argmax": functools.partial(_largest, better=operator.gt),
    "argmin": functools.partial(_largest, better=operator.lt),
}
