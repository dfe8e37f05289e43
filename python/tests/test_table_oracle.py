"""Two thousand random queries of the whole grammar, answered in the clear, by the computation of
a server on the no-op scheme, and by DuckDB, on tables with missing values and with bounds.
"""

import collections
import datetime
import decimal
from fractions import Fraction

import pytest

import everlevel
from everlevel import tables as et

pytest.importorskip("duckdb")
pytest.importorskip("sqlglot")

import oracle
from table_queries import Table

QUERIES, PER_TABLE, FILES = 2000, 20, 4


@pytest.fixture(scope="module")
def small():
    """256 slots modulo 65537: for computations without encryption only."""
    spec = everlevel.Params("insecure_bgv-65537-n11", insecure_research=True).spec
    spec.update(name="insecure_rehearsal", index=512)
    return everlevel.Params(spec, insecure_research=True)


def sql_of(value):
    """A constant as SQL."""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, datetime.date):
        return f"date '{value}'"
    if isinstance(value, str):
        return "'" + value.replace("'", "''") + "'"
    return format(value, "f") if isinstance(value, decimal.Decimal) else str(value)


def compare(query, found, wanted, ordered):
    rows = list(zip(*found.values()))
    if not ordered:
        rows, wanted = ordered_as(rows), ordered_as(wanted)
    fits = len(rows) == len(wanted) and all(
        len(row) == len(other) and all(map(oracle.same, row, other))
        for row, other in zip(rows, wanted)
    )
    assert fits, f"{query}\nfound    {rows[:10]}\nexpected {wanted[:10]}"


def ordered_as(rows):
    """Rows in an order that does not tell numbers of equal value apart."""

    def key(row):
        return [
            (
                cell is None,
                str(type(cell)) if isinstance(cell, (str, bool, datetime.date)) else "",
                round(Fraction(cell), 6)
                if isinstance(cell, (int, decimal.Decimal, Fraction)) and not isinstance(cell, bool)
                else cell or 0,
            )
            for cell in row
        ]

    return sorted(rows, key=key)


@pytest.mark.parametrize("part", range(FILES))
def test_queries_are_answered_as_by_duckdb(small, part):
    counts = collections.Counter()
    for seed in range(part, QUERIES // PER_TABLE, FILES):
        table = Table(seed)
        types = {name: table.sql_type(name) for name in table.columns}
        connection = oracle.load(types, table.data)
        answered = 0
        while answered < PER_TABLE:
            query, constants = table.query()
            try:
                plan = et.Plan(query)
            except everlevel.TableError as error:
                # Products of many columns may leave 63 bits.
                assert error.code == "table.range", (query, error)
                counts["refused"] += 1
                continue
            constants = {name: constants[name] for name in plan.parameters}
            texts = {name: sql_of(value) for name, value in constants.items()}
            wanted = oracle.answer(connection, query.sql, texts)
            ordered = bool(query._order)
            for way in ("clear", "no-op"):
                found = (
                    plan.answer(table.data, arrow=False, **constants)
                    if way == "clear"
                    else plan.rehearse(small, table.data, arrow=False, **constants)
                )
                compare((seed, way, query.sql, constants), found, wanted, ordered)
            answered += 1
            counts["rows"] += len(wanted)
            counts["nulls"] += sum(cell is None for row in wanted for cell in row)
            counts["empty"] += not wanted
            counts["hidden"] += bool(constants)
        counts["answered"] += answered
    # What the queries reach is what they are for.
    assert counts["answered"] == QUERIES // FILES and counts["refused"] < counts["answered"] / 5
    assert (
        min(counts["rows"], counts["nulls"]) > 200 and min(counts["empty"], counts["hidden"]) > 10
    )
