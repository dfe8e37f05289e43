"""Measuring, plotting, types."""

import inspect

import pytest

import everlevel
from everlevel import _everlevel, bench


def test_bench():
    found = bench.bootstrap("insecure_bgv-257-n8", 3, insecure_research=True)
    assert found["wrong_slots"] == 0 and found["python_seconds_min"] > 0 and found["runs"] == 3


def test_plot_noise(toy):
    matplotlib = pytest.importorskip("matplotlib", reason="matplotlib is not installed: pip install 'everlevel[plot]'")
    matplotlib.use("agg")
    from everlevel.plot import plot_noise

    x = toy.load([1, 2])
    y = x * x
    axes = plot_noise({"x": x, "x^2": y})
    widths = [bar.get_width() for bar in axes.patches]
    assert widths == [x.noise_bound_bits, y.noise_bound_bits, x.capacity_bits, y.capacity_bits]
    assert len(plot_noise(x).patches) == 2


def test_the_stub_names_what_there_is():
    """Every class, method and function of the compiled half is in the stub, and nothing else."""
    import ast
    import pathlib

    stub = ast.parse((pathlib.Path(everlevel.__file__).parent / "_everlevel.pyi").read_text())
    stated = {}
    for node in stub.body:
        if isinstance(node, ast.ClassDef):
            stated[node.name] = {part.name for part in node.body if isinstance(part, ast.FunctionDef)} - {"__init__"}
        elif isinstance(node, ast.FunctionDef):
            stated[node.name] = None
    found = {}
    for name, what in vars(_everlevel).items():
        if inspect.isclass(what):
            found[name] = {n for n in vars(what) if not n.startswith("__") or n == "__len__"}
        elif inspect.isbuiltin(what):
            found[name] = None
    assert found == stated


def test_everything_public_is_documented():
    modules = [everlevel, everlevel.errors, __import__("everlevel.aes").aes, __import__("everlevel.cluster").cluster, bench]
    for module in modules:
        assert module.__doc__
        for name in getattr(module, "__all__", ["Error"] if module is everlevel.errors else ["bootstrap"]):
            what = getattr(module, name)
            assert what.__doc__, name
            if inspect.isclass(what):
                for part, method in vars(what).items():
                    plain = inspect.isfunction(method) or isinstance(method, (property, classmethod))
                    if plain and not part.startswith("_"):
                        assert method.__doc__, f"{name}.{part}"
