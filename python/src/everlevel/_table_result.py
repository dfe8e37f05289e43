"""Encrypted answers to queries on tables."""

from __future__ import annotations

import json
from typing import Any

from . import _everlevel as _rust
from ._answers import answer_of
from ._constants import Constants
from ._held import Held
from ._roles import Client
from ._table_plan import Plan


class Result(Held):
    """The encrypted sums that answer a plan, with the plan: what a server gives to the holder of
    the secret key.
    """

    __slots__ = ()

    #: Plan, table, rows, owner.
    _facts: tuple[str, str, int, str | None]

    def __init__(self) -> None:
        raise TypeError("results come from EncryptedTable.run, Result.open and Result.from_bytes")

    @classmethod
    def _head(cls, data: bytes) -> Any:
        return _rust.table_result_facts(data)

    @property
    def plan(self) -> Plan:
        """The plan of the query, as the server states it."""
        return Plan.from_json(self._facts[0])

    @property
    def table_id(self) -> str:
        """The id of the table, as the server states it."""
        return self._facts[1]

    @property
    def key_id(self) -> str | None:
        """The public id of the secret key that reads it."""
        return self._facts[3]

    def read(
        self,
        client: Client,
        *,
        plan: Plan | None = None,
        table_id: str | None = None,
        constants: Constants | None = None,
        arrow: bool | None = None,
    ) -> Any:
        """The answer, exact: a ``pyarrow.Table`` if PyArrow is there, with ``decimal128`` for
        decimals and quotients, ``date32``, ``int64``, ``bool`` and texts; else, or with
        ``arrow=False``, a list for each column by its name, of ``decimal.Decimal``,
        ``datetime.date``, ``int``, ``bool`` and ``str``. ``None`` where a sum is over no rows.

        ``plan``, ``table_id`` and ``constants``: what the reader means; a result of others is
        refused. A server that lies is not found out.
        """
        client.params._warn()
        meant = (
            None if plan is None else plan._text,
            table_id,
            None if constants is None else constants.id,
        )
        return answer_of(
            json.loads(_rust.read_table_result(client._raw, self._data, *meant)), arrow
        )

    def __reduce__(self) -> Any:
        return Result.from_bytes, (self._data,)

    def __repr__(self) -> str:
        return f"<everlevel.tables.Result of {self.plan.sql!r}>"
