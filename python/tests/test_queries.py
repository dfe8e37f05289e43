"""Queries as expressions: what they say in SQL, what they refuse, and that nothing in a name or a
text is read as anything else.
"""

import copy
import datetime
import decimal
import pickle
import random

import numpy as np
import pytest

import everlevel
from everlevel import tables as et

D = decimal.Decimal
STAYS = {
    "ward": ["north", "south", "north", "west", None],
    "days": [3, 14, 1, 7, 2],
    "cost": [D("1200.50"), D("9034.00"), D("310.25"), D("99.90"), D("0.10")],
    "admitted": [datetime.date(2025, month, 1) for month in (1, 3, 2, 2, 12)],
    "surgery": [True, False, False, True, None],
    "filter": [1, 2, 3, 4, 5],
}


@pytest.fixture(scope="module")
def t():
    return et.table(et.Schema.infer(STAYS), "stays")


def refused(code, work, *words):
    with pytest.raises(everlevel.Error) as caught:
        work()
    assert caught.value.code == code, caught.value
    assert all(word in str(caught.value) for word in words), caught.value


def test_queries_say_what_they_ask(t):
    day = datetime.date(2025, 2, 1)
    q = (
        t.filter((t.admitted >= day) | ~t.surgery, t["filter"] * (1 - t.days) < D("-0.5"))
        .group_by("ward", t.surgery)
        .agg(n=et.count(t.days > 1), mean=t.cost.sum() / et.count(), q=-t.cost.median())
        .having((et.count() > 0) & ~(t.cost.sum() < 1))
        .order_by(et.desc("n"), "ward")
        .limit(3)
    )
    assert q.sql == (
        'select "ward" as "ward", "surgery" as "surgery", '
        'count(*) filter (where "days" > 1) as "n", sum("cost") / count(*) as "mean", '
        '-median("cost") as "q" from "stays" where ("admitted" >= date \'2025-02-01\' or '
        'not "surgery") and "filter" * (1 - "days") < -0.5 group by "ward", "surgery" '
        'having count(*) > 0 and not (sum("cost") < 1) order by 3 desc, 1 limit 3'
    )
    assert q.columns == ("ward", "surgery", "n", "mean", "q")
    assert et.Plan(q).sql == q.sql and et.Plan(q).schema == t.schema
    answer = et.Plan(q).answer(STAYS, arrow=False)
    assert answer["ward"] == ["south", "west"] and answer["n"] == [1, 1]
    assert answer["mean"] == [D("9034.00000000"), D("99.90000000")]


def test_every_part(t):
    def ask(q, **constants):
        return et.Plan(q).answer(STAYS, arrow=False, **constants)

    def count(*conditions, **constants):
        return ask(t.filter(*conditions).agg(n=et.count()), **constants)["n"][0]

    assert count() == 5 and count(t.ward.isin([])) == 0 and count(~t.ward.isin([])) == 5
    assert count(t.ward.isnull()) == 1 and count(t.ward.notnull(), t.surgery) == 2
    assert count(t.ward.startswith("no")) == count(t.ward.like("n_rth")) == 2
    assert count(t.ward.like(et.parameter("start")), start="no%") == 2
    assert count(t.ward.like(et.parameter("start")), start="e%") == 0
    assert count(t.ward.isin(["west", "north"])) == 3 and count(t.days.between(2, 7)) == 3
    assert count(t.cost > D("310.25")) == 2 and count(np.int64(2) < t.days) == 3
    assert count(t.admitted == np.datetime64("2025-03-01")) == 1
    assert count(t.admitted > datetime.datetime(2025, 2, 1)) == 2
    assert count(t.surgery == False) == 2  # noqa: E712
    assert count(t.days == t["filter"] * 2 - 1) == 1 and count(-t.days + 3 >= 0) == 3
    assert count(t.days - -t.days > 5, 2 - t.days < 0) == 3
    hidden = et.parameter("lo")
    assert count(hidden <= t.days, lo=7) == count(t.days >= hidden, lo=7) == 2
    found = ask(t.select("ward", c=t.cost).order_by(et.desc(t.ward)).limit(2))
    assert found["ward"] == [None, "west"] and list(found) == ["ward", "c"]
    assert ask(t.select("surgery").distinct().order_by("surgery"))["surgery"] == [False, True, None]
    kept = t.select("surgery").distinct().order_by(et.desc("surgery", nulls="last"))
    assert kept.sql.endswith("order by 1 desc nulls last")
    assert ask(kept)["surgery"] == [True, False, None]
    assert ask(t.select("surgery").distinct().order_by(et.asc("surgery", nulls="first")))[
        "surgery"
    ] == [None, False, True]
    assert len(ask(t)["ward"]) == 5 and ask(t.order_by("cost"))["cost"][0] == D("0.10")
    case = et.case((t.days > 5, t.cost), (t.surgery, 0))
    both = et.case((t.days > 5, t.cost), default=1)
    found = ask(
        t.agg(
            {
                "two words": case.mean(),
                "both": both.sum(where=t.surgery),
                "low": t.ward.min(),
                "high": t.admitted.max(),
                "wards": t.ward.nunique(),
                "known": t.surgery.count(),
                "ratio": 100 * t.days.sum() / (t.days.sum() - et.count()),
            }
        )
    )
    assert found["two words"] == [D("3044.63333333")]
    assert found["both"] == [D("100.90")] and found["low"] == ["north"]
    assert found["high"] == [datetime.date(2025, 12, 1)]
    assert (found["wards"], found["known"], found["ratio"]) == ([3], [4], [D("122.727273")])


