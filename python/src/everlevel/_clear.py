"""Programs on arrays that are not encrypted: what they give on encrypted ones, in Python's
integers.
"""

from __future__ import annotations

import bisect
import collections
import functools
import itertools
import operator
from collections.abc import Callable, Collection, Mapping, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from . import _everlevel as _rust
from . import _layout
from ._integers import EncryptedIntegers
from ._kinds import Interval, Kind, some, within
from ._params import Params
from ._totals import EncryptedTotal
from ._tracer import Tracer
from .errors import ShapeError

#: The sets that tell which values entries can have, of arrays that fit the slots of the first and
#: of longer ones.
SETS = ("bgv-65537-n15", "bgv-786433-n16")

#: Operations whose outcomes on a plan are kept, for the next block or call.
KEPT = 4096


class Block:
    """Entries that are not encrypted in place of a column or a total, with what a plan knows."""

    __slots__ = ("traced", "values")

    def __init__(self, traced: _rust.Column | _rust.Total, values: Sequence[int]) -> None:
        self.traced, self.values = traced, values

    def __getattr__(self, name: str) -> Any:
        # The parameter set, the interval, the number of ciphertexts and so on.
        return getattr(self.traced, name)


class Clear(Tracer):
    """A place that traces what is asked of it, as for a plan, so that it is refused here if it
    would be on a server and has the same interval; and computes it on Python's integers.
    """

    def __init__(self, params: Params) -> None:
        super().__init__(params, params.bootstraps, 1, False)
        self.params = params
        self._input = functools.lru_cache(KEPT)(self._trace.input)
        self._applied = functools.lru_cache(KEPT)(
            lambda name, operands, numbers: self._inner.apply(name, list(operands), list(numbers))
        )
        self._totalled = functools.lru_cache(KEPT)(
            lambda name, x, numbers, other: self._inner.totals(name, x, list(numbers), other)
        )

    def array(self, values: npt.NDArray[Any], kind: Kind) -> EncryptedIntegers:
        """An argument of a program, in the blocks that an encrypted one has."""
        runs, slots = kind.rows or 1, self.params.slots
        blocks: list[Any] = []
        for run in values.reshape(runs, -1).tolist():
            for i in range(0, len(run), slots):
                part = [int(v) for v in run[i : i + slots]]
                blocks.append(Block(self._input((kind.low, kind.high), len(part)), part))
        return EncryptedIntegers._make(blocks, values.shape, self, None, runs)

    def constant(self, like: Any, values: list[int]) -> Any:
        traced = self._inner.constant(like.traced, values)
        return Block(traced, [int(v) for v in values])

    def apply(self, name: str, operands: list[Any], numbers: list[int]) -> list[Any]:
        own = tuple(x.traced if isinstance(x, Block) else x for x in operands)
        traced = self._applied(name, own, tuple(numbers))
        given = [x.values if isinstance(x, Block) else x for x in operands]
        if name in EACH:
            found = [_each(EACH[name], given, numbers)]
        elif name in LISTED:
            low = operands[0].interval[0]
            found = LISTED[name](given, numbers, low)
        else:
            found = [ALONG[name](given[0], *numbers)]
        return [Block(part, values) for part, values in zip(traced, found, strict=True)]

    def totals(
        self, name: str, x: Any, numbers: list[int] | None = None, other: Any = None
    ) -> list[Any]:
        traced = self._totalled(
            name, x.traced, tuple(numbers or []), None if other is None else other.traced
        )
        values = x.values if other is None else _each(operator.mul, [x.values, other.values], [])
        found = TOTALS[name](values, numbers or [], x.interval)
        return [Block(part, [value]) for part, value in zip(traced, found, strict=True)]


# What operations mean


def _wrapped(x: int, low: int, high: int) -> int:
    return (x - low) % (high - low + 1) + low


