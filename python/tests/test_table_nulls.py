"""Missing values of encrypted tables: as NULL from every library, refused, and random queries
compared with DuckDB.
"""

import datetime
import decimal
import random

import numpy as np
import pytest

import everlevel
from everlevel import tables as et

D = decimal.Decimal
DAY = datetime.date(2025, 2, 3)
STATED = [
    {"name": "n", "type": "integer", "low": -20, "high": 20, "nullable": True},
    {"name": "x", "type": "decimal", "scale": 2, "low": "-9.99", "high": "99.99", "nullable": True},
    {"name": "d", "type": "date", "low": "2025-01-01", "high": "2025-12-31", "nullable": True},
    {"name": "b", "type": "boolean", "nullable": True},
    {"name": "w", "type": "category", "values": ["a", "b"], "nullable": True},
]
SCHEMA = et.Schema({"columns": STATED})
FULL = et.Schema({"columns": [{k: v for k, v in c.items() if k != "nullable"} for c in STATED]})
ROWS = {
    "n": [1, None, -3],
    "x": [0.07, None, 12.5],
    "d": [DAY, None, DAY],
    "b": [True, None, False],
    "w": ["a", None, "b"],
}
QUERY = (
    "select count(*) as c, count(n) as n, sum(n) as s, sum(x) as x, count(d) as d, count(b) as b, "
    "count(w) as w from t"
)
ANSWER = {"c": [3], "n": [2], "s": [-2], "x": [D("12.57")], "d": [2], "b": [2], "w": [2]}


def asked(party, data, query=QUERY, schema=SCHEMA, arrow=False):
    return (
        et.encrypt(party.client, data, schema)
        .run(party.server, query)
        .read(party.client, arrow=arrow)
    )


def refused(data, schema, *words):
    client = refused.client
    with pytest.raises(everlevel.TableError) as caught:
        et.encrypt(client, data, schema)
    assert caught.value.code == "table.value", caught.value
    assert all(word in str(caught.value) for word in words), caught.value


@pytest.fixture(autouse=True)
def _client(fermat):
    refused.client = fermat.client


def masked():
    mask = [False, True, False]
    rows = {
        name: [v if v is not None else column[0] for v in column] for name, column in ROWS.items()
    }
    return {name: np.ma.array(column, mask=mask) for name, column in rows.items()}


def frame(name):
    module = pytest.importorskip(name)
    if name == "pyarrow":
        return module.table(ROWS)
    pytest.importorskip("pyarrow")
    return module.DataFrame(ROWS)


@pytest.mark.parametrize("name", ["mapping", "masked", "pyarrow", "pandas", "polars"])
def test_missing_values_are_nulls(fermat, name):
    data = {"mapping": lambda: ROWS, "masked": masked}.get(name, lambda: frame(name))()
    assert asked(fermat, data) == ANSWER
    inferred = et.Schema.infer(data)
    assert all(c.get("nullable") for c in inferred.columns.values()), inferred.columns
    assert inferred.columns["n"]["type"] == "integer" and inferred.columns["x"]["scale"] == 2
    assert asked(fermat, data, schema=inferred) == ANSWER
    refused(data, FULL, "row 2", "nullable")


def test_kinds_of_nothing(fermat):
    pd = pytest.importorskip("pandas")
    pytest.importorskip("pyarrow")
    for dtype in ("float64", "Int64", "object"):
        data = pd.DataFrame({"n": pd.Series([1, None, -3], dtype=dtype)})
        one = et.Schema({"columns": STATED[:1]})
        assert asked(fermat, data, "select sum(n) as s, count(*) as c from t", one) == {
            "s": [-2],
            "c": [3],
        }
        assert et.Schema.infer(data).columns["n"]["type"] == "integer"
        assert asked(fermat, data.dropna(), "select sum(n) as s, count(*) as c from t", one) == {
            "s": [-2],
            "c": [2],
        }
    for nothing in (
        None,
        float("nan"),
        np.nan,
        np.float32("nan"),
        pd.NA,
        pd.NaT,
        np.datetime64("NaT"),
        D("nan"),
        D("snan"),
        np.ma.masked,
    ):
        data = {**ROWS, "d": [DAY, nothing, DAY], "n": [1, nothing, -3]}
        assert asked(fermat, data) == ANSWER, nothing
        refused(data, FULL, "row 2", "'n'")


