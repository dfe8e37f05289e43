"""Arrays of typed integers as they look without any key: what is known of them."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from . import _everlevel as _rust
from ._encrypted import Encrypted
from ._html import facts
from ._kinds import Interval, dtype_of
from ._params import Params
from ._places import Place
from ._shaped import Shaped
from ._stored import Stated, Stored

if TYPE_CHECKING:
    from typing_extensions import Self


class Typed(Encrypted, Stored, Shaped):
    """Entries in blocks, and what can be told of them."""

    __slots__ = ("_blocks", "_shape", "_runs", "_server", "_wrap", "_counted", "_params")

    #: Entries in row-major order, as many in each as a ciphertext has slots, or as a run of them
    #: has left.
    _blocks: tuple[_rust.Column, ...]
    #: How many runs of equal length begin a block: 1, or with rows=True as many as there are rows.
    _runs: int
    _server: Place | None
    #: The dtype modulo which it computes.
    _wrap: np.dtype[Any] | None
    #: Whether entries are places, counts or other integers, even if they can only be 0 and 1: no
    #: truth values.
    _counted: bool
    _params: _rust.Params

    @classmethod
    def _make(
        cls,
        blocks: Sequence[_rust.Column],
        shape: tuple[int, ...],
        server: Place | None = None,
        wrap: np.dtype[Any] | None = None,
        runs: int = 1,
        counted: bool = False,
    ) -> Self:
        self = object.__new__(cls)
        self._blocks, self._shape, self._runs, self._params = (
            tuple(blocks),
            shape,
            runs,
            blocks[0].params,
        )
        self._server, self._wrap, self._counted = server, wrap, counted
        return self

    def _wrapping(self, wrap: np.dtype[Any] | None) -> Self:
        """The same entries with arithmetic modulo 2^k, or without."""
        return self._make(self._blocks, self._shape, self._server, wrap, self._runs, self._counted)

    def _counting(self, counted: bool = True) -> Self:
        """The same entries as integers, or where they can only be 0 and 1 as truth values."""
        return self._make(self._blocks, self._shape, self._server, self._wrap, self._runs, counted)

    def _on_server(self, server: Place) -> Self:
        """The same entries on a server."""
        return self._make(self._blocks, self._shape, server, self._wrap, self._runs, self._counted)

    def _picked(self, runs: npt.NDArray[Any], shape: tuple[int, ...]) -> Self:
        """Some of the runs, in this order."""
        each = len(self._blocks) // self._runs
        blocks = [self._blocks[each * int(run) + i] for run in runs for i in range(each)]
        return self._make(blocks, shape, self._server, self._wrap, len(runs), self._counted)

    # What is known of them

    @property
    def params(self) -> Params:
        """The parameter set."""
        return Params._of(self._params)

    @property
    def key_id(self) -> str | None:
        """The public id of the secret key that decrypts it; none if all entries are public."""
        return next((x.key_id for x in self._blocks if x.key_id is not None), None)

    @property
    def interval(self) -> Interval:
        """The least and the largest possible value of an entry: public, and never from the data."""
        low, high = zip(*(x.interval for x in self._blocks))
        return min(low), max(high)

    @property
    def dtype(self) -> np.dtype[Any]:
        """The smallest dtype that holds the interval, which ``decrypt`` gives; ``object``, with
        Python's integers, beyond 64 bits. Sums, counts and places are never ``bool``.
        """
        return dtype_of(self.interval, self._counted) if self._wrap is None else self._wrap

    @property
    def ciphertexts(self) -> int:
        """The number of ciphertexts that hold the entries, with those of an index."""
        return sum(x.ciphertexts for x in self._blocks)

    @property
    def has_index(self) -> bool:
        """Whether the digits are encrypted in unary, too: ``index=True`` of ``Client.encrypt``."""
        return all(x.has_index for x in self._blocks)

    def without_index(self) -> Self:
        """The same array without its index, so that its digits alone are computed on: for what
        would have too few levels otherwise.
        """
        # Blocks in the clear have none, and are not columns.
        blocks = [x.without_index() if x.has_index else x for x in self._blocks]
        return self._make(blocks, self._shape, self._server, self._wrap, self._runs, self._counted)

    @property
    def level(self) -> int | None:
        """The level of its ciphertexts, the highest one if there are several: from 0 to
        ``params.levels - 1``, the top, at which arrays are encrypted unless another one is stated.
        None if all entries are public.
        """
        return max((x.level for x in self._blocks if x.level is not None), default=None)

    @property
    def capacity_bits(self) -> float:
        """The least remaining capacity of the ciphertexts, in bits; infinite if all entries are
        public.
        """
        return min(
            (x.capacity_bits for x in self._blocks if x.capacity_bits is not None), default=math.inf
        )

    @property
    def server(self) -> Place | None:
        """The server that computes on it."""
        return self._server

    def __repr__(self) -> str:
        low, high = self.interval
        where = "" if self._server is not None else ", no server"
        kind = (
            f"wrapping {self.dtype}"
            if self._wrap is not None
            else f"{self.dtype} from {low} to {high}"
        )
        rows = ", by rows" if self._runs > 1 else ""
        rows += ", with an index" if self.has_index else ""
        return (
            f"<EncryptedIntegers of shape {self._shape}{rows}, {kind}, {self._params.name} in "
            f"{self.ciphertexts} ciphertexts{where}>"
        )

    def _repr_html_(self) -> str:
        low, high = self.interval
        rows = [
            ("shape", self._shape),
            ("dtype", f"{self.dtype}, wrapping" if self._wrap is not None else self.dtype),
            ("values", f"{low} to {high}"),
            ("parameter set", self._params.name),
            ("ciphertexts", self.ciphertexts),
            ("capacity", f"{self.capacity_bits:.1f} bits"),
            ("server", "none: Server.load" if self._server is None else "loaded"),
        ]
        return facts("EncryptedIntegers", rows)

    def _set(self) -> Params:
        return self.params

    def _stated(self) -> Stated:
        wrapping = None if self._wrap is None else str(self._wrap)
        return self._blocks, self._shape, self._runs, wrapping, self._counted
