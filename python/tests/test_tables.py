"""Encrypted tables: owner, analyst, server and reader."""

import datetime
import decimal
import enum
import logging
import os
import pickle
import shutil
import subprocess

import numpy as np
import pytest

import everlevel
from everlevel import tables as et

D = decimal.Decimal
QUERY = (
    "select ward, count(*) as n, sum(cost) as cost, avg(days) as days from t where admitted >= "
    "date '2025-01-01' group by ward order by ward"
)
STAYS = {
    "ward": ["north", "south", "north", "west"],
    "days": [3, 14, 1, 7],
    "cost": [D("1200.50"), D("9034.00"), D("310.25"), D("99.90")],
    "admitted": [
        datetime.date(2025, 1, 30),
        datetime.date(2025, 3, 1),
        datetime.date(2024, 12, 31),
        datetime.date(2025, 2, 2),
    ],
    "surgery": [True, False, False, True],
    "name": ["Ada", "Bob", "Cid", "Dan"],
}
ANSWER = {
    "ward": ["north", "south", "west"],
    "n": [1, 1, 1],
    "cost": [D("1200.50"), D("9034.00"), D("99.90")],
    "days": [D("3.000000"), D("14.000000"), D("7.000000")],
}


@pytest.fixture(scope="module")
def schema():
    return et.Schema.infer(STAYS)


@pytest.fixture(scope="module")
def table(fermat, schema):
    return et.encrypt(fermat.client, STAYS, schema)


def refused(code, work, kind=everlevel.Error):
    with pytest.raises(kind) as caught:
        work()
    assert caught.value.code == code, caught.value
    return caught.value


def test_four_parties(fermat, schema, table, tmp_path):
    table.save(tmp_path / "stays")
    sent = et.Plan(QUERY, schema).to_json()

    steps = []
    stored = et.EncryptedTable.open(tmp_path / "stays", insecure_research=True)
    assert (stored.rows, len(stored), stored.blocks, stored.id, stored.key_id) == (
        4,
        4,
        1,
        table.id,
        fermat.client.key_id,
    )
    assert (
        stored.schema == schema
        and stored.params == fermat.params
        and stored.nbytes == table.nbytes > 10_000
    )
    result = stored.run(
        fermat.server, et.Plan.from_json(sent), progress=lambda *step: steps.append(step)
    )
    assert steps == [(1, 1)]

    back = et.Result.from_bytes(np.frombuffer(result.to_bytes(), np.uint8))
    assert (back.table_id, back.key_id, back.plan.sql) == (
        table.id,
        fermat.client.key_id,
        QUERY,
    )
    assert (
        back.read(fermat.client, plan=et.Plan(QUERY, schema), table_id=table.id, arrow=False)
        == ANSWER
    )


def test_a_query_is_a_plan(fermat, table):
    result = table.run(
        fermat.server,
        "select sum(days) as d, count(*) filter (where surgery) as s from t where days > 100",
    )
    assert result.read(fermat.client, arrow=False) == {"d": [None], "s": [0]}
    with pytest.raises(everlevel.TableError):
        table.run(fermat.server, "select sum(days), sum(days) from t").read(
            fermat.client, arrow=False
        )


def test_tables_are_asked_while_the_log_listens(fermat, schema, table, caplog):
    plan = et.Plan("select count(*) as n from t where days > :least", schema)
    known, constants = et.PlainTable(STAYS, schema), plan.bind(fermat.client, least=5)
    with caplog.at_level(logging.INFO, logger="everlevel"):
        asked = table.run(fermat.server, "select sum(days) as d from t")
        found = known.run(fermat.server, plan, constants=constants)
    assert asked.read(fermat.client, arrow=False) == {"d": [25]}
    assert found.read(fermat.client, arrow=False) == {"n": [2]}