#: Of an entry of each operand, and of the numbers: the entry of the result.
EACH: dict[str, Callable[..., Any]] = {
    "add": operator.add,
    "sub": operator.sub,
    "neg": operator.neg,
    "mul": operator.mul,
    "mul_public": operator.mul,
    "mul_wrapped": lambda x, y, low, high: _wrapped(x * y, low, high),
    "square": lambda x: x * x,
    "div": lambda x, y: x // y if y else 0,
    "rem": lambda x, y: x % y if y else 0,
    "div_public": operator.floordiv,
    "rem_public": operator.mod,
    "shift_left_by": operator.lshift,
    "shift_right_by": operator.rshift,
    "shift_right": operator.rshift,
    "lt": operator.lt,
    "le": operator.le,
    "gt": operator.gt,
    "ge": operator.ge,
    "eq": operator.eq,
    "ne": operator.ne,
    "min": min,
    "max": max,
    "clip": lambda x, low, high: min(max(x, low), high),
    "abs": abs,
    "sign": lambda x: (x > 0) - (x < 0),
    "popcount": lambda x: bin(x).count("1"),
    "select": lambda condition, x, y: x if condition else y,
    "not": operator.not_,
    "and": operator.and_,
    "or": operator.or_,
    "xor": operator.xor,
    "bit_and": operator.and_,
    "bit_or": operator.or_,
    "bit_xor": operator.xor,
    "wrapped": _wrapped,
    "normalized": operator.pos,
}


def _each(
    function: Callable[..., Any], operands: Sequence[Any], numbers: Sequence[int]
) -> list[int]:
    length = next(len(x) for x in operands if isinstance(x, list))
    columns = [x if isinstance(x, list) else [x] * length for x in operands]
    return [int(function(*row, *numbers)) for row in zip(*columns, strict=True)]


def _weighted(operands: Sequence[Any], weights: Sequence[int]) -> list[int]:
    return [sum(w * x for w, x in zip(weights, row)) for row in zip(*operands, strict=True)]


def _below(x: Sequence[int], right: int, edges: Sequence[int]) -> list[int]:
    count = bisect.bisect_right if right else bisect.bisect_left
    return [count(edges, v) for v in x]


def _among(x: Sequence[int], listed: Collection[int]) -> list[int]:
    return [int(v in listed) for v in x]


def _tables(x: Sequence[int], count: int, numbers: Sequence[int], low: int) -> list[list[int]]:
    length = len(numbers) // count
    tables = (numbers[i * length : (i + 1) * length] for i in range(count))
    return [[int(table[v - low]) for v in x] for table in tables]


#: Of all entries of the operands, of the numbers, which are a list, and of the least value that the
#: first operand can have: the entries of each result.
LISTED: dict[str, Callable[[Any, Any, int], list[list[int]]]] = {
    "divmod": lambda x, k, low: [_each(EACH[name], x, k) for name in ("div", "rem")],
    "weighted_sum": lambda x, k, low: [_weighted(x, k)],
    "searchsorted": lambda x, k, low: [_below(x[0], k[0], k[1:])],
    "isin": lambda x, k, low: [_among(x[0], set(k))],
    "lookup": lambda x, k, low: _tables(x[0], 1, k, low),
    "lookup_all": lambda x, k, low: _tables(x[0], k[0], k[1:], low),
}


def _places(x: Sequence[int], take: int, descending: int = 0) -> list[int]:
    """Of entries in order, equal ones in the order that they have."""
    return sorted(range(len(x)), key=lambda i: -x[i] if descending else x[i])[:take]


def _arrays(function: Callable[..., list[int]]) -> Callable[..., list[int]]:
    """A function of each of the arrays of n entries that there are, one after the other."""

    def apply(x: Sequence[int], n: int, *numbers: int) -> list[int]:
        return [v for i in range(0, len(x), n) for v in function(x[i : i + n], *numbers)]

    return apply


def _ranked(x: Sequence[int], descending: int, rank: int) -> int:
    """The place of the entry of a rank."""
    return _places(x, len(x), descending)[rank]


