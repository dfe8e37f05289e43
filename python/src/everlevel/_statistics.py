"""NumPy's functions that sort, search and count encrypted integers."""

from __future__ import annotations

import functools
import math
import operator
from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt

from . import _options, _rows, _short
from ._encrypted import Encrypted, not_homomorphic
from ._integers import EncryptedIntegers
from ._kinds import entries
from ._operands import ENTRIES, _looked_up_all, _on
from ._totals import EncryptedTotal
from ._ways import WAYS
from .errors import RangeError, ShapeError

#: The most totals that ``minlength`` asks for: more are public zeros that nobody needs.
MOST_TOTALS = 1 << 16

#: Of how many values the entries that have them are in memory at the same time.
TOGETHER = 16

#: The place of a quantile, of n entries in order: that of an entry, as NumPy has it.
PLACES: dict[str, Callable[[Any, int], int]] = {
    "lower": lambda q, n: math.floor(q * (n - 1)),
    "higher": lambda q, n: math.ceil(q * (n - 1)),
    "nearest": lambda q, n: round(float(q * (n - 1))),
    "inverted_cdf": lambda q, n: max(0, math.ceil(q * n - 1)),
}


def searchsorted(a: Any, v: Any, side: str = "left") -> Any:
    """The position in a public ascending list: the number of its entries that are below v, or with
    ``"right"`` not above it.
    """
    edges = _public(a, "the list that is searched")
    if (
        edges.ndim != 1
        or not edges.size
        or side not in ("left", "right")
        or (edges[1:] < edges[:-1]).any()
    ):
        raise ShapeError(
            "expected an ascending vector of public integers, and side 'left' or 'right'",
            code="python.shape",
        )
    numbers = [int(side == "right"), *edges.tolist()]
    return v.checked()._apply("searchsorted", numbers=numbers)._counting()


def digitize(x: Any, bins: Any, right: bool = False) -> Any:
    """The number of the public bracket that contains each entry; edges may descend, too."""
    edges, side = _public(bins, "the list of edges"), "left" if right else "right"
    if edges.ndim == 1 and edges.size and edges[0] > edges[-1]:
        return edges.size - searchsorted(edges[::-1], x, side)
    return searchsorted(edges, x, side)


def isin(
    element: Any, test_elements: Any, assume_unique: bool = False, invert: bool = False
) -> Any:
    """True, encrypted, where an entry is in a public list."""
    if not isinstance(element, EncryptedIntegers):
        raise not_homomorphic(
            "np.isin in an encrypted list",
            "compare with each: np.any([x == k for ...]), or encrypt what is looked for",
        )
    found = element.checked()._apply(
        "isin", numbers=_public(test_elements, "the list").reshape(-1).tolist()
    )
    return ~found if invert else found


def sort(
    a: EncryptedIntegers,
    axis: int = -1,
    kind: Any = None,
    order: Any = None,
    *,
    stable: Any = None,
) -> Any:
    _options.read("sort", order=order)
    if _short.length(a, axis, "sorting") is not None:
        return _short.ordered(a)
    if not a._is_vector(axis, "sorting"):
        return _rows.joined(_rows.ordered(_rows.along(a, axis, "sorting")), axis)
    return a.nsmallest(a.size)


def argsort(
    a: EncryptedIntegers,
    axis: int = -1,
    kind: Any = None,
    order: Any = None,
    *,
    stable: Any = None,
) -> Any:
    return a.argsort(axis, kind, order, stable=stable)


def partition(places: Callable[..., Any]) -> Callable[..., Any]:
    """A partition, for which all entries are sorted: this is a partition about every entry."""

    def apply(a: EncryptedIntegers, kth: Any, axis: int | None = -1) -> Any:
        about = _public(kth, "the place of a partition")
        size = _size(a, axis, "a partition")
        if (
            about.dtype.kind == "b"
            or about.ndim > 1
            or not all(-size <= int(place) < size for place in about.flat)
        ):
            raise RangeError(
                f"a partition of {size} entries about place {kth}: expected {-size} to "
                f"{size - 1}, or a list of such places",
                code="python.take",
            )
        return places(a, axis)

    return apply


