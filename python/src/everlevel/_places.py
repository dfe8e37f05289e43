"""Where arrays are computed on, as arrays need it: a server, or what counts or writes down in its
stead. The server itself is above the arrays, which it reads and loads.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Protocol

from . import _everlevel as _rust
from ._params import Params


class Operations(Protocol):
    """What computes on blocks of typed integers."""

    def apply(
        self, name: str, operands: list[_rust.Column | int], numbers: list[int], /
    ) -> list[_rust.Column]:
        """The results of an operation."""
        ...

    def constant(self, like: _rust.Column, values: list[int], /) -> _rust.Column:
        """Public integers, beside an encrypted block."""
        ...

    def totals(
        self,
        name: str,
        x: _rust.Column,
        numbers: list[int] = ...,
        other: _rust.Column | None = ...,
        /,
    ) -> list[_rust.Total]:
        """Sums of a block, or of two, which can only be decrypted."""
        ...


class Place(Protocol):
    """Where typed integers are computed on."""

    @property
    def _factor(self) -> int:
        """How many blocks one stands for."""
        ...

    @property
    def _integers(self) -> Operations: ...

    def _check_public(self, run: Any) -> None:
        """Passes a run of public integers that is computed with, or refuses it."""
        ...


class Serving(Protocol):
    """A server, as the arrays that it holds and those who give it as an argument need it."""

    @property
    def params(self) -> Params:
        """The parameter set."""
        ...

    @property
    def can_bootstrap(self) -> bool:
        """True if the keys suffice for bootstrapping."""
        ...

    @property
    def _raw(self) -> _rust.Server: ...

    def load(self, x: Any, /) -> Any:
        """The array in this server's care."""
        ...

    def _takes(
        self, params: _rust.Params, elements: bool, xs: Sequence[_rust.Ciphertext], /
    ) -> None:
        """Refuses what the server would do damage to."""
        ...
