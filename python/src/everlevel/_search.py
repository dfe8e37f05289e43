"""Least and greatest values and quantiles in rounds."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

from . import _everlevel as _rust
from ._answers import answer_of
from ._constants import Constants
from ._queries import Query
from ._roles import Client
from ._table_plan import Plan
from ._table_result import Result
from ._table_schema import Schema
from ._values import Progress, counted, stepper


class Search:
    """The search for one least or greatest value or quantile, in rounds that tell counts alone.

    ``Search("select max(cost) from stays where ward = 'north'", schema)``, or ``min``, of a
    column of numbers, dates or timestamps; ``median`` or ``quantile_cont`` of a column of numbers.

    A round counts the rows that are meant and have a value below each of ``parts - 1`` constants,
    which the server does not see; all rounds have one plan, whose ``explain`` says what one takes.
    Of a column of 16 bits there are 8 rounds of 4 parts, twice as many for a quantile; that follows
    from the bounds of the column alone. Two parts take the fewest comparisons, more parts fewer
    rounds. The reader learns the counts and no rows, and the table may have any number of rows.
    """

    __slots__ = ("_raw",)

    _raw: _rust.TableSearch

    def __init__(self, query: str | Query, schema: Schema | None = None, *, parts: int = 4) -> None:
        asked = Plan(query, schema)
        self._raw = _rust.TableSearch(asked.sql, asked.schema._text, counted("parts", parts))

    @property
    def plan(self) -> Plan:
        """The plan of all rounds: for keys (``plan.server``) and costs (``plan.explain``)."""
        return Plan.from_json(self._raw.plan)

    @property
    def rounds(self) -> int:
        """The number of rounds."""
        return self._raw.rounds

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
        itself has. Results of another plan, of other constants and, with ``table_id``, of another
        table are refused, and so are counts that contradict those of earlier rounds.
        """
        client.params._warn()
        plan, step, done = self.plan, stepper(progress), 0
        while (given := self._raw.constants()) is not None:
            sent = plan.bind(client, **constants, **dict(given))
            result = ask(plan, sent)
            self._raw.learn(client._raw, result.to_bytes(), table_id, sent.id)
            done += 1
            if step is not None:
                step(done, self.rounds)
        told = self._raw.answer()
        return answer_of(json.loads(told or "null"), arrow)

    def __repr__(self) -> str:
        return f"<everlevel.tables.Search of {self.rounds} rounds>"
