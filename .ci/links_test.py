"""The check of links finds every kind of dead link, and no other."""

import contextlib
import io
import sys
import tempfile
import unittest
from importlib.machinery import SourceFileLoader
from importlib.util import module_from_spec, spec_from_loader
from pathlib import Path

sys.dont_write_bytecode = True
loader = SourceFileLoader("links", str(Path(__file__).with_name("links")))
links = module_from_spec(spec_from_loader("links", loader))
loader.exec_module(links)

SOURCE = """# A page
## Twice
## Twice
## Code, `x + 1`
[itself](#a-page) [numbered](#twice-1) [code](#code-x--1) [another](b/other.md#there)
[a file](b/file.rs) [elsewhere](https://example.org/) `[no](link.md)` [by name][name]

[name]: b/other.md

```text
[no](link.md)
```
"""
DEAD_SOURCE = """[1](gone.md) [2](#twice-2) [3](b/other.md#gone) [4](../../outside.md) [5][name]

[name]: gone.rs
"""
SITE = """<html id="top"><a href="#top"></a><a href="b/other.html#there"></a><a href="b/"></a>
<img src="b/file.svg"><a href="https://example.org/gone"></a>
<a href="https://github.com/everlevel/everlevel/blob/main/page.md#twice"></a>
<a href="https://github.com/everlevel/everlevel/tree/main/b"></a></html>"""
DEAD_SITE = """<a href="gone.html"></a><a href="#gone"></a><a href="b/other.html#gone"></a>
<img src="gone.svg"><a href="https://github.com/everlevel/everlevel/blob/main/gone.md"></a>
<a href="https://github.com/everlevel/everlevel/blob/main/page.md#gone"></a>
<a href="../outside.html"></a>"""


class Links(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.root = Path(folder.name).resolve()
        (self.root / "b").mkdir()
        self.write("b/other.md", "# There")
        self.write("b/file.rs", "")

    def write(self, name, text):
        path = self.root / name
        path.write_text(text, encoding="utf-8")
        return path

    def test_sources(self):
        page = self.write("page.md", SOURCE)
        counts, dead = links.check_sources([page], self.root)
        self.assertEqual((counts, dead), ({"in the repository": 6, "elsewhere": 1}, []))
        page = self.write("page.md", SOURCE + DEAD_SOURCE)
        counts, dead = links.check_sources([page], self.root)
        self.assertEqual(counts["in the repository"], 11)
        self.assertEqual(
            [text.split(": ")[1] for text in dead],
            [
                "gone.md",
                "#twice-2",
                "b/other.md#gone",
                "../../outside.md",
                "gone.rs",
            ],
        )

    def test_site(self):
        self.write("page.md", SOURCE)
        self.write("b/other.html", "<h1 id='there'></h1>")
        self.write("b/index.html", "")
        self.write("b/file.svg", "")
        self.write("page.html", SITE)
        counts, dead = links.check_site(self.root, self.root)
        self.assertEqual(dead, [])
        self.assertEqual(counts, {"in the site": 4, "in the repository": 2, "elsewhere": 1})
        self.write("page.html", SITE + DEAD_SITE)
        counts, dead = links.check_site(self.root, self.root)
        self.assertEqual(len(dead), 7, dead)
        self.write("404.html", "<base href='/'><a href='b/other.html'></a><a href='gone'></a>")
        counts, dead = links.check_site(self.root, self.root)
        self.assertEqual(len(dead), 8, dead)

    def test_links_that_leave_the_book(self):
        site = "https://github.com/everlevel/everlevel"
        cases = {
            "[x](../../README.md#status)": f"[x]({site}/blob/main/README.md#status)",
            "[x](../../python)": f"[x]({site}/tree/main/python)",
            "[x]: ../../deny.toml": f"[x]: {site}/blob/main/deny.toml",
            "[x](../adr/README.md#top) [y](aes.md)": "[x](../adr/index.md#top) [y](aes.md)",
            "[x](#here) [y](https://example.org/README.md)": None,
            "```text\n[x](../../README.md)\n```": None,
        }
        for text, expected in cases.items():
            self.assertEqual(links.outward(text, "use"), expected or text)

    def test_few_links_or_dead_ones_fail(self):
        with contextlib.redirect_stdout(io.StringIO()), contextlib.redirect_stderr(io.StringIO()):
            enough = {"in the site": links.LEAST["site"], "elsewhere": 0}
            self.assertEqual(links.report("site", enough, []), 0)
            self.assertEqual(links.report("site", enough, ["dead"]), 1)
            self.assertEqual(links.report("site", {"in the site": 9, "elsewhere": 9999}, []), 1)


if __name__ == "__main__":
    unittest.main()
