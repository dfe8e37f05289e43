"""NumPy's functions on encrypted integers: a line for each that is supported, and for all others an
error that says what to do instead.
"""

from __future__ import annotations

import itertools
import operator
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from . import _arranged, _matrices, _options, _rows, _selections, _statistics
from ._encrypted import not_homomorphic
from ._handlers import HANDLERS, INTEGERS, Handlers
from ._integers import EncryptedIntegers
from ._kinds import entries
from ._operands import _apply, _each, _tabulated, clip
from ._totals import EncryptedTotal
from ._ways import WAYS
from .errors import ShapeError

Operation = Callable[..., Any]


def way(name: str) -> str:
    """The advice instead of a function or a method of NumPy's."""
    found = None if name.startswith("_") else getattr(np, name, None)
    if name not in WAYS and callable(found) and found in FUNCTIONS:
        # A method that is a function here.
        return f"np.{name}(x, ..) is there"
    if name not in WAYS and name.startswith("nan"):
        return f"np.{name.removeprefix('nan')}, as integers are finite"
    general = (
        "operators, np.where, np.minimum, np.count_nonzero and everlevel.Table are there, see "
        "docs/use/integers.md; or decrypt first"
    )
    return WAYS.get(name, general)


def ufunc(
    found: np.ufunc, method: str, inputs: Sequence[Any], out: Any, options: dict[str, Any]
) -> Any:
    """A universal function of which one operand at least is encrypted."""
    if any(isinstance(x, EncryptedTotal) for x in inputs):
        raise not_homomorphic(
            "a total is decrypted, not computed on",
            "compute on client.decrypt(total), or on x.sum_of_each(), the sum in each entry",
        )
    along = METHODS.get((found, method)) if isinstance(inputs[0], EncryptedIntegers) else None
    if along is not None:
        return along(inputs[0], **{"axis": 0, "out": out, **options})
    known = UFUNCS.get(found) if method == "__call__" else None
    name = found.__name__ if method == "__call__" else f"{found.__name__}.{method}"
    if known is None:
        raise not_homomorphic(f"np.{name} of encrypted integers", way(found.__name__))
    if out is not None or options:
        raise not_homomorphic(
            f"np.{name} with {', '.join(options) or 'out'}",
            "results of encrypted operands are new arrays, of the dtype that holds them",
        )
    return known(*inputs)


def function(found: Any, arguments: Any, options: dict[str, Any]) -> Any:
    """A function of NumPy's of which one argument at least is encrypted."""
    known = FUNCTIONS.get(found)
    if known is None:
        raise not_homomorphic(f"np.{found.__name__} of encrypted integers", way(found.__name__))
    try:
        return known(*arguments, **options)
    except TypeError as error:
        if hasattr(error, "code") or "argument" not in str(error):
            raise
        raise not_homomorphic(f"np.{found.__name__} with these arguments", str(error)) from None


def _swapped(method: str) -> Operation:
    """An operator whose left operand may be NumPy's: called on the encrypted one."""
    forward, backward = f"__{method}__", f"__r{method}__"

    def apply(a: Any, b: Any) -> Any:
        return (
            getattr(a, forward)(b) if isinstance(a, EncryptedIntegers) else getattr(b, backward)(a)
        )

    return apply


def _compared(method: str, mirrored: str) -> Operation:
    def apply(a: Any, b: Any) -> Any:
        return (
            getattr(a, f"__{method}__")(b)
            if isinstance(a, EncryptedIntegers)
            else getattr(b, f"__{mirrored}__")(a)
        )

    return apply


def _pair(name: str) -> Operation:
    """An operation in which the operands play one role each."""

    def apply(a: Any, b: Any) -> Any:
        like = a if isinstance(a, EncryptedIntegers) else b
        return _apply(name, (like._operand(a), like._operand(b)))

    return apply


def _extreme(name: str, function: Callable[[int, int], int]) -> Operation:
    """The lesser or the greater of two; with a public integer a table, if there are few values."""
    general = _pair(name)

    def apply(a: Any, b: Any) -> Any:
        x, k = (a, b) if isinstance(a, EncryptedIntegers) else (b, a)
        k = x._operand(k)
        if isinstance(k, np.ndarray):
            found = _each(x, k, apply)
            return general(a, b) if found is None else found
        found = _tabulated(x, lambda v: function(v, int(k))) if isinstance(k, int) else None
        return general(a, b) if found is None else found

    return apply


def _truths(method: str) -> Operation:
    """An operation on truth values."""

    def apply(a: Any, b: Any) -> Any:
        a, b = (
            x._truth() if isinstance(x, EncryptedIntegers) else np.asarray(entries(x)) != 0
            for x in (a, b)
        )
        return _swapped(method)(a, b)

    return apply


def _method(name: str) -> Operation:
    """The method of a name, with the options that it has in common with the function."""

    def apply(a: Any, *arguments: Any, **options: Any) -> Any:
        if not isinstance(a, EncryptedIntegers):
            raise not_homomorphic(
                f"np.{name} of public entries with an encrypted option",
                "results of public entries are public: encrypt what they are computed of",
            )
        return getattr(a, name)(*arguments, **options)

    return apply