def test_categories_of_data_frames(fermat):
    pytest.importorskip("pyarrow")
    one = et.Schema({"columns": STATED[4:]})
    for name, make in (
        ("pandas", lambda m: m.DataFrame({"w": m.Categorical(["a", None])})),
        ("polars", lambda m: m.DataFrame({"w": m.Series(["a", None], dtype=m.Categorical)})),
        ("pyarrow", lambda m: m.table({"w": m.DictionaryArray.from_arrays([0, 1], ["a", None])})),
    ):
        data = make(pytest.importorskip(name))
        assert asked(fermat, data, "select count(w) as w, count(*) as c from t", one) == {
            "w": [1],
            "c": [2],
        }, name


def test_refusals():
    refused(
        {**ROWS, "d": np.array(["2025-02-03T00:00:00.000000001", "NaT", "NaT"], "datetime64[ns]")},
        SCHEMA,
        "2025-02-03T00:00:00.000000001",
    )
    for n in (1.5, 2.0**53, "", np.timedelta64(5, "ns")):
        refused({**ROWS, "n": [n, None, 1]}, SCHEMA)
    for text in ("", " "):
        refused({**ROWS, "w": [text, None, "a"]}, SCHEMA, "row 1", "'w'")
    with pytest.raises(everlevel.TableError):
        et.Schema.infer({"n": [None, None]})
    pa = pytest.importorskip("pyarrow")
    refused(pa.table({**ROWS, "x": pa.array([1.0, float("nan"), None])}), SCHEMA, "row 2", "NaN")


def test_answers_have_arrow_nulls(fermat):
    pa = pytest.importorskip("pyarrow")
    answer = asked(
        fermat, ROWS, "select w, sum(n) as s, sum(x) as x from t group by w order by w", arrow=True
    )
    assert answer.to_pydict() == {
        "w": ["a", "b", None],
        "s": [1, -3, None],
        "x": [D("0.07"), D("12.50"), None],
    }
    assert [c.null_count for c in answer.columns] == [1, 1, 1] and answer.schema.types[
        0
    ] == pa.string()


CONDITIONS = [
    "n < {n}",
    "n = {n}",
    "n in (1, {n})",
    "n between -2 and {n}",
    "b",
    "not b",
    "w = 'a'",
    "w <> 'b'",
    "d >= date '2025-01-03'",
    "n is null",
    "w is not null",
]
SUMS = [
    "count(*)",
    "count(n)",
    "sum(n)",
    "count(w)",
    "sum(n) filter (where b)",
    "sum(case when w = 'a' then n end)",
]
FOLDS = [
    "min(n)",
    "max(n)",
    "median(n)",
    "count(distinct n)",
    "min(d)",
    "max(w)",
    "min(w) filter (where b)",
    "count(distinct d)",
    "max(n * n - n)",
]


def test_random_queries_are_those_of_duckdb(fermat):
    duckdb = pytest.importorskip("duckdb")
    rng, asks = random.Random(7), 0
    for _ in range(5):
        pick = lambda values: None if rng.random() < 0.3 else rng.choice(values)  # noqa: E731
        days = [datetime.date(2025, 1, i) for i in range(1, 6)]
        rows = [
            (pick(range(-5, 6)), pick([True, False]), pick(["a", "b"]), pick(days))
            for _ in range(rng.randint(1, 40))
        ]
        schema = et.Schema(
            {
                "columns": [
                    {**c, "low": -5, "high": 5}
                    if c["name"] == "n"
                    else {**c, "high": "2025-01-05"}
                    if c["name"] == "d"
                    else c
                    for c in STATED
                    if c["name"] != "x"
                ]
            }
        )
        table = et.encrypt(
            fermat.client,
            dict(zip("nbwd", map(list, zip(*((n, b, w, d) for n, b, w, d in rows))))),
            schema,
        )
        base = duckdb.connect()
        base.execute("create table t (n integer, b boolean, w varchar, d date)")
        base.executemany("insert into t values (?, ?, ?, ?)", rows)
        for _ in range(41):
            parts = [
                rng.choice(["", "not "])
                + "("
                + rng.choice(CONDITIONS).format(n=rng.randint(-5, 5))
                + ")"
                for _ in range(rng.randint(1, 2))
            ]
            told = ", ".join(f"{s} as s{i}" for i, s in enumerate(rng.sample(SUMS + FOLDS, 2)))
            where = f"from t where {rng.choice([' and ', ' or ']).join(parts)}"
            group = rng.choice(["w", "d", "d, n", *[""] * 12])
            order = ", ".join(
                f"{g} {rng.choice(['', 'desc'])} nulls {rng.choice(['first', 'last'])}"
                for g in group.split(", ")
            )
            query = (
                f"select {group}, {told} {where} group by {group} order by {order}"
                if group
                else f"select {told} {where}"
            )
            answer = table.run(fermat.server, query).read(fermat.client, arrow=False)
            assert list(zip(*answer.values())) == base.execute(query).fetchall(), query
            asks += 1
    assert asks >= 200