def _size(a: EncryptedIntegers, axis: Any, what: str) -> int:
    """The number of entries along an axis, or of all."""
    return a.size if axis is None else a.shape[_rows.axis_of(axis, a.ndim, what)]


def quantile(
    a: EncryptedIntegers,
    q: float,
    axis: Any = None,
    out: Any = None,
    overwrite_input: bool = False,
    method: str = "linear",
    keepdims: bool = False,
) -> Any:
    """A quantile that is an entry, because values between two entries need not be integers."""
    keep = _options.read("quantile", out=out, keepdims=keepdims)
    axis = _rows.one_axis(axis, a.ndim, "a quantile")
    if method not in PLACES:
        raise not_homomorphic(
            f"np.quantile by method {method!r}",
            "use method='lower', 'higher', 'nearest' or 'inverted_cdf', which are entries",
        )
    if np.ndim(q):
        raise not_homomorphic("np.quantile at several q", "ask for one after the other")
    if not 0 <= q <= 1:
        raise RangeError(f"q = {q}: expected 0 to 1", code="python.quantile")
    # In floating point of the precision of q, as NumPy has it.
    place = PLACES[method](q, _size(a, axis, "an entry in order"))
    return _rows.kept(a, _nth(a, place, axis, "a quantile"), axis, keep)


def percentile(a: EncryptedIntegers, q: float, *arguments: Any, **options: Any) -> Any:
    # Several q are refused there.
    return quantile(a, q if np.ndim(q) else q / 100, *arguments, **options)


