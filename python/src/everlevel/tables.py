"""Encrypted tables: queries in SQL that a server answers without reading the table.

Four parties share files, or bytes: the owner of the table encrypts it (:func:`encrypt`); an
analyst, with the schema and no key, makes a plan of a query (:class:`Plan`); a server computes
its encrypted sums (:meth:`EncryptedTable.run`); the holder of
the secret key reads the answer (:meth:`Result.read`).
Answers are exact, decimals to the last place; what could not be is refused when the plan is made.
The files are those of ``everlevel table``.

Tables in the clear are CSV files, mappings of columns, or, with ``pip install everlevel[tables]``,
Parquet files and whatever PyArrow takes: pandas, Polars, DuckDB.
"""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

from . import _everlevel as _rust
from ._cells import (
    Clear,
    Partners,
    answer_of,
    clear,
    clear_partners,
    columns_of,
    pieces_of,
    text_of,
    written,
)
from ._constants import Constants
from ._explained import Explanation
from ._expressions import (
    Aggregate,
    Column,
    Condition,
    GroupCondition,
    Value,
    case,
    count,
    parameter,
)
from ._fragments import Parameter
from ._params import Params
from ._queries import OrderKey, Query, UnknownColumnError, asc, desc, table
from ._roles import Client, PublicKey
from ._search import Search
from ._values import (
    Buffer,
    Path,
    Progress,
    counted,
    octets,
    path_text,
    read_file,
    replaceable,
    stepper,
)
from .errors import ClusterError, FormatError, TableError

if TYPE_CHECKING:
    from ._server import Server

__all__ = [
    "Aggregate",
    "Changed",
    "Column",
    "Condition",
    "Constants",
    "EncryptedTable",
    "Explanation",
    "GroupCondition",
    "OrderKey",
    "Parameter",
    "Plan",
    "PlainTable",
    "Query",
    "Result",
    "Schema",
    "Search",
    "UnknownColumnError",
    "Value",
    "asc",
    "case",
    "count",
    "desc",
    "encrypt",
    "parameter",
    "table",
]


class Schema:
    """What the columns of a table hold: of a mapping, JSON text, or the path of a ``.json`` file.

    Public, with all bounds and categories.

    ``Schema({"columns": [{"name": "cost", "type": "decimal", "scale": 2, "low": "0", "high":
    "9999.99"}]})``; the types are ``integer``, ``decimal``, ``date``, ``timestamp``, ``boolean``,
    ``category`` (``"values": [...]``), and ``text`` (``"bytes": N``), which is for answers and is
    compared with nothing but constants, by equality. Immutable.
    """

    __slots__ = ("_text", "_notes")

    _text: str
    _notes: tuple[str, ...]

    def __init__(self, source: Path | Mapping[str, Any]) -> None:
        if isinstance(source, Mapping):
            text = json.dumps(dict(source), default=str)
        else:
            text = os.fspath(source)
            if not text.lstrip().startswith("{"):
                text = _utf8(read_file(text))
        self._text, self._notes = _rust.table_schema(text), ()

    @classmethod
    def infer(cls, data: Any) -> Schema:
        """A schema that a table fits: numbers with bounds widened to powers of 16, dates of whole
        years, truth values, texts of which there are few as categories.

        Columns with missing values are nullable. Columns of many texts, such as names, are left
        out, with what to state to keep them, and so are those in which nothing is there. What each
        column was taken for is in :attr:`notes`: all of a schema is public, so look it over before
        you use it.
        """
        columns = columns_of(data, None)
        if isinstance(columns, bytes):
            text, told = _rust.infer_table_schema(columns)
            self = cls(text)
            self._notes = tuple(f"{name}: {what}" for name, what, _ in told)
            return self
        nullable: set[str] = set()
        left: list[str] = []
        for i in reversed(range(len(columns))):
            name, cells = columns[i]
            there = next((v for v in cells if v is not None), None)
            if any(v is not None and not v.strip() for v in cells):
                why = (
                    "an empty text, which in a table is none: replace it, or state the column in "
                    "the schema by hand"
                )
            elif cells and there is None:
                why = "all of its values are missing"
            else:
                if None in cells:
                    nullable.add(name.strip())
                    columns[i] = name, [there if v is None else v for v in cells]
                continue
            left.insert(0, f"{name}: left out: {why}")
            del columns[i]
        if left and not columns:
            raise TableError(f"no column can be kept: {left[0]}", code="table.data")
        text, told = _rust.infer_table_schema(written(columns, False))
        found: dict[str, Any] = json.loads(text)
        for column in found["columns"]:
            if column["name"] in nullable:
                column["nullable"] = True
        self = cls(found)
        self._notes = tuple(
            f"{name}: {what}" + (", or nothing" if kept and name in nullable else "")
            for name, what, kept in told
        ) + tuple(left)
        return self

    @property
    def columns(self) -> dict[str, dict[str, Any]]:
        """Type and bounds of each column by its name."""
        return {column.pop("name"): column for column in self.to_dict()["columns"]}

    @property
    def notes(self) -> tuple[str, ...]:
        """Of :meth:`infer`: what each column was taken for, and which were left out."""
        return self._notes

    def to_dict(self) -> dict[str, Any]:
        """As a mapping, to be changed and given to ``Schema``."""
        found: dict[str, Any] = json.loads(self._text)
        return found

    def to_json(self) -> str:
        """As text; equal schemas have the same."""
        return self._text

    def save(self, path: Path, *, overwrite: bool = False) -> None:
        """Writes a file, in one step."""
        _rust.write_file(replaceable(path, overwrite), self._text.encode(), overwrite)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Schema) and self._text == other._text

    def __hash__(self) -> int:
        return hash(self._text)

    def __reduce__(self) -> Any:
        return Schema, (self._text,)

    def __repr__(self) -> str:
        return f"<everlevel.tables.Schema of {', '.join(self.columns)}>"


