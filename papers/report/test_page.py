"""Tests of the page: `python3 -m unittest discover -s papers/report`."""

import html
import re
import shutil
import subprocess
import tempfile
import unittest
from pathlib import Path

import markdown
import page
import plots

EVIL = "</td><script>alert('x')</script>\"&"


def bars(**changes):
    return {
        "kind": "bars",
        "title": "t",
        "description": "d",
        "value_label": "seconds",
        "groups": ["a & b", "c"],
        "series": [
            {"name": "paper", "values": [100.0, None]},
            {"name": "here", "values": [1.0, 0.5]},
        ],
        "stacked": False,
        "log": False,
        "marks": [],
        "totals": [],
        **changes,
    }


def lines(**changes):
    return {
        "kind": "line",
        "title": "a < b",
        "description": "",
        "x_label": "x",
        "y_label": "y",
        "log": [False, False],
        "series": [],
        "spans": [],
        **changes,
    }


def report(text, parts=()):
    chapter = {"id": text, "short": "a", "title": text, "intro": [text], "parts": list(parts)}
    summary = {
        "jobs": 1,
        "done": 0,
        "taken": [[text, 1]],
        "missing": [text],
        "failed": [[text, text]],
        "checked": 1234567,
        "wrong": 0,
        "times": [{"id": text, "what": text, "of": text, "count": 1, "ratios": [1, 1, 1]}],
        "machines": [
            {
                "cpu": text,
                "cpu_flags": text,
                "records": 1,
                "dates": [text, ""],
                "commits": [text],
                "versions": [text],
            }
        ],
    }
    return {"quick": True, "summary": summary, "chapters": [chapter]}


def table(text):
    kinds = [{"group": "", "label": "a", "kind": kind} for kind in ("text", "wrong")]
    origin = {"date": text, "threads": 1, "cpu": text, "commit": text}
    return {
        "part": "table",
        "id": text,
        "title": text,
        "command": text,
        "columns": kinds,
        "rows": [[{"text": text}, {"text": text}]],
        "notes": [f"`{text}` **{text}** {text}"],
        "missing": [text],
        "origins": [origin],
    }


class Markdown(unittest.TestCase):
    def test_rows_have_a_cell_for_each_column(self):
        ratio = {"group": "seconds", "label": "here ÷ paper", "kind": "ratio"}
        made = table("a|b")
        made["columns"].append(ratio)
        made["rows"][0].append({"text": "0.1", "value": 0.1})
        told = markdown.tables({"quick": False, "chapters": [chapter("ltv", made)]})
        self.assertIn("| a | a | seconds: here beside paper |\n| --- | --- | --- |\n", told)
        self.assertIn("| a\\|b | a\\|b | 10.0× faster |\n", told)
        self.assertIn("\nRecorded: a|b, 1 thread of a|b, commit a|b.\n", told)

    def test_what_was_not_run_is_told(self):
        empty = {**table("job"), "rows": [], "origins": []}
        told = markdown.tables({"quick": False, "chapters": [chapter("ltv", empty)]})
        self.assertIn("\nNo record.\n", told)
        self.assertIn("\nNot run: job.\n", told)
        self.assertNotIn("| --- |", told)
        nothing = {**empty, "missing": []}
        told = markdown.tables({"quick": False, "chapters": [chapter("ltv", nothing)]})
        self.assertNotIn("###", told)

    def test_chapters_that_are_not_of_a_paper_are_left_out(self):
        told = markdown.tables({"quick": True, "chapters": [chapter("peers", table("x"))]})
        self.assertNotIn("###", told)
        self.assertIn("small rings", told)


def chapter(name, made):
    return {"id": name, "short": "a", "title": name, "intro": [], "parts": [made]}


