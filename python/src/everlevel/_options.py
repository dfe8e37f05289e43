"""Options of NumPy's functions and methods, such as ``out`` and ``keepdims``: a method and the
function of its name take the same ones, and refuse in the same words what results of encrypted
operands do not have.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from ._encrypted import not_homomorphic

#: What NumPy has in place of an option that is not given.
UNSET = getattr(np, "_NoValue", None)

#: By the name of a function or a method, its options after the axis in NumPy's order, and those
#: that have to be named.
OPTIONS: dict[str, tuple[tuple[str, ...], tuple[str, ...]]] = {
    "sum": (("dtype", "out", "keepdims", "initial", "where"), ()),
    "prod": (("dtype", "out", "keepdims", "initial", "where"), ()),
    "mean": (("dtype", "out", "keepdims"), ("where",)),
    "max": (("out", "keepdims", "initial", "where"), ()),
    "min": (("out", "keepdims", "initial", "where"), ()),
    "ptp": (("out", "keepdims"), ()),
    "any": (("out", "keepdims"), ("where",)),
    "all": (("out", "keepdims"), ("where",)),
    "argmax": (("out",), ("keepdims",)),
    "argmin": (("out",), ("keepdims",)),
    "cumsum": (("dtype", "out"), ()),
    "cumprod": (("dtype", "out"), ()),
    "argsort": (("kind", "order"), ("stable",)),
    "sort": (("kind", "order"), ("stable",)),
    "count_nonzero": ((), ("keepdims",)),
    "median": (("out", "overwrite_input", "keepdims"), ()),
    "quantile": ((), ("out", "overwrite_input", "keepdims")),
    "average": ((), ("returned", "keepdims")),
    "clip": (("out",), ("dtype", "where")),
    "dot": (("out",), ()),
    "round": (("out",), ()),
    "reshape": ((), ("order", "copy")),
    "ravel": (("order",), ()),
    "astype": ((), ("order", "casting", "subok")),
    "reduce": ((), ("dtype", "out", "keepdims", "initial", "where")),
    "accumulate": ((), ("dtype", "out")),
}

#: Values of options that are NumPy's own, or that make no difference here.
SAME: dict[str, tuple[Any, ...]] = {
    "dtype": (None,),
    "out": (None,),
    "where": (True,),
    "keepdims": (False, True),
    "returned": (False,),
    "order": (None, "C", "K", "A"),
    "casting": ("unsafe",),
}

#: The first number of sums and products, which NumPy names, too.
FIRST = {"sum": 0, "prod": 1}

#: Options that say how NumPy computes, not what.
EASY = frozenset({"kind", "stable", "overwrite_input", "copy", "subok"})

#: Functions whose order is one of fields, and not that of entries in memory.
SORTS = frozenset({"sort", "argsort"})
FIELDS = "entries are integers, which have no fields to sort by"

#: What to do instead of an option.
WAYS = {
    "dtype": "results have the dtype that holds them, and .astype(dtype) makes another one of it",
    "out": "results of encrypted operands are new arrays",
    "where": "take np.where(mask, x, k) first, with a k that does not change the result",
    "initial": "compute the result, and join it with this value in an operation of its own",
    "keepdims": "a total has no dimensions: np.reshape(client.decrypt(total), shape)",
    "order": "entries are in row-major order, so arrange them before they are encrypted",
    "returned": "the sum of public weights is weights.sum()",
    "casting": "which entries fit is told by x.interval, and what may not fit is refused",
}


def read(name: str, given: Sequence[Any] = (), options: Mapping[str, Any] | None = None) -> bool:
    """Whether the options of a function or a method ask for the axis to stay, with one entry.

    ``given`` are those without a name, in NumPy's order. Options that NumPy does not have are a
    ``TypeError``, and those that results cannot have are refused with what to do instead.
    """
    ordered, named = OPTIONS[name]
    if len(given) > len(ordered):
        raise TypeError(
            f"{name} with {len(given)} arguments after its first ones: expected at most "
            f"{len(ordered)}"
        )
    found = dict(zip(ordered, given))
    for option, value in (options or {}).items():
        if option in found or option not in (*ordered, *named):
            problem = "given twice" if option in found else "an unexpected keyword argument"
            raise TypeError(f"{name}: the argument {option!r} is {problem}")
        found[option] = value
    for option, value in found.items():
        if value is not UNSET and option not in EASY and not _same(name, option, value):
            fields = option == "order" and name in SORTS
            raise not_homomorphic(f"{name} with {option}", FIELDS if fields else WAYS[option])
    keep = found.get("keepdims", False)
    return keep is not UNSET and bool(keep)


def _same(name: str, option: str, value: Any) -> bool:
    """Whether a result has this value of an option without more."""
    if option == "initial":
        first = FIRST.get(name)
        return first is not None and isinstance(value, (int, np.integer)) and value == first
    if option == "order" and name in SORTS:
        return value is None
    if isinstance(value, np.bool_):
        value = bool(value)
    return any(type(value) is type(own) and value == own for own in SAME[option])


def no_total(name: str, keep: bool) -> None:
    """Refuses to keep the axis of what is a total."""
    if keep:
        raise not_homomorphic(f"{name} with keepdims", WAYS["keepdims"])
