"""Lookup tables of public integers, for encrypted indices."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from ._encrypted import not_homomorphic
from ._integers import EncryptedIntegers
from ._kinds import entries
from ._operands import _looked_up, _looked_up_all
from ._rows import _together
from .errors import RangeError, ShapeError

#: What can stand for one entry along an axis.
INDEX = (EncryptedIntegers, int, np.integer)


class Table:
    """A table of public integers: ``Table(table)[x]`` is ``table[x]`` for encrypted x of at most
    65,536 values, from 0 to as many as it has entries, less 1.

    ``Table(rows)[x, y]`` is ``rows[x, y]`` for encrypted x, encrypted y, or both: as a table of one
    row after the other, of x times the length of a row plus y.

    Several tables are the rows of one: ``Table(tables)[:, x]`` is ``tables[:, x]``, an array with a
    row for each of them, so that ``sine, cosine = Table([sines, cosines])[:, x]``. They share the
    powers of x, which is most of what a single one takes.
    """

    __slots__ = ("_entries",)

    def __init__(self, table: npt.ArrayLike) -> None:
        array = entries(table)
        if array.ndim not in (1, 2) or not array.size:
            raise ShapeError(
                f"a table of shape {array.shape}: expected a vector of integers, or rows of them",
                code="python.shape",
            )
        # What was checked, and not what it becomes.
        self._entries = array.copy()
        # Parts of it are views.
        self._entries.setflags(write=False)

    def __len__(self) -> int:
        return len(self._entries)

    def __getitem__(self, x: Any) -> Any:
        keys = x if isinstance(x, tuple) else (x,)
        if not any(isinstance(key, EncryptedIntegers) for key in keys):
            return self._entries[x]
        place, several = keys[-1], self._entries.ndim == 2
        if several and len(keys) == 2 and all(isinstance(key, INDEX) for key in keys):
            return self._pair(*keys)
        all_rows = len(keys) == 2 and isinstance(keys[0], slice) and keys[0] == slice(None)
        if not isinstance(place, EncryptedIntegers) or not (
            all_rows if several else len(keys) == 1
        ):
            raise not_homomorphic(
                f"this index of a table of shape {self._entries.shape}",
                "use Table(table)[x] for one row of integers, Table(tables)[:, x] for several, "
                "Table(rows)[x, y] for an entry of one of them",
            )
        _check_within(place, self._entries.shape[-1])
        place = place.checked()
        if not several:
            return _looked_up(place, lambda low, high: self._entries[low : high + 1].tolist())
        found = _looked_up_all(place, lambda low, high: self._entries[:, low : high + 1].tolist())
        return _together(found, (len(found), *place.shape))

    def _pair(self, x: Any, y: Any) -> Any:
        """``rows[x, y]``, where x, y or both are encrypted."""
        if not isinstance(x, EncryptedIntegers):
            return Table(self._entries[x])[y]
        if not isinstance(y, EncryptedIntegers):
            return Table(self._entries[:, y])[x]
        for index, count in zip((x, y), self._entries.shape):
            _check_within(index, count)
        return Table(self._entries.reshape(-1))[x.checked() * self._entries.shape[1] + y.checked()]

    def __repr__(self) -> str:
        if self._entries.ndim == 2:
            return f"<everlevel.Table of {len(self)} rows of {self._entries.shape[1]} integers>"
        return f"<everlevel.Table of {len(self)} integers>"


def _check_within(place: EncryptedIntegers, count: int) -> None:
    """Refuses an index that may lie outside of ``count`` entries."""
    low, high = place.interval
    if low < 0 or high >= count:
        raise RangeError(
            f"a table of {count} entries for values of {low} to {high}: expected values from "
            f"0 to {count - 1}; clip them, encrypt with bounds, or use a longer table",
            code="integers.table",
            low=low,
            high=high,
        )