class Plan:
    """A query bound to a schema, for a server.

    No key is needed; what cannot be answered exactly is refused here.

    ``Plan("select sum(cost) from t where day >= date '2026-01-01'", schema)``, or, with ``t =
    table(schema)``, ``Plan(t.filter(t.day >= "2026-01-01").agg(cost=t.cost.sum()))``. Query,
    constants and schema are public.

    ``ordered_by``: who puts the rows in order that ``min``, ``max``, ``median`` and ``order by …
    limit`` are about. The ``"reader"`` does so with all rows that meet the condition, which the
    server lists; a ``"server"`` has to bootstrap, and tells the answer alone: least and greatest
    values of tables of any length, medians and first rows of tables of up to 128 rows.
    """

    __slots__ = ("_text", "_facts")

    _text: str
    #: Query, schema, id, whether the server puts rows in order.
    _facts: tuple[str, str, str, bool]

    def __init__(
        self,
        query: str | Query,
        schema: Schema | None = None,
        *,
        ordered_by: Literal["reader", "server"] = "reader",
    ) -> None:
        if isinstance(query, Query):
            if schema is not None and schema != query.schema:
                raise TableError(
                    "the query is on a table of another schema: make it with "
                    "et.table(schema) of this one",
                    code="table.other-schema",
                )
            schema, query = query.schema, query.sql
        if schema is None:
            raise TypeError("a query in SQL needs the schema of its table: Plan(text, schema)")
        if ordered_by not in ("reader", "server"):
            raise ValueError(f'ordered_by={ordered_by!r}: expected "reader" or "server"')
        self._become(_rust.table_plan(query, schema._text, ordered_by == "server"))

    def _become(self, text: str) -> None:
        self._text, self._facts = text, _rust.table_plan_facts(text)

    @classmethod
    def from_json(cls, text: str) -> Plan:
        """From the text of :meth:`to_json`, of which nothing is trusted: its query is bound
        again.
        """
        self = cls.__new__(cls)
        query, schema, _, by_server = _rust.table_plan_facts(text)
        self._become(_rust.table_plan(query, schema, by_server))
        return self

    @classmethod
    def open(cls, path: Path) -> Plan:
        """From a file, also one of ``everlevel table ask``."""
        return cls.from_json(_utf8(read_file(path)))

    def to_json(self) -> str:
        """As text; equal plans have the same."""
        return self._text

    def save(self, path: Path, *, overwrite: bool = False) -> None:
        """Writes a file, in one step."""
        _rust.write_file(replaceable(path, overwrite), self._text.encode(), overwrite)

    @property
    def sql(self) -> str:
        """The text of the query."""
        return self._facts[0]

    @property
    def schema(self) -> Schema:
        """The schema that it is bound to."""
        return Schema(self._facts[1])

    @property
    def id(self) -> str:
        """A short name: equal plans have the same."""
        return self._facts[2]

    @property
    def ordered_by(self) -> str:
        """Who puts rows in order, ``"reader"`` or ``"server"``."""
        return "server" if self._facts[3] else "reader"

    @property
    def parameters(self) -> dict[str, str]:
        """The encrypted constants, ``:name`` in the query: of each the column that it is
        compared with.
        """
        return dict(_rust.table_plan_parameters(self._text))

    def bind(self, key: Client | PublicKey, /, **constants: Any) -> Constants:
        """The constants that the query calls by ``:name``, encrypted for the owner of the table,
        so that the server does not see them: numbers, dates, truth values, texts.

        ``Plan("select sum(cost) from t where day >= :day", schema).bind(public_key,
        day=datetime.date(2026, 1, 1))``.
        """
        secret, public = (key._raw, None) if isinstance(key, Client) else (None, key._raw)
        return Constants.from_bytes(
            _rust.encrypt_table_constants(self._text, _texts(constants), secret, public)
        )

    def server(self, client: Client, rows: int, *, progress: Progress = None) -> Server:
        """A server with the keys that the plan takes for a table of ``rows`` rows, and no others: a
        tenth of general ones, and less, where nothing is bootstrapped.
        """
        return client._server(
            _rust.table_plan_keys(self._text, client.params._raw, counted("rows", rows)), progress
        )

    def cost(self, params: Params, rows: int | None = None) -> dict[str, Any]:
        """What it takes for ``rows`` rows, ``params.slots`` if none are given, counted without
        cryptography: products, key switches, refreshes, seconds of a
        typical core by a model, ciphertexts read and of the result, and how many sums the reader
        sees.
        """
        found: dict[str, Any] = json.loads(
            _rust.table_plan_cost(
                self._text, params._raw, params.slots if rows is None else counted("rows", rows)
            )
        )
        return found

    def explain(self, params: Params, rows: int | None = None) -> Explanation:
        """What it does, costs and tells, for ``rows`` rows, ``params.slots`` if none are given:
        levels, products, refreshes, seconds by a model, bytes, what the server and the reader
        learn.
        """
        count = params.slots if rows is None else counted("rows", rows)
        return Explanation._of(self._text, params, count)

    def answer(
        self,
        data: Any,
        *,
        partners: Partners = None,
        arrow: bool | None = None,
        **constants: Any,
    ) -> Any:
        """The answer for a table in the clear, ``data`` as for :func:`encrypt`, computed in the
        clear: what :meth:`Result.read` gives of the same table under encryption.
        """
        return self._in_the_clear(clear(data, self.schema, partners), None, arrow, constants)

    def rehearse(
        self,
        params: Params,
        data: Any,
        *,
        partners: Partners = None,
        arrow: bool | None = None,
        **constants: Any,
    ) -> Any:
        """The same by the computation that a server does, operation by operation, on numbers
        instead of ciphertexts: without keys and without security, and with all limits on levels,
        noise and ranges that there are under encryption. To test queries.
        """
        return self._in_the_clear(clear(data, self.schema, partners), params, arrow, constants)

    def _in_the_clear(
        self, data: Clear, params: Params | None, arrow: bool | None, constants: dict[str, Any]
    ) -> Any:
        told = _rust.table_plan_answer(
            self._text,
            data,
            _texts(constants),
            None if params is None else params._raw,
        )
        return answer_of(json.loads(told), arrow)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Plan) and self._text == other._text

    def __hash__(self) -> int:
        return hash(self._text)

    def __reduce__(self) -> Any:
        return Plan.from_json, (self._text,)

    def __repr__(self) -> str:
        return f"<everlevel.tables.Plan {self.sql!r}>"


