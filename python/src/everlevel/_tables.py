"""Tables of public integers that are looked up in with encrypted ones."""

from __future__ import annotations

from typing import Any

import numpy.typing as npt

from ._integers import EncryptedIntegers, _looked_up
from ._kinds import entries
from .errors import RangeError, ShapeError


class Table:
    """A table of public integers: ``Table(table)[x]`` is ``table[x]`` for encrypted x of at most 256 values, from 0 to as many as it has entries, less 1."""

    __slots__ = ("_entries",)

    def __init__(self, table: npt.ArrayLike) -> None:
        array = entries(table)
        if array.ndim != 1 or not array.size:
            raise ShapeError(f"a table of shape {array.shape}: expected a vector of integers", code="python.shape")
        self._entries = array

    def __len__(self) -> int:
        return len(self._entries)

    def __getitem__(self, x: Any) -> Any:
        if not isinstance(x, EncryptedIntegers):
            return self._entries[x]
        low, high = x.interval
        if low < 0 or high >= len(self._entries):
            raise RangeError(
                f"a table of {len(self._entries)} entries for values of {low} to {high}: expected values from 0 to {len(self._entries) - 1}; "
                "clip them, encrypt with bounds, or take a longer table",
                code="integers.table",
                low=low,
                high=high,
            )
        return _looked_up(x.checked(), lambda low, high: self._entries[low : high + 1].tolist())

    def __repr__(self) -> str:
        return f"<everlevel.Table of {len(self)} integers>"
