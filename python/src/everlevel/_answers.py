"""Answers of queries, texts of cells, as Python's values or as a table of PyArrow."""

from __future__ import annotations

import datetime
import decimal
from typing import Any

from ._cells import pyarrow, pyarrow_or_none
from .errors import TableError


def value_of(kind: dict[str, Any], text: str | None) -> Any:
    if text is None:
        return None
    made: Any = {
        "integer": int,
        "decimal": decimal.Decimal,
        "date": datetime.date.fromisoformat,
        "timestamp": lambda x: datetime.datetime.fromisoformat(x.replace("Z", "+00:00")),
        "boolean": lambda x: x == "true",
        "text": str,
    }[kind["type"]]
    return made(text)


def array_of(pa: Any, kind: dict[str, Any], column: list[Any]) -> Any:
    name = kind["type"]
    if name == "integer":
        fits = all(v is None or -(1 << 63) <= v < 1 << 63 for v in column)
        return (
            pa.array(column, pa.int64())
            if fits
            else pa.array(
                [v if v is None else decimal.Decimal(v) for v in column], pa.decimal128(38, 0)
            )
        )
    if name == "decimal":
        return pa.array(column, pa.decimal128(38, kind["scale"]))
    if name == "timestamp":
        return pa.array(column, pa.timestamp(kind["unit"], "UTC" if kind["utc"] else None))
    return pa.array(column, {"date": pa.date32(), "boolean": pa.bool_(), "text": pa.string()}[name])


def answer_of(told: dict[str, Any], arrow: bool | None) -> Any:
    """Names, types and rows of texts as a table of PyArrow, or as a list for each column."""
    names, types = told["names"], told["types"]
    columns = [[value_of(kind, row[i]) for row in told["rows"]] for i, kind in enumerate(types)]
    if arrow is None:
        arrow = pyarrow_or_none() is not None
    if arrow:
        pa = pyarrow()
        return pa.table(
            [array_of(pa, kind, column) for kind, column in zip(types, columns)], names=names
        )
    if len(set(names)) < len(names):
        raise TableError(
            f"two columns of the answer have one name: {', '.join(names)}; name them with as",
            code="table.name",
        )
    return dict(zip(names, columns))
