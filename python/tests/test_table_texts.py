"""Texts of encrypted tables from every library, and tables that are read piece by piece."""

import csv

import pytest

import everlevel
from everlevel import _cells
from everlevel import tables as et

COLUMNS = [
    {"name": "id", "type": "integer", "low": 0, "high": 9999},
    {"name": "name", "type": "text", "bytes": 20},
    {"name": "note", "type": "text", "bytes": 12, "nullable": True},
]
SCHEMA = et.Schema({"columns": COLUMNS})
NAMES = ["Zoë Łódź", "", " blanks ", 'a "quote"', "line\r\nend", "日本語", "\u0001", "=1+1"]
NOTES = ["x", None, " ", "NULL", None, "nan", "é", "None"]
DATA = {"id": list(range(8)), "name": NAMES, "note": NOTES}


def asked(party, data, where="id >= 0"):
    table = et.encrypt(party.client, data, SCHEMA)
    plan = et.Plan(f"select id, name, note from t where {where} order by id", SCHEMA)
    return table.run(party.server, plan).read(party.client, arrow=False)


def test_texts_come_back(fermat):
    assert asked(fermat, DATA) == DATA
    assert asked(fermat, DATA, "name = ' blanks '")["id"] == [2]
    assert asked(fermat, DATA, "note <> 'x'")["id"] == [2, 3, 5, 6, 7]
    assert asked(fermat, DATA, "note is null")["id"] == [1, 4]
    t = et.table(SCHEMA)
    plan = et.Plan(t.filter(t.name.isin(["日本語", "=1+1"])).select("id", "name"))
    assert plan.answer(DATA, arrow=False) == {"id": [5, 7], "name": ["日本語", "=1+1"]}
    for query in (
        t.filter(t.name.startswith("a")).select("id"),
        t.filter(t.name > "a").select("id"),
        t.group_by("name").agg(n=et.count()),
    ):
        with pytest.raises(everlevel.TableError) as caught:
            et.Plan(query)
        assert caught.value.code == "table.unsupported" and "category" in str(caught.value)
    with pytest.raises(everlevel.TableError) as caught:
        asked(fermat, {**DATA, "note": ["x", ""] + NOTES[2:]})
    assert caught.value.code == "table.value"
    with pytest.raises(everlevel.TableError) as caught:
        asked(fermat, {**DATA, "name": ["x" * 21] + NAMES[1:]})
    assert caught.value.code == "table.value"


def test_texts_of_libraries(fermat, tmp_path):
    pa = pytest.importorskip("pyarrow")
    parquet = pytest.importorskip("pyarrow.parquet")
    table = pa.table(DATA)
    assert asked(fermat, table) == DATA
    parquet.write_table(table, tmp_path / "t.parquet")
    assert asked(fermat, str(tmp_path / "t.parquet")) == DATA
    found = et.encrypt(fermat.client, table, SCHEMA).decrypt(fermat.client)
    assert found.schema.types == [pa.int64(), pa.string(), pa.string()]
    assert found.to_pydict() == DATA
    with open(tmp_path / "t.csv", "w", newline="", encoding="utf-8") as file:
        csv.writer(file).writerows([DATA, *zip(*DATA.values())])
    assert asked(fermat, str(tmp_path / "t.csv")) == DATA
    for name in ("pandas", "polars"):
        library = pytest.importorskip(name)
        assert asked(fermat, library.DataFrame(DATA)) == DATA


def test_what_infer_says_of_texts():
    schema = et.Schema.infer({"id": list(range(40)), "name": [f"name {i}" for i in range(40)]})
    assert list(schema.columns) == ["id"]
    assert '"type": "text", "bytes": 7 or more' in schema.notes[1]


@pytest.fixture
def short(monkeypatch):
    """Pieces of a few bytes and rows."""
    monkeypatch.setattr(_cells, "PIECE_BYTES", 777)
    monkeypatch.setattr(_cells, "PIECE_ROWS", 100)


