"""Medians of groups that public columns tell apart, in tables of more rows than all pairs of which
a server compares: by the computation of a server on the no-op scheme, and by DuckDB.
"""

import decimal
import random

import pytest

import everlevel
from everlevel import tables as et

pytest.importorskip("duckdb")
pytest.importorskip("sqlglot")

import oracle

SCHEMA = et.Schema(
    {
        "columns": [
            {"name": "ward", "type": "integer", "low": 0, "high": 49, "public": True},
            {"name": "cost", "type": "decimal", "scale": 2, "low": "-9.99", "high": "99.99"},
            {"name": "days", "type": "integer", "low": 0, "high": 40, "nullable": True},
            {"name": "paid", "type": "boolean"},
        ]
    }
)
TYPES = {"ward": "integer", "cost": "decimal(6, 2)", "days": "integer", "paid": "boolean"}
QUERIES = (
    "select ward, median(cost) from t group by ward order by 1",
    "select ward, median(days), count(*), sum(cost) from t where paid group by ward order by 1",
    "select ward, paid, median(cost) from t where ward < 20 group by ward, paid order by 1, 2",
    "select ward, median(cost) filter (where days > 10) from t where ward > 30 group by ward"
    " order by 1",
    "select median(days) from t where ward = 17",
)


@pytest.fixture(scope="module")
def small():
    """256 slots modulo 65537, in two rows: for computations without encryption only."""
    spec = everlevel.Params("insecure_bgv-65537-n11", insecure_research=True).spec
    spec.update(name="insecure_rehearsal", index=512)
    return everlevel.Params(spec, insecure_research=True)


def table(seed):
    """Rows in the order of wards, of which each has up to nine."""
    chance = random.Random(seed)
    wards = [ward for ward in range(50) for _ in range(chance.randint(0, 9))][:256]
    assert len(wards) > 128
    cents = [chance.choice([-999, 0, 9999, chance.randint(-999, 9999)]) for _ in wards]
    return {
        "ward": wards,
        "cost": [decimal.Decimal(x).scaleb(-2) for x in cents],
        "days": [chance.choice([None, chance.randint(0, 40)]) for _ in wards],
        "paid": [chance.random() < 0.7 for _ in wards],
    }


@pytest.mark.parametrize("query", QUERIES)
def test_medians_are_those_of_duckdb(small, query):
    plan = et.Plan(query, SCHEMA, ordered_by="server")
    for seed in range(3):
        data = table(seed)
        found = plan.rehearse(small, data, arrow=False)
        rows = list(zip(*found.values()))
        wanted = oracle.answer(oracle.load(TYPES, data), query, {})
        assert len(rows) == len(wanted), (seed, rows, wanted)
        for row, other in zip(rows, wanted):
            assert all(map(oracle.same, row, other)), (seed, row, other)


def test_a_table_in_another_order_is_refused(small):
    data = table(0)
    places = sorted(range(len(data["ward"])), key=lambda i: (i % 5, i))
    mixed = {name: [column[i] for i in places] for name, column in data.items()}
    plan = et.Plan(QUERIES[0], SCHEMA, ordered_by="server")
    with pytest.raises(everlevel.TableError, match="sort the rows") as caught:
        plan.rehearse(small, mixed, arrow=False)
    assert caught.value.code == "table.unsupported"
