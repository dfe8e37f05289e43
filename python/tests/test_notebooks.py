"""The notebooks run from beginning to end; what they claim is asserted in them, and what is stored
as their output is what they print, numbers aside."""

import pathlib
import re

import pytest

#: The set for notebooks that are for readers at 128 bits and have no toy as their default.
TOY = {"04_hospital_cloud_analyst": "insecure_bgv-65537-n11"}
BOOKS = sorted((pathlib.Path(__file__).parent.parent / "notebooks").glob("*.ipynb"))


def told(book):
    """The outputs of each cell, without numbers and ids, which differ from run to run; of a picture
    that there is one.
    """
    found = []
    for cell in book.cells:
        for output in cell.get("outputs", []):
            if "text" in output:
                # Of fonts that it looks for, if that takes long, and of a home it cannot write.
                if output["name"] == "stderr" and output["text"].startswith("Matplotlib"):
                    continue
                texts = [output["text"]]
            else:
                texts = [
                    kind if kind.startswith("image/") else text
                    for kind, text in sorted(output["data"].items())
                ]
            # NumPy writes the types of its numbers since its version 2.
            texts = [re.sub(r"np\.\w+\(([^()]*)\)", r"\1", text) for text in texts]
            found += [re.sub(r"[\w,.]*\d[\w,.]*", "#", text) for text in texts]
    return re.sub(r"[ #\n-]+", " ", "\n".join(found))


@pytest.mark.filterwarnings("default")
@pytest.mark.parametrize("path", BOOKS, ids=[path.stem for path in BOOKS])
def test_notebook(path, monkeypatch, tmp_path):
    nbformat = pytest.importorskip(
        "nbformat", reason="nbformat is not installed: pip install 'everlevel[test]'"
    )
    nbclient = pytest.importorskip(
        "nbclient", reason="nbclient is not installed: pip install 'everlevel[test]'"
    )
    for package in ("cryptography", "matplotlib"):
        if package in path.read_text(encoding="utf-8"):
            pytest.importorskip(
                package, reason=f"{package} is not installed: pip install 'everlevel[test]'"
            )
    # Neither the settings nor the history of whoever runs this.
    for name in ("IPYTHONDIR", "JUPYTER_CONFIG_DIR", "JUPYTER_RUNTIME_DIR"):
        (tmp_path / name).mkdir()
        monkeypatch.setenv(name, str(tmp_path / name))
    if path.stem in TOY:
        monkeypatch.setenv("EVERLEVEL_PARAMS", TOY[path.stem])
    book = nbformat.read(path, as_version=4)
    stored = told(book)
    bare = [cell.source for cell in book.cells if cell.cell_type == "code" and not cell.outputs]
    assert all(source.startswith("shutil.rmtree(") for source in bare), (
        f"a cell shows nothing of what it did: {bare}"
    )
    nbclient.NotebookClient(
        book,
        timeout=1200,
        startup_timeout=300,
        kernel_name="python3",
        resources={"metadata": {"path": path.parent}},
    ).execute()
    assert all(cell.execution_count for cell in book.cells if cell.cell_type == "code")
    assert told(book) == stored, "store it again: jupyter execute --inplace NOTEBOOK"


def test_there_are_four():
    assert [path.stem[:2] for path in BOOKS] == ["01", "02", "03", "04"]


def test_parameters_arrays_and_explanations_are_shown_as_tables():
    nbformat = pytest.importorskip(
        "nbformat", reason="nbformat is not installed: pip install 'everlevel[test]'"
    )
    outputs = [
        output
        for path in BOOKS
        for cell in nbformat.read(path, as_version=4).cells
        for output in cell.get("outputs", [])
        if "text/html" in output.get("data", {})
    ]
    texts = [output["data"]["text/plain"] for output in outputs]
    for shown in ("Params", "EncryptedArray", "Explanation"):
        assert any(shown in text for text in texts), shown