ROWS = {
    "id": [i % 10_000 for i in range(5000)],
    "name": [NAMES[i % 8] for i in range(5000)],
    "note": [NOTES[i % 8] for i in range(5000)],
}


def test_files_are_read_piece_by_piece(fermat, tmp_path, short):
    with open(tmp_path / "t.csv", "w", newline="", encoding="utf-8") as file:
        csv.writer(file).writerows([ROWS, *zip(*ROWS.values())])
    paths = ["t.csv"]
    try:
        import pyarrow as pa
        import pyarrow.parquet as parquet
    except ImportError:
        pass
    else:
        parquet.write_table(pa.table(ROWS), tmp_path / "t.parquet", row_group_size=700)
        paths.append("t.parquet")
    for path in paths:
        seen = []
        table = et.encrypt(
            fermat.client,
            tmp_path / path,
            SCHEMA,
            directory=tmp_path / f"{path}.table",
            progress=lambda done, blocks: seen.append((done, blocks)),
        )
        assert seen == [(1, 3), (2, 3), (3, 3)]
        assert table.decrypt(fermat.client, arrow=False) == ROWS


def test_what_is_wrong_with_a_file(fermat, tmp_path, short):
    def refused(path):
        with pytest.raises(everlevel.Error) as caught:
            et.encrypt(fermat.client, path, SCHEMA, directory=tmp_path / "u")
        assert not (tmp_path / "u").exists()
        return caught.value

    assert refused(tmp_path / "none.csv").code == "wire.io"
    lines = [f"{i},a,b\n" for i in range(3000)]
    (tmp_path / "t.csv").write_text("id,name,note\n" + "".join(lines) + "x,a,b\n")
    error = refused(tmp_path / "t.csv")
    assert error.code == "table.value" and "line 3002" in str(error)
    parquet = pytest.importorskip("pyarrow.parquet")
    import pyarrow as pa

    wrong = {**ROWS, "name": [*ROWS["name"][:-1], None]}
    parquet.write_table(pa.table(wrong), tmp_path / "t.parquet")
    error = refused(tmp_path / "t.parquet")
    assert error.code == "table.value" and "row 5000" in str(error)


def test_partners_of_files(fermat, tmp_path, short):
    schema = et.Schema(
        {
            "columns": [
                {"name": "k", "type": "integer", "low": 0, "high": 9},
                {"name": "name", "type": "text", "bytes": 20},
            ],
            "foreign_keys": [{"column": "k", "table": "p", "key": "id", "include": ["name"]}],
        }
    )
    (tmp_path / "t.csv").write_text("k\n" + "".join(f"{i % 3}\n" for i in range(2100)))
    people = {"id": [0, 1, 2], "name": ["Ada", "Bob", "Cid"]}
    table = et.encrypt(
        fermat.client,
        tmp_path / "t.csv",
        schema,
        partners={"p": people},
        directory=tmp_path / "t",
    )
    plan = et.Plan("select name from t join p on k = id", schema)
    found = table.run(fermat.server, plan).read(fermat.client, arrow=False)
    assert found["name"] == [people["name"][i % 3] for i in range(2100)]
    assert table.rows == 2100


def test_decryption_has_what_rows_carry(fermat):
    schema = et.Schema(
        {
            "columns": [
                {"name": "id", "type": "integer", "low": 0, "high": 99},
                {"name": "who", "type": "integer", "low": 0, "high": 9},
                {"name": "name", "type": "text", "bytes": 12},
                {"name": "insured", "type": "boolean"},
            ],
            "foreign_keys": [
                {"column": "who", "table": "people", "key": "key", "include": ["name", "insured"]}
            ],
        }
    )
    people = {"key": [1, 4], "name": ["Zoë", ""], "insured": [True, False]}
    visits = {"id": [7, 8, 9], "who": [4, 1, 4]}
    table = et.encrypt(fermat.client, visits, schema, partners={"people": people})
    assert table.decrypt(fermat.client, arrow=False) == {
        **visits,
        "name": ["", "Zoë", ""],
        "insured": [False, True, False],
    }
