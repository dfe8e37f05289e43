"""The examples of the README run, and its tables are true."""

import importlib
import os
import pathlib
import re
import shutil
import subprocess

import pytest

README = (pathlib.Path(__file__).parent.parent / "README.md").read_text()


def test_the_examples():
    examples = re.findall(r"```python\n(.*?)```", README, re.DOTALL)
    first, typed, large = (example for example in examples if "everlevel.Params(" in example)
    scope = {}
    exec(compile(first, "README.md", "exec"), scope)
    assert scope["server"].bootstraps > 0
    exec(compile(typed, "README.md", "exec"), {})
    scope = {}
    exec(compile(large, "README.md", "exec"), scope)
    assert scope["x"].ciphertexts == 8


def test_the_docstring_of_the_package():
    import doctest

    import everlevel

    found = doctest.testmod(everlevel)
    assert found.attempted > 5 and found.failed == 0


def resolved(name):
    """What a dotted name stands for."""
    parts = name.split(".")
    for count in range(len(parts), 0, -1):
        try:
            found = importlib.import_module(".".join(parts[:count]))
        except ModuleNotFoundError:
            continue
        for part in parts[count:]:
            found = getattr(found, part)
        return found
    raise AssertionError(f"nothing is called {name}")


def commands():
    """The table of the program's commands, and what it names here."""
    table = README.split("## Command-line equivalents\n")[1].split("\n\n")[0]
    rows = [re.findall(r"`([^`]*)`", row.split("|")[1]) for row in table.splitlines()[2:]]
    here = [re.findall(r"`(everlevel[.\w]*)`", row.split("|")[2]) for row in table.splitlines()[2:]]
    return {command: names for row, names in zip(rows, here) for command in row}


def test_what_the_tables_name_is_there():
    for names in commands().values():
        for name in names:
            assert resolved(name) is not None
    for name in re.findall(r"`(everlevel\.[\w.]+)`", README):
        resolved(name)


@pytest.mark.skipif(
    not os.environ.get("EVERLEVEL_PROGRAM"), reason="EVERLEVEL_PROGRAM does not name the program"
)
def test_every_command_of_the_program_is_in_the_table():
    program = shutil.which(os.environ["EVERLEVEL_PROGRAM"])

    def below(*path):
        told = subprocess.run(
            [program, *path, "--help"], check=True, capture_output=True, text=True
        ).stdout
        if "\nCommands:\n" not in told:
            return [" ".join(path)]
        names = re.findall(
            r"^  ([\w-]+)", told.split("\nCommands:\n")[1].split("\n\n")[0], re.MULTILINE
        )
        found = [name for sub in names if sub != "help" for name in below(*path, sub)]
        # Some commands do something themselves.
        return (
            [" ".join(path), *found]
            if path and "COMMAND" not in told.split("Usage:")[1].splitlines()[0]
            else found
        )

    table = commands()
    found = set(below()) - {"explain bootstrap"}
    assert found == set(table)