class Changed(NamedTuple):
    """What a change of a table did."""

    #: How many rows were added or removed, or met the condition of an update.
    rows: int
    #: The files of a directory that were written: a copy of it elsewhere needs all of these.
    written: tuple[str, ...]
    #: The files that are there no more.
    removed: tuple[str, ...]


class EncryptedTable:
    """A table that can be asked and not read: in memory (:func:`encrypt`) or in a directory
    (:meth:`open`), of which a query reads the columns that it needs.
    """

    __slots__ = ("_raw",)

    _raw: _rust.Table

    def __init__(self) -> None:
        raise TypeError(
            "encrypted tables come from everlevel.tables.encrypt and EncryptedTable.open"
        )

    @classmethod
    def _make(cls, raw: _rust.Table) -> EncryptedTable:
        self = object.__new__(cls)
        self._raw = raw
        return self

    @classmethod
    def open(
        cls, directory: Path, *, params: Params | None = None, insecure_research: bool = False
    ) -> EncryptedTable:
        """The table in a directory.

        Files that are missing, or belong to another table, are found here.
        """
        return cls._make(
            _rust.Table.open(
                path_text(directory), None if params is None else params._raw, insecure_research
            )
        )

    def save(self, directory: Path, *, overwrite: bool = False) -> None:
        """Writes a directory, in one step.

        ``overwrite`` replaces one that holds an encrypted table and nothing else.
        """
        self._raw.save(path_text(directory), overwrite)

    def run(
        self,
        server: Server,
        query: Plan | Query | str,
        *,
        constants: Constants | None = None,
        progress: Progress = None,
        ray: bool = False,
        workers: int | None = None,
        threads: int = 1,
        retries: int = 3,
    ) -> Result:
        """The encrypted answer to a query or a plan, with the encrypted constants that it calls
        by name (``Plan.bind``). ``progress(done, blocks)`` is called after each block of rows.

        A plan for another schema is refused, and so is a server with keys of another owner.

        With ``ray=True`` the actors of a Ray cluster compute it, ``workers`` of them (one a CPU of
        the cluster / ``threads``) with ``threads`` threads each: a few neighboring blocks at a
        time, whose sums are then added pair by pair. The directory of the table and the file of the
        server's keys (``Server.open``) have paths that every node can read. Blocks that an actor
        had when it died are computed again by its successor, ``retries`` times. The answer is the
        same.
        """
        plan = query if isinstance(query, Plan) else Plan(query, self.schema)
        given = None if constants is None else constants._data
        if not ray:
            return Result.from_bytes(
                self._raw.run(server._compiled, plan._text, given, stepper(progress))
            )
        from ._table_parts import run_on_ray

        if self._raw.directory is None:
            raise ClusterError(
                "the table is in memory: save it in a directory that every node can read, and open "
                "it there",
                code="cluster.table",
            )
        path = os.path.abspath(os.fspath(self._raw.directory))
        return Result.from_bytes(
            run_on_ray(
                self._raw, path, server, plan._text, given, workers, threads, retries, progress
            )
        )

    def insert(
        self, client: Client, data: Any, *, partners: Partners = None, progress: Progress = None
    ) -> Changed:
        """Adds rows behind the last one, ``data`` as for :func:`encrypt`.

        ``client`` has the secret key: the last block is decrypted unless it is full, and encrypted
        anew.

        A directory is changed as a whole or not at all; this object is the changed table then, and
        others of the directory are refused when they are used.
        """
        return self._changed(client, None, clear(data, self.schema, partners), progress)

    def change(self, client: Client, statement: str, *, progress: Progress = None) -> Changed:
        """Changes rows: ``update t set price = price * 2 where …`` or ``delete from t where …``.
        Blocks where nothing changes stay as they are.

        A value that its column does not hold, and a delete of all rows, are refused, and the table
        is as it was. Who sees the files before and after learns which were written.
        """
        return self._changed(client, statement, None, progress)

    def _changed(
        self, client: Client, statement: str | None, rows: Clear | None, progress: Progress
    ) -> Changed:
        self._raw, count, made, removed = self._raw.change(
            client._raw, statement, rows, stepper(progress)
        )
        return Changed(count, tuple(made), tuple(removed))

    def decrypt(
        self, client: Client, *, arrow: bool | None = None, progress: Progress = None
    ) -> Any:
        """All of the table in the clear, with the columns that its rows carry of other tables, in
        the form of :meth:`Result.read`.
        """
        client.params._warn()
        return answer_of(json.loads(self._raw.decrypt(client._raw, stepper(progress))), arrow)

    @property
    def params(self) -> Params:
        """The parameter set."""
        return Params._of(self._raw.params)

    @property
    def schema(self) -> Schema:
        """What the columns hold."""
        return Schema(self._raw.schema)

    @property
    def id(self) -> str:
        """The public id of this encryption or of its last change, 32 hexadecimal digits: results
        name it.
        """
        return self._raw.id

    @property
    def key_id(self) -> str | None:
        """The public id of the secret key that reads its answers; none if all columns have one
        value.
        """
        return self._raw.key_id

    @property
    def rows(self) -> int:
        """How many rows there are. Public."""
        return self._raw.rows

    @property
    def blocks(self) -> int:
        """How many blocks of ``params.slots`` rows there are."""
        return self._raw.blocks

    @property
    def nbytes(self) -> int:
        """The bytes of its files."""
        return self._raw.size

    def __len__(self) -> int:
        return self.rows

    def __repr__(self) -> str:
        return (
            f"<everlevel.tables.EncryptedTable of {self.rows} rows, {len(self.schema.columns)} "
            f"columns, {self._raw.params.name}>"
        )


