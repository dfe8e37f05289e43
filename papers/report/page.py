#!/usr/bin/env python3
"""The page of a report: `page.py DIR` makes DIR/index.html and DIR/tables.md of DIR/report.json.

`papers all` writes report.json. The page is one file without anything from elsewhere; equal
reports give equal pages. Python's own library is all that it takes.
"""

import json
import os
import sys
from itertools import groupby
from pathlib import Path

import markdown
import plots
from plots import escaped
from words import beside, compared, is_of_time, origins

HERE = Path(__file__).resolve().parent
LONG = 44  # texts longer than this may be broken
# The plot of each paper that shows most, on the first page: all times beside the paper's own.
FIRST = {
    "fig-chen-han-seconds": "Chen and Han 2018: one bootstrapping",
    "fig-ma-et-al-seconds": "Ma, Huang, Wang and Wang 2024: general bootstrapping",
    "fig-aes-seconds": "Doröz, Hu and Sunar 2014: AES-128 on a whole ciphertext",
}


def page(report):
    """The page as HTML."""
    style = (HERE / "page.css").read_text(encoding="utf-8")
    script = (HERE / "page.js").read_text(encoding="utf-8")
    size = "small rings" if report["quick"] else "the papers' parameters"
    full = "" if report["quick"] else " --full"
    out = [
        '<!doctype html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        '<meta name="viewport" content="width=device-width,initial-scale=1">\n'
        "<title>everlevel: three papers, reproduced</title>\n"
        f"<style>{style}</style>\n<script>{script}</script>\n</head>\n<body>\n"
        "<header><h1>everlevel: three papers, reproduced</h1>\n"
        "<p>Every table of three papers on homomorphic encryption, theirs beside what this "
        f"library finds, at {size}. <b>33× faster</b> means that the paper took 33 times as long; "
        "green is better than the paper. Blue columns are the papers'. "
        f"<code>papers all{full}</code> and <code>page.py</code> make this page; each table says "
        "how to run it alone, and a click on a head sorts it.</p></header>\n",
        '<nav aria-label="Chapters"><a href="#summary">Summary</a>',
    ]
    for c in report["chapters"]:
        out.append(f'<a href="#{escaped(c["id"])}">{escaped(c["short"])}</a>')
    out.append("</nav>\n")
    out += summary(report["summary"], first(report["chapters"]))
    for c in report["chapters"]:
        out += chapter(c)
    out.append("</body>\n</html>\n")
    return "".join(out)


def first(chapters):
    """The plots of the first page, each with its chapter."""
    for c in chapters:
        for part in c["parts"]:
            if part["part"] == "figure" and part["id"] in FIRST:
                yield c, part


def summary(s, figures):
    """What was done, and the times of all tables on one look."""
    yield '<section id="summary">\n<div class="facts">'
    facts = [
        (False, f"{s['done']} of {s['jobs']}", "jobs have a record"),
        (s["wrong"] > 0, str(s["wrong"]), "wrong slots and blocks"),
        (False, f"{s['checked']:,}", "slots and blocks decrypted and compared"),
        (bool(s["failed"]), str(len(s["failed"])), "jobs failed"),
    ]
    for bad, value, what in facts:
        kind = "fact bad" if bad else "fact"
        yield f'<div class="{kind}"><b>{escaped(value)}</b><span>{escaped(what)}</span></div>'
    yield "</div>\n"
    for c, f in figures:
        link = f'<a href="#{escaped(c["id"])}">{escaped(FIRST[f["id"]])}</a>'
        yield f"<figure>\n<figcaption>{link}</figcaption>\n{drawing(f)}"
        yield f"{notes(f['notes'])}</figure>\n"
    yield from times(s["times"])
    for name, error in s["failed"]:
        yield f'<p class="missing"><b>{escaped(name)}</b> failed: {escaped(error)}</p>\n'
    if s["taken"]:
        taken = ", ".join(f"{n} from <code>{escaped(place)}</code>" for place, n in s["taken"])
        yield f"<p>Records taken as they are, with dates and machines of their own: {taken}.</p>\n"
    if s["machines"]:
        named = sum(m["records"] for m in s["machines"])
        if named < s["done"]:
            yield (
                f"<p>{named} records are of the machines below; {s['done'] - named} are counts and "
                "formulas, the same on any machine, or name the machines of both sides in their "
                "tables.</p>\n"
            )
        yield (
            '<div class="box"><table id="machines"><thead><tr><th class="text">machine</th>'
            '<th class="text">instructions</th><th>records</th><th class="text">dates</th>'
            '<th class="text">version</th><th class="text">commits (+: with changes)</th></tr>'
            "</thead><tbody>"
        )
        yield from map(machine, s["machines"])
        yield "</tbody></table></div>\n"
    if s["missing"]:
        head = f"{len(s['missing'])} jobs without record"
        yield f"<details><summary>{head}</summary><p>{codes(s['missing'])}</p></details>\n"
    yield "</section>\n"


