"""Modules of the package import lower ones only: at the top, in functions, for type checkers."""

import ast
import pathlib

import everlevel

#: The imports of higher modules that are left. They are for type checkers alone, for classes that
#: name each other in what users see: the parts of a class name the whole; an array has its server,
#: which takes arrays; and a table of a service has its connection, which makes such tables.
UPWARD = {
    ("_along", "_integers"),
    ("_array", "_server"),
    ("_converted", "_integers"),
    ("_operands", "_integers"),
    ("_remote_tables", "_remote"),
    ("_rows", "_integers"),
    ("_short", "_integers"),
}


def imported(text, modules):
    """The modules that a text imports, and whether for type checkers alone."""
    found = set()

    def names(node):
        if isinstance(node, ast.Import):
            for name in node.names:
                whole, _, part = name.name.partition(".")
                if whole == "everlevel":
                    yield part or "__init__"
            return
        module = node.module or ""
        if node.level == 0:
            whole, _, module = module.partition(".")
            if whole != "everlevel":
                return
        if module:
            yield module
            return
        for name in node.names:
            yield name.name if name.name in modules else "__init__"

    def visit(node, typing):
        if isinstance(node, ast.If) and "TYPE_CHECKING" in ast.unparse(node.test):
            # Only the plain condition is known to be false when the program runs.
            plain = ast.unparse(node.test) in ("TYPE_CHECKING", "typing.TYPE_CHECKING")
            for part in node.body:
                visit(part, typing or plain)
            for part in node.orelse:
                visit(part, typing)
            return
        if isinstance(node, (ast.Import, ast.ImportFrom)):
            found.update((name, typing) for name in names(node) if name in modules)
        for part in ast.iter_child_nodes(node):
            visit(part, typing)

    visit(ast.parse(text), False)
    return found


def circles(edges):
    """The sets of modules that lead to each other, each sorted."""
    reached = {}
    for start in {module for edge in edges for module in edge}:
        left, seen = [start], set()
        while left:
            here = left.pop()
            for a, b in edges:
                if a == here and b not in seen:
                    seen.add(b)
                    left.append(b)
        reached[start] = seen
    return sorted(
        {
            tuple(sorted({b for b in seen if start in reached[b]}))
            for start, seen in reached.items()
            if start in seen
        }
    )


def edges_of(texts):
    """The imports between modules: those of programs that run, and all."""
    # The compiled half imports nothing.
    modules = {*texts, "_everlevel"}
    found = {
        (module, name, typing)
        for module, text in texts.items()
        for name, typing in imported(text, modules)
    }
    return {(a, b) for a, b, typing in found if not typing}, {(a, b) for a, b, _ in found}


def package():
    folder = pathlib.Path(everlevel.__file__).parent
    return {path.stem: path.read_text(encoding="utf-8") for path in folder.glob("*.py")}


def test_imports_go_one_way():
    runs, every = edges_of(package())
    assert len(runs) > 300
    assert circles(runs) == []
    assert UPWARD <= every and not UPWARD & runs
    assert circles(every - UPWARD) == []


def test_no_import_upward_is_left_without_need():
    _, every = edges_of(package())
    for edge in UPWARD:
        assert circles(every - UPWARD | {edge}), edge


def test_circles_are_found():
    """In functions, for type checkers, through the package, and of a module with itself."""
    texts = {
        "__init__": "from . import _a",
        "_a": "def f():\n    from ._b import g",
        "_b": "from typing import TYPE_CHECKING\nif TYPE_CHECKING:\n    from . import _a, _c\n",
        "_c": "if not TYPE_CHECKING:\n    import everlevel._d\nelse:\n    from . import __all__",
        "_d": "from everlevel._d import x\nfrom . import _everlevel\nimport numpy",
    }
    runs, every = edges_of(texts)
    assert runs == {
        ("__init__", "_a"),
        ("_a", "_b"),
        ("_c", "_d"),
        ("_c", "__init__"),
        ("_d", "_d"),
        ("_d", "_everlevel"),
    }
    assert every - runs == {("_b", "_a"), ("_b", "_c")}
    assert circles(runs) == [("_d",)]
    assert circles(every) == [("__init__", "_a", "_b", "_c"), ("_d",)]
