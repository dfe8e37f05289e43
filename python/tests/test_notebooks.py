"""The notebooks run from beginning to end; what they claim is asserted in them."""

import pathlib

import pytest

BOOKS = sorted((pathlib.Path(__file__).parent.parent / "notebooks").glob("*.ipynb"))


@pytest.mark.filterwarnings("default")
@pytest.mark.parametrize("path", BOOKS, ids=[path.stem for path in BOOKS])
def test_notebook(path):
    nbformat = pytest.importorskip("nbformat", reason="nbformat is not installed: pip install 'everlevel[test]'")
    nbclient = pytest.importorskip("nbclient", reason="nbclient is not installed: pip install 'everlevel[test]'")
    book = nbformat.read(path, as_version=4)
    assert not any(cell.get("outputs") for cell in book.cells), "notebooks are kept without outputs"
    nbclient.NotebookClient(book, timeout=300, kernel_name="python3", resources={"metadata": {"path": path.parent}}).execute()
    assert all(cell.execution_count for cell in book.cells if cell.cell_type == "code")


def test_there_are_three():
    assert [path.stem[:2] for path in BOOKS] == ["01", "02", "03"]