def codes(names):
    return " ".join(f"<code>{escaped(name)}</code>" for name in names)


def times(found):
    """The ratios of time in all tables."""
    if not found:
        return
    yield (
        '<h3 id="times-head">Times beside those of the papers and of peers</h3>\n<div class="box">'
        '<table id="times" aria-labelledby="times-head"><thead><tr><th class="text">table</th>'
        '<th class="text">of</th><th>rows</th><th>best</th><th>median</th><th>worst</th></tr>'
        "</thead><tbody>"
    )
    for t in found:
        link = f'<a href="#{escaped(t["id"])}-head">{escaped(t["what"])}</a>'
        yield f'<tr><td class="text">{link}</td><td class="text">{escaped(beside(t["of"]))}</td>'
        yield f"<td>{t['count']}</td>"
        column = {"kind": "ratio", "group": t["of"], "label": ""}
        for r in t["ratios"]:
            yield cell({"text": "", "value": r}, column)
        yield "</tr>\n"
    yield (
        '</tbody></table></div>\n<p class="how">On other machines than the paper\'s, years '
        "later: a part of every ratio is the processor.</p>\n"
    )


def machine(m):
    first, last = m["dates"]
    cells = [
        ("text", m["cpu"]),
        ("text wide", m["cpu_flags"]),
        ("", str(m["records"])),
        ("text", first if first == last else f"{first} to {last}"),
        ("text", ", ".join(m["versions"])),
        ("text wide", ", ".join(m["commits"])),
    ]
    shown = "".join(f'<td class="{kind}">{escaped(text)}</td>' for kind, text in cells)
    return f"<tr>{shown}</tr>"


def chapter(c):
    yield f'<section>\n<h2 id="{escaped(c["id"])}">{escaped(c["title"])}</h2>\n'
    for paragraph in c["intro"]:
        yield f"<p>{marked(paragraph)}</p>\n"
    for part in c["parts"]:
        yield from table(part) if part["part"] == "table" else figure(part)
    yield "</section>\n"


def marked(text):
    """Text in which `code` and **strong words** are marked."""
    out = []
    for i, part in enumerate(text.split("`")):
        if i % 2:
            out.append(f"<code>{escaped(part)}</code>")
            continue
        for k, words in enumerate(part.split("**")):
            out.append(f"<b>{escaped(words)}</b>" if k % 2 else escaped(words))
    return "".join(out)


def drawing(f):
    """A plot twice, of which the style shows the one that suits the width of the window."""
    name, plot = f["id"], f["plot"]
    drawn = "".join(plots.svg(name, plot, layout) for layout in (plots.WIDE, plots.NARROW))
    return f'<div class="drawing" id="{escaped(name)}">{drawn}</div>\n'


def figure(f):
    title = escaped(f["plot"]["title"])
    if f["id"] in FIRST:
        yield f'<p class="how"><a href="#{escaped(f["id"])}">{title}</a>: on the first page.</p>\n'
        return
    yield f"<figure>\n<figcaption>{title}</figcaption>\n{drawing(f)}"
    yield notes(f["notes"])
    yield how(f["command"])
    yield "</figure>\n"