def median(
    a: EncryptedIntegers,
    axis: Any = None,
    out: Any = None,
    overwrite_input: bool = False,
    keepdims: Any = False,
) -> Any:
    """The median; the number of entries has to be odd."""
    keep = _options.read("median", out=out, keepdims=keepdims)
    axis = _rows.one_axis(axis, a.ndim, "the median")
    size = _size(a, axis, "the median")
    if size % 2 == 0:
        raise not_homomorphic(
            "the median of an even number of entries, which is between two",
            "use np.quantile(x, 0.5, method='lower')",
        )
    return _rows.kept(a, _nth(a, size // 2, axis, "the median"), axis, keep)


def _nth(a: EncryptedIntegers, place: int, axis: Any, what: str) -> Any:
    if axis is None or a._is_vector(axis, what):
        return a._along("nth", place)
    if _short.length(a, axis, what) is not None:
        return _short.nth(a, place)
    return _rows.ordered(_rows.along(a, axis, what))[place]


def bincount(x: Any, weights: Any = None, minlength: int = 0) -> Any:
    """The number of entries with each value from 0 to the largest possible one, or to ``minlength``
    - 1 if that is larger, as a list of totals; with public weights, their sums.
    """
    if not isinstance(x, EncryptedIntegers) or isinstance(weights, Encrypted):
        raise not_homomorphic(
            "np.bincount with encrypted weights",
            "(x == k) @ weights is the entry of each value k",
        )
    least = operator.index(minlength)
    if not 0 <= least <= MOST_TOTALS:
        raise ShapeError(f"minlength = {least}: expected 0 to {MOST_TOTALS}", code="python.shape")
    if x.interval[0] != 0:
        raise not_homomorphic(
            f"np.bincount of values from {x.interval[0]}", "encrypt with bounds from 0"
        )
    server, block = _on(x._server), x._vector("bincount")
    if weights is None:
        found = list(server._integers.totals("bincount", block))
    else:
        found = _sums_by_value(x.checked(), entries(weights))
    if len(found) < least:
        found += [_nothing(server, block)] * (least - len(found))
    return [EncryptedTotal._make([total], 1) for total in found]


def _sums_by_value(x: EncryptedIntegers, weights: npt.NDArray[Any]) -> list[Any]:
    """For each value the sum of the public weights of the entries that have it."""
    if weights.shape != x.shape:
        raise ShapeError(
            f"weights of shape {weights.shape} for entries of shape {x.shape}: expected as many",
            code="python.shape",
        )
    count = x.interval[1] + 1
    if count > ENTRIES:
        raise RangeError(
            f"np.bincount of {count} values with weights: expected at most {ENTRIES}; shift or "
            "look up first",
            code="integers.table",
        )
    server, factors = _on(x._server), [int(weight) for weight in weights.tolist()]
    found: list[Any] = []
    for first in range(0, count, TOGETHER):
        values = range(first, min(first + TOGETHER, count))
        for flags in _looked_up_all(x, functools.partial(_flags, values)):
            found += server._integers.totals("dot", flags._blocks[0], factors)
    return found


def _flags(values: range, low: int, high: int) -> list[list[int]]:
    """For each value a table of which entries it is."""
    return [[int(v == value) for v in range(low, high + 1)] for value in values]


def _nothing(server: Any, block: Any) -> Any:
    """A total that is 0, for values that no entry can have."""
    zeros = server._integers.apply("mul_public", [block], [0])[0]
    return server._integers.totals("sum", zeros, [])[0]


def histogram(a: EncryptedIntegers, bins: Any = 10) -> Any:
    """The number of entries between each two neighboring public edges, the last edge included, as a
    list of totals, and the edges.
    """
    if isinstance(bins, (int, np.integer, str)):
        raise not_homomorphic(
            f"np.histogram with bins={bins!r}, edges from the data",
            "use public edges: np.histogram(x, bins=[0, 10, 20, 30])",
        )
    edges = _public(bins, "the list of edges")
    if edges.ndim != 1 or edges.size < 2 or (edges[1:] < edges[:-1]).any():
        raise ShapeError(
            "expected an ascending vector of at least two public edges", code="python.shape"
        )
    block = a.checked()._vector("histogram")
    # The last bin holds its upper edge; below the first one and above the last one is place 0 and
    # the last place.
    limits = [*edges[:-1].tolist(), int(edges[-1]) + 1]
    server = _on(a._server)
    places = server._integers.apply("searchsorted", [block], [1, *limits])[0]
    low, high = places.interval
    found = server._integers.totals("bincount", places, [])
    none: Any = None if low <= 1 <= len(limits) - 1 <= high else _nothing(server, block)
    totals = [
        found[place - low] if low <= place <= high else none for place in range(1, len(limits))
    ]
    return [EncryptedTotal._make([total], 1) for total in totals], edges


def average(
    a: EncryptedIntegers,
    axis: Any = None,
    weights: Any = None,
    returned: Any = False,
    *,
    keepdims: Any = False,
) -> Any:
    """The mean, with public weights that are integers, rounded down when it is decrypted."""
    keep = _options.read("average", returned=returned, keepdims=keepdims)
    _options.no_total("average", keep)
    axis = _rows.one_axis(axis, a.ndim, "averages")
    if weights is None:
        return a.mean(axis)
    if axis is not None and not a._is_vector(axis, "averages"):
        raise not_homomorphic(f"np.average along axis {axis}", WAYS["average"])
    block, factors = a.checked()._vector("average"), _public(weights, "the list of weights")
    if factors.shape != a.shape or int(factors.sum()) < 1:
        raise ShapeError(
            f"weights of shape {factors.shape} for entries of shape {a.shape}: expected as many, "
            "with a sum of at least 1",
            code="python.shape",
        )
    total = _on(a._server)._integers.totals("average", block, factors.tolist())
    return EncryptedTotal._make(total, 1)


def _public(values: Any, what: str) -> npt.NDArray[Any]:
    if isinstance(values, (EncryptedIntegers, EncryptedTotal)):
        raise not_homomorphic(f"{what} is encrypted", "it has to be public")
    return entries(values)