def test_misuse_is_refused_with_a_way_out(t):
    refused("table.name", lambda: t.cots, "'cost'?")
    refused("table.name", lambda: t.filter(t.cost > 1).order_by("cst"), "'cost'?")
    refused("python.question", lambda: et.desc("cost", nulls="end"), "'first' or 'last'")
    refused("table.name", lambda: t.group_by("wrad"), "'ward'?")
    assert not hasattr(t, "nothing") and not hasattr(t, "_repr_html_")
    way = "& | ~"
    refused("python.not-homomorphic", lambda: t.cost > 1 and t.surgery, way)
    refused("python.not-homomorphic", lambda: not t.surgery, way)
    refused("python.not-homomorphic", lambda: 1 < t.cost < 5, "between")
    refused("python.not-homomorphic", lambda: 0 if t.cost > 1 else 1, "case")
    refused("python.not-homomorphic", lambda: t.cost in [1, 2], "isin")
    refused("python.not-homomorphic", lambda: list(t.cost))
    refused("python.not-homomorphic", lambda: t.cost / 2, "x.sum() / y.sum()")
    for number in (0.05, np.float32(1), float("nan"), float("inf")):
        refused("python.question", lambda: t.cost > number, "decimal.Decimal")
    refused("python.question", lambda: t.cost * D("NaN"), "isnull")
    for number in (D("1E+999999999"), D("1E-999999999"), 1 << 1_000_000):
        refused("python.question", lambda: t.cost > number, "expected")
    refused("python.question", lambda: t.ward == None, "isnull")  # noqa: E711
    refused("python.question", lambda: t.admitted > datetime.datetime(2025, 1, 1, 12), "time")
    refused("python.question", lambda: t.ward == b"north", "bytes")
    refused("python.question", lambda: t.ward == "\ud800", "Unicode")
    refused("python.question", lambda: t.ward.isin("north"), "isin([...])")
    refused("python.question", lambda: t.ward.startswith("1%"), "isin")
    refused("python.question", lambda: t.filter(True), "comparison")
    refused("python.question", lambda: t.filter(et.count() > 1), "having")
    refused("python.question", lambda: t.agg(n=et.count()).having(t.cost > 1), "filter")
    refused("python.question", lambda: t.agg(n=t.cost), "t.x.sum()")
    refused("python.question", lambda: t.cost.sum() + t.cost, "x.sum()")
    refused("python.question", lambda: t.cost + t.cost.sum(), "having")
    refused("python.question", lambda: t.cost.sum() > et.parameter("lo"), "x.sum()")
    refused("python.question", lambda: t.agg(n=et.count()).filter(t.surgery), "having")
    refused("python.question", lambda: t.agg(n=et.count(), N=et.count()), "two columns")
    refused("python.question", lambda: t.agg({" ": et.count()}), "name")
    refused("python.question", lambda: t.group_by("ward").sql, "agg")
    refused("python.question", lambda: t.group_by("ward", "ward"), "twice")
    refused("python.question", lambda: t.select("ward").agg(n=et.count()))
    refused("python.question", lambda: t.distinct(), "select")
    refused("python.question", lambda: t.limit(-1))
    for index in (0, ["ward", "cost"], t.cost > 1, slice(2)):
        refused("python.question", lambda: t[index], "a column, or its name")
    refused("python.question", lambda: list(t))
    refused("python.question", lambda: "ward" in t)
    refused("python.question", lambda: et.parameter("a b"))
    refused("python.question", lambda: et.case(), "case((")
    refused("python.question", lambda: et.case(t.surgery), "pairs")
    other = et.table(et.Schema.infer({"cost": [1, 2]}))
    refused("python.question", lambda: t.cost > other.cost, "another table")
    refused("python.question", lambda: t.filter(other.cost > 1), "another schema")
    # What the schema does not allow is refused when the plan is made.
    refused("table.type", lambda: et.Plan(t.filter(t.cost)), "expected a condition")
    refused("table.type", lambda: et.Plan(t.agg(n=t.ward.sum())))
    refused("table.other-schema", lambda: et.Plan(t, other.schema))
    with pytest.raises(TypeError):
        et.Plan("select count(*) from t")


