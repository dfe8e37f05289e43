"""NumPy's functions on arrays modulo p^r: the supported ones, and for all others an error that says
what to do instead.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from ._array import EncryptedArray
from ._encrypted import not_homomorphic
from ._handlers import HANDLERS, MODULAR, Handlers
from ._values import integers, truths
from .errors import ShapeError

Operation = Callable[..., Any]

#: What to do instead of what is not there.
WAYS = {
    "less": (
        "residues have no order: client.encrypt(values, dtype=...) makes arrays that compare, and "
        "x.less_than(y) is for arrays with bounds"
    ),
    "mean": "divide the total: client.decrypt(x.sum()) / x.size",
    "average": "divide the total: client.decrypt(x.sum()) / x.size",
    "concatenate": "encrypt the arrays as one, of which x[a:b] are parts",
    "stack": "encrypt the arrays as one, of which x[i] are parts",
    "power": "x ** 5 has public exponents",
    "floor_divide": (
        "client.encrypt(values, dtype=...) makes integers that divide; x.truncate(digits) divides "
        "by powers of p"
    ),
    "take": "client.encrypt(values, dtype=...) makes integers for everlevel.Table(table)[x]",
}
for _name in ("remainder", "divide", "true_divide", "divmod"):
    WAYS[_name] = WAYS["floor_divide"]
for _name in (
    "less_equal",
    "greater",
    "greater_equal",
    "minimum",
    "maximum",
    "max",
    "min",
    "sort",
    "argsort",
    "argmax",
    "argmin",
    "clip",
):
    WAYS[_name] = WAYS["less"]


def way(name: str) -> str:
    """The advice for a function or a method of NumPy that is not supported."""
    general = (
        "+ - * ** @, indices, sum, rotate, equals are there; client.encrypt(values, dtype=...) "
        "makes integers with more operations; or decrypt first"
    )
    return WAYS.get(name, general)


def ufunc(
    found: np.ufunc, method: str, inputs: Sequence[Any], out: Any, options: dict[str, Any]
) -> Any:
    """A universal function with at least one encrypted operand."""
    if found is np.add and method == "reduce" and isinstance(inputs[0], EncryptedArray):
        return inputs[0].sum(**{"axis": 0, "out": out, **options})
    known = UFUNCS.get(found) if method == "__call__" and out is None and not options else None
    if known is None:
        raise not_homomorphic(
            f"np.{found.__name__} of an encrypted array modulo p^r", way(found.__name__)
        )
    return known(*inputs)


def function(found: Any, arguments: Any, options: dict[str, Any]) -> Any:
    """A NumPy function with at least one encrypted argument."""
    known = FUNCTIONS.get(found)
    if known is None:
        raise not_homomorphic(
            f"np.{found.__name__} of an encrypted array modulo p^r", way(found.__name__)
        )
    try:
        return known(*arguments, **options)
    except TypeError as error:
        if hasattr(error, "code") or "argument" not in str(error):
            raise
        raise not_homomorphic(f"np.{found.__name__} with these arguments", str(error)) from None


def _operator(method: str) -> Operation:
    def apply(a: Any, b: Any) -> Any:
        return (
            getattr(a, f"__{method}__")(b)
            if isinstance(a, EncryptedArray)
            else getattr(b, f"__r{method}__")(a)
        )

    return apply


def _symmetric(method: str) -> Operation:
    def apply(a: Any, b: Any) -> Any:
        return getattr(a, method)(b) if isinstance(a, EncryptedArray) else getattr(b, method)(a)

    return apply


def where(condition: Any, a: Any, b: Any) -> Any:
    """Selection by a public condition; an encrypted one could have other values than 0 and 1."""
    if isinstance(condition, EncryptedArray):
        raise not_homomorphic(
            "np.where with an encrypted condition modulo p^r",
            "for c of 0 and 1 write c * (a - b) + b",
        )
    mask = integers(truths(condition))
    if isinstance(a, EncryptedArray):
        return a * mask + (
            b * (1 - mask) if isinstance(b, EncryptedArray) else integers(b) * (1 - mask)
        )
    return b * (1 - mask) + integers(a) * mask


def broadcast_to(x: EncryptedArray, shape: Any) -> EncryptedArray:
    """The entries repeated, by moves, which have a cost."""
    places = np.arange(x.size).reshape(x.shape)
    try:
        return x._gather(np.broadcast_to(places, shape))
    except ValueError as error:
        raise ShapeError(str(error), code="python.shape") from None


def total(a: Any, *arguments: Any, **options: Any) -> Any:
    """The sum, with the options of the method."""
    if not isinstance(a, EncryptedArray):
        raise not_homomorphic(
            "np.sum of public entries with an encrypted option",
            "the sum of public entries is public: encrypt what is added up",
        )
    return a.sum(*arguments, **options)


UFUNCS: dict[np.ufunc, Operation] = {
    np.add: _operator("add"),
    np.subtract: _operator("sub"),
    np.multiply: _operator("mul"),
    np.matmul: _operator("matmul"),
    np.negative: lambda x: -x,
    np.positive: lambda x: x,
    np.square: lambda x: x**2,
    np.power: lambda x, k: x**k if isinstance(x, EncryptedArray) else k.__rpow__(x),
    np.equal: _symmetric("__eq__"),
    np.not_equal: _symmetric("__ne__"),
}

FUNCTIONS: dict[Any, Operation] = {
    np.sum: total,
    np.where: where,
    np.broadcast_to: broadcast_to,
    np.transpose: lambda x, axes=None: x.transpose(axes),
    np.reshape: lambda a, shape, order="C", copy=None: a.reshape(shape, order=order),
    np.ravel: lambda a, order="C": a.reshape(-1, order=order),
    # Minus an unsigned integer of NumPy's would be another one.
    np.roll: lambda x, shift: x.rotate(-operator.index(shift)),
    np.shape: lambda x: x.shape,
    np.ndim: lambda x: x.ndim,
    np.size: lambda x: x.size,
}

HANDLERS[MODULAR] = Handlers(ufunc, function, way)
