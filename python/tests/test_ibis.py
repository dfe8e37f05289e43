"""What Ibis writes for ordinary expressions is a query, and is answered as DuckDB answers it."""

import datetime
import decimal

import pytest

import everlevel
from everlevel import tables as et

pytest.importorskip("ibis")
pytest.importorskip("duckdb")
pytest.importorskip("sqlglot")

import ibis
import oracle
from ibis import _

D = decimal.Decimal
TYPES = {
    "ward": "VARCHAR",
    "cost": "DECIMAL(10, 2)",
    "days": "BIGINT",
    "admitted": "DATE",
    "paid": "BOOLEAN",
}
COUNT = 40
STAYS = {
    "ward": [("north", "south", "west", "nowhere")[i * 7 % 4] for i in range(COUNT)],
    "cost": [D(i * i * 37 % 100000) / 100 for i in range(COUNT)],
    "days": [None if i % 9 == 0 else i * 5 % 23 for i in range(COUNT)],
    "admitted": [datetime.date(2025, 1 + i % 12, 1 + i % 28) for i in range(COUNT)],
    "paid": [None if i % 11 == 0 else i % 3 == 0 for i in range(COUNT)],
}


def expressions():
    t = ibis.table(
        dict(ward="string", cost="decimal(10, 2)", days="int64", admitted="date", paid="boolean"),
        name="t",
    )
    day = datetime.date(2025, 6, 15)
    by_ward = t.group_by("ward").agg(s=t.cost.sum(), n=t.count())
    return {
        "filter": t.filter(t.admitted >= day),
        "group": t.filter(t.admitted >= day)
        .group_by("ward")
        .agg(n=_.count(), cost=_.cost.sum(), days=_.days.mean()),
        "several filters": t.filter(t.cost > 100, t.days < 15).filter(_.ward != "west").count(),
        "order": t.filter((t.cost > 100) | ~t.paid)
        .group_by("ward")
        .agg(n=_.count(), cost=_.cost.sum())
        .order_by(ibis.desc("cost"))
        .limit(3),
        "missing first": t.select("days", "cost").order_by(
            ibis.desc("days", nulls_first=True), "cost"
        ),
        "having": by_ward.filter(by_ward.n > 9).order_by("ward"),
        "quotient": by_ward.select("ward", q=by_ward.s / by_ward.n),
        "select": t.filter(t.ward == "south").select("ward", "cost"),
        "rename": t.select(w="ward", c="cost").order_by("c", "w").limit(4),
        "distinct": t.select("ward").distinct(),
        "sum": t.agg(s=(t.cost * t.days).sum(), m=t.days.max(), middle=t.days.median()),
        "isin": t.filter(t.ward.isin(["north", "west"])).agg(s=(_.cost * (1 - _.days)).sum()),
        "different": t.agg(n=t.ward.nunique(), c=t.days.count(), low=t.admitted.min()),
        "where": t.agg(s=t.cost.sum(where=t.paid), c=t.ward.count(where=t.days > 3)),
        "case": t.agg(s=ibis.cases((t.ward == "north", t.cost), (t.paid, 1), else_=0).sum()),
        "texts": t.filter(t.ward.startswith("no"), t.ward.like("n%h%"), t.days.notnull()).count(),
        "contains": t.filter(t.ward.contains("or") | t.ward.endswith("st")).count(),
        "between": t.filter(t.days.between(1, 9), t.cost.between(D("1.5"), D("500.25"))).count(),
        "decimal": t.filter(t.cost > D("37.00"), t.cost < 250.25).count(),
        "computed": t.mutate(x=t.cost * t.days)
        .filter(_.x > 50)
        .group_by("ward")
        .agg(s=_.x.sum(), t=(_.x - 1).sum()),
        "counts": t.ward.value_counts(),
    }


@pytest.fixture(scope="module")
def duck():
    return oracle.load(TYPES, STAYS)


@pytest.mark.parametrize("name", expressions())
def test_expressions_of_ibis(duck, name):
    sql = ibis.to_sql(expressions()[name], dialect="duckdb")
    plan = et.Plan(sql, et.Schema.infer(STAYS))
    found = plan.answer(STAYS, arrow=False)
    wanted = duck.execute(sql)
    assert list(found) == [column[0] for column in wanted.description]

    # DuckDB divides in floating point.
    def near(a, b):
        if isinstance(b, float):
            return abs(float(a) - b) < 1e-6 * max(1, abs(b))
        return oracle.same(a, oracle.number(b))

    rows, wanted = list(zip(*found.values())), wanted.fetchall()
    if "ORDER BY" not in sql:
        rows, wanted = sorted(rows, key=str), sorted(wanted, key=str)
    assert wanted and len(rows) == len(wanted)
    assert all(near(a, b) for row, other in zip(rows, wanted) for a, b in zip(row, other)), rows


def test_what_one_select_does_not_ask_is_refused():
    t = ibis.table(dict(ward="string", cost="decimal(10, 2)", days="int64"), name="t")
    by_ward = t.group_by("ward").agg(s=t.cost.sum())
    for expression in (
        by_ward.agg(m=by_ward.s.max()),
        t.limit(5).agg(s=_.cost.sum()),
        t.mutate(r=ibis.row_number()),
        t.join(t.view(), "ward").count(),
        t.agg(s=t.cost.std()),
    ):
        with pytest.raises(everlevel.TableError) as caught:
            et.Plan(ibis.to_sql(expression, dialect="duckdb"), et.Schema.infer(STAYS))
        assert caught.value.code in ("table.unsupported", "table.name"), caught.value
