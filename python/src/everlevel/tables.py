"""Encrypted tables: questions in SQL that a server answers without reading the table.

Four parties share files, or bytes: who owns the table encrypts it (:func:`encrypt`); an analyst, with the schema and no key, makes a plan of a question
(:class:`Plan`); a server computes its encrypted sums (:meth:`EncryptedTable.run`); whoever has the secret key reads the answer (:meth:`Result.read`).
Answers are exact, decimals to the last place; what could not be is refused when the plan is made. The files are those of ``everlevel table``.

Tables in the clear are CSV files, mappings of columns, or, with ``pip install everlevel[tables]``, Parquet files and whatever PyArrow takes: pandas, Polars, DuckDB.
"""

from __future__ import annotations

import csv
import datetime
import decimal
import io
import json
import operator
import os
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from . import _everlevel as _rust
from ._constants import Constants
from ._params import Params
from ._roles import Client, PublicKey
from ._values import (
    Buffer,
    Path,
    Progress,
    octets,
    path_text,
    read_file,
    replaceable,
    stepper,
)
from .errors import DtypeError, FormatError, TableError

if TYPE_CHECKING:
    from ._server import Server

__all__ = ["Constants", "EncryptedTable", "Plan", "PlainTable", "Result", "Schema", "encrypt"]


class Schema:
    """What the columns of a table hold: of a mapping, JSON text, or the path of a ``.json`` file. Public, with all bounds and categories.

    ``Schema({"columns": [{"name": "cost", "type": "decimal", "scale": 2, "low": "0", "high": "9999.99"}]})``; the types are ``integer``, ``decimal``, ``date``,
    ``boolean`` and ``category`` (``"values": [...]``). Immutable.
    """

    __slots__ = ("_text", "_notes")

    _text: str
    _notes: tuple[str, ...]

    def __init__(self, source: Path | Mapping[str, Any]) -> None:
        if isinstance(source, Mapping):
            text = json.dumps(dict(source), default=str)
        else:
            text = path_text(source)
            if not text.lstrip().startswith("{"):
                text = _utf8(read_file(text))
        self._text, self._notes = _rust.table_schema(text), ()

    @classmethod
    def infer(cls, data: Any) -> Schema:
        """A schema that a table fits: numbers with bounds widened to powers of 16, dates of whole years, truth values, texts of which there are few as categories.

        Columns with missing values are nullable. Columns of many texts, such as names, are left out, and so are those in which nothing is there.
        What each column was taken for is in :attr:`notes`: all of a schema is public, so look it over before you use it.
        """
        columns = _columns(data, None)
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
                why = "an empty text, which in a table is none: replace it, or state the column in the schema by hand"
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
        text, told = _rust.infer_table_schema(_written(columns, False))
        found: dict[str, Any] = json.loads(text)
        for column in found["columns"]:
            if column["name"] in nullable:
                column["nullable"] = True
        self = cls(found)
        self._notes = tuple(f"{name}: {what}" + (", or nothing" if kept and name in nullable else "") for name, what, kept in told) + tuple(left)
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
    """A question bound to a schema, for a server. No key is needed; what cannot be answered exactly is refused here.

    ``Plan("select sum(cost) from t where day >= date '2026-01-01'", schema)``. Question, constants and schema are public.
    """

    __slots__ = ("_text", "_facts")

    _text: str
    #: Question, schema, id.
    _facts: tuple[str, str, str]

    def __init__(self, question: str, schema: Schema) -> None:
        self._become(_rust.table_plan(question, schema._text))

    def _become(self, text: str) -> None:
        self._text, self._facts = text, _rust.table_plan_facts(text)

    @classmethod
    def from_json(cls, text: str) -> Plan:
        """From the text of :meth:`to_json`, of which nothing is believed: its question is bound again."""
        self = cls.__new__(cls)
        self._become(_rust.table_plan(*_rust.table_plan_facts(text)[:2]))
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
    def question(self) -> str:
        """The question."""
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
    def parameters(self) -> dict[str, str]:
        """The encrypted constants, ``:name`` in the question: of each the column that it is compared with."""
        return dict(_rust.table_plan_parameters(self._text))

    def bind(self, key: Client | PublicKey, /, **constants: Any) -> Constants:
        """The constants that the question calls by ``:name``, encrypted for the owner of the table, so that the server does not see them: numbers, dates, truth values, texts.

        ``Plan("select sum(cost) from t where day >= :day", schema).bind(public_key, day=datetime.date(2026, 1, 1))``.
        """
        texts = []
        for name, value in constants.items():
            text = _text(value)
            if text is None:
                raise TableError(f"encrypted constants: :{name} has no value; write is null, or is not null", code="table.constants")
            texts.append((name, text))
        secret, public = (key._raw, None) if isinstance(key, Client) else (None, key._raw)
        return Constants.from_bytes(_rust.encrypt_table_constants(self._text, texts, secret, public))

    def server(self, client: Client, rows: int, *, progress: Progress = None) -> Server:
        """A server with the keys that the plan takes for a table of so many rows, and no others: a tenth of general ones, and less, where nothing is bootstrapped."""
        return client._server(_rust.table_plan_keys(self._text, client.params._raw, operator.index(rows)), progress)

    def cost(self, params: Params, rows: int | None = None) -> dict[str, Any]:
        """What it takes for so many rows, ``params.slots`` if none are given, counted without cryptography: products, key switches, refreshes, seconds of a
        typical core by a model, ciphertexts read and of the result, and how many sums the reader sees."""
        found: dict[str, Any] = json.loads(_rust.table_plan_cost(self._text, params._raw, params.slots if rows is None else operator.index(rows)))
        return found

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Plan) and self._text == other._text

    def __hash__(self) -> int:
        return hash(self._text)

    def __reduce__(self) -> Any:
        return Plan.from_json, (self._text,)

    def __repr__(self) -> str:
        return f"<everlevel.tables.Plan {self.question!r}>"


