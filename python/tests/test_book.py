"""The Python blocks of the book run, page by page."""

import pathlib
import re

import pytest

DOCS = pathlib.Path(__file__).parent.parent.parent / "docs"
BLOCKS = [
    pytest.param(page, number, block, id=f"{page.relative_to(DOCS)}-{number}")
    for page in sorted(DOCS.rglob("*.md"))
    for number, block in enumerate(re.findall(r"^```python\n(.*?)^```", page.read_text(encoding="utf-8"), re.S | re.M))
]


@pytest.mark.parametrize("page, number, block", BLOCKS)
def test_block(page, number, block):
    exec(compile(block, f"{page.name}, block {number}", "exec"), {"__name__": "book"})


def test_the_page_on_python_has_some():
    if not DOCS.is_dir():
        pytest.skip("the book is not here")
    assert sum(param.values[0].name == "python.md" for param in BLOCKS) >= 3
