"""Tables for notebooks, as plain HTML in which every text is escaped.

Nothing in them depends on a secret key or on values.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from html import escape


def facts(title: str, rows: Iterable[tuple[str, object]]) -> str:
    """A table of names and values; rows without a value are left out."""
    lines = [
        (
            f'<tr><th style="text-align:left">{escape(name)}</th><td '
            f'style="text-align:left">{escape(str(what))}</td></tr>'
        )
        for name, what in rows
        if what is not None and what != ""
    ]
    return f"<table><caption>{escape(title)}</caption>{''.join(lines)}</table>"


def grid(title: str, header: Sequence[str], rows: Iterable[Sequence[object]]) -> str:
    """A table with a header."""
    head = "".join(f"<th>{escape(name)}</th>" for name in header)
    body = "".join(
        "<tr>" + "".join(f"<td>{escape(str(cell))}</td>" for cell in row) + "</tr>" for row in rows
    )
    caption = f"<caption>{escape(title)}</caption>"
    return f"<table>{caption}<thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>"


def power(log2: float) -> str:
    """The text of a probability, from its logarithm."""
    return "0" if log2 <= -1024 else f"2^{log2:.1f}"
