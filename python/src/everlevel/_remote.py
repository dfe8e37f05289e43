"""The client of a service: it sends what is encrypted, runs jobs, and fetches encrypted results."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from . import _everlevel as _rust
from ._constants import Constants
from ._http import Connection, count, field, malformed
from ._integers import EncryptedIntegers
from ._nodes import recorder_of
from ._objects import Computed, Encrypted, Inputs, entries_of, identity
from ._recorded import Recorder, Written, blocks_of, inputs_of, one_recorder, opened, stored
from ._server import Server
from ._service import Estimate
from ._tables import Table as Lookup
from ._tenant import Tenant
from ._tls import Trust
from ._totals import EncryptedTotal
from ._values import Path, Progress, by_name, path_text
from .errors import DtypeError, OtherParametersError, SecretKeyError, TableError

if TYPE_CHECKING:
    from ._remote_tables import RemoteTable
    from .tables import EncryptedTable, Plan, Result, Schema


class Usage(NamedTuple):
    """The share of a service that a tenant uses, and its limits."""

    #: Bytes of objects, of announced uploads and of requests that made tables and jobs.
    bytes: int
    most_bytes: int
    #: Objects, announced uploads, tables and jobs.
    objects: int
    most_objects: int
    #: Jobs that wait or are computed.
    active_jobs: int
    most_active_jobs: int


class Remote(Tenant):
    """A service (``everlevel serve``) that keeps server keys, encrypted arrays and tables, and
    computes on them for the bearer of a token.

    ``with everlevel.Remote("https://everlevel.example.org", token) as remote:``. Nothing is sent
    yet. The service proves who it is to the authorities that the system believes, or to those of
    the file ``ca``, in PEM, and no others; ``certificate`` and ``key`` are files for a service that
    asks its clients for one. ``http://`` shows the token to whoever is on the way, and is for this
    machine or an encrypted tunnel that ends here; ``insecure_http=True`` lifts that.

    Requests whose connection breaks are sent again; what was refused has the library's exception
    and code, or is a :class:`everlevel.ServiceError`. Threads may share it. It needs
    ``pip install everlevel[remote]``, for the hash by which objects are called.
    """

    __slots__ = ("_recorders",)

    #: Where operations on arrays are written down, by parameter set and number of ciphertexts.
    _recorders: dict[tuple[str, int, bool], Recorder]

    def __init__(
        self,
        url: str,
        token: str,
        *,
        ca: Path | None = None,
        certificate: Path | None = None,
        key: Path | None = None,
        insecure_http: bool = False,
    ) -> None:
        trust = Trust(ca, certificate, key)
        super().__init__(Connection(url, token, insecure_http, trust))
        self._recorders = {}

    def close(self) -> None:
        """Forgets the token."""
        self._connection.forget()

    def __enter__(self) -> Remote:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def __repr__(self) -> str:
        return f"<everlevel.Remote at {self._connection.host}:{self._connection.port}>"

    def __reduce__(self) -> Any:
        raise SecretKeyError(
            "a connection is not pickled, as it has a token: make it again from address and token",
            code="python.secret-pickle",
        )

    def usage(self) -> Usage:
        """The share of the service that the tenant uses, and its limits."""
        found = self._connection.json("GET", "/v1/usage")
        return Usage(*(count(found, name) for name in Usage._fields))

    # Programs and queries

    def run(
        self,
        program: str,
        inputs: Mapping[str, Encrypted] | None = None,
        *,
        server_keys: Server | Path | None = None,
        tables: Mapping[str, Lookup | Sequence[int]] | None = None,
        job_name: str | None = None,
        progress: Progress = None,
        **named: Encrypted,
    ) -> dict[str, Computed]:
        """Runs a program such as ``"y = 3*x*(1-x)"`` on the service, on arrays modulo p^r as
        ``Server.run``, or on typed integers as ``everlevel eval`` does, and returns what it
        defines, for the client to decrypt.

        Arrays are fresh encryptions, of typed integers vectors; the service has no bounds for
        others that it could believe, its own results of former jobs included. Arrays of several
        ciphertexts go through the program one ciphertext after the other, as by ``Server.run``.
        ``server_keys``: others than those that were sent last, also by their id;
        ``tables``: public tables that a program on typed integers looks up in, by their names.
        ``job_name``: the call with the same name and the same arguments goes on with the job that
        it has started before. Ctrl-C cancels a job without a name.
        ``progress(done, statements)`` is called about once a second.
        """
        given = Inputs(program, by_name(inputs, named))
        request = self._program(given, server_keys, tables)
        results = self._done(request, job_name, progress)
        return {name: given.computed(name, self.fetch(found)) for name, found in results.items()}

    def ask(
        self,
        table: EncryptedTable | Path,
        plan: Plan,
        constants: Constants | None = None,
        *,
        server_keys: Server | Path | None = None,
        job_name: str | None = None,
        progress: Progress = None,
    ) -> Result:
        """The encrypted answer to a plan about an encrypted table: the table, its directory, or its
        id on the service.

        An answer to another plan or about another table is refused, as far as it says so: a service
        that lies is not found out. All else as for :meth:`run`; ``progress(done, blocks)``.
        """
        from .tables import EncryptedTable, Result

        request = self._query(table, plan, constants, server_keys)
        results = self._done(request, job_name, progress)
        if "result" not in results:
            raise malformed("the answer", "the job has no result")
        found = Result.from_bytes(self.fetch(results["result"]))
        meant = table.id if isinstance(table, EncryptedTable) else None
        if found.plan != plan or (meant is not None and found.table_id != meant):
            raise TableError(
                "the service answered another query, or one on another table",
                code="table.other-result",
            )
        return found

    def estimate(
        self,
        program: str,
        inputs: Mapping[str, Encrypted] | None = None,
        *,
        server_keys: Server | Path | None = None,
        tables: Mapping[str, Lookup | Sequence[int]] | None = None,
        **named: Encrypted,
    ) -> Estimate:
        """The cost of :meth:`run` with the same arguments; they are sent, and nothing runs."""
        given = Inputs(program, by_name(inputs, named))
        return self._estimated(self._program(given, server_keys, tables))

    def estimate_ask(
        self,
        table: EncryptedTable | Path,
        plan: Plan,
        constants: Constants | None = None,
        *,
        server_keys: Server | Path | None = None,
    ) -> Estimate:
        """The cost of :meth:`ask` with the same arguments; they are sent, and nothing runs."""
        return self._estimated(self._query(table, plan, constants, server_keys))

    # Arrays and tables

    def array(
        self, x: EncryptedIntegers | str, *, insecure_research: bool = False
    ) -> EncryptedIntegers | dict[str, EncryptedIntegers]:
        """An array of typed integers on the service: operators, comparisons and NumPy's functions
        work as on a :class:`everlevel.Server`, and compute nothing. What cannot be done is refused
        at once, by the planner that :func:`everlevel.program` has, for the server keys that were
        sent last. ``y.estimate()`` asks what it would cost; ``y.compute()``, or ``client.decrypt``,
        sends what is not there yet, runs all that ``y`` is made of as one job, and fetches the
        encrypted result. :meth:`compute` does so for several arrays.

        ``x`` is a fresh encryption, of any shape, also by rows, and with an index if it has one, or
        the id of an object of columns of integers on the service, such as one that the program has
        sent or a result of a former job: it is fetched once, to know its types; a dict by name if
        there are several columns. A toy set takes ``insecure_research=True`` there.

        Public arrays beside it have to be one integer, or one for each row; single ciphertexts of
        other entries require a local server, and so do weights of ``np.average`` and
        ``normalized()``.
        """
        if isinstance(x, str):
            found = identity(x)
            arrays = stored(self.fetch(found), found, insecure_research)
            made = {
                name: self._recorded([(source, held)], held)
                for name, (source, held) in arrays.items()
            }
            return next(iter(made.values())) if len(made) == 1 else made
        if not isinstance(x, EncryptedIntegers) or recorder_of(x) is not None:
            raise DtypeError(
                f"expected encrypted typed integers of this process, or an id, found "
                f"{type(x).__name__}; arrays modulo p^r are for Remote.run",
                code="python.input",
            )
        return self._recorded(inputs_of(x), x)

    def _recorded(
        self, runs: Sequence[tuple[Any, EncryptedIntegers]], x: EncryptedIntegers
    ) -> EncryptedIntegers:
        params = x.params
        boots = params._raw.bootstraps and self._bootstraps is not False
        factor = len(x._blocks) // x._runs
        place = params.id, factor, boots
        home = self._recorders.get(place)
        if home is None:
            # Of several threads that make one, one's is for all.
            home = self._recorders.setdefault(place, Recorder(self, params, boots, factor))
        blocks: list[Any] = [home.input(source, run) for source, run in runs]
        return EncryptedIntegers._make(blocks, x._shape, home, x._wrap, x._runs, x._counted)

    def compute(
        self,
        *arrays: EncryptedIntegers | EncryptedTotal,
        server_keys: Server | Path | None = None,
        job_name: str | None = None,
        progress: Progress = None,
    ) -> tuple[Any, ...]:
        """Several arrays of the service, and totals of them, computed by one job: the encrypted
        results in this order. Other arguments as for :meth:`run`.
        """
        params = one_recorder(arrays).params
        request, names = self._asked(arrays, server_keys)
        results = self._done(request, job_name, progress)
        if missing := sorted(set(names) - set(results)):
            raise malformed("the answer", f"the job has no result {missing[0]}")
        left, found = iter(names), []
        for x in arrays:
            parts = [self.fetch(results[next(left)]) for _ in blocks_of(x)]
            found.append(opened(x, parts, params))
        return tuple(found)

    def estimate_arrays(
        self,
        *arrays: EncryptedIntegers | EncryptedTotal,
        server_keys: Server | Path | None = None,
    ) -> Estimate:
        """The cost of :meth:`compute`; inputs are sent, and nothing runs."""
        return self._estimated(self._asked(arrays, server_keys)[0])

    def _asked(
        self,
        arrays: Sequence[EncryptedIntegers | EncryptedTotal],
        server_keys: Server | Path | None,
    ) -> tuple[dict[str, Any], list[str]]:
        """The request that makes some arrays, and the names of their blocks."""
        if one_recorder(arrays).remote is not self:
            raise OtherParametersError(
                "arrays of another connection: compute them by that one", code="python.other-server"
            )
        written = Written([block for x in arrays for block in blocks_of(x)])
        keys = self._server_keys(server_keys)
        inputs, columns = {}, []
        for name, source in written.sources.items():
            if source.column is None:
                inputs[name] = source.object_id or self._pushed(source.data or b"", None)
            elif source.object_id not in columns:
                columns.append(source.object_id)
        request = {
            "kind": "program",
            "server_keys": keys,
            "program": written.program,
            "inputs": inputs,
            "columns": columns,
            "tables": written.tables,
        }
        return request, written.names

    def table(
        self, x: EncryptedTable | Path, *, name: str = "t", schema: Schema | None = None
    ) -> RemoteTable:
        """An encrypted table on the service, to be asked about as :func:`everlevel.tables.table`:
        ``t.filter(t.cost > 100).agg(n=et.count())``. Nothing is sent before ``collect()``, which
        runs one job, or ``estimate()``; what cannot be answered is refused here.

        ``x`` is the table, its directory, or its id on the service, whose schema is then asked for
        there, unless it is given.
        """
        from ._remote_tables import RemoteTable
        from .tables import EncryptedTable, Schema

        if schema is None and isinstance(x, EncryptedTable):
            schema = x.schema
        elif schema is None and isinstance(x, str) and re.fullmatch(r"[0-9a-f]{64}", x):
            schema = Schema(self._connection.json("GET", f"/v1/tables/{x}/schema"))
        elif schema is None:
            path = path_text(x)  # type: ignore[arg-type]
            schema = EncryptedTable._make(_rust.Table.open(path, None, True)).schema
        return RemoteTable(schema, name, _remote=self, _source=x)

    def _estimated(self, request: dict[str, Any]) -> Estimate:
        found = self._connection.json("POST", "/v1/estimates", request)
        counted = (count(found, name) for name in Estimate._fields[1:])
        return Estimate(float(field(found, "seconds", (int, float))), *counted)

    def _program(
        self,
        given: Inputs,
        server_keys: Server | Path | None,
        tables: Mapping[str, Lookup | Sequence[int]] | None,
    ) -> dict[str, Any]:
        return {
            "kind": "program",
            "server_keys": self._server_keys(server_keys),
            "program": given.program,
            "inputs": {name: self._pushed(data, None) for name, data in given.written.items()},
            "tables": {name: entries_of(name, table) for name, table in (tables or {}).items()},
        }

    def _query(
        self,
        table: EncryptedTable | Path,
        plan: Plan,
        constants: Constants | None,
        server_keys: Server | Path | None,
    ) -> dict[str, Any]:
        return {
            "kind": "table",
            "server_keys": self._server_keys(server_keys),
            "table": self._there(table),
            "plan": json.loads(plan.to_json()),
            "constants": None if constants is None else self.push(constants),
        }
