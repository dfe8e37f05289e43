"""The tables of a report as Markdown, for those who read them beside the sources."""

from words import beside, compared, is_of_time, origins

# The chapters of the papers; the others are on the page.
CHAPTERS = ("chen-han", "ma-et-al", "ltv", "aes")


def tables(report):
    """All tables of the papers' chapters."""
    size = "small rings" if report["quick"] else "the papers' parameters"
    out = [
        "# Tables of three papers\n\n"
        f"Every table of the papers beside what is found here, at {size}, made of the records by "
        "`papers/report/page.py`; [index.html](index.html) is the same with plots.\n"
    ]
    for chapter in report["chapters"]:
        found = [part for part in chapter["parts"] if part["part"] == "table"]
        found = [part for part in found if part["rows"] or part["missing"]]
        if chapter["id"] in CHAPTERS and found:
            out.append(f"\n## {chapter['title']}\n")
            out += map(table, found)
    return "".join(out)


def table(t):
    heads = [head(column) for column in t["columns"]]
    rows = [
        [cell(c, column) for c, column in zip(row, t["columns"], strict=True)] for row in t["rows"]
    ]
    lines = [line(heads), line(["---"] * len(heads)), *map(line, rows)]
    lines = lines if rows else ["No record.\n"]
    notes = "".join(f"{note}\n" for note in t["notes"])
    missing = f"Not run: {', '.join(t['missing'])}.\n" if t["missing"] else ""
    told = origins(t["origins"])
    below = notes + missing + (f"{told}\n" if told else "")
    command = f"`{t['command']}`\n\n" if t["command"] else ""
    return f"\n### {t['title']}\n{command}{''.join(lines)}" + (f"\n{below}" if below else "")


def head(column):
    label = beside(column["label"]) if column["kind"] == "ratio" else column["label"]
    return ": ".join(filter(None, [column["group"], label]))


def cell(c, column):
    value = c.get("value")
    if column["kind"] == "ratio" and value is not None:
        return compared(value, is_of_time(column))
    return c["text"]


def line(cells):
    """A row; bars within a cell would end it."""
    return "| " + " | ".join(text.replace("|", "\\|") for text in cells) + " |\n"
