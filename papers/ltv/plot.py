"""The plot of attack.py's record: two panels of an SVG, without a plotting library."""

import math

WIDTH, HEIGHT, MARGIN = 420, 300, 52
COLORS = ["#1b6ca8", "#d1495b", "#2e8b57", "#8e6c8a"]


class Panel:
    """A pair of axes at a horizontal offset, from zero."""

    def __init__(self, left, title, x_label, y_label, x_max, y_max):
        # Five ticks at whole numbers.
        self.left, self.x_max, self.y_max = left, 5 * math.ceil(x_max / 5), 5 * math.ceil(y_max / 5)
        x_max, y_max = self.x_max, self.y_max
        x0, y0, x1, y1 = *self.at(0, 0), *self.at(x_max, y_max)
        self.parts = [
            f'<path d="M{x0} {y1}V{y0}H{x1}" fill="none" stroke="#333"/>',
            text((x0 + x1) / 2, 18, title, size=13),
            text((x0 + x1) / 2, y0 + 36, x_label),
            f'<g transform="translate({x0 - 38} {(y0 + y1) / 2}) rotate(-90)">'
            f"{text(0, 0, y_label)}</g>",
        ]
        for i in range(1, 6):
            (x, _), (_, y) = self.at(x_max * i / 5, 0), self.at(0, y_max * i / 5)
            self.parts += [
                text(x, y0 + 16, f"{x_max * i / 5:.0f}", 10),
                text(x0 - 14, y + 4, f"{y_max * i / 5:.0f}", 10),
            ]

    def at(self, x, y):
        """Pixels of a point."""
        return (
            round(self.left + MARGIN + x / self.x_max * (WIDTH - 1.4 * MARGIN), 1),
            round(HEIGHT - MARGIN - y / self.y_max * (HEIGHT - 1.7 * MARGIN), 1),
        )

    def series(self, number, label, points, hollow=lambda i: False, dashed=False):
        """A line with markers and its name in the legend."""
        color = COLORS[number]
        pixels = [self.at(x, y) for x, y in points]
        dash = ' stroke-dasharray="5 4"' if dashed else ""
        line = " ".join(f"{x},{y}" for x, y in pixels)
        self.parts.append(f'<polyline points="{line}" fill="none" stroke="{color}"{dash}/>')
        if not dashed:
            for i, (x, y) in enumerate(pixels):
                fill = "#fff" if hollow(i) else color
                self.parts.append(
                    f'<circle cx="{x}" cy="{y}" r="3" stroke="{color}" fill="{fill}"/>'
                )
        x, y = self.left + MARGIN + 14, 38 + 15 * number
        self.parts += [
            f'<path d="M{x} {y}h18" stroke="{color}"{dash}/>',
            text(x + 24, y + 4, label, 11, "start"),
        ]


def text(x, y, content, size=11, anchor="middle"):
    """A line of text."""
    return f'<text x="{x}" y="{y}" font-size="{size}" text-anchor="{anchor}">{content}</text>'


def write_plot(record, path):
    """Lengths by degree at the left, degrees reached by modulus at the right."""
    runs, limits = record["lengths"]["runs"], record["limits"]
    log2_q = record["lengths"]["log2_q"]
    left = Panel(
        0,
        f"first vector, log q = {log2_q} (filled: multiple of the key)",
        "degree n",
        "log2 of its length",
        max(r["n"] for r in runs),
        15,
    )
    for i, beta in enumerate(sorted({r["block_size"] for r in runs})):
        of = [r for r in runs if r["block_size"] == beta]
        left.series(
            i,
            "LLL" if beta == 2 else f"BKZ-{beta}",
            [(r["n"], r["log2_length"]) for r in of],
            hollow=lambda k, of=of: not of[k]["in_the_ideal_of_f"],
        )
    top = max(
        max(r["dense_sublattice_degree"] for r in limits),
        max(f["largest_degree"] for r in limits for f in r["found"]),
    )
    right = Panel(
        WIDTH,
        "largest degree that is broken",
        "log2 q",
        "degree n",
        limits[-1]["log2_q"],
        top * 1.3,
    )
    right.series(
        0,
        "paper: δ^(2n) √q = q/4 by LLL",
        [(r["log2_q"], r["paper_model_degree"]) for r in limits],
        dashed=True,
    )
    right.series(
        1,
        "dense sublattice by LLL, predicted",
        [(r["log2_q"], r["dense_sublattice_degree"]) for r in limits],
        dashed=True,
    )
    for i, beta in enumerate(
        sorted({limits[0]["found"][0]["block_size"], limits[0]["found"][-1]["block_size"]}), 2
    ):
        points = [
            (r["log2_q"], f["largest_degree"])
            for r in limits
            for f in r["found"]
            if f["block_size"] == beta
        ]
        right.series(i, ("LLL" if beta == 2 else f"BKZ-{beta}") + ", found", points)
    body = "\n".join(left.parts + right.parts)
    path.write_text(
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{2 * WIDTH}" height="{HEIGHT}" '
        'font-family="sans-serif">\n'
        f'<rect width="100%" height="100%" fill="#fff"/>\n{body}\n</svg>\n'
    )