def count_nonzero(a: EncryptedIntegers, axis: Any = None, *, keepdims: Any = False) -> Any:
    keep = _options.read("count_nonzero", keepdims=keepdims)
    axis = _rows.one_axis(axis, a.ndim, "np.count_nonzero")
    if axis is not None:
        _rows.axis_of(axis, a.ndim, "np.count_nonzero")
    return a.checked()._truth().sum(axis, keepdims=keep)


def diff(a: EncryptedIntegers, n: int = 1, axis: int = -1) -> Any:
    """Differences of neighbors along an axis of rows."""
    if operator.index(n) < 0:
        raise ShapeError(f"np.diff {n} times: expected at least 0", code="python.shape")
    for _ in range(operator.index(n)):
        parts = _rows.along(a, axis, "np.diff")
        if len(parts) < 2:
            raise ShapeError(
                f"np.diff along an axis of {len(parts)} entries: expected at least two",
                code="python.empty",
            )
        a = _rows.joined([y - x for x, y in zip(parts, parts[1:])], axis)
    return a


def prod(
    a: EncryptedIntegers,
    axis: Any = None,
    dtype: Any = None,
    out: Any = None,
    keepdims: Any = False,
    initial: Any = 1,
    where: Any = True,
) -> Any:
    """The product along an axis of rows, as deep as the logarithm of how many there are."""
    keep = _options.read(
        "prod", dtype=dtype, out=out, keepdims=keepdims, initial=initial, where=where
    )
    axis = _rows.one_axis(axis, a.ndim, "np.prod")
    if axis is None:
        raise not_homomorphic("np.prod of all entries", WAYS["prod"])
    found = _rows.reduced(_rows.along(a, axis, "np.prod"), operator.mul)
    return _rows.kept(a, found, axis, keep)


def _parts(a: EncryptedIntegers, axis: Any, what: str, logical: bool) -> list[EncryptedIntegers]:
    """The rows along an axis; for logic, whether their entries are not 0."""
    if axis is None:
        # There is no other axis that these are computed along.
        raise not_homomorphic(
            f"{what} of all entries", "take axis=0 of an array that was encrypted with rows=True"
        )
    if not logical:
        return _rows.along(a, axis, what)
    return [x._truth() for x in _rows.along(a.checked(), axis, what)]


def _reduction(operation: Operation, logical: bool = False) -> Operation:
    """An operation of all rows, for ``reduce``."""

    def apply(a: EncryptedIntegers, axis: Any, **options: Any) -> Any:
        keep = _options.read("reduce", **options)
        axis = _rows.one_axis(axis, a.ndim, "a reduction")
        found = _rows.reduced(_parts(a, axis, "a reduction", logical), operation)
        return _rows.kept(a, found, axis, keep)

    return apply


def _accumulation(operation: Operation, logical: bool = False) -> Operation:
    """An operation of the first rows, up to each, for ``accumulate``."""

    def apply(a: EncryptedIntegers, axis: Any, **options: Any) -> Any:
        _options.read("accumulate", **options)
        parts = _parts(a, axis, "an accumulation", logical)
        return _rows.joined(list(itertools.accumulate(parts, operation)), axis)

    return apply


def cumprod(a: EncryptedIntegers, axis: Any = None, dtype: Any = None, out: Any = None) -> Any:
    """Products of the first rows, up to each."""
    _options.read("cumprod", dtype=dtype, out=out)
    if axis is None:
        raise not_homomorphic("np.cumprod of all entries", WAYS["cumprod"])
    return _accumulation(operator.mul)(a, axis)


def rounded(a: EncryptedIntegers, decimals: int = 0, out: Any = None) -> Any:
    """Integers are their own roundings, but to tens or hundreds."""
    _options.read("round", out=out)
    if decimals < 0:
        unit = 10 ** -int(decimals)
        raise not_homomorphic(
            f"np.round to multiples of {unit}",
            f"(x + {unit // 2}) // {unit} * {unit} rounds halves up",
        )
    return a


def array_equal(a: Any, b: Any) -> Any:
    """True, encrypted, if all entries are equal; False, in the clear, if shapes differ."""
    return (a == b).all() if np.shape(a) == np.shape(b) else False


def _extremum(name: str) -> Operation:
    """A method as ``reduce``, which has the options of all of them: one that the method lacks may
    be given as it is without it.
    """

    def apply(a: EncryptedIntegers, axis: Any, **options: Any) -> Any:
        keep = _options.read("reduce", **options)
        return getattr(a, name)(axis, keepdims=keep)

    return apply