def test_steps_after_limit_are_not_about_all_rows(t):
    """They were: ``t.limit(2).agg(n=et.count())`` counted the whole table."""
    first = t.order_by("days").limit(2)
    for step in (
        lambda: first.agg(n=et.count()),
        lambda: first.group_by("ward"),
        lambda: first.filter(t.cost > 1),
        lambda: first.order_by("cost"),
        lambda: t.select("ward").limit(2).distinct(),
        lambda: t.group_by("ward").agg(n=et.count()).limit(2).having(et.count() > 1),
    ):
        refused("python.question", step, "after limit")
    assert first.limit(9).sql == first.sql and first.limit(1).sql.endswith("limit 1")
    ask = et.Plan(first.select("days")).answer(STAYS, arrow=False)
    assert ask == {"days": sorted(STAYS["days"])[:2]}


def test_an_order_by_columns_that_the_answer_does_not_have(t):
    """It was a ValueError without a code, or an order by another column of that name."""
    q = t.order_by("cost")
    for step in (
        lambda: q.select("ward"),
        lambda: q.select(cost="days"),
        lambda: q.agg(n=et.count()),
        lambda: q.group_by("ward").agg(cost=t.cost.sum()),
    ):
        refused("python.question", step, "order the answer")
    assert q.select("ward", "cost").sql.endswith("order by 2")
    assert t.order_by("ward").group_by("ward").agg(n=et.count()).sql.endswith("order by 1")


def test_queries_are_values(t):
    q = t.filter(t.cost > 1).group_by("ward").agg(n=et.count())
    for again in (pickle.loads(pickle.dumps(q)), copy.deepcopy(q)):
        assert again.sql == q.sql and again.cost._text == '"cost"'
    assert t.filter(t.cost > 1).sql != t.sql == 'select * from "stays"'
    with pytest.raises(AttributeError):
        t.cost = 1
    assert "cost" in dir(t) and "agg" in dir(t)
    assert repr(t.group_by("ward")).startswith("<everlevel.tables.Query select")


SIGNS = "'\"`;-/*\\%_:$@#[](){}|&!?.,=<> aZ0é漢😀\u202e\u200bßİ"
TEXTS = [
    "' or 1=1 --",
    "'; drop table stays; --",
    '" from stays; --',
    '"; select "',
    "/* */ --",
    "\\' or true --",
    "$$x$$",
    "E'\\n'",
    "U&'\\0041'",
    "a\nb",
    "a\rb",
    ":lo",
    "?",
    "select",
    "''",
    '""',
    "%",
    "nul\0l",
    "e\u0301",
]


def texts(seed, control):
    """Texts without blanks around them, of up to 64 bytes."""
    chance = random.Random(seed)
    signs = SIGNS + ("\n\t\r\0\x1b" if control else "")
    found = {}
    for text in TEXTS + [
        "".join(chance.choices(signs, k=chance.randint(1, 12))) for _ in range(60)
    ]:
        clean = text.strip() if control or text.isprintable() else ""
        if clean and 1 <= len(clean.encode()) <= 64:
            found.setdefault(clean.lower(), clean)
    return list(found.values())


@pytest.mark.parametrize("seed", range(10))
def test_names_and_texts_are_nothing_else(seed):
    """Columns, answers and texts of signs that mean something in SQL."""
    chance = random.Random(seed)
    names = chance.sample([name for name in texts(seed, False) if name.isprintable()], 4)
    values = texts(seed + 100, True)
    text, number, *others = names
    schema = et.Schema(
        {
            "columns": [
                {"name": text, "type": "category", "values": values},
                {"name": number, "type": "integer", "low": 0, "high": 99},
                *({"name": name, "type": "boolean"} for name in others),
            ]
        }
    )
    cells = [chance.choice(values) for _ in range(40)]
    data = {text: cells, number: list(range(40)), **{name: [True] * 40 for name in others}}
    t = et.table(schema, chance.choice(values))
    for value in [*values[:25], "none of them'"]:
        alias = chance.choice(values)
        q = t.filter(t[text] == value, t[others[0]]).agg({alias: et.count()})
        plan = et.Plan(q)
        assert plan.answer(data, arrow=False) == {alias: [cells.count(value)]}, q
        meant = [i for i, cell in enumerate(cells) if cell in (value, values[0])]
        q = t.filter(t[text].isin([value, values[0]])).select(**{"n": number}).order_by("n")
        assert et.Plan(q).answer(data, arrow=False)["n"] == meant, q
    q = t.group_by(text).agg(n=t[number].sum()).order_by(et.desc("n"))
    found = et.Plan(q).answer(data, arrow=False)
    sums = {value: sum(i for i, cell in enumerate(cells) if cell == value) for value in set(cells)}
    assert dict(zip(found[text], found["n"])) == sums