class Page(unittest.TestCase):
    def test_everything_is_escaped(self):
        figure = {"part": "figure", "id": EVIL, "notes": [EVIL], "command": EVIL}
        plot = bars(title=EVIL, description=EVIL, value_label=EVIL, groups=[EVIL, EVIL])
        made = page.page(report(EVIL, [table(EVIL), {**figure, "plot": plot}]))
        self.assertNotIn("alert('x')", made)
        # The only script is the page's own.
        self.assertEqual(made.count("<script>"), 1)
        self.assertNotIn('</script>"', made)

    def test_nothing_comes_from_elsewhere(self):
        made = page.page(report("text"))
        for sign in ("http", "url(", " src="):
            self.assertNotIn(sign, made)
        self.assertIn("1,234,567", made)

    def test_wrong_slots_and_ratios_are_marked(self):
        def cell(text, kind, value=None, group=""):
            return page.cell({"text": text, "value": value}, {"kind": kind, "group": group})

        self.assertIn("bad", cell("1 of 64", "wrong"))
        self.assertNotIn("bad", cell("0 of 64", "wrong"))
        self.assertIn("better", cell("0.250", "ratio", 0.25))
        self.assertIn(">4.00× less<", cell("0.250", "ratio", 0.25))
        self.assertIn(">205× faster<", cell("0.005", "ratio", 1 / 205, "set-up, seconds"))
        self.assertIn(">36.9× slower<", cell("36.9", "ratio", 36.9, "seconds"))
        self.assertIn(">8,294× faster<", cell("1.2e-4", "ratio", 1 / 8294, "seconds"))
        self.assertIn(">equal<", cell("1", "ratio", 1.0))
        self.assertIn("worse", cell("1.25", "ratio", 1.25))
        self.assertNotIn("data-v", cell("", "ratio"))
        # Sorted by the number, which the text does not have whole.
        self.assertIn('data-v="0.00001234"', cell("1.2e-5", "number", 1.234e-5))
        self.assertNotIn("data-v", cell("0.5", "number", 0.5))

    def test_plots_of_the_first_page_keep_their_notes(self):
        name = next(iter(page.FIRST))
        figure = {"part": "figure", "id": name, "notes": ["only `one`"], "command": "c"}
        made = page.page(report("text", [{**figure, "plot": bars()}]))
        summary = made.split('<section id="summary">')[1].split("</section>")[0]
        self.assertIn("<li>only <code>one</code></li>", summary)
        self.assertEqual(made.count("<li>"), 1)

    def test_columns_with_a_group_stand_under_one_head(self):
        columns = [("", "x"), ("g", "a"), ("g", "b"), ("", "y")]
        made = page.heads([{"group": g, "label": n, "kind": "number"} for g, n in columns])
        self.assertIn('<th colspan="2" scope="colgroup">g</th>', made)
        self.assertEqual(made.count('rowspan="2"'), 2)
        found = re.findall(r'data-column="(\d)">(\w)', made)
        self.assertEqual(sorted(found), [("0", "x"), ("1", "a"), ("2", "b"), ("3", "y")])

    def test_the_page_in_the_sources_is_whole(self):
        text = (Path(__file__).parent / "index.html").read_text(encoding="utf-8")
        made = text.split("</script>")[1]
        for tag in ("table", "svg", "figure", "section", "tr"):
            self.assertEqual(len(re.findall(f"<{tag}[ >]", made)), made.count(f"</{tag}>"), tag)
        self.assertFalse("NaN" in made or "None" in made)
        summary = made.split('<section id="summary">')[1].split("</section>")[0]
        for plot in page.FIRST:
            self.assertEqual(summary.count(f'id="{plot}"'), 1)
            self.assertEqual(made.count(f'id="{plot}"'), 1)
            # The paper, its method here and the best here are bars of their own.
            drawn = summary.split(f'id="{plot}"')[1].split("</svg>")[:2]
            for one, layout in zip(drawn, (plots.WIDE, plots.NARROW), strict=True):
                self.assertIn(f'aria-labelledby="{plot}-{layout.name}-title', one)
                told = re.findall(r'<rect [^>]*class="dot(\d)"><title>', one)
                self.assertEqual(set(told), {"0", "1", "2"}, plot)


CHROMIUM = shutil.which("chromium") or shutil.which("google-chrome")
COPY = """const inner = this.contentDocument, root = document.documentElement;
Object.assign(root.dataset, inner.documentElement.dataset);
const cells = [...inner.querySelectorAll('#wide td')];
root.dataset.labels = cells.map(cell => cell.dataset.label).join('|');
const widths = cells.slice(0, 2).map(cell => cell.getBoundingClientRect().width);
root.dataset.heading = String(widths[0] > 2 * widths[1]);
const box = cells.length > 0 && cells[0].closest('.box');
if (box) {
  box.scrollLeft = 99;
  const kept = cells[0].getBoundingClientRect().left - box.getBoundingClientRect().left;
  root.dataset.kept = `${box.scrollLeft}, ${Math.abs(kept) < 3}`;
}"""


