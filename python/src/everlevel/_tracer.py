"""What stands in for a server while a program is planned: it computes nothing and counts."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy.typing as npt

from . import _everlevel as _rust
from ._kinds import Interval
from ._params import Params


@dataclass(frozen=True)
class Stage:
    """An operation of a program, on all its blocks."""

    name: str
    interval: Interval
    products: int
    key_switches: int
    bootstraps: int
    #: By the model of a typical core, one thread.
    seconds: float
    #: What its result has left to compute with; none if that is public.
    capacity_bits: float | None


class Tracer:
    """A server that computes nothing and counts: a program runs on it once, on a block that stands
    for all.
    """

    def __init__(
        self,
        params: Params,
        bootstraps: bool,
        factor: int,
        beside: bool,
        trace: _rust.Trace | None = None,
        in_blocks: bool = False,
    ) -> None:
        self._trace = _rust.Trace(params._raw, bootstraps) if trace is None else trace
        self._inner = self._trace.server(beside, in_blocks)
        self._beside = beside
        self._in_blocks = in_blocks
        self._factor = factor
        self._stages: list[Stage] = []

    @property
    def _integers(self) -> Tracer:
        return self

    def _check_public(self, run: npt.NDArray[Any]) -> None:
        """Passes a run of public integers that is computed with."""

    def _told(
        self, name: str, before: tuple[int, int, int, float], x: _rust.Column | _rust.Total
    ) -> None:
        k, after = self._factor, self._trace.cost
        products, switches, bootstraps = (k * (b - a) for a, b in zip(before[:3], after[:3]))
        capacity = x.capacity_bits if isinstance(x, _rust.Column) else None
        self._stages.append(
            Stage(
                name,
                x.interval,
                products,
                switches,
                bootstraps,
                k * (after[3] - before[3]),
                capacity,
            )
        )

    def apply(
        self, name: str, operands: list[_rust.Column | int], numbers: list[int]
    ) -> list[_rust.Column]:
        before = self._trace.cost
        found = self._inner.apply(name, operands, numbers)
        self._told(name, before, found[0])
        return found

    def constant(self, like: _rust.Column, values: list[int]) -> _rust.Column:
        before = self._trace.cost
        found = self._inner.constant(like, values)
        self._told("constant", before, found)
        return found

    def totals(
        self,
        name: str,
        x: _rust.Column,
        numbers: list[int] | None = None,
        other: _rust.Column | None = None,
    ) -> list[_rust.Total]:
        before = self._trace.cost
        found = self._inner.totals(name, x, numbers or [], other)
        self._told(name, before, found[0])
        return found