class EncryptedTable:
    """A table that can be asked and not read: in memory (:func:`encrypt`) or in a directory (:meth:`open`), of which a question reads the columns that it needs."""

    __slots__ = ("_raw",)

    _raw: _rust.Table

    def __init__(self) -> None:
        raise TypeError("encrypted tables come from everlevel.tables.encrypt and EncryptedTable.open")

    @classmethod
    def _make(cls, raw: _rust.Table) -> EncryptedTable:
        self = object.__new__(cls)
        self._raw = raw
        return self

    @classmethod
    def open(cls, directory: Path, *, params: Params | None = None, insecure_research: bool = False) -> EncryptedTable:
        """The table in a directory. Files that are missing, or belong to another table, are found here."""
        return cls._make(_rust.Table.open(path_text(directory), None if params is None else params._raw, insecure_research))

    def save(self, directory: Path, *, overwrite: bool = False) -> None:
        """Writes a directory, in one step. ``overwrite`` replaces one that holds an encrypted table and nothing else."""
        self._raw.save(path_text(directory), overwrite)

    def run(self, server: Server, question: Plan | str, *, constants: Constants | None = None, progress: Progress = None) -> Result:
        """The encrypted answer to a question or a plan, with the encrypted constants that it calls by name (``Plan.bind``). ``progress(done, blocks)`` is called after each block of rows.

        A plan for another schema is refused, and so is a server with keys of another owner.
        """
        plan = question if isinstance(question, Plan) else Plan(question, self.schema)
        return Result.from_bytes(self._raw.run(server._raw, plan._text, None if constants is None else constants._data, stepper(progress)))

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
        """The public id of this encryption, 32 hexadecimal digits: results name it."""
        return self._raw.id

    @property
    def key_id(self) -> str | None:
        """The public id of the secret key that reads its answers; none if all columns have one value."""
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
        return f"<everlevel.tables.EncryptedTable of {self.rows} rows, {len(self.schema.columns)} columns, {self._raw.params.name}>"


