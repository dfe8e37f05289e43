"""The notebooks run from beginning to end; what they claim is asserted in them, and what is stored
as their output is what they print, numbers aside."""

import pathlib
import re

import pytest

BOOKS = sorted((pathlib.Path(__file__).parent.parent / "notebooks").glob("*.ipynb"))


def told(book):
    """The outputs of each cell, without numbers and ids, which differ from run to run."""
    found = []
    for cell in book.cells:
        for output in cell.get("outputs", []):
            texts = (
                [output["text"]]
                if "text" in output
                else [text for _, text in sorted(output["data"].items())]
            )
            found += [re.sub(r"[\w,.]*\d[\w,.]*", "#", text) for text in texts]
    return re.sub(r"[ #\n-]+", " ", "\n".join(found))


@pytest.mark.filterwarnings("default")
@pytest.mark.parametrize("path", BOOKS, ids=[path.stem for path in BOOKS])
def test_notebook(path):
    nbformat = pytest.importorskip(
        "nbformat", reason="nbformat is not installed: pip install 'everlevel[test]'"
    )
    nbclient = pytest.importorskip(
        "nbclient", reason="nbclient is not installed: pip install 'everlevel[test]'"
    )
    if "cryptography" in path.read_text(encoding="utf-8"):
        pytest.importorskip(
            "cryptography", reason="cryptography is not installed: pip install 'everlevel[test]'"
        )
    book = nbformat.read(path, as_version=4)
    stored = told(book)
    assert sum(bool(cell.get("outputs")) for cell in book.cells) >= 3, (
        "notebooks are kept with outputs"
    )
    nbclient.NotebookClient(
        book, timeout=300, kernel_name="python3", resources={"metadata": {"path": path.parent}}
    ).execute()
    assert all(cell.execution_count for cell in book.cells if cell.cell_type == "code")
    assert told(book) == stored, "store it again: jupyter execute --inplace NOTEBOOK"


def test_there_are_three():
    assert [path.stem[:2] for path in BOOKS] == ["01", "02", "03"]
