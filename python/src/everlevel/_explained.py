"""Explanations of plans: what they do, cost and reveal."""

from __future__ import annotations

import json
from typing import Any

from . import _everlevel as _rust
from ._html import facts
from ._params import Params


class Explanation:
    """The information about a plan that is available before it is run: ``Plan.explain``. Printed,
    it is the text of ``everlevel table explain``.
    """

    __slots__ = ("_facts", "_text")

    _facts: dict[str, Any]
    _text: str

    def __init__(self) -> None:
        raise TypeError("explanations come from Plan.explain")

    @classmethod
    def _of(cls, plan: str, params: Params, rows: int) -> Explanation:
        self = object.__new__(cls)
        told, self._text = _rust.table_plan_explain(plan, params._raw, rows)
        self._facts = json.loads(told)
        return self

    def to_dict(self) -> dict[str, Any]:
        """The explanation as a dictionary, with the keys of ``everlevel table explain --json``."""
        return json.loads(json.dumps(self._facts))  # type: ignore[no-any-return]

    def _cost(self, name: str) -> int:
        return int(self._facts["cost"][name])

    @property
    def levels(self) -> int:
        """The number of levels between fresh columns and the answer; all levels if there are
        bootstrappings.
        """
        return self._cost("levels")

    @property
    def products(self) -> int:
        """Products of ciphertexts, those in bootstrappings included."""
        return self._cost("products")

    @property
    def refreshes(self) -> int:
        """Bootstrappings."""
        return self._cost("refreshes")

    @property
    def seconds(self) -> float:
        """Seconds on a typical core, by a model that counts operations."""
        return float(self._facts["cost"]["seconds"])

    @property
    def bytes_up(self) -> int:
        """The bytes of the encrypted constants that are sent to the server, if they are made with
        the public key.
        """
        return self._cost("constant_bytes")

    @property
    def bytes_read(self) -> int:
        """The bytes of the columns that the server reads, if the table is encrypted with the secret
        key.
        """
        return self._cost("table_bytes")

    @property
    def bytes_down(self) -> int:
        """The bytes of the result that is sent to the reader."""
        return self._cost("result_bytes")

    @property
    def columns_read(self) -> tuple[str, ...]:
        """The columns that the server reads."""
        return tuple(self._facts["columns_read"])

    @property
    def indexes_read(self) -> tuple[str, ...]:
        """The columns among them whose indexes the server reads, too."""
        return tuple(self._facts["indexes_read"])

    @property
    def server_learns(self) -> str:
        """The facts that the server learns."""
        return str(self._facts["server_learns"])

    @property
    def reader_learns(self) -> str:
        """The facts that the holder of the secret key learns."""
        return str(self._facts["reader_learns"])

    @property
    def notes(self) -> tuple[str, ...]:
        """Comparisons that hold for no row, as :attr:`Plan.notes`, and the indexes with which the
        query takes at least a fifth fewer key switches.
        """
        return tuple(self._facts["notes"])

    def __str__(self) -> str:
        return self._text

    def __repr__(self) -> str:
        return f"<everlevel.tables.Explanation of {self._facts['query']!r}>"

    def _repr_html_(self) -> str:
        told = self._facts
        return facts(
            told["query"],
            [
                ("parameter set", told["params"]),
                ("rows", f"{told['rows']:,} in {told['blocks']} blocks"),
                ("columns read", ", ".join(self.columns_read)),
                ("indexes read", ", ".join(self.indexes_read)),
                ("levels", self.levels),
                ("products", self.products),
                ("refreshes", self.refreshes),
                ("seconds on one core, by a model", f"{self.seconds:.2f}"),
                ("bytes of constants to the server", f"{self.bytes_up:,}"),
                ("bytes of columns read", f"{self.bytes_read:,}"),
                ("bytes of result to the reader", f"{self.bytes_down:,}"),
                ("the server learns", self.server_learns),
                ("the reader learns", self.reader_learns),
                *(("note", note) for note in self.notes),
            ],
        )