class PlainTable:
    """A table that a server has in the clear, asked with constants that it does not see: a register, a price list, a list of sanctions.

    ``data`` as for :func:`encrypt`, ``schema`` what is published of it. The asker has the keys and makes plan and constants; the server runs them and learns neither the
    constants nor the answer. Whoever asks may learn more of the table than the answer says: ciphertexts of a result are made of the table, and are not drawn anew.
    """

    __slots__ = ("_raw",)

    _raw: _rust.KnownTable

    def __init__(self, data: Any, schema: Schema) -> None:
        columns = _columns(data, schema)
        text = columns if isinstance(columns, bytes) else _written(columns, True)
        self._raw = _rust.KnownTable(text, schema._text)

    def run(self, server: Server, question: Plan | str, *, constants: Constants, progress: Progress = None) -> Result:
        """The encrypted answer to a question or a plan with encrypted constants; one without any is refused, as nothing of it would be hidden.

        ``progress(done, blocks)`` is called after each block of rows.
        """
        plan = question if isinstance(question, Plan) else Plan(question, self.schema)
        return Result.from_bytes(self._raw.run(server._raw, plan._text, constants._data, stepper(progress)))

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
        return f"<everlevel.tables.PlainTable of {self.rows} rows, {len(self.schema.columns)} columns>"


class Result:
    """The encrypted sums that answer a plan, with the plan: what a server gives to whoever has the secret key."""

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
        self, client: Client, *, plan: Plan | None = None, table_id: str | None = None, constants: Constants | None = None, arrow: bool | None = None
    ) -> Any:
        """The answer, exact: a ``pyarrow.Table`` if PyArrow is there, with ``decimal128`` for decimals and quotients, ``date32``, ``int64``, ``bool`` and texts; else, or with
        ``arrow=False``, a list for each column by its name, of ``decimal.Decimal``, ``datetime.date``, ``int``, ``bool`` and ``str``. ``None`` where a sum is over no rows.

        ``plan``, ``table_id`` and ``constants``: what the reader means; a result of others is refused. A server that lies is not found out.
        """
        client.params._warn()
        meant = (None if plan is None else plan._text, table_id, None if constants is None else constants.id)
        told = json.loads(_rust.read_table_result(client._raw, self._data, *meant))
        names, types = told["names"], told["types"]
        columns = [[_value(kind, row[i]) for row in told["rows"]] for i, kind in enumerate(types)]
        if arrow is None:
            arrow = _pyarrow() is not None
        if arrow:
            pa = _required()
            return pa.table([_array(pa, kind, column) for kind, column in zip(types, columns)], names=names)
        if len(set(names)) < len(names):
            raise TableError(f"two columns of the answer have one name: {', '.join(names)}; name them with as", code="table.name")
        return dict(zip(names, columns))

    def __reduce__(self) -> Any:
        return Result.from_bytes, (self._data,)

    def __repr__(self) -> str:
        return f"<everlevel.tables.Result of {self.plan.question!r}>"


def encrypt(
    key: Client | PublicKey,
    data: Any,
    schema: Schema,
    *,
    directory: Path | None = None,
    overwrite: bool = False,
    progress: Progress = None,
) -> EncryptedTable:
    """Encrypts a table for its owner, ``key``: with a client's key, which has half the size, or with a public one.

    ``data``: the path of a CSV or Parquet file, a mapping of names to columns, or what PyArrow takes. Columns that the schema does not have are left out; a cell that its
    column cannot hold is refused. Floating-point numbers are taken by their shortest decimal text; in an integer column they are integers below 2^53.
    Missing are ``None``, ``pandas.NA``, ``NaT``, masked entries, nulls of Arrow and Polars, ``NaN`` (not in Arrow and Polars, where it is refused), and empty cells of
    CSV files: they are encrypted as ``NULL`` where the schema says ``"nullable": True``, and refused elsewhere.
    Into a ``directory``, block by block, or in memory. 3 MB for each 32,768 rows of a column and each 4 bits of a value with ``bgv-65537-n15`` and a client's key.
    """
    columns = _columns(data, schema)
    text = columns if isinstance(columns, bytes) else _written(columns, True)
    raw = _rust.Table.encrypt(
        text,
        schema._text,
        key._raw if isinstance(key, Client) else None,
        key._raw if isinstance(key, PublicKey) else None,
        None if directory is None else path_text(directory),
        overwrite,
        stepper(progress),
    )
    return EncryptedTable._make(raw)


# Tables in the clear


def _utf8(data: bytes) -> str:
    try:
        return data.decode()
    except UnicodeDecodeError as error:
        raise FormatError(f"expected UTF-8 text: {error}", code="python.json") from None


