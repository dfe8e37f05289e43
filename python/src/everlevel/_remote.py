"""The client of a service: it sends what is encrypted, runs jobs, and fetches encrypted results."""

from __future__ import annotations

import json
import os
import re
import secrets
import tempfile
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from . import _everlevel as _rust
from ._constants import Constants
from ._http import Connection, count, field, malformed, told
from ._integers import EncryptedIntegers
from ._log import timed
from ._nodes import recorder_of
from ._objects import (
    Computed,
    Encrypted,
    Inputs,
    accepted,
    entries_of,
    fetched,
    identity,
    pushed,
)
from ._server import Server
from ._tables import Table as Lookup
from ._tls import Trust
from ._totals import EncryptedTotal
from ._values import Path, Progress, by_name, path_text, read_file, stepper
from .errors import (
    DtypeError,
    Error,
    KeyMissingError,
    OtherParametersError,
    ParameterError,
    SecretKeyError,
    ServiceError,
    TableError,
)

if TYPE_CHECKING:
    from ._recorded import Recorder
    from ._remote_tables import RemoteTable
    from .tables import EncryptedTable, Plan, Result, Schema

#: The most bytes of a result.
RESULT_BYTES = 4 << 30
#: The texts that an encrypted table may have beside its columns.
TEXTS = ("schema.json", "files.json")


class Estimate(NamedTuple):
    """What a job will cost, counted by the service without cryptography."""

    #: Seconds on a typical core, by a model that counts operations.
    seconds: float
    #: Products of ciphertexts.
    products: int
    #: Relinearizations and rotations.
    key_switches: int
    #: Bootstrappings.
    refreshes: int
    #: Bytes of memory that the server keys take, of the budget for those of all tenants.
    key_memory_bytes: int
    #: Bytes of the results, which count against the quota.
    result_bytes: int


class Usage(NamedTuple):
    """What a tenant uses of a service, and what it may."""

    #: Bytes of objects, of announced uploads and of requests that made tables and jobs.
    bytes: int
    most_bytes: int
    #: Objects, announced uploads, tables and jobs.
    objects: int
    most_objects: int
    #: Jobs that wait or are computed.
    active_jobs: int
    most_active_jobs: int


