"""Queries on tables of a service, which are answered there."""

from __future__ import annotations

import dataclasses
from typing import TYPE_CHECKING, Any

from ._queries import Query
from ._table_plan import Plan
from ._values import Path, Progress

if TYPE_CHECKING:
    from ._constants import Constants
    from ._remote import Remote
    from ._roles import Client
    from ._server import Server
    from ._service import Estimate
    from ._table_result import Result


@dataclasses.dataclass(frozen=True, repr=False, eq=False)
class RemoteTable(Query):
    """A query on a table of a service, :meth:`everlevel.Remote.table`: refined step by step
    like any :class:`everlevel.tables.Query`, each step being another one. :meth:`collect`
    answers it, as one job.
    """

    _remote: Any = None
    #: The table, its directory, or its id.
    _source: Any = None

    @property
    def remote(self) -> Remote:
        """The service."""
        found: Remote = self._remote
        return found

    def plan(self) -> Plan:
        """The plan of the query, as for a local table; a query that cannot be answered exactly is
        refused.
        """
        return Plan(self)

    def collect(
        self,
        constants: Constants | None = None,
        *,
        server_keys: Server | Path | None = None,
        job_name: str | None = None,
        progress: Progress = None,
    ) -> Result:
        """The encrypted answer, as of :meth:`everlevel.Remote.ask`; ``constants`` are those of
        ``plan().bind``.
        """
        return self.remote.ask(
            self._source,
            self.plan(),
            constants,
            server_keys=server_keys,
            job_name=job_name,
            progress=progress,
        )

    def estimate(
        self, constants: Constants | None = None, *, server_keys: Server | Path | None = None
    ) -> Estimate:
        """The cost of :meth:`collect`; the table is sent, and nothing runs."""
        return self.remote.estimate_ask(
            self._source, self.plan(), constants, server_keys=server_keys
        )

    def read(self, client: Client, **how: Any) -> Any:
        """The decrypted answer: :meth:`collect`, and then ``Result.read`` with the secret key."""
        return self.collect().read(client, plan=self.plan(), **how)