def _pyarrow() -> Any:
    try:
        import pyarrow  # type: ignore[import-untyped, unused-ignore]
    except ImportError:
        return None
    return pyarrow


def _required() -> Any:
    pa = _pyarrow()
    if pa is None:
        raise DtypeError("this needs PyArrow: pip install 'everlevel[tables]', or give a CSV file or a mapping of columns", code="python.no-pyarrow")
    return pa


#: A column: its name, and texts of its cells, none where nothing is there.
_Column = tuple[str, list["str | None"]]


def _columns(data: Any, schema: Schema | None) -> bytes | list[_Column]:
    """A table as the bytes of a CSV file, or as columns of texts: with a schema those that it has, in which nothing is missing unless it may be."""
    if isinstance(data, (str, os.PathLike)):
        path = path_text(data)
        if not path.endswith((".parquet", ".pq")):
            return read_file(path)
        _required()
        import pyarrow.parquet as parquet  # type: ignore[import-untyped, unused-ignore]

        return _arrow_columns(parquet.read_table(path), schema, False)
    if isinstance(data, Mapping):
        return _mapping_columns(data, schema)
    if any(hasattr(data, name) for name in ("__arrow_c_stream__", "__dataframe__", "to_arrow", "arrow")):
        pa = _required()
        pandas = type(data).__module__.split(".")[0] == "pandas"
        if not hasattr(data, "__arrow_c_stream__") and hasattr(data, "arrow"):
            data = data.arrow()
        try:
            table = pa.Table.from_pandas(data, preserve_index=False) if pandas else pa.table(data)
        except pa.ArrowException as error:
            raise DtypeError(f"a table that PyArrow does not take: {error}", code="python.table") from error
        return _arrow_columns(table, schema, pandas)
    raise DtypeError(
        f"a table of type {type(data).__name__}: expected the path of a CSV or Parquet file, a mapping of columns, or a data frame", code="python.table"
    )


def _fault(column: str, row: int, what: str) -> TableError:
    return TableError(f"row {row + 1}, column {column!r}: {what}", code="table.value")


def _kept(names: Sequence[str], schema: Schema | None) -> list[int]:
    lower = None if schema is None else {name.lower() for name in schema.columns}
    return [i for i, name in enumerate(names) if lower is None or str(name).strip().lower() in lower]


def _checked(name: str, values: Sequence[Any], schema: Schema | None, missing_nan: bool) -> _Column:
    """A column of texts. An empty text is no missing value, and the two are not told apart in CSV."""
    cells = [_text(v) for v in values]
    field: dict[str, Any] = {}
    if schema is not None:
        field = next((f for n, f in schema.columns.items() if n.lower() == name.strip().lower()), {})
    nullable = field.get("nullable", False)
    # Integers with missing values are floating-point numbers in pandas.
    whole = schema is None and None in cells and all(c is None or (isinstance(v, (float, np.floating)) and float(v).is_integer()) for v, c in zip(values, cells))
    for row, (value, cell) in enumerate(zip(values, cells)):
        if cell is None:
            if not missing_nan and isinstance(value, (float, np.floating)):
                raise _fault(name, row, "NaN is no value, and in Arrow and Polars none that is missing: make it a null first")
            if schema is not None and not nullable:
                remedy = 'fill it first, or say "nullable": true of the column in the schema, as Schema.infer does'
                raise _fault(name, row, f"nothing is there: {remedy}")
        elif nullable and not cell.strip():
            raise _fault(name, row, f"{cell!r} is a text without content, and no missing value: use None, or replace it")
        elif isinstance(value, (float, np.floating)) and (field.get("type") == "integer" or whole):
            if abs(float(value)) >= 1 << 53:
                raise _fault(name, row, f"{cell} is a floating-point number that may have been rounded: give integers, such as those of dtype Int64")
            if whole:
                cells[row] = str(int(value))
    return name, cells