#: Of all entries, and of the numbers: the entries of the result.
ALONG: dict[str, Callable[..., list[int]]] = {
    "sum_of_each": lambda x: [sum(x)] * len(x),
    "cumsum": lambda x: list(itertools.accumulate(x)),
    "sort": lambda x, take, descending: [x[i] for i in _places(x, take, descending)],
    "argsort": _places,
    "maximum": lambda x: [max(x)],
    "minimum": lambda x: [min(x)],
    "argmax": lambda x: [x.index(max(x))],
    "argmin": lambda x: [x.index(min(x))],
    "nth": lambda x, place: [sorted(x)[place]],
    "shortened": lambda x, count: x[:count],
    "arrays_sum": _arrays(lambda x: [sum(x)]),
    "arrays_nth": _arrays(lambda x, descending, rank: [x[_ranked(x, descending, rank)]]),
    "arrays_argnth": _arrays(lambda x, descending, rank: [_ranked(x, descending, rank)]),
    "arrays_sort": _arrays(lambda x, descending: [x[i] for i in _places(x, len(x), descending)]),
    "arrays_argsort": _arrays(lambda x, descending: _places(x, len(x), descending)),
    "arrays_cumsum": _arrays(lambda x: list(itertools.accumulate(x))),
}


def _scalar(x: Sequence[int], weights: Sequence[int]) -> int:
    return sum(w * v for w, v in zip(weights, x, strict=True))


def _counts(x: Sequence[int], interval: Interval) -> list[int]:
    found = collections.Counter(x)
    return [found[v] for v in range(interval[0], interval[1] + 1)]


#: Of all entries, or of the products of those of two blocks, of the numbers, and of the interval:
#: the totals.
TOTALS: dict[str, Callable[[Any, Any, Any], list[int]]] = {
    "sum": lambda x, k, interval: [sum(x)],
    "mean": lambda x, k, interval: [sum(x) // len(x)],
    "dot": lambda x, k, interval: [_scalar(x, k)],
    "sum_of_products": lambda x, k, interval: [sum(x)],
    "average": lambda x, k, interval: [_scalar(x, k) // sum(k)],
    "bincount": lambda x, k, interval: _counts(x, interval),
}


# Programs


@functools.lru_cache
def _place(name: str) -> Clear:
    return Clear(Params(name))


def _placed(longest: int) -> Clear:
    short = _place(SETS[0])
    return short if longest <= short.params.slots else _place(SETS[1])


def _checked(name: str, values: Any, kind: Kind) -> npt.NDArray[Any]:
    """An argument with entries as encrypted ones can have them."""
    array = some(values, name)
    if kind.rows is not None and array.shape[:1] != (kind.rows,):
        raise ShapeError(f"{name} of shape {array.shape}: expected {kind}", code="python.shape")
    within(array, (kind.low, kind.high))
    return array


def _shown(x: Any) -> Any:
    """A result as it is decrypted."""
    if isinstance(x, EncryptedIntegers):
        blocks: tuple[Any, ...] = x._blocks
        values: list[int] = []
        for block, size in zip(blocks, _layout.sizes(x._shape, x._runs, x._params.slots)):
            values += block.values if len(block.values) == size else block.values[:1] * size
        array = np.array(values, dtype=x.dtype).reshape(x._shape)
        return array if array.shape else array[()]
    if isinstance(x, EncryptedTotal):
        parts: tuple[Any, ...] = x._parts
        return sum(part.values[0] for part in parts)
    if isinstance(x, dict):
        return {name: _shown(value) for name, value in x.items()}
    if isinstance(x, tuple) and (named := getattr(x, "_make", None)) is not None:
        return named(_shown(value) for value in x)
    return type(x)(_shown(value) for value in x) if type(x) in (list, tuple) else x


def run(function: Callable[..., Any], kinds: Mapping[str, Kind], given: Mapping[str, Any]) -> Any:
    """What a program gives for these arguments if they are encrypted, as it is decrypted."""
    arrays = {name: _checked(name, values, kinds[name]) for name, values in given.items()}
    longest = max((x.size // (kinds[name].rows or 1) for name, x in arrays.items()), default=1)
    place = _placed(longest)
    return _shown(function(**{name: place.array(x, kinds[name]) for name, x in arrays.items()}))