class PlainTable:
    """A table that a server has in the clear, asked with constants that it does not see: a
    register, a price list, a list of sanctions.

    ``data`` and ``partners`` as for :func:`encrypt`, ``schema`` what is published of it. The asker
    has the keys and makes plan and constants; the server runs them and learns neither the constants
    nor the answer. The asker may learn more of the table than the answer says: ciphertexts of a
    result are made of the table, and are not drawn anew.
    """

    __slots__ = ("_raw",)

    _raw: _rust.KnownTable

    def __init__(self, data: Any, schema: Schema, *, partners: Partners = None) -> None:
        self._raw = _rust.KnownTable(clear(data, schema, partners), schema._text)

    def run(
        self,
        server: Server,
        query: Plan | Query | str,
        *,
        constants: Constants,
        progress: Progress = None,
    ) -> Result:
        """The encrypted answer to a query or a plan with encrypted constants; one without any is
        refused, as nothing of it would be hidden.

        ``progress(done, blocks)`` is called after each block of rows.
        """
        plan = query if isinstance(query, Plan) else Plan(query, self.schema)
        return Result.from_bytes(
            self._raw.run(server._compiled, plan._text, constants._data, stepper(progress))
        )

    @property
    def schema(self) -> Schema:
        """What the columns hold."""
        return Schema(self._raw.schema)

    @property
    def id(self) -> str:
        """The random name of this table in memory, 32 hexadecimal digits: results state it."""
        return self._raw.id

    @property
    def rows(self) -> int:
        """How many rows there are."""
        return self._raw.rows

    def __len__(self) -> int:
        return self._raw.rows

    def __repr__(self) -> str:
        return (
            f"<everlevel.tables.PlainTable of {self.rows} rows, {len(self.schema.columns)} columns>"
        )