def test_public_keys_and_directories(fermat, schema, tmp_path):
    public = fermat.client.public_key()
    table = et.encrypt(public, STAYS, schema, directory=tmp_path / "a")
    refused(
        "wire.exists",
        lambda: et.encrypt(public, STAYS, schema, directory=tmp_path / "a"),
        everlevel.FileError,
    )
    again = et.encrypt(public, STAYS, schema, directory=tmp_path / "a", overwrite=True)
    assert again.id != table.id
    stored = et.EncryptedTable.open(tmp_path / "a", params=fermat.params)
    assert stored.id == again.id
    assert stored.run(fermat.server, QUERY).read(fermat.client, arrow=False) == ANSWER
    with pytest.raises(everlevel.InsecureError):
        et.EncryptedTable.open(tmp_path / "a")


def test_what_does_not_belong_together(fermat, schema, table, tmp_path):
    other = everlevel.Client(fermat.params)
    result = table.run(fermat.server, QUERY)
    refused("scheme.wrong-key", lambda: result.read(other), everlevel.WrongKeyError)
    refused("scheme.wrong-key", lambda: table.run(other.server(), QUERY), everlevel.WrongKeyError)
    plan = et.Plan("select count(*) from t", schema)
    refused(
        "table.other-result", lambda: result.read(fermat.client, plan=plan), everlevel.TableError
    )
    refused("table.other-result", lambda: result.read(fermat.client, table_id="0" * 32))
    refused(
        "table.files", lambda: result.read(fermat.client, table_id="table"), everlevel.FormatError
    )
    wider = schema.to_dict()
    next(c for c in wider["columns"] if c["name"] == "days")["high"] += 1
    refused(
        "table.other-schema", lambda: table.run(fermat.server, et.Plan(QUERY, et.Schema(wider)))
    )
    table.save(tmp_path / "a")
    et.encrypt(fermat.client, STAYS, schema).save(tmp_path / "b")
    shutil.copy(tmp_path / "b" / "000000-0001.columns", tmp_path / "a" / "000000-0001.columns")
    refused(
        "table.block",
        lambda: et.EncryptedTable.open(tmp_path / "a", insecure_research=True),
        everlevel.FormatError,
    )
    refused("table.files", lambda: et.EncryptedTable.open(tmp_path / "c", insecure_research=True))
    data = result.to_bytes()
    for cut in (0, 10, len(data) // 2):
        with pytest.raises(everlevel.FormatError):
            et.Result.from_bytes(data[:cut]).read(fermat.client)


def test_queries_and_schemas_are_checked(schema):
    refused(
        "table.unsupported",
        lambda: et.Plan("select stddev(days) from t", schema),
        everlevel.TableError,
    )
    refused("table.name", lambda: et.Plan("select sum(pay) from t", schema))
    refused("table.syntax", lambda: et.Plan("selec days", schema))
    refused("table.range", lambda: et.Plan("select sum(cost * cost * cost * cost) from t", schema))
    for text in ("{}", "[]", "{", '{"format": "everlevel table plan", "version": 1}', "x" * 10_000):
        refused("table.plan", lambda: et.Plan.from_json(text), everlevel.FormatError)
    for columns in (
        [],
        [{"name": "a", "type": "float"}],
        [{"name": "a", "type": "integer", "low": 1, "high": 0}],
    ):
        with pytest.raises(everlevel.TableError):
            et.Schema({"columns": columns})
    cost = et.Plan(QUERY, schema).cost(everlevel.Params("bgv-65537-n15"))
    assert cost["products"] > 20 and cost["seconds"] > 0.1 and cost["ciphertexts"] > 5


def test_schemas(schema, tmp_path):
    assert set(schema.columns) == {"ward", "days", "cost", "admitted", "surgery", "name"}
    assert schema.columns["cost"] == {
        "type": "decimal",
        "scale": 2,
        "low": "0.00",
        "high": "10485.75",
    }
    assert schema.columns["admitted"] == {"type": "date", "low": "2024-01-01", "high": "2025-12-31"}
    assert schema.columns["surgery"] == {"type": "boolean"} and len(schema.notes) == 6
    schema.save(tmp_path / "s.json")
    for same in (
        et.Schema(tmp_path / "s.json"),
        et.Schema(schema.to_json()),
        et.Schema(schema.to_dict()),
        pickle.loads(pickle.dumps(schema)),
    ):
        assert same == schema and hash(same) == hash(schema)
    plan = et.Plan(QUERY, schema)
    plan.save(tmp_path / "q.plan")
    assert et.Plan.open(tmp_path / "q.plan") == plan == pickle.loads(pickle.dumps(plan))
    names = {
        "n": list(range(100)),
        "who": [f"person {i}" for i in range(100)],
        "gap": [None, *range(99)],
        "none": [None] * 100,
    }
    inferred = et.Schema.infer(names)
    assert set(inferred.columns) == {"n", "gap"} and inferred.columns["gap"]["nullable"]
    assert any("who" in note and "100 different texts" in note for note in inferred.notes)
    indexed = et.Schema.infer(names, index=("gap", "N"))
    assert indexed.columns == {
        name: {**column, "index": True} for name, column in inferred.columns.items()
    }
    assert indexed.notes[:2] == tuple(f"{note}, with an index" for note in inferred.notes[:2])
    assert indexed.notes[2:] == inferred.notes[2:]
    path = tmp_path / "names.csv"
    path.write_text("n,who\n" + "".join(f"{i},person {i}\n" for i in range(100)))
    assert et.Schema.infer(path, index="n").columns["n"]["index"] is True
    for data in (names, path):
        refused("table.schema", lambda: et.Schema.infer(data, index=["n", "who"]))
        wrong = refused("table.name", lambda: et.Schema.infer(data, index=["whose"]))
        assert "whose" in str(wrong)
    refused("table.schema", lambda: et.Schema.infer(names, index=["none"]))
    refused("table.schema", lambda: et.Schema.infer({"n": [True, False]}, index=["n"]))


def test_cells(fermat):
    schema = et.Schema(
        {
            "columns": [
                {"name": "x", "type": "decimal", "scale": 2, "low": "-9.99", "high": "99.99"},
                {"name": "d", "type": "date", "low": "2025-01-01", "high": "2025-12-31"},
            ]
        }
    )
    day = datetime.date(2025, 2, 3)
    table = et.encrypt(
        fermat.client,
        {"x": np.array([0.07, 12.5, -1.0, 1e1]), "d": [day] * 4, "rest": [None] * 4},
        schema,
    )
    assert table.run(fermat.server, "select sum(x) as x from t").read(
        fermat.client, arrow=False
    ) == {"x": [D("21.57")]}
    midnight = np.array(["2025-02-03T00:00:00"], "datetime64[s]")
    assert et.encrypt(fermat.client, {"x": [1], "d": midnight}, schema).rows == 1
    for x, d in (
        (0.001, day),
        (1e-7, day),
        (float("nan"), day),
        (None, day),
        (100, day),
        ("1,5", day),
        (1, "2025-02-30"),
        (1, datetime.datetime(2025, 2, 3, 4)),
        (1, datetime.datetime(2025, 2, 3, tzinfo=datetime.timezone.utc)),
        (1, 3),
    ):
        refused(
            "table.value",
            lambda: et.encrypt(fermat.client, {"x": [x], "d": [d]}, schema),
            everlevel.TableError,
        )
    refused("table.data", lambda: et.encrypt(fermat.client, {"x": [1, 2], "d": [day]}, schema))
    refused("table.data", lambda: et.encrypt(fermat.client, {"x": [1]}, schema))
    refused("table.data", lambda: et.encrypt(fermat.client, {"x": [], "d": []}, schema))
    refused("python.table", lambda: et.encrypt(fermat.client, 3, schema), everlevel.DtypeError)
    refused(
        "wire.io", lambda: et.encrypt(fermat.client, "nowhere.csv", schema), everlevel.FileError
    )


def test_what_is_no_column_or_cell():
    columns = [
        {"name": "n", "type": "integer", "low": 0, "high": 255},
        {"name": "w", "type": "text", "bytes": 20},
    ]
    plan = et.Plan("select n, w from t", et.Schema({"columns": columns}))
    whole = {"n": [5, 6], "w": ["ab", "cd"]}
    assert plan.answer(whole, arrow=False) == whole
    for name in whole:
        # A mapping is what a column of DataFrame.to_dict() is: its keys are those of rows.
        for column in ("ab", b"ab", {0: 5, 1: 6}, {5, 6}, np.zeros((2, 2), int)):
            refused(
                "python.table",
                lambda: plan.answer({**whole, name: column}, arrow=False),
                everlevel.DtypeError,
            )
    for cell in (b"ab", ["ab"], ("ab",), {"ab": 1}, np.array(["ab"])):
        refused(
            "table.value",
            lambda: plan.answer({**whole, "w": ["cd", cell]}, arrow=False),
            everlevel.TableError,
        )
    refused("python.table", lambda: et.Schema.infer({"n": {0: 5, 1: 6}}), everlevel.DtypeError)


def test_points_in_time_at_midnight():
    """They were the texts of dates, which no column of timestamps holds, and of which with times of
    day the inferred column was a category.
    """
    times = [datetime.datetime(2025, 2, 3), datetime.datetime(2025, 2, 3, 4, 5)]
    schema = et.Schema.infer({"at": times})
    assert schema.columns["at"]["type"] == "timestamp"
    plan = et.Plan("select at from t", schema)
    hidden = et.Plan("select count(*) as n from t where at <= :last", schema)
    for unit in ("m", "s", "ms", "us", "ns"):
        data = {"at": np.array(times, f"datetime64[{unit}]")}
        assert et.Schema.infer(data) == schema
        assert plan.answer(data, arrow=False) == {"at": times}
        for count, last in enumerate(times, 1):
            for same in (last, np.datetime64(last, unit), last.isoformat()):
                assert hidden.answer(data, arrow=False, last=same) == {"n": [count]}, same
    # All of them at midnight are dates.
    assert et.Schema.infer({"at": times[:1]}).columns["at"]["type"] == "date"


class Ward(str, enum.Enum):
    NORTH = "north"


def test_texts_of_enumerations(schema):
    assert str(Ward.NORTH) != "north"
    t = et.table(schema)
    plan = et.Plan(t.filter(t.ward == Ward.NORTH).agg(n=et.count()))
    assert plan.answer(STAYS, arrow=False) == {"n": [2]}
    wards = [Ward.NORTH if ward == "north" else ward for ward in STAYS["ward"]]
    assert plan.answer({**STAYS, "ward": wards}, arrow=False) == {"n": [2]}
    hidden = et.Plan("select count(*) as n from t where ward = :ward", schema)
    assert hidden.answer(STAYS, arrow=False, ward=Ward.NORTH) == {"n": [2]}
    for values in ("ab", b"ab", {1: 2}):
        refused("python.question", lambda: t.days.isin(values), everlevel.TableError)


def test_arrow(fermat, schema, tmp_path):
    pa = pytest.importorskip("pyarrow")
    import pyarrow.parquet as parquet

    arrow = pa.table(
        {
            **STAYS,
            "ward": pa.array(STAYS["ward"]).dictionary_encode(),
            "admitted": pa.array(STAYS["admitted"]).cast(pa.timestamp("ms")),
        }
    )
    assert et.Schema.infer(arrow).columns == schema.columns
    parquet.write_table(arrow, tmp_path / "stays.parquet")
    for data in (arrow, tmp_path / "stays.parquet", arrow.to_batches()[0]):
        answer = (
            et.encrypt(fermat.client, data, schema).run(fermat.server, QUERY).read(fermat.client)
        )
        assert answer.to_pydict() == ANSWER
    assert answer.schema.types == [
        pa.string(),
        pa.int64(),
        pa.decimal128(38, 2),
        pa.decimal128(38, 6),
    ]
    table = et.encrypt(fermat.client, arrow, schema)
    answer = table.run(
        fermat.server,
        "select surgery, admitted, sum(days) from t group by surgery, admitted limit 1".replace(
            "admitted, ", ""
        ).replace(", admitted", ""),
    ).read(fermat.client)
    assert answer.schema.types == [pa.bool_(), pa.int64()]
    floats = pa.table({**STAYS, "cost": pa.array([0.07, 1e-2, 12.0, 99.9])})
    read = (
        et.encrypt(fermat.client, floats, schema)
        .run(fermat.server, "select sum(cost) as c from t")
        .read(fermat.client)
    )
    assert read.to_pydict() == {"c": [D("111.98")]}
    late = pa.array([datetime.datetime(2025, 1, 2, 3)] * 4)
    zoned = pa.array(STAYS["admitted"]).cast(pa.timestamp("ms")).cast(pa.timestamp("ms", "UTC"))
    for wrong in (
        {"days": pa.array([1, None, 2, 3])},
        {"cost": pa.array([0.5, float("nan"), 1.0, 1.0])},
        {"admitted": late},
        {"admitted": zoned},
    ):
        refused(
            "table.value",
            lambda: et.encrypt(fermat.client, pa.table({**STAYS, **wrong}), schema),
            everlevel.TableError,
        )
    lists = pa.table({**STAYS, "days": pa.array([[1], [2], [3], [4]])})
    refused("python.table", lambda: et.encrypt(fermat.client, lists, schema), everlevel.DtypeError)
    durations = pa.table({**STAYS, "days": pa.array([1, 2, 3, 4], pa.duration("s"))})
    refused("python.table", lambda: et.Schema.infer(durations), everlevel.DtypeError)
    wide = pa.table(
        {
            **STAYS,
            "cost": pa.array(STAYS["cost"]).cast(pa.decimal256(50, 3)),
            "ward": pa.array(STAYS["ward"]).cast(pa.large_string()),
        }
    )
    assert (
        et.encrypt(fermat.client, wide, schema)
        .run(fermat.server, QUERY)
        .read(fermat.client)
        .to_pydict()
        == ANSWER
    )


def test_arrow_decimals_of_many_places():
    pa = pytest.importorskip("pyarrow")
    values = [D("0.0000000"), D("0.0000001"), D("-2.5000000"), None]
    data = pa.table({"x": pa.array(values, pa.decimal128(20, 7))})
    schema = et.Schema.infer(data)
    assert schema.columns["x"]["type"] == "decimal" and schema.columns["x"]["scale"] == 7
    plan = et.Plan("select sum(x) as s, count(x) as n from t", schema)
    assert plan.answer(data, arrow=False) == {"s": [D("-2.4999999")], "n": [3]}


def test_periods_are_no_integers():
    pd = pytest.importorskip("pandas")
    pytest.importorskip("pyarrow")
    frame = pd.DataFrame({"n": pd.period_range("2026-01", periods=2, freq="M")})
    refused("python.table", lambda: et.Schema.infer(frame), everlevel.DtypeError)


def test_data_frames(fermat, schema):
    pytest.importorskip("pyarrow")
    found = []
    for name, make in (
        ("pandas", lambda m: m.DataFrame(STAYS)),
        ("polars", lambda m: m.DataFrame(STAYS)),
        (
            "duckdb",
            lambda m: m.sql(
                "select 'north' as ward, 3 as days, 1200.50 as cost, date '2025-01-30' as "
                "admitted, true as surgery, 'Ada' as name"
            ),
        ),
    ):
        try:
            module = __import__(name)
        except ImportError:
            continue
        table = et.encrypt(fermat.client, make(module), schema)
        answer = table.run(fermat.server, QUERY).read(fermat.client, arrow=False)
        assert answer["cost"][0] == D("1200.50"), name
        found.append(name)
    if not found:
        pytest.skip("no library of data frames is here")


@pytest.mark.skipif(
    not os.environ.get("EVERLEVEL_PROGRAM"), reason="EVERLEVEL_PROGRAM does not name the program"
)
def test_files_are_those_of_the_program(fermat, schema, table, tmp_path):
    fermat.client.save_keys(tmp_path / "keys")
    table.save(tmp_path / "stays")
    et.Plan(QUERY, schema).save(tmp_path / "q.plan")
    for line in (
        "run --table stays --server-keys keys/server.keys --plan q.plan --out q.result",
        "read --key keys/secret.key --in q.result --plan q.plan --out answer.csv",
    ):
        subprocess.run(
            [os.environ["EVERLEVEL_PROGRAM"], "table", *line.split(), "--insecure-research"],
            cwd=tmp_path,
            check=True,
            capture_output=True,
        )
    assert (
        (tmp_path / "answer.csv")
        .read_text()
        .startswith("ward,n,cost,days\nnorth,1,1200.50,3.000000\n")
    )
    assert et.Result.open(tmp_path / "q.result").read(fermat.client, arrow=False) == ANSWER


def test_constants_that_the_server_does_not_see(fermat, schema, table, tmp_path):
    plan = et.Plan(
        "select ward, cost from t where days between :low and :high and surgery = :cut order by "
        "cost",
        schema,
    )
    assert plan.parameters == {"low": "days", "high": "days", "cut": "surgery"}
    constants = plan.bind(fermat.client.public_key(), low=2, high=np.int64(7), cut=True)
    constants.save(tmp_path / "q.constants")
    back = pickle.loads(pickle.dumps(et.Constants.open(tmp_path / "q.constants")))
    assert (back.id, back.plan_id, back.key_id) == (constants.id, plan.id, fermat.client.key_id)
    result = table.run(fermat.server, plan, constants=back)
    expected = {"ward": ["west", "north"], "cost": [D("99.90"), D("1200.50")]}
    assert result.read(fermat.client, plan=plan, constants=constants, arrow=False) == expected

    others = plan.bind(fermat.client, low=2, high=7, cut=True)
    refused("table.other-result", lambda: result.read(fermat.client, constants=others))
    refused("table.constants", lambda: table.run(fermat.server, plan))
    other = et.Plan("select count(*) from t where days > :low", schema)
    refused("table.constants", lambda: table.run(fermat.server, other, constants=constants))
    for values in (
        {"low": 2},
        {"low": 2, "high": 3, "cut": True, "more": 1},
        {"low": -1, "high": 3, "cut": True},
        {"low": None, "high": 3, "cut": True},
    ):
        refused("table.constants", lambda: plan.bind(fermat.client, **values))
    refused("table.type", lambda: et.Plan("select sum(days * :low) from t", schema))
    admitted = et.Plan(
        "select count(*) as n from t where admitted >= :day and ward = :ward", schema
    )
    found = table.run(
        fermat.server,
        admitted,
        constants=admitted.bind(fermat.client, day=datetime.date(2025, 1, 1), ward="north"),
    )
    assert found.read(fermat.client, arrow=False) == {"n": [1]}


def test_rows_as_answers(fermat, schema, table):
    rows = table.run(fermat.server, "select * from t where cost > 1000 order by days").read(
        fermat.client, arrow=False
    )
    assert rows == {name: STAYS[name][:2] for name in schema.columns} and "cost" in rows
    assert table.run(fermat.server, "select ward from t where days > 200").read(
        fermat.client, arrow=False
    ) == {"ward": []}


def test_keys_for_known_queries(fermat, schema, table):
    plan = et.Plan(QUERY, schema)
    server = plan.server(fermat.client, len(table), seeded_keys=True)
    assert not server.can_bootstrap
    assert (
        sum(size for _, size in server.size_report().values())
        < sum(size for _, size in fermat.server.size_report().values()) / 2
    )
    assert table.run(server, plan).read(fermat.client, arrow=False) == ANSWER
    small = plan.server(fermat.client, len(table), small_keys=True)
    (count, size), (fewer, less) = (
        keys.size_report()["relinearization"] for keys in (server, small)
    )
    assert fewer < count and less < size
    assert table.run(small, plan).read(fermat.client, arrow=False) == ANSWER
    refused(
        "table.keys",
        lambda: et.EncryptedTable.run(
            table,
            et.Plan("select ward from t where surgery", schema).server(fermat.client, 4),
            plan,
        ),
    )


def test_tables_that_the_server_knows(fermat, schema):
    known = et.PlainTable(STAYS, schema)
    assert (len(known), known.rows, known.schema.columns) == (
        len(STAYS["ward"]),
        len(STAYS["ward"]),
        schema.columns,
    )
    plan = et.Plan("select ward, days from t where cost = :cost and surgery", schema)
    costs = sorted(set(STAYS["cost"]))
    for cost in (costs[0], costs[-1]):
        constants = plan.bind(fermat.client.public_key(), cost=cost)
        result = known.run(fermat.server, plan, constants=constants)
        expected = [i for i, c in enumerate(STAYS["cost"]) if c == cost and STAYS["surgery"][i]]
        answer = result.read(
            fermat.client, plan=plan, table_id=known.id, constants=constants, arrow=False
        )
        assert answer == {name: [STAYS[name][i] for i in expected] for name in ("ward", "days")}
    none = et.Plan("select count(*) from t where surgery", schema)
    refused("table.constants", lambda: known.run(fermat.server, none, constants=constants))
    other = et.Plan("select count(*) from t where days > :low", schema)
    refused("table.constants", lambda: known.run(fermat.server, other, constants=constants))
    with pytest.raises(TypeError):
        known.run(fermat.server, plan)


def test_changes(fermat, schema, tmp_path):
    directory = tmp_path / "stays"
    table = et.encrypt(fermat.client, STAYS, schema, directory=directory)
    before, rows = table.id, len(STAYS["ward"])
    stale = et.EncryptedTable.open(directory, insecure_research=True)
    more = {name: column[:2] for name, column in STAYS.items()}
    steps: list[tuple[int, int]] = []
    added = table.insert(fermat.client, more, progress=lambda done, of: steps.append((done, of)))
    assert (added.rows, len(table), added.removed, steps) == (2, rows + 2, (), [(1, 1)])
    assert "files.json" in added.written and table.id != before

    updated = table.change(fermat.client, "update t set days = 1 where surgery")
    both = {name: [*column, *column[:2]] for name, column in STAYS.items()}
    assert updated.rows == sum(both["surgery"]) and len(updated.written) == 2
    both["days"] = [1 if cut else days for days, cut in zip(both["days"], both["surgery"])]
    assert table.change(fermat.client, "delete from t where ward = 'south'").rows == both[
        "ward"
    ].count("south")
    left = [i for i, ward in enumerate(both["ward"]) if ward != "south"]
    clear = table.decrypt(fermat.client, arrow=False)
    assert clear == {name: [both[name][i] for i in left] for name in schema.columns}
    assert (
        et.EncryptedTable.open(directory, insecure_research=True).decrypt(
            fermat.client, arrow=False
        )
        == clear
    )
    answer = table.run(fermat.server, "select sum(days) as days from t").read(
        fermat.client, arrow=False
    )
    assert answer == {"days": [sum(clear["days"])]}

    refused("table.block", lambda: stale.run(fermat.server, "select count(*), sum(days) from t"))
    refused("table.block", lambda: stale.change(fermat.client, "delete from t where days = 1"))
    kept = table.id
    refused(
        "table.change", lambda: table.change(fermat.client, "update t set days = days + 100000")
    )
    refused("table.data", lambda: table.change(fermat.client, "delete from t"))
    refused("table.unsupported", lambda: table.change(fermat.client, "select count(*) from t"))
    refused("table.value", lambda: table.insert(fermat.client, {**more, "days": [1, -1]}))
    other = everlevel.Client(fermat.client.params)
    refused("scheme.wrong-key", lambda: table.change(other, "delete from t where days = 1"))
    refused("scheme.wrong-key", lambda: table.decrypt(other))
    assert table.id == kept and table.decrypt(fermat.client, arrow=False) == clear


def test_what_is_made_of_rows(fermat, schema, table):
    plan = et.Plan(
        "select min(admitted) as first, max(cost) as most, median(days) as middle, count(distinct "
        "ward) as wards from t where surgery",
        schema,
    )
    answer = table.run(fermat.server, plan).read(fermat.client, arrow=False)
    chosen = [i for i, cut in enumerate(STAYS["surgery"]) if cut]
    days = sorted(STAYS["days"][i] for i in chosen)
    assert answer == {
        "first": [min(STAYS["admitted"][i] for i in chosen)],
        "most": [max(STAYS["cost"][i] for i in chosen)],
        "middle": [D(days[(len(days) - 1) // 2] + days[len(days) // 2]) / 2],
        "wards": [len({STAYS["ward"][i] for i in chosen})],
    }
    groups = et.Plan(
        "select admitted, count(*) as n from t group by admitted order by admitted", schema
    )
    answer = table.run(fermat.server, groups).read(fermat.client, arrow=False)
    assert answer["admitted"] == sorted(set(STAYS["admitted"])) and sum(answer["n"]) == len(
        STAYS["ward"]
    )


VISITS = et.Schema(
    {
        "columns": [
            {"name": "patient", "type": "integer", "low": 0, "high": 15},
            {"name": "cost", "type": "decimal", "scale": 2, "low": "0", "high": "999.99"},
            {"name": "born", "type": "date", "low": "1920-01-01", "high": "2026-12-31"},
            {"name": "insured", "type": "boolean"},
        ],
        "foreign_keys": [
            {"column": "patient", "table": "patients", "key": "id", "include": ["born", "insured"]}
        ],
    }
)
PATIENTS = {
    "id": [3, 7],
    "born": [datetime.date(1980, 5, 1), datetime.date(1961, 11, 30)],
    "insured": [False, True],
    "name": ["Eve", "Fay"],
}


def test_joins_of_tables_in_the_clear(fermat, tmp_path):
    visits = {"patient": [7, 3, 7], "cost": [D("120.50"), D("80.00"), D("45.25")]}
    query = (
        "select insured, count(*) as n, sum(cost) as cost from visits join patients on patient = "
        "id where born < date '1970-01-01' group by insured"
    )
    plan, partners = et.Plan(query, VISITS), {"Patients": PATIENTS}
    expected = {"insured": [True], "n": [2], "cost": [D("165.75")]}
    assert plan.answer(visits, partners=partners, arrow=False) == expected
    assert plan.rehearse(fermat.params, visits, partners=partners, arrow=False) == expected
    table = et.encrypt(fermat.client, visits, VISITS, partners=partners)
    answer = table.run(fermat.server, plan).read(fermat.client, arrow=False)
    assert answer == expected
    # With the columns in the table itself, and the partners in a file.
    carried = {**visits, "born": [PATIENTS["born"][i] for i in (1, 0, 1)]}
    carried["insured"] = [True, False, True]
    assert plan.answer(carried, arrow=False) == expected
    path = tmp_path / "patients.csv"
    path.write_text("id,born,insured\n3,1980-05-01,false\n7,1961-11-30,true\n")
    assert plan.answer(visits, partners={"patients": path}, arrow=False) == expected
    inserted = table.insert(fermat.client, {"patient": [7], "cost": [1]}, partners=partners)
    assert inserted.rows == 1
    answer = table.run(fermat.server, plan).read(fermat.client, arrow=False)
    assert answer == {"insured": [True], "n": [3], "cost": [D("166.75")]}


def test_partners_that_do_not_fit():
    plan = et.Plan("select count(*) as n from visits", VISITS)
    visits = {"patient": [7], "cost": [1]}

    def answer(partners, data=visits):
        return lambda: plan.answer(data, partners=partners)

    twice = {**PATIENTS, "id": [7, 7]}
    refused("table.partner", answer({"patients": twice}), everlevel.TableError)
    stranger = {"patient": [4], "cost": [1]}
    refused("table.partner", answer({"patients": PATIENTS}, stranger), everlevel.TableError)
    found = refused("table.data", answer({"doctors": PATIENTS}), everlevel.TableError)
    assert "patients" in str(found)
    late = {**PATIENTS, "born": [datetime.date(2030, 1, 1)] * 2}
    refused("table.value", answer({"patients": late}), everlevel.TableError)
    refused("table.data", answer({"patients": {"id": [7], "born": PATIENTS["born"][:1]}}))
    refused("table.data", answer(None))