def _mapping_columns(data: Mapping[str, Sequence[Any]], schema: Schema | None) -> list[_Column]:
    names = [str(name) for name in data]
    columns = []
    for i in _kept(names, schema):
        column = list(data.values())[i]
        if np.ma.isMaskedArray(column) and column.ndim != 1:
            raise DtypeError(f"column {names[i]!r} has {column.ndim} dimensions: expected one", code="python.table")
        foreign = type(column).__module__.split(".")[0] in ("pyarrow", "polars")
        values = [v.as_py() if hasattr(v, "as_py") else v for v in column]
        columns.append(_checked(names[i], values, schema, not foreign))
    if len({len(cells) for _, cells in columns}) > 1:
        lengths = ", ".join(f"{name}: {len(cells)}" for name, cells in columns)
        raise TableError(f"columns of different lengths: {lengths}", code="table.data")
    return columns


def _written(columns: list[_Column], padded: bool) -> bytes:
    """Comma-separated values, which one reader reads."""
    if padded and len(columns) == 1:
        # A line of one empty cell would be an empty line. No column of a schema has no name.
        columns = [*columns, ("", [""] * len(columns[0][1]))]
    out = io.StringIO()
    writer = csv.writer(out)
    writer.writerow([name for name, _ in columns])
    writer.writerows(zip(*(cells for _, cells in columns)))
    return out.getvalue().encode()


def _text(value: Any) -> str | None:
    """A cell as text; none if nothing is there."""
    if value is None or value is np.ma.masked or type(value).__name__ in ("NAType", "NaTType"):
        return None
    if isinstance(value, np.datetime64):
        # Of days or of microseconds, which datetime has; the others would be integers.
        exact, value = value, value.astype("datetime64[us]")
        if not np.isnat(value) and value != exact:
            return str(exact)
    if hasattr(value, "item") and getattr(value, "shape", None) == ():
        value = value.item()
    if value is None or (isinstance(value, float) and value != value) or (isinstance(value, decimal.Decimal) and value.is_nan()):
        return None
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, datetime.datetime):
        if getattr(value, "nanosecond", 0):
            return str(value)
        return value.date().isoformat() if value.time() == datetime.time() else value.isoformat()
    if isinstance(value, datetime.date):
        return value.isoformat()
    if isinstance(value, float):
        value = decimal.Decimal(repr(value))
    return format(value, "f") if isinstance(value, decimal.Decimal) else str(value)


def _arrow_columns(table: Any, schema: Schema | None, missing_nan: bool) -> list[_Column]:
    pa = _required()
    table = table.select(_kept(table.column_names, schema))
    columns = []
    for name, column in zip(table.column_names, table.columns):
        kind = column.type
        if pa.types.is_dictionary(kind):
            # Not by a cast, which there is not for all that Polars has.
            kind = kind.value_type
            column = pa.chunked_array([pa.array(column.to_pylist(), kind)])
        if pa.types.is_timestamp(kind):
            days = column.cast(pa.date32(), safe=False)
            # Times of the day are no dates.
            column = days if days.cast(kind) == column else column.cast(pa.string())
        elif not (pa.types.is_floating(kind) or pa.types.is_boolean(kind) or pa.types.is_integer(kind) or pa.types.is_date32(kind)):
            # Texts of all kinds, decimals; whatever has none is no cell.
            try:
                column = column.cast(pa.string())
            except pa.ArrowException as error:
                raise DtypeError(f"column {name!r} of type {kind}: expected numbers, dates, truth values or texts", code="python.table") from error
        columns.append(_checked(name, column.to_pylist(), schema, missing_nan))
    return columns


# Answers


def _value(kind: dict[str, Any], text: str | None) -> Any:
    if text is None:
        return None
    made: Any = {
        "integer": int,
        "decimal": decimal.Decimal,
        "date": datetime.date.fromisoformat,
        "boolean": lambda x: x == "true",
        "text": str,
    }[kind["type"]]
    return made(text)


def _array(pa: Any, kind: dict[str, Any], column: list[Any]) -> Any:
    name = kind["type"]
    if name == "integer":
        fits = all(v is None or -(1 << 63) <= v < 1 << 63 for v in column)
        return pa.array(column, pa.int64()) if fits else pa.array([v if v is None else decimal.Decimal(v) for v in column], pa.decimal128(38, 0))
    if name == "decimal":
        return pa.array(column, pa.decimal128(38, kind["scale"]))
    return pa.array(column, {"date": pa.date32(), "boolean": pa.bool_(), "text": pa.string()}[name])
