"""Schemas of encrypted tables, and the tables in the clear that they are for."""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Mapping
from typing import Any

from . import _everlevel as _rust
from ._cells import columns_of, written
from ._values import Path, read_file, replaceable
from .errors import FormatError, TableError


class Schema:
    """The schema of a table, from a mapping, JSON text, or the path of a ``.json`` file.

    Public, with all bounds and categories.

    ``Schema({"columns": [{"name": "cost", "type": "decimal", "scale": 2, "low": "0", "high":
    "9999.99"}]})``; the types are ``integer``, ``decimal``, ``date``, ``timestamp``, ``boolean``,
    ``category`` (``"values": [...]``), and ``text`` (``"bytes": N``), which is for answers and is
    compared with nothing but constants, by equality. A column with ``"index": True`` takes more
    room in the encrypted table, and conditions on it take fewer products. Immutable.
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
    def infer(cls, data: Any, *, index: str | Iterable[str] = ()) -> Schema:
        """A schema that a table fits: numbers with bounds widened to powers of 16, dates of whole
        years, truth values, texts of which there are few as categories.

        Columns with missing values are nullable. Columns of many texts, such as names, are left
        out, with what to state to keep them, and so are those in which nothing is there. What each
        column was taken for is in :attr:`notes`: all of a schema is public, so look it over before
        you use it.

        The columns in ``index``, such as ``("day", "amount")``, get an index: name those that are
        often asked about in conditions, since an index of dates takes over ten times the room of
        the dates. ``Plan.explain`` notes the indexes from which a query would gain.
        """
        columns = columns_of(data, None)
        if isinstance(columns, bytes):
            return cls._indexed(*_rust.infer_table_schema(columns), index)
        nullable: set[str] = set()
        left: list[tuple[str, str, bool]] = []
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
            left.insert(0, (name, f"left out: {why}", False))
            del columns[i]
        if left and not columns:
            name, why, _ = left[0]
            raise TableError(f"no column can be kept: {name}: {why}", code="table.data")
        text, told = _rust.infer_table_schema(written(columns, False))
        found: dict[str, Any] = json.loads(text)
        for column in found["columns"]:
            if column["name"] in nullable:
                column["nullable"] = True
        all_told = [
            (name, what + (", or nothing" if kept and name in nullable else ""), kept)
            for name, what, kept in told
        ]
        return cls._indexed(json.dumps(found), all_told + left, index)

    @classmethod
    def _indexed(
        cls, text: str, told: list[tuple[str, str, bool]], index: str | Iterable[str]
    ) -> Schema:
        """An inferred schema, with an index on some columns."""
        names = [index] if isinstance(index, str) else list(index)
        text, told = _rust.index_table_schema(text, told, names)
        self = cls(text)
        self._notes = tuple(f"{name}: {what}" for name, what, _ in told)
        return self

    @property
    def columns(self) -> dict[str, dict[str, Any]]:
        """The type and the bounds of each column, by its name."""
        return {column.pop("name"): column for column in self.to_dict()["columns"]}

    @property
    def notes(self) -> tuple[str, ...]:
        """For a schema from :meth:`infer`: the inferred types, and which columns were left out."""
        return self._notes

    def to_dict(self) -> dict[str, Any]:
        """The schema as a mapping, which can be changed and passed to ``Schema``."""
        found: dict[str, Any] = json.loads(self._text)
        return found

    def to_json(self) -> str:
        """The schema as JSON text; equal schemas have equal texts."""
        return self._text

    def save(self, path: Path, *, overwrite: bool = False) -> None:
        """Writes a file, completely or not at all."""
        _rust.write_file(replaceable(path, overwrite), self._text.encode(), overwrite)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Schema) and self._text == other._text

    def __hash__(self) -> int:
        return hash(self._text)

    def __reduce__(self) -> Any:
        return Schema, (self._text,)

    def __repr__(self) -> str:
        return f"<everlevel.tables.Schema of {', '.join(self.columns)}>"


#: The tables of foreign keys, by their names.
Partners = Mapping[str, Any] | None

#: A table in the clear as comma-separated values, and those whose columns its rows carry.
Clear = tuple[bytes, list[tuple[str, bytes]]]


def clear(data: Any, schema: Schema, partners: Partners) -> Clear:
    """A table and its partners, by the names of their foreign keys."""
    return _csv(data, schema), clear_partners(schema, partners)


def clear_partners(schema: Schema, partners: Partners) -> list[tuple[str, bytes]]:
    """The tables that rows carry columns of, by the names of their foreign keys."""
    found: list[tuple[str, bytes]] = []
    if partners is not None:
        described = schema.to_dict()
        columns = {column["name"].lower(): column for column in described["columns"]}
        keys = {key["table"].lower(): key for key in described.get("foreign_keys", [])}
        for name, table in partners.items():
            key, own = keys.get(name.lower()), None
            if key is not None:  # else the library says which there are
                of_key = {**columns[key["column"].lower()], "name": key["key"]}
                carried = [columns[column.lower()] for column in key["include"]]
                own = Schema({"columns": [of_key, *carried]})
            found.append((name, _csv(table, own)))
    return found


def _csv(data: Any, schema: Schema | None) -> bytes:
    columns = columns_of(data, None if schema is None else schema.columns)
    return columns if isinstance(columns, bytes) else written(columns, True)


def _utf8(data: bytes) -> str:
    try:
        return data.decode()
    except UnicodeDecodeError as error:
        raise FormatError(f"expected UTF-8 text: {error}", code="python.json") from None