class Result:
    """The encrypted sums that answer a plan, with the plan: what a server gives to the holder of
    the secret key.
    """

    __slots__ = ("_data", "_facts")

    _data: bytes
    #: Plan, table, rows, owner.
    _facts: tuple[str, str, int, str | None]

    def __init__(self) -> None:
        raise TypeError("results come from EncryptedTable.run, Result.open and Result.from_bytes")

    @classmethod
    def from_bytes(cls, data: Buffer) -> Result:
        """From bytes. Their head is read; sums are when they are decrypted."""
        self = object.__new__(cls)
        self._data = data if isinstance(data, bytes) else octets(data).tobytes()
        self._facts = _rust.table_result_facts(self._data)
        return self

    @classmethod
    def open(cls, path: Path) -> Result:
        """From a file, also one of ``everlevel table run``."""
        return cls.from_bytes(read_file(path))

    def to_bytes(self) -> bytes:
        """As bytes of the wire format. Not authenticated."""
        return self._data

    def save(self, path: Path, *, overwrite: bool = False) -> None:
        """Writes a file, in one step."""
        _rust.write_file(replaceable(path, overwrite), self._data, overwrite)

    @property
    def plan(self) -> Plan:
        """What was asked, as the server states it."""
        return Plan.from_json(self._facts[0])

    @property
    def table_id(self) -> str:
        """Of which table, as the server states it."""
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