def notes(found):
    items = "".join(f"<li>{marked(note)}</li>" for note in found)
    return f'<ul class="notes">{items}</ul>\n' if found else ""


def how(command):
    return f'<p class="how">Again: <code>{escaped(command)}</code></p>\n' if command else ""


def table(t):
    name = escaped(t["id"])
    yield f'<div class="table">\n<h3 id="{name}-head">{escaped(t["title"])}</h3>\n'
    if t["rows"]:
        yield f'<div class="box" role="region" aria-labelledby="{name}-head" tabindex="0">'
        yield f'<table id="{name}"><thead>{heads(t["columns"])}</thead><tbody>'
        for row in t["rows"]:
            cells = (cell(c, column) for c, column in zip(row, t["columns"], strict=True))
            yield f"<tr>{''.join(cells)}</tr>\n"
        yield "</tbody></table></div>\n"
    else:
        yield '<p class="missing">No record.</p>\n'
    yield how(t["command"])
    yield notes(t["notes"])
    if t["missing"]:
        yield f'<p class="how missing">Not run: {codes(t["missing"])}</p>\n'
    told = origins(t["origins"])
    yield f'<p class="from">{escaped(told)}</p>\n' if told else ""
    yield "</div>\n"


def heads(columns):
    """Two lines: what columns have in common, and what each is."""
    above, below = [], []
    # A column that has nothing in common with others is alone.
    for _, run in groupby(enumerate(columns), lambda c: c[1]["group"] or c[0]):
        run = list(run)
        at, first = run[0]
        if first["group"]:
            group = escaped(first["group"])
            above.append(f'<th colspan="{len(run)}" scope="colgroup">{group}</th>')
            for i, c in run:
                label = escaped(beside(c["label"])) if c["kind"] == "ratio" else escaped(c["label"])
                below.append(f'<th scope="col" data-column="{i}">{label}</th>')
        else:
            kind = ' class="text"' if first["kind"] == "text" else ""
            label = escaped(first["label"])
            above.append(f'<th rowspan="2" scope="col" data-column="{at}"{kind}>{label}</th>')
    return f"<tr>{''.join(above)}</tr><tr>{''.join(below)}</tr>"


def cell(c, column):
    """One cell; what it is sorted by, and the number of a ratio, beside what is shown."""
    text, kind = c["text"], column["kind"]
    value = c.get("value")
    names = {"text": "text wide" if len(text) > LONG else "text", "paper": "paper"}
    name = names.get(kind, "")
    title = ""
    if kind == "wrong" and text and text != "0" and not text.startswith("0 of"):
        name = "bad"
    elif kind == "relation":
        name = "ratio"
    elif kind == "ratio":
        name = "ratio"
        if value is not None:
            name += " better" if value < 0.95 else " worse" if value > 1.05 else ""
            text, title = compared(value, is_of_time(column)), plots.short(value)
    attributes = f' class="{name}"' if name else ""
    if value is not None and number(text) != value:
        attributes += f' data-v="{plots.plain(value)}"'
    if title:
        attributes += f' title="{title}"'
    return f"<td{attributes}>{escaped(text)}</td>"


def number(text):
    try:
        return float(text)
    except ValueError:
        return None


def main(arguments):
    if len(arguments) != 1:
        sys.exit(__doc__)
    directory = Path(arguments[0])
    try:
        report = json.loads((directory / "report.json").read_text(encoding="utf-8"))
    except FileNotFoundError:
        sys.exit(f"{directory}: no report.json, which `papers all --out {directory}` writes")
    for name, text in (("tables.md", markdown.tables(report)), ("index.html", page(report))):
        partial = directory / f".{name}.partial"
        partial.write_text(text, encoding="utf-8")
        os.replace(partial, directory / name)
    print(directory / "index.html")


if __name__ == "__main__":
    main(sys.argv[1:])
