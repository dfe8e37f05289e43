"""Least and greatest values, quantiles and first rows in rounds."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from . import _everlevel as _rust
from ._answers import answer_of
from ._constants import Constants
from ._queries import Query
from ._roles import Client
from ._table_plan import Plan
from ._table_result import Result
from ._table_schema import Schema
from ._values import Progress, counted, stepper

if TYPE_CHECKING:
    from ._server import Server


class Search:
    """The search for one least or greatest value or quantile, or for first rows, in rounds.

    ``Search("select max(cost) from stays where ward = 'north'", schema)``, or ``min``, of a
    column of numbers, dates or timestamps; ``median`` or ``quantile_cont`` of a column of numbers;
    or ``Search("select ward, cost from stays order by cost desc limit 3", schema)``, where the
    first key of the order is a column of numbers, dates or timestamps.

    A round counts the rows that are meant and have a value below each of ``parts - 1`` constants,
    which the server does not see; all these rounds have one plan, whose ``explain`` says what one
    takes. Of a column of 16 bits there are 8 rounds of 4 parts, twice as many for a quantile; that
    follows from the bounds of the column alone. Two parts take the fewest comparisons, more parts
    fewer rounds. The table may have any number of rows. The reader learns the counts and no rows.

    For first rows, one more round lists the rows up to the value that was found, that of the k-th
    row, and those without a value. The reader learns these, also where they are more than k.
    """

    __slots__ = ("_raw",)

    _raw: _rust.TableSearch

    def __init__(self, query: str | Query, schema: Schema | None = None, *, parts: int = 4) -> None:
        asked = Plan(query, schema)
        self._raw = _rust.TableSearch(asked.sql, asked.schema._text, counted("parts", parts))

    @property
    def plan(self) -> Plan:
        """The plan of the next round."""
        return Plan.from_json(self._raw.plan)

    @property
    def plans(self) -> tuple[Plan, ...]:
        """The plans of all rounds, for costs (``explain``): that of the rounds that count, and for
        rows that of the round that lists them.
        """
        return tuple(Plan.from_json(plan) for plan in self._raw.plans)

    @property
    def rounds(self) -> int:
        """The number of rounds."""
        return self._raw.rounds

    def server(
        self,
        client: Client,
        rows: int,
        *,
        seeded_keys: bool = False,
        small_keys: bool = False,
        progress: Progress = None,
    ) -> Server:
        """A server with the keys that the plans of all rounds take, as ``Plan.server`` makes it of
        one plan.
        """
        plans, count = self._raw.plans, counted("rows", rows)
        keys = _rust.table_plan_keys(plans, client.params._raw, count, small_keys)
        return client._server(keys, seeded_keys, progress)

    def collect(
        self,
        client: Client,
        ask: Callable[[Plan, Constants], Result],
        *,
        table_id: str | None = None,
        arrow: bool | None = None,
        progress: Progress = None,
        **constants: Any,
    ) -> Any:
        """The answer, in the form of :meth:`Result.read`, after all rounds that are left.

        ``ask(plan, constants)`` has a server answer a round: ``lambda plan, constants:
        table.run(server, plan, constants=constants)``. ``constants`` are those that the query
        itself has. Results of another plan, of other constants, of another table than
        ``table_id``, or than that of the round before, are refused, and so are counts and rows that
        contradict those of earlier rounds.
        """
        client.params._warn()
        step, done = stepper(progress), 0
        while (given := self._raw.constants()) is not None:
            plan = self.plan
            sent = plan.bind(client, **constants, **dict(given))
            result = ask(plan, sent)
            # A change of the table in between gives it another id, which is refused.
            self._raw.learn(client._raw, result.to_bytes(), table_id, sent.id, given)
            done += 1
            if step is not None:
                step(done, self.rounds)
        told = self._raw.answer()
        return answer_of(json.loads(told or "null"), arrow)

    def __repr__(self) -> str:
        return f"<everlevel.tables.Search of {self.rounds} rounds>"
