"""Queries derived from TPC-H on generated line items, row by row as DuckDB answers them: not
comparable with published TPC-H results.
"""

import importlib.util
import json
import pathlib
import shutil
import subprocess
import sys

import pytest

import everlevel
from everlevel import tables as et

pytest.importorskip("duckdb")
pytest.importorskip("pyarrow")

SCRIPT = pathlib.Path(__file__).parent.parent / "benchmarks" / "tpch.py"
if (
    not pathlib.Path(sys.executable).with_name("tpchgen-cli").exists()
    and shutil.which("tpchgen-cli") is None
):
    pytest.skip("tpchgen-cli is not installed", allow_module_level=True)

NAMES = ["Q1", "Q6", "Q12", "Q14", "lookup"]


@pytest.fixture(scope="module")
def tpch():
    spec = importlib.util.spec_from_file_location("tpch", SCRIPT)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.fixture(scope="module")
def loaded(tpch, tmp_path_factory):
    directory = tmp_path_factory.mktemp("tpch")
    tpch.generate(0.001, directory)
    return tpch.load(directory)


@pytest.mark.parametrize("constants", ["public", "encrypted"])
@pytest.mark.parametrize("name", NAMES)
def test_6005_line_items(tpch, loaded, name, constants):
    connection, items = loaded
    assert items.num_rows == 6005
    params = everlevel.Params("insecure_bgv-65537-n11", insecure_research=True)
    hidden = {} if constants == "encrypted" else None
    plan = et.Plan(tpch.queries(hidden=hidden)[name])
    named = {key: hidden[key] for key in plan.parameters}
    assert bool(named) == (constants == "encrypted")
    wanted = tpch.expected(connection, name)
    assert wanted and None not in wanted[0]
    for found in (
        plan.answer(items, arrow=False, **named),
        plan.rehearse(params, items, arrow=False, **named),
    ):
        assert list(zip(*found.values())) == wanted


def test_the_script_measures_under_encryption(tmp_path):
    out = tmp_path / "record.json"
    arguments = ["--scale", "0.001", "--rows", "2500", "--params", "insecure_bgv-65537-n11"]
    arguments += ["--insecure-research", "--repeat", "1", "--out", str(out)]
    done = subprocess.run([sys.executable, SCRIPT, *arguments], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    record = json.loads(out.read_text())
    (table,) = record["tables"]
    assert (table["rows"], table["blocks"]) == (2500, 2)
    assert [asked["name"] for asked in table["queries"]] == NAMES
    assert all(asked["exact"] for asked in table["queries"])