def encrypt(
    key: Client | PublicKey,
    data: Any,
    schema: Schema,
    *,
    partners: Partners = None,
    directory: Path | None = None,
    overwrite: bool = False,
    progress: Progress = None,
) -> EncryptedTable:
    """Encrypts a table for its owner, ``key``: with a client's key, which has half the size, or
    with a public one.

    ``data``: the path of a CSV or Parquet file, a mapping of names to columns, or what PyArrow
    takes. Columns that the schema does not have are left out; a cell that its column cannot hold is
    refused. Floating-point numbers are taken by their shortest decimal text; in an integer column
    they are integers below 2^53. Missing are ``None``, ``pandas.NA``, ``NaT``, masked entries,
    nulls of Arrow and Polars, ``NaN`` (not in Arrow and Polars, where it is refused), and empty
    cells of CSV files: they are encrypted as ``NULL`` where the schema says ``"nullable": True``,
    and refused elsewhere.

    ``partners``: the tables that foreign keys of the schema lead to, by their names, each like
    ``data``; every row gets the columns that it carries of its partner. A row without a partner is
    refused, and so are two partners of one key. Without ``partners``, ``data`` has these columns.

    Into a ``directory``, block by block, or in memory. A file that is encrypted into a directory
    is read twice, piece by piece, and may be larger than memory. 3 MB for each 32,768 rows of a
    column and each 4 bits of a value with ``bgv-65537-n15`` and a client's key.
    """
    pieces = None if directory is None else pieces_of(data, schema)
    if pieces is not None and directory is not None:
        return EncryptedTable._make(
            _rust.Table.encrypt_pieces(
                pieces,
                clear_partners(schema, partners),
                schema._text,
                path_text(directory),
                key._raw if isinstance(key, Client) else None,
                key._raw if isinstance(key, PublicKey) else None,
                overwrite,
                stepper(progress),
            )
        )
    raw = _rust.Table.encrypt(
        clear(data, schema, partners),
        schema._text,
        key._raw if isinstance(key, Client) else None,
        key._raw if isinstance(key, PublicKey) else None,
        None if directory is None else path_text(directory),
        overwrite,
        stepper(progress),
    )
    return EncryptedTable._make(raw)


def _texts(constants: dict[str, Any]) -> list[tuple[str, str]]:
    """Encrypted constants by their names, as cells are written."""
    texts = []
    for name, value in constants.items():
        text = text_of(value)
        if text is None:
            raise TableError(
                f"encrypted constants: :{name} has no value; write is null, or is not null",
                code="table.constants",
            )
        texts.append((name, text))
    return texts


def _utf8(data: bytes) -> str:
    try:
        return data.decode()
    except UnicodeDecodeError as error:
        raise FormatError(f"expected UTF-8 text: {error}", code="python.json") from None
