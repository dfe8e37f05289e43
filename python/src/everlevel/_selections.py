"""NumPy's functions that choose: by conditions, by places."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from ._encrypted import not_homomorphic
from ._integers import EncryptedIntegers
from ._operands import _apply, _constants, _modulus
from ._statistics import _public
from ._tables import Table
from ._values import truths, unmasked
from ._ways import WAYS
from .errors import DtypeError, ShapeError


def where(condition: Any, a: Any = None, b: Any = None) -> Any:
    """A selection; the condition may be encrypted or public."""
    if a is None or b is None:
        raise not_homomorphic("np.where of a condition alone", WAYS["nonzero"])
    like = next(x for x in (condition, a, b) if isinstance(x, EncryptedIntegers))
    truth = (
        condition
        if isinstance(condition, EncryptedIntegers)
        else _constants(like, _filled(like, truths(condition)))
    )
    chosen = _apply("select", (truth.checked()._truth(), like._operand(a), like._operand(b)))
    return chosen._wrapping(_modulus((a, b)))


def _filled(like: EncryptedIntegers, array: npt.NDArray[Any]) -> npt.NDArray[Any]:
    """The array, a single entry as often as there are encrypted ones."""
    return array if array.shape else np.broadcast_to(array, like.shape)


def select(condlist: Sequence[Any], choicelist: Sequence[Any], default: Any = 0) -> Any:
    """The choice of the first condition that holds."""
    if len(condlist) != len(choicelist) or not condlist:
        raise ShapeError(
            f"{len(condlist)} conditions for {len(choicelist)} choices: expected one for each",
            code="python.shape",
        )
    for given in (*condlist, *choicelist, default):
        if not _encrypts(given):
            # NumPy would make arrays without a mask of them.
            unmasked(given)
    for condition in condlist:
        if not (condition._is_bool() if _encrypts(condition) else _is_bool(condition)):
            raise DtypeError(
                f"a condition {condition!r}: expected truth values, as of x != 0",
                code="integers.type",
            )
    chosen = default
    for condition, choice in zip(reversed(condlist), reversed(choicelist)):
        chosen = (
            where(condition, choice, chosen)
            if _encrypts(condition, choice, chosen)
            else np.where(condition, choice, chosen)
        )
    return chosen


def choose(a: Any, choices: Any) -> Any:
    """Of public integers, the one whose place is encrypted."""
    if isinstance(choices, (list, tuple)) and _encrypts(*choices):
        raise not_homomorphic(
            "np.choose among encrypted arrays", "np.select([x == 0, x == 1, ..], [a, b, ..])"
        )
    return Table(_public(choices, "what is chosen from"))[a]


def _is_bool(public: Any) -> bool:
    return np.asarray(public).dtype.kind == "b"


def _encrypts(*values: Any) -> bool:
    return any(isinstance(x, EncryptedIntegers) for x in values)
