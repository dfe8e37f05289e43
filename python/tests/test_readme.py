"""The first example of the README runs."""

import pathlib
import re


def test_the_example():
    text = (pathlib.Path(__file__).parent.parent / "README.md").read_text()
    example = re.findall(r"```python\n(.*?)```", text, re.S)[0]
    scope = {}
    exec(compile(example, "README.md", "exec"), scope)
    assert scope["server"].bootstraps > 0


def test_the_docstring_of_the_package():
    import doctest

    import everlevel

    found = doctest.testmod(everlevel)
    assert found.attempted > 5 and found.failed == 0