def test_plans_are_explained_and_rehearsed(t):
    params = everlevel.Params("insecure_bgv-65537-n11", insecure_research=True)
    q = t.filter(t.cost > et.parameter("least")).group_by("ward").agg(cost=t.cost.sum())
    plan = et.Plan(q)
    told = plan.explain(params, rows=5000)
    assert told.columns_read == ("ward", "cost") and told.refreshes >= 0 and told.seconds > 0
    assert told.products > 10 and 3 < told.levels and told.bytes_read > told.bytes_up > 0
    assert "but for those that are encrypted" in told.server_learns
    assert "4 groups" in told.reader_learns and str(told).startswith("query: select")
    assert told.to_dict()["cost"] == plan.cost(params, 5000) and told.to_dict()["blocks"] == 3
    assert "<table>" in told._repr_html_() and "&quot;ward&quot;" in told._repr_html_()
    assert repr(told).startswith("<everlevel.tables.Explanation of")
    answer = plan.answer(STAYS, arrow=False, least=D("99.90"))
    assert answer == plan.rehearse(params, STAYS, arrow=False, least=D("99.90"))
    assert answer == {"ward": ["north", "south"], "cost": [D("1510.75"), D("9034.00")]}
    refused("table.constants", lambda: plan.answer(STAYS), ":least")
    refused("table.constants", lambda: plan.rehearse(params, STAYS, least=None), "null")
    refused("table.value", lambda: plan.answer({**STAYS, "cost": [D("-1")] * 5}, least=0))
    with pytest.raises(TypeError):
        et.Explanation()


def test_comparisons_that_hold_for_no_row_are_noted(t):
    params = everlevel.Params("insecure_bgv-65537-n11", insecure_research=True)
    plan = et.Plan(t.filter(t.ward == "nrth", t.days > 1).agg(n=et.count()))
    (note,) = plan.notes
    assert note.startswith("\"ward\" = 'nrth' holds for no row: ward is one of ")
    assert note.endswith(": did you mean north?")
    assert plan.answer(STAYS, arrow=False) == {"n": [0]}
    told = plan.explain(params, rows=5)
    assert told.notes == plan.notes and f"note: {note}\n" in str(told)
    assert told.to_dict()["notes"] == [note] and "did you mean north?" in told._repr_html_()
    plain = et.Plan(t.filter(t.ward == "north").agg(n=et.count()))
    assert plain.notes == ()
    assert not any("holds for no row" in note for note in plain.explain(params).notes)


def test_indexes_are_advised_and_read():
    params = everlevel.Params("insecure_bgv-65537-n11", insecure_research=True)
    data = {**STAYS, "day": [datetime.date(2020 + i, 3, 1) for i in range(5)]}

    def explained(schema):
        t = et.table(schema)
        year = t.day.between(datetime.date(2021, 1, 1), datetime.date(2021, 12, 31))
        return et.Plan(t.filter(year).agg(cost=t.cost.sum())).explain(params, rows=5)

    without = explained(et.Schema.infer(data))
    told = explained(et.Schema.infer(data, index="day"))
    (note,) = without.notes
    switches = [found.to_dict()["cost"]["key_switches"] for found in (told, without)]
    assert note.startswith('with an index on day ("index": true in the schema) the query takes ')
    assert f"takes {switches[0]} key switches instead of {switches[1]}, and the table" in note
    assert (without.indexes_read, told.indexes_read, told.notes) == ((), ("day",), ())
    assert told.columns_read == without.columns_read == ("cost", "day")
    assert "day with its index" in str(told) and "indexes read" in told._repr_html_()


def test_bytes_of_results_are_those_of_the_explanation(fermat):
    schema = et.Schema.infer(STAYS)
    table = et.encrypt(fermat.client, STAYS, schema)
    t = et.table(schema)
    for query in (t.group_by("ward").agg(cost=t.cost.sum()), t.filter(t.days > 2)):
        result = table.run(fermat.server, query)
        told = et.Plan(query).explain(fermat.params, table.rows)
        assert 0.8 < len(result.to_bytes()) / told.bytes_down < 1.25
        assert result.read(fermat.client, arrow=False) == et.Plan(query).answer(STAYS, arrow=False)
    other = et.table(et.Schema.infer({"days": [1, 2]}))
    refused("table.other-schema", lambda: table.run(fermat.server, other))
