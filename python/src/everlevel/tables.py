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
from ._queries import OrderKey, Query, UnknownColumnError, asc, desc, table
from ._search import Search
from ._table_plan import Plan
from ._table_result import Result
from ._table_run import Changed, EncryptedTable, PlainTable, encrypt
from ._table_schema import Schema

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