@unittest.skipUnless(CHROMIUM, "no Chromium")
class Phone(unittest.TestCase):
    def shown(self, made, width):
        """What a browser made of the page in a frame: windows have a least width, frames none."""
        inner = f'onload="{html.escape(COPY)}" srcdoc="{html.escape(made)}"'
        frame = f'<iframe style="width:{width}px;height:800px" {inner}>'
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "page.html"
            path.write_text(f"<!doctype html><html><body>{frame}</iframe></body></html>")
            options = ["--headless", "--no-sandbox", "--disable-gpu", "--virtual-time-budget=5000"]
            # Containers may have little of it.
            options.append("--disable-dev-shm-usage")
            run = subprocess.run(
                [CHROMIUM, *options, f"--user-data-dir={folder}/u", "--dump-dom", f"file://{path}"],
                capture_output=True,
                text=True,
                timeout=600,
                check=True,
            )
        tag = run.stdout.split("<html")[1].split(">")[0]
        return dict(re.findall(r'data-(\w+)="([^"]*)"', tag))

    def test_wide_tables_are_cards_on_a_phone(self):
        names = [("", f"column {i}") if i < 3 else ("group", f"column {i}") for i in range(12)]
        columns = [{"group": g, "label": n, "kind": "number"} for g, n in names]
        wide = {**table("wide"), "columns": columns}
        wide["rows"] = [[{"text": str(i * 1000)} for i in range(12)]]
        made = page.page(report("text", [wide, table("narrow")]))
        found = self.shown(made, 390)
        self.assertGreaterEqual(int(found["cards"]), 1, found)
        self.assertEqual((found["cut"], found["overflow"], found["errors"]), ("", "0", "0"))
        self.assertEqual(found["tables"], "times machines wide narrow")
        labels = [name if not group else f"{group}, {name}" for group, name in names]
        self.assertEqual(found["labels"].split("|"), labels)
        self.assertEqual(found["heading"], "true")  # the first column heads its card
        found = self.shown(made, 1280)
        shown = [found[what] for what in ("cards", "overflow", "heading")]
        self.assertEqual(shown, ["0", "0", "false"])

    def test_tables_that_scroll_keep_their_first_column(self):
        columns = [{"group": "", "label": f"column {i}", "kind": "number"} for i in range(40)]
        wide = {**table("wide"), "columns": columns, "rows": [[{"text": "1000"}] * 40]}
        found = self.shown(page.page(report("text", [wide])), 700)
        shown = [found[what] for what in ("cards", "kept", "overflow")]
        self.assertEqual(shown, ["0", "99, true", "0"])

    def test_the_page_in_the_sources_fits_phones_and_screens(self):
        made = (Path(__file__).parent / "index.html").read_text(encoding="utf-8")
        for width in (390, 1280, 1920):
            found = self.shown(made, width)
            self.assertEqual(found["width"], str(width))
            self.assertGreaterEqual(len(found["tables"].split()), 20, found)
            self.assertGreaterEqual(len(found["plots"].split()), 20, found)
            fits = [found[what] for what in ("cut", "overflow", "errors")]
            self.assertEqual(fits, ["", "0", "0"], (width, found))
            # Plots are drawn for phones and for screens; either way they can be read.
            self.assertGreaterEqual(float(found["letters"]), 11, width)
            self.assertEqual(found["beyond"], "", width)


class Numbers(unittest.TestCase):
    def test_labels_are_short(self):
        cases = [0.0, 46203.0, 21.04, 6.75, 0.2655, 0.00012, 2.5e7, float("nan")]
        shown = ["0", "46203", "21.0", "6.75", "0.266", "1.20e-4", "2.50e7", "–"]
        self.assertEqual([plots.short(value) for value in cases], shown)

    def test_plain_numbers_have_all_digits(self):
        for value in (1.0, 0.1, 1e-5, 1.25e-7, 123456789.5, 2.5e17, -3e-9):
            text = plots.plain(value)
            self.assertNotIn("e", text)
            self.assertEqual(float(text), value)
        self.assertEqual(plots.plain(70), "70")


# The place, the anchor and the text of what is written from left to right.
PLACED = r'<text (?:class="small" )?x="([^"]*)"[^>]*?(?:text-anchor="(\w+)")?>([^<]*)<'


