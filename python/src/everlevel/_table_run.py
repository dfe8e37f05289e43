"""Tables that are asked: encrypted ones, and plain ones with encrypted constants."""

from __future__ import annotations

import json
import os
from typing import TYPE_CHECKING, Any, NamedTuple

from . import _everlevel as _rust
from ._answers import answer_of
from ._cells import pieces_of
from ._constants import Constants
from ._params import Params
from ._public_key import PublicKey
from ._queries import Query
from ._roles import Client
from ._table_plan import Plan
from ._table_result import Result
from ._table_schema import Clear, Partners, Schema, clear, clear_partners
from ._values import Path, Progress, path_text, stepper
from .errors import ClusterError

if TYPE_CHECKING:
    from ._server import Server


class Changed(NamedTuple):
    """The effect of a change of a table."""

    #: The number of rows that were added or removed, or that met the condition of an update.
    rows: int
    #: The files of a directory that were written: a copy of it elsewhere needs all of these.
    written: tuple[str, ...]
    #: The files that were removed.
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
        """The names and types of the columns."""
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
        """The number of rows, which is public."""
        return self._raw.rows

    @property
    def blocks(self) -> int:
        """The number of blocks of ``params.slots`` rows."""
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
        """The names and types of the columns."""
        return Schema(self._raw.schema)

    @property
    def id(self) -> str:
        """The random name of this table in memory, 32 hexadecimal digits: results state it."""
        return self._raw.id

    @property
    def rows(self) -> int:
        """The number of rows."""
        return self._raw.rows

    def __len__(self) -> int:
        return self._raw.rows

    def __repr__(self) -> str:
        return (
            f"<everlevel.tables.PlainTable of {self.rows} rows, {len(self.schema.columns)} columns>"
        )


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
    pieces = None if directory is None else pieces_of(data, schema.columns)
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
