"""Who puts rows in order: the reader, the server, or a search in rounds."""

import decimal

import pytest

import everlevel
from everlevel import tables as et

SCHEMA = et.Schema(
    {
        "columns": [
            {"name": "ward", "type": "category", "values": ["west", "north", "south"]},
            {"name": "cost", "type": "decimal", "scale": 2, "low": "0", "high": "99.99"},
            {"name": "days", "type": "integer", "low": 0, "high": 200, "nullable": True},
        ]
    }
)
COSTS = [decimal.Decimal(x) for x in ("3.10", "99.99", "0.00", "12.50", "12.50", "7.00")]
DATA = {
    "ward": ["north", "south", "north", "west", "south", "west"],
    "cost": COSTS,
    "days": [3, None, 200, 17, 17, None],
}
QUERIES = (
    "select max(cost) as most, min(days) as least from t where ward <> 'south'",
    "select ward, max(days) as most, count(*) as n from t group by ward order by ward",
    "select min(ward), max(cost) from t where days = 4",
    "select median(cost) from t where days > 3",
    "select ward, cost from t where cost > 1 order by cost desc, ward limit 3",
    "select days from t order by days limit 4",
)


@pytest.mark.parametrize("query", QUERIES)
def test_a_server_orders(fermat, query):
    listed = et.Plan(query, SCHEMA)
    plan = et.Plan(query, SCHEMA, ordered_by="server")
    assert (listed.ordered_by, plan.ordered_by) == ("reader", "server")
    assert et.Plan.from_json(plan.to_json()) == plan != listed
    expected = listed.answer(DATA, arrow=False)
    assert plan.answer(DATA, arrow=False) == expected
    assert plan.rehearse(fermat.params, DATA, arrow=False) == expected
    told = plan.explain(fermat.params, 6)
    assert told.to_dict()["ordered_by"] == "server"
    assert listed.explain(fermat.params, 6).refreshes == 0


def test_a_server_orders_under_encryption(fermat):
    plan = et.Plan("select max(cost) from t where ward = 'north'", SCHEMA, ordered_by="server")
    table = et.encrypt(fermat.client, DATA, SCHEMA)
    result = table.run(fermat.server, plan)
    assert result.plan == plan
    assert result.read(fermat.client, plan=plan, arrow=False) == {
        "max(cost)": [decimal.Decimal("3.10")]
    }


def test_what_is_refused():
    for query in (
        "select count(distinct ward) from t",
        "select cost, max(days) from t group by cost",
    ):
        with pytest.raises(everlevel.TableError) as caught:
            et.Plan(query, SCHEMA, ordered_by="server")
        assert caught.value.code == "table.unsupported"
    with pytest.raises(ValueError, match="reader"):
        et.Plan("select max(cost) from t", SCHEMA, ordered_by="nobody")
    for query in (
        "select max(ward) from t",
        "select ward, cost from t order by ward, cost limit 2",
        "select cost from t order by cost",
        "select ward, sum(cost) from t group by ward order by ward limit 1",
    ):
        with pytest.raises(everlevel.TableError) as caught:
            et.Search(query, SCHEMA)
        assert caught.value.code == "table.unsupported"


@pytest.mark.parametrize("nulls", ("", " nulls last"))
def test_first_rows_in_rounds(fermat, nulls):
    query = (
        f"select ward, days from t where cost > :least order by days desc{nulls}, ward desc limit 3"
    )
    search = et.Search(query, SCHEMA, parts=16)
    # 201 values are two digits to the base 16, and one round lists rows.
    assert (search.rounds, len(search.plans)) == (3, 2) and search.plan == search.plans[0]
    table = et.encrypt(fermat.client, DATA, SCHEMA)
    server = search.server(fermat.client, table.rows)
    found = search.collect(
        fermat.client,
        lambda plan, constants: table.run(server, plan, constants=constants),
        least=1,
        arrow=False,
    )
    expected = {"": ([None, None, 17], ["west", "south", "west"])}
    expected[" nulls last"] = ([17, 17, 3], ["west", "south", "north"])
    days, wards = expected[nulls]
    assert found == {"ward": wards, "days": days}
    assert found == et.Plan(query, SCHEMA).answer(DATA, arrow=False, least=1)
    assert search.plan == search.plans[1]


def test_first_rows_of_an_expression(fermat):
    t = et.table(SCHEMA)
    query = t.filter(t.ward != "south").select("cost", "ward").order_by(et.asc("cost")).limit(2)
    search, table = et.Search(query, parts=32), et.encrypt(fermat.client, DATA, SCHEMA)
    found = search.collect(
        fermat.client,
        lambda plan, constants: table.run(fermat.server, plan, constants=constants),
        arrow=False,
    )
    costs = [decimal.Decimal("0.00"), decimal.Decimal("3.10")]
    assert found == {"cost": costs, "ward": ["north", "north"]}


def test_rounds_are_about_one_table(fermat):
    tables = [et.encrypt(fermat.client, DATA, SCHEMA) for _ in range(2)]

    def ask(plan, constants):
        tables.reverse()
        return tables[0].run(fermat.server, plan, constants=constants)

    search = et.Search("select ward, days from t order by days limit 2", SCHEMA, parts=16)
    with pytest.raises(everlevel.TableError) as caught:
        search.collect(fermat.client, ask)
    assert caught.value.code == "table.other-result"


def test_rounds_after_an_interruption_are_about_the_same_table(fermat):
    first, second = (et.encrypt(fermat.client, DATA, SCHEMA) for _ in range(2))
    asked = 0

    def ask_once(plan, constants):
        nonlocal asked
        asked += 1
        if asked == 2:
            raise ConnectionError
        return first.run(fermat.server, plan, constants=constants)

    query = "select ward, days from t order by days limit 2"
    search = et.Search(query, SCHEMA, parts=16)
    with pytest.raises(ConnectionError):
        search.collect(fermat.client, ask_once)
    for table_id in (None, second.id):
        with pytest.raises(everlevel.TableError) as caught:
            search.collect(
                fermat.client,
                lambda plan, constants: second.run(fermat.server, plan, constants=constants),
                table_id=table_id,
            )
        assert caught.value.code == "table.other-result"
    found = search.collect(
        fermat.client,
        lambda plan, constants: first.run(fermat.server, plan, constants=constants),
        arrow=False,
    )
    assert found == et.Plan(query, SCHEMA).answer(DATA, arrow=False)


def test_a_search_in_rounds(fermat):
    table = et.encrypt(fermat.client, DATA, SCHEMA)

    def ask(plan, constants):
        return table.run(fermat.server, plan, constants=constants)

    search = et.Search("select max(cost) as most from t where ward = :ward", SCHEMA, parts=16)
    assert search.rounds == 4 and "ward" in search.plan.parameters
    steps = []
    found = search.collect(
        fermat.client,
        ask,
        table_id=table.id,
        arrow=False,
        progress=lambda done, of: steps.append((done, of)),
        ward="south",
    )
    assert found == {"most": [decimal.Decimal("99.99")]}
    assert steps == [(i, 4) for i in range(1, 5)]
    # A result of another round.
    search = et.Search("select median(days) from t", SCHEMA, parts=8)
    assert search.rounds == 6
    first = []

    def twice(plan, constants):
        first.append(ask(plan, constants))
        return first[0]

    with pytest.raises(everlevel.TableError) as caught:
        search.collect(fermat.client, twice)
    assert caught.value.code == "table.other-result"
    assert search.collect(fermat.client, ask, arrow=False) == {
        "median(days)": [decimal.Decimal("17.000000")]
    }