def parts(made):
    """How many shapes of each series a plot has, and its texts."""
    shapes = sorted(re.findall(r'<(?:rect|circle|path) [^>]*class="((?:line )?\w+\d)"', made))
    return shapes, re.findall(r"<text [^>]*>([^<]*)<", made)


def svg(plot, layout=plots.WIDE):
    return plots.svg("p", plot, layout)


class Plots(unittest.TestCase):
    def widths(self, plot):
        rects = re.findall(r'<rect [^>]*width="([^"]*)"[^>]*><title>', svg(plot))
        return [float(width) for width in rects]

    def test_bars_have_the_lengths_of_their_values(self):
        side = self.widths(bars())
        self.assertEqual(len(side), 3)
        self.assertAlmostEqual(side[0] / side[1], 100, delta=2)
        self.assertAlmostEqual(side[1] / side[2], 2, delta=0.1)
        # Three decades from 0.1 to 100.
        log = self.widths(bars(log=True))
        self.assertAlmostEqual(log[0] / log[1], 3, delta=0.01)
        stacked = svg(bars(stacked=True))
        self.assertIn("a &amp; b, paper: 100", stacked)

    def test_missing_bars_take_no_room(self):
        drawn = plots.Bars(bars(), plots.WIDE)
        self.assertEqual([drawn.thickness(g) for g in (0, 1)], [2 * plots.BAR, plots.BAR])

    def test_narrow_plots_have_the_same_parts_within_their_width(self):
        series = [{"name": "s", "points": [[0, 1], [90, 4]], "join": "straight"}]
        given = lines(series=series, spans=[[45, "first"], [90, "second"]], x_label="x" * 48)
        for plot in (bars(), bars(log=True), bars(stacked=True, totals=["2 s", "3 s"]), given):
            shapes, texts = zip(*map(parts, (svg(plot), svg(plot, plots.NARROW))), strict=True)
            self.assertEqual(shapes[0], shapes[1])
            names = {name for name in texts[0] if not name[0].isdigit()}
            self.assertLessEqual(names, set(texts[1]))
            self.assertLessEqual(len(texts[1]), len(texts[0]))
            for x, anchor, text in re.findall(PLACED, svg(plot, plots.NARROW)):
                before = {"": 0, "middle": 0.5, "end": 1}[anchor]
                start = float(x) - before * plots.text_width(text)
                self.assertGreaterEqual(start, 0, text)
                self.assertLessEqual(start + plots.text_width(text), plots.NARROW.width, text)

    def test_places_and_ticks(self):
        ticks = list(plots.Axis([0, 95], (100, 290)).ticks())
        self.assertEqual((len(ticks), ticks[0], ticks[9]), (10, ("0", 100.0), ("90", 280.0)))
        axis = plots.Axis([0.2, 46203, 0], (0, 600), log=True)
        expected = ["0.1", "1", "10", "100", "1000", "10000", "100000"]
        self.assertEqual([value for value, _ in axis.ticks()], expected)
        self.assertAlmostEqual(axis.place(10), 200)
        self.assertEqual(axis.place(0), 0)
        values = [float(value) for value, _ in plots.Axis([2, 40], (0, 1), log=True).ticks()]
        self.assertEqual(values, [1, 2, 5, 10, 20, 50, 100])
        few = plots.Axis([1e-5, 46203], (0, 1), log=True, ticks=5)
        self.assertEqual([v for v, _ in few.ticks()], ["1e-4", "0.01", "1", "100", "10000"])
        few = plots.Axis([0, 95], (0, 1), ticks=5)
        self.assertEqual([v for v, _ in few.ticks()], ["0", "20", "40", "60", "80"])

    def test_lines_leave_out_what_is_no_number(self):
        series = {"name": "s & t", "points": [[0, 0], [1, None], [2, 4]], "join": "steps"}
        made = svg(lines(series=[series], spans=[[2, "whole"]]))
        # From the lower left to the upper right corner of the frame.
        self.assertIn('d="M70.0 440.0H940.0V70.0"', made)
        for text in ("a &lt; b", "s &amp; t", ">whole<"):
            self.assertIn(text, made)
        self.assertEqual(html.unescape(made).count("s & t"), 1)

    def test_nothing_to_plot_is_a_frame(self):
        for log in ([False, False], [False, True]):
            made = svg(lines(log=log))
            self.assertTrue(made.startswith("<svg") and "frame" in made)


if __name__ == "__main__":
    unittest.main()
