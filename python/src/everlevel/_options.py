"""Values of the options of NumPy's functions and methods, such as ``out`` and ``keepdims``: a
method and the function of its name take the same ones, and refuse in the same words what results of
encrypted operands do not have.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ._encrypted import not_homomorphic

#: What NumPy has in place of an option that is not given.
UNSET = getattr(np, "_NoValue", None)

#: Values of options that are NumPy's own, or that make no difference here.
SAME: dict[str, tuple[Any, ...]] = {
    "dtype": (None,),
    "out": (None,),
    "where": (True,),
    "returned": (False,),
    "order": (None, "C", "K", "A"),
    "casting": ("unsafe",),
}

#: The first number of sums and products, which NumPy names, too.
FIRST = {"sum": 0, "prod": 1}

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


def read(name: str, **options: Any) -> bool:
    """Whether the options of a function or a method ask for the axis to stay, with one entry; what
    results cannot have is refused with what to do instead. Options that say how NumPy computes, and
    not what, such as ``kind`` of sorts, are not asked about.
    """
    for option, value in options.items():
        if value is not UNSET and not _same(name, option, value):
            fields = option == "order" and name in SORTS
            raise not_homomorphic(f"{name} with {option}", FIELDS if fields else WAYS[option])
    keep = options.get("keepdims", False)
    return keep is not UNSET and bool(keep)


def _same(name: str, option: str, value: Any) -> bool:
    """Whether a result has this value of an option without more."""
    if option == "initial":
        first = FIRST.get(name)
        return first is not None and isinstance(value, (int, np.integer)) and value == first
    if option == "order" and name in SORTS:
        return value is None
    if option == "keepdims":
        return isinstance(value, (int, np.integer, np.bool_))
    if isinstance(value, np.bool_):
        value = bool(value)
    return any(type(value) is type(own) and value == own for own in SAME[option])


def no_total(name: str, keep: bool) -> None:
    """Refuses to keep the axis of what is a total."""
    if keep:
        raise not_homomorphic(f"{name} with keepdims", WAYS["keepdims"])