UFUNCS: dict[np.ufunc, Operation] = {
    np.add: _swapped("add"),
    np.subtract: _swapped("sub"),
    np.multiply: _swapped("mul"),
    np.floor_divide: _swapped("floordiv"),
    np.remainder: _swapped("mod"),
    np.divmod: _swapped("divmod"),
    np.left_shift: _swapped("lshift"),
    np.right_shift: _swapped("rshift"),
    np.bitwise_and: _swapped("and"),
    np.bitwise_or: _swapped("or"),
    np.bitwise_xor: _swapped("xor"),
    np.invert: lambda x: ~x,
    np.negative: lambda x: -x,
    np.positive: lambda x: x,
    np.absolute: abs,
    np.sign: lambda x: x._apply("sign"),
    np.matmul: _matrices.dot,
    np.square: lambda x: x * x,
    np.power: lambda x, n: x**n if isinstance(x, EncryptedIntegers) else n.__rpow__(x),
    np.floor: lambda x: x,
    np.ceil: lambda x: x,
    np.trunc: lambda x: x,
    np.rint: lambda x: x,
    np.conjugate: lambda x: x,
    np.signbit: lambda x: x < 0,
    np.less: _compared("lt", "gt"),
    np.less_equal: _compared("le", "ge"),
    np.greater: _compared("gt", "lt"),
    np.greater_equal: _compared("ge", "le"),
    np.equal: _compared("eq", "eq"),
    np.not_equal: _compared("ne", "ne"),
    np.minimum: _extreme("min", min),
    np.maximum: _extreme("max", max),
    # Without floating-point numbers that are none they are the same.
    np.fmin: _extreme("min", min),
    np.fmax: _extreme("max", max),
    np.logical_and: _truths("and"),
    np.logical_or: _truths("or"),
    np.logical_xor: _truths("xor"),
    np.logical_not: lambda x: ~x.checked()._truth(),
}

if hasattr(np, "bitwise_count"):  # NumPy 2
    UFUNCS[np.bitwise_count] = lambda x: x._apply("popcount")._counting()

FUNCTIONS: dict[Any, Operation] = {
    np.where: _selections.where,
    np.clip: clip,
    np.select: _selections.select,
    np.sum: _method("sum"),
    np.any: _method("any"),
    np.all: _method("all"),
    np.count_nonzero: count_nonzero,
    np.searchsorted: _statistics.searchsorted,
    np.digitize: _statistics.digitize,
    np.isin: _statistics.isin,
    np.choose: _selections.choose,
    np.sort: _statistics.sort,
    np.argsort: _statistics.argsort,
    np.partition: _statistics.partition(_statistics.sort),
    np.argpartition: _statistics.partition(_statistics.argsort),
    np.max: _method("max"),
    np.min: _method("min"),
    np.amax: _method("max"),
    np.amin: _method("min"),
    np.argmax: _method("argmax"),
    np.argmin: _method("argmin"),
    np.quantile: _statistics.quantile,
    np.median: _statistics.median,
    np.mean: _method("mean"),
    np.average: _statistics.average,
    np.ptp: _method("ptp"),
    np.diff: diff,
    np.prod: prod,
    np.cumprod: cumprod,
    np.round: rounded,
    np.around: rounded,
    np.array_equal: array_equal,
    np.percentile: _statistics.percentile,
    np.cumsum: _method("cumsum"),
    np.histogram: _statistics.histogram,
    np.dot: lambda a, b, out=None: _matrices.dot(a, b, out),
    np.inner: _matrices.inner,
    np.vdot: _matrices.inner,
    np.outer: _matrices.outer,
    np.trace: _matrices.trace,
    np.tril: _matrices.tril,
    np.triu: _matrices.triu,
    np.bincount: _statistics.bincount,
    **_arranged.FUNCTIONS,
}

if hasattr(np, "unstack"):  # NumPy 2.1
    FUNCTIONS[np.unstack] = lambda x, axis=0: tuple(_rows.along(x, axis, "np.unstack"))

#: Methods of universal functions, along an axis.
METHODS: dict[tuple[np.ufunc, str], Operation] = {
    (np.add, "reduce"): _method("sum"),
    (np.multiply, "reduce"): prod,
    (np.maximum, "reduce"): _extremum("max"),
    (np.minimum, "reduce"): _extremum("min"),
    (np.logical_and, "reduce"): _extremum("all"),
    (np.logical_or, "reduce"): _extremum("any"),
    (np.logical_xor, "reduce"): _reduction(operator.xor, logical=True),
    (np.bitwise_and, "reduce"): _reduction(operator.and_),
    (np.bitwise_or, "reduce"): _reduction(operator.or_),
    (np.bitwise_xor, "reduce"): _reduction(operator.xor),
    (np.add, "accumulate"): _method("cumsum"),
    (np.multiply, "accumulate"): _accumulation(operator.mul),
    (np.maximum, "accumulate"): _accumulation(np.maximum),
    (np.minimum, "accumulate"): _accumulation(np.minimum),
    (np.logical_and, "accumulate"): _accumulation(operator.and_, logical=True),
    (np.logical_or, "accumulate"): _accumulation(operator.or_, logical=True),
    (np.logical_xor, "accumulate"): _accumulation(operator.xor, logical=True),
    (np.bitwise_and, "accumulate"): _accumulation(operator.and_),
    (np.bitwise_or, "accumulate"): _accumulation(operator.or_),
    (np.bitwise_xor, "accumulate"): _accumulation(operator.xor),
}

HANDLERS[INTEGERS] = Handlers(ufunc, function, way)
