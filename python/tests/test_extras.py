"""Measuring, plotting, types."""

import inspect

import pytest

import everlevel
from everlevel import _everlevel, bench


def test_bench():
    found = bench.bootstrap("insecure_bgv-257-n8", 3, insecure_research=True)
    assert found["wrong_slots"] == 0 and found["python_seconds_min"] > 0 and found["runs"] == 3


def test_plot_noise(toy):
    matplotlib = pytest.importorskip(
        "matplotlib", reason="matplotlib is not installed: pip install 'everlevel[plot]'"
    )
    matplotlib.use("agg")
    from everlevel.plot import plot_noise

    x = toy.load([1, 2])
    y = x * x
    axes = plot_noise({"x": x, "x^2": y})
    widths = [bar.get_width() for bar in axes.patches]
    assert widths == [x.noise_bound_bits, y.noise_bound_bits, x.capacity_bits, y.capacity_bits]
    assert len(plot_noise(x).patches) == 2


def test_selftest(capsys):
    from everlevel import selftest

    assert selftest.main() == 0
    told = capsys.readouterr().out
    assert told.count("pass") == told.count(": 0 of ") == len(selftest.SETS)
    # Sets that bootstrap late would not be tested on it.
    assert " 0 bootstraps" not in told


def test_what_files_say(toy, tmp_path):
    x = toy.client.encrypt_modular([[1, 2, 3]])
    x.save(tmp_path / "x.ct")
    for source in (
        tmp_path / "x.ct",
        str(tmp_path / "x.ct"),
        x.to_bytes(),
        memoryview(x.to_bytes()),
    ):
        found = everlevel.inspect(source)
        assert (found["kind"], found["params"], found["records"]) == (
            "ciphertexts",
            "insecure_bgv-257-n8",
            1,
        )
        assert found["bytes"] == len(x.to_bytes()) and found["metadata"]["shape"] == "1,3"
        [stated] = found["ciphertexts"]
        assert (
            stated["level"] == x.level
            and stated["plain_modulus"] == 257
            and stated["noise_bound_bits"] == x.noise_bound_bits
        )
    toy.client.save_secret_key(tmp_path / "secret.key")
    found = everlevel.inspect(tmp_path / "secret.key")
    assert found["kind"] == "a secret key" and "ciphertexts" not in found
    unknown = everlevel.Params(
        {**toy.params.spec, "name": "insecure_unknown"}, insecure_research=True
    )
    data, identity = everlevel.Client(unknown).encrypt_modular([1]).to_bytes(), unknown.id
    del unknown
    assert everlevel.inspect(data)["params_id"] == identity
    with pytest.raises(everlevel.FormatError):
        everlevel.inspect(b"hello")
    with pytest.raises(everlevel.FileError):
        everlevel.inspect(tmp_path / "none")


def test_the_stub_names_what_there_is():
    """Every class, method and function of the compiled half is in the stub, and nothing else."""
    import ast
    import pathlib

    stub = ast.parse((pathlib.Path(everlevel.__file__).parent / "_everlevel.pyi").read_text())
    stated = {}
    for node in stub.body:
        if isinstance(node, ast.ClassDef):
            stated[node.name] = {
                part.name for part in node.body if isinstance(part, ast.FunctionDef)
            } - {"__new__"}
        elif isinstance(node, ast.FunctionDef):
            stated[node.name] = None
    found = {}
    for name, what in vars(_everlevel).items():
        if inspect.isclass(what):
            found[name] = {n for n in vars(what) if not n.startswith("__") or n == "__len__"}
        elif inspect.isbuiltin(what):
            found[name] = None
    assert found == stated


def test_the_stub_names_arguments_as_they_are():
    import ast
    import pathlib

    stub = ast.parse((pathlib.Path(everlevel.__file__).parent / "_everlevel.pyi").read_text())
    count = 0
    for node in stub.body:
        whole = (
            getattr(_everlevel, node.name)
            if isinstance(node, (ast.ClassDef, ast.FunctionDef))
            else None
        )
        for part in node.body if isinstance(node, ast.ClassDef) else [node]:
            if not isinstance(part, ast.FunctionDef) or any(
                getattr(d, "id", "") == "property" for d in part.decorator_list
            ):
                continue
            real = whole if part is node or part.name == "__new__" else getattr(whole, part.name)
            if part.name.startswith("__") and part.name != "__new__":
                continue
            names = [name for name in inspect.signature(real).parameters if name != "self"]
            assert names == [a.arg for a in part.args.args if a.arg not in ("self", "cls")], (
                f"{node.name}.{part.name}"
            )
            count += 1
    assert count > 80


def test_modules_are_reachable_and_imported_when_used():
    import subprocess
    import sys

    lines = [
        "import sys, everlevel",
        "lazy = ('aes', 'bench', 'cluster', 'planner', 'plot', 'selftest', 'tables')",
        "assert not any(f'everlevel.{name}' in sys.modules for name in lazy)",
        "assert set(lazy) <= set(dir(everlevel)) and set(lazy) <= set(everlevel.__all__)",
        "assert everlevel.planner.plan and everlevel.tables.Schema and everlevel.cluster.map",
        "assert everlevel.aes.encrypt_key and 'everlevel.bench' not in sys.modules",
        "from everlevel import *",
        "assert tables is everlevel.tables and bench.bootstrap",
        "assert not hasattr(everlevel, 'table')",
    ]
    subprocess.run([sys.executable, "-c", "\n".join(lines)], check=True)


def test_everything_public_is_documented():
    from everlevel import aes, cluster, planner, selftest

    modules = [everlevel, everlevel.errors, aes, cluster, planner, selftest, bench]
    for module in modules:
        assert module.__doc__
        for name in getattr(
            module, "__all__", ["Error"] if module is everlevel.errors else ["bootstrap"]
        ):
            what = getattr(module, name)
            assert what.__doc__ or not callable(what), name
            if inspect.isclass(what):
                # Those of the classes that it is made of, too.
                made_of = [c for c in what.__mro__ if c.__module__.startswith("everlevel.")]
                for part, method in (item for c in made_of for item in vars(c).items()):
                    plain = inspect.isfunction(method) or isinstance(
                        method, (property, classmethod)
                    )
                    if plain and not part.startswith("_"):
                        assert method.__doc__, f"{name}.{part}"
