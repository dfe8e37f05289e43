"""The Python blocks of the book run, page by page."""

import pathlib
import re

import pytest

DOCS = pathlib.Path(__file__).parent.parent.parent / "docs"
BLOCKS = [
    pytest.param(page, number, block, id=f"{page.relative_to(DOCS)}-{number}")
    for page in sorted(DOCS.rglob("*.md"))
    # Its block needs a service: test_remote.py.
    if page.name != "service.md"
    for number, block in enumerate(
        re.findall(r"^```python\n(.*?)^```", page.read_text(encoding="utf-8"), re.S | re.M)
    )
]


@pytest.mark.parametrize("page, number, block", BLOCKS)
def test_block(page, number, block, monkeypatch):
    # Recipes that compute at 128 bits for readers compute with a toy here.
    monkeypatch.setenv("EVERLEVEL_PARAMS", "insecure_bgv-65537-n11")
    if "from cryptography" in block:
        pytest.importorskip(
            "cryptography", reason="cryptography is not installed: pip install 'everlevel[test]'"
        )
    exec(compile(block, f"{page.name}, block {number}", "exec"), {"__name__": "book"})


def test_the_readme_of_the_repository():
    page = DOCS.parent / "README.md"
    if not DOCS.is_dir():
        pytest.skip("the sources are not here")
    blocks = re.findall(r"^```python\n(.*?)^```", page.read_text(encoding="utf-8"), re.S | re.M)
    assert len(blocks) >= 2
    # One session: later blocks take what earlier ones define.
    scope = {"__name__": "readme"}
    for number, block in enumerate(blocks):
        exec(compile(block, f"README.md, block {number}", "exec"), scope)


def test_pages_that_need_python_have_some():
    if not DOCS.is_dir():
        pytest.skip("the book is not here")
    assert sum(param.values[0].name == "python.md" for param in BLOCKS) >= 3
    recipes = {
        param.values[0].stem for param in BLOCKS if param.values[0].parent.name == "applications"
    }
    assert recipes == {
        "aes-upload",
        "hospital",
        "lookup",
        "scoring",
        "set-intersection",
        "statistics",
    }