class Remote:
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

    __slots__ = ("_connection", "_keys", "_bootstraps", "_recorders")

    #: The id of the server keys that were sent last.
    _keys: str | None
    #: Whether they can bootstrap; none if that is not known.
    _bootstraps: bool | None
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
        self._connection, self._keys = Connection(url, token, insecure_http, trust), None
        self._bootstraps, self._recorders = None, {}

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

    # What the service keeps

    def push(
        self,
        x: Server | Encrypted | Constants | EncryptedTable | Path,
        *,
        progress: Progress = None,
    ) -> str:
        """Sends a server's keys, an array, constants or a table, or the file or directory of one,
        unless the service has it; an upload that broke off goes on. The answer is its id.

        Jobs run with the server keys that were sent last, unless others are given.
        ``progress(done, bytes)`` is called after each part, of tables after each file.
        """
        from .tables import EncryptedTable

        step = stepper(progress)
        if isinstance(x, EncryptedTable):
            with tempfile.TemporaryDirectory() as directory:
                x.save(os.path.join(directory, "table"))
                return self._push_table(os.path.join(directory, "table"), step)
        if isinstance(x, (str, os.PathLike)):
            path = path_text(x)
            if os.path.isdir(path):
                return self._push_table(path, step)
            return self._pushed(path, step)
        if isinstance(x, Server):
            return self._push_server(x, step)
        if isinstance(x, Constants):
            return self._pushed(x.to_bytes(), step)
        return self._pushed(accepted(x).to_bytes(), step)

    def _pushed(self, source: str | bytes, step: Any) -> str:
        with timed("remote push"):
            kind, found = pushed(self._connection, source, step)
        if kind == "server keys":
            self._keys, self._bootstraps = found, None
        return found

    def _push_server(self, server: Server, step: Any) -> str:
        if server.elements and server.can_bootstrap:
            raise ParameterError(
                "the server is for whole elements, which bootstrapping of a service would lose",
                code="python.elements",
            )
        if server.path is not None:
            found = self._pushed(server.path, step)
        else:
            with tempfile.TemporaryDirectory() as directory:
                path = os.path.join(directory, "server.keys")
                server.save_keys(path)
                found = self._pushed(path, step)
        self._bootstraps = server.can_bootstrap
        return found

    def _push_table(self, directory: str, step: Any) -> str:
        # What does not open here would not there; nothing is computed with its set.
        _rust.Table.open(directory, None, True)
        names = sorted(name for name in os.listdir(directory) if name.endswith(".columns"))
        blocks = {}
        for done, name in enumerate(names, 1):
            blocks[name] = self._pushed(os.path.join(directory, name), None)
            if step is not None:
                step(done, len(names))
        texts = {
            name: read_file(os.path.join(directory, name)).decode()
            for name in TEXTS
            if os.path.exists(os.path.join(directory, name))
        }
        made = self._connection.json("POST", "/v1/tables", {"texts": texts, "blocks": blocks})
        return identity(field(made, "id", str))

    def fetch(self, object_id: str, *, progress: Progress = None) -> bytes:
        """The bytes of an object, which are what its id says. They are verified."""
        with timed("remote fetch"):
            return fetched(self._connection, identity(object_id), RESULT_BYTES, stepper(progress))

    def objects(self) -> list[dict[str, Any]]:
        """All objects of the tenant, as the service describes them."""
        return self._items("/v1/objects")

    def tables(self) -> list[dict[str, Any]]:
        """All encrypted tables of the tenant, as the service describes them."""
        return self._items("/v1/tables")

    def jobs(self) -> list[dict[str, Any]]:
        """All jobs of the tenant, as the service describes them."""
        return self._items("/v1/jobs")

    def _items(self, path: str) -> list[dict[str, Any]]:
        found: list[dict[str, Any]] = field(self._connection.json("GET", path), "items", list)
        return found

    def delete(self, object_id: str) -> None:
        """Removes an object, or a table; objects that a table is made of stay until it is gone."""
        found = identity(object_id)
        tables = any(table.get("id") == found for table in self.tables())
        self._connection.send("DELETE", f"/v1/{'tables' if tables else 'objects'}/{found}")
        if self._keys == found:
            self._keys = None

    def cancel(self, job_id: str) -> None:
        """Cancels a job, which ends between two operations."""
        self._connection.json("POST", f"/v1/jobs/{identity(job_id, 32)}/cancel")

    def usage(self) -> Usage:
        """What the tenant uses, and what it may."""
        found = self._connection.json("GET", "/v1/usage")
        return Usage(*(count(found, name) for name in Usage._fields))

    # Jobs

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
        """What :meth:`run` would cost with the same arguments; they are sent, and nothing runs."""
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
        """What :meth:`ask` would cost with the same arguments; they are sent, and nothing runs."""
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

        ``x`` is a fresh encryption, of any shape, also by rows, or the id of an object of columns
        of integers on the service, such as one that the program has sent or a result of a former
        job: it is fetched once, to know its types; a dict by name if there are several columns. A
        toy set takes ``insecure_research=True`` there.

        Public arrays beside it have to be one integer, or one for each row; single ciphertexts of
        other entries are for a server of one's own. Weights of ``np.average`` and ``normalized()``
        are not there either.
        """
        from ._recorded import inputs_of, stored

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
        from ._recorded import Recorder

        params = x.params
        boots = params._raw.bootstraps and self._bootstraps is not False
        factor = len(x._blocks) // x._runs
        place = params.id, factor, boots
        home = self._recorders.get(place)
        if home is None:
            home = self._recorders[place] = Recorder(self, params, boots, factor)
        blocks: list[Any] = [home.input(source, run) for source, run in runs]
        return EncryptedIntegers._make(blocks, x._shape, home, x._wrap, x._runs)

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
        from ._recorded import blocks_of, one_recorder, opened

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
        """What :meth:`compute` would cost; inputs are sent, and nothing runs."""
        return self._estimated(self._asked(arrays, server_keys)[0])

    def _asked(
        self,
        arrays: Sequence[EncryptedIntegers | EncryptedTotal],
        server_keys: Server | Path | None,
    ) -> tuple[dict[str, Any], list[str]]:
        """The request that makes some arrays, and the names of their blocks."""
        from ._recorded import Written, blocks_of, one_recorder

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

    def _done(
        self, request: dict[str, Any], job_name: str | None, progress: Progress
    ) -> dict[str, str]:
        """The ids of the results of a job, once it has ended."""
        key = secrets.token_hex(16) if job_name is None else job_name
        if not re.fullmatch(r"[0-9A-Za-z-]{1,64}", key):
            raise malformed("the name of a job", "expected 1 to 64 letters, digits and -")
        step = stepper(progress)
        with timed("remote job"):
            job_id: str | None = None
            try:
                job = self._connection.json("POST", "/v1/jobs", request, key=key)
                job_id = identity(field(job, "id", str), 32)
                while (state := field(job, "state", str)) in ("queued", "running"):
                    job = self._connection.json("GET", f"/v1/jobs/{job_id}?wait=1")
                    if step is not None:
                        step(count(job, "done"), count(job, "total"))
            except Error as error:
                if error.code not in ("service.unreachable", "service.unavailable"):
                    raise
                raise ServiceError(
                    f"{error.message}; a call with job_name={key!r} and the same arguments goes on "
                    "with the job, if it has begun",
                    code=error.code,
                ) from None
            except BaseException:
                # Whoever stops to wait for a job without a name cannot come back to it.
                if job_name is None and job_id is not None:
                    self.cancel(job_id)
                raise
        if state != "done":
            raise told(job.get("error"))
        return {name: identity(found) for name, found in field(job, "results", dict).items()}

    def _estimated(self, request: dict[str, Any]) -> Estimate:
        found = self._connection.json("POST", "/v1/estimates", request)
        counted = (count(found, name) for name in Estimate._fields[1:])
        return Estimate(float(field(found, "seconds", (int, float))), *counted)

    def _there(self, x: Any) -> str:
        """The id of what is there, or is sent."""
        if isinstance(x, str) and re.fullmatch(r"[0-9a-f]{64}", x):
            return x
        return self.push(x)

    def _server_keys(self, given: Server | Path | None) -> str:
        if given is not None:
            return self._there(given)
        if self._keys is None:
            raise KeyMissingError(
                "no server keys were sent by this connection: push a server first, or give "
                "server_keys=",
                code="python.keys",
            )
        return self._keys

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
