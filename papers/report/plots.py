"""Plots of a report as SVG: lines over a common axis, and bars in groups.

Colors and shapes are classes of page.css, so that a page is readable on light and on dark ground.
"""

import html
import math
from typing import NamedTuple

COLORS = 8  # series that are told apart
BELOW_TITLE = 34  # where a plot begins: the page has its title
FEW = 16  # so few points of a line are shown as dots

# Bars.
BARS_TOP = 58.0
BAR, STACK, GAP, MOST_LABEL = 13.0, 20.0, 12.0, 350.0
NAME = 17.0  # the height of a name above its bars


class Layout(NamedTuple):
    """The measures of a plot for one kind of screen, where a unit is about a pixel."""

    name: str
    width: float
    frame: tuple[float, float, float, float]  # of lines: left, top, right, bottom
    span_rows: int  # rows for the names of parts of the horizontal axis
    bars_right: float
    names_above: bool  # names of bars are above them, not to their left
    legend: float  # where legends begin
    ticks: int  # about the most that a horizontal axis has


WIDE = Layout("wide", 960.0, (70.0, 70.0, 940.0, 440.0), 2, 880.0, False, 20.0, 10)
NARROW = Layout("narrow", 360.0, (66.0, 96.0, 346.0, 356.0), 4, 300.0, True, 8.0, 5)


def plain(value):
    """A number with all its digits and without exponent."""
    text = repr(float(value))
    if "e" in text:
        digits, exponent = text.split("e")
        places = max(0, len(digits.partition(".")[2]) - int(exponent))
        text = f"{float(value):.{places}f}"
    return text.removesuffix(".0")


def power_of_ten(value, digits):
    """A number as a decimal fraction times a power of ten, such as 1.2e-4."""
    mantissa, exponent = f"{value:.{digits}e}".split("e")
    return f"{mantissa}e{int(exponent)}"


def short(value):
    """A number as a label: no more digits than help."""
    size = abs(value)
    if not math.isfinite(value):
        return "–"
    if size >= 1e6 or 0 < size < 0.01:
        return power_of_ten(value, 2)
    if value == int(value) or size >= 100:
        return f"{value:.0f}"
    return f"{value:.{1 if size >= 10 else 2 if size >= 1 else 3}f}"


def escaped(text):
    """Text as HTML and SVG take it, between tags and in attributes."""
    return html.escape(text).replace("&#x27;", "&#39;")


def text_width(text):
    """About how wide a text of the ordinary size is."""
    return 7.0 * len(text)


def is_number(value):
    return value is not None and math.isfinite(value)


class Axis:
    """From values to places, with ticks at round values."""

    def __init__(self, values, places, log=False, whole=False, ticks=10):
        values = [v for v in values if not log or v > 0]
        self.places, self.log = places, log
        least, most = (min(values), max(values)) if values else (1.0, 10.0) if log else (0.0, 1.0)
        if log:
            self.start = math.floor(math.log10(least))
            self.end = max(math.ceil(math.log10(most)), self.start + 1)
            self.step = math.ceil((self.end - self.start) / ticks)
            # Between powers of ten, where there are few of them.
            dense = self.end - self.start <= ticks // 5
            self.within = (1.0, 2.0, 5.0) if dense else (1.0,)
            return
        if values:
            most = max(most, least + 1e-9, least + abs(least) * 1e-9)
        # A step of 1, 2 or 5 times a power of ten: of ten ticks, it makes five to twelve.
        rough = (most - least) / ticks
        power = 10.0 ** math.floor(math.log10(rough))
        self.start, self.end, self.within = least, most, (1.0,)
        self.step = next((k * power for k in (1, 2, 5, 10) if k * power >= rough), rough)
        if whole:
            self.step = math.floor(max(self.step, 1.0) + 0.5)

    def place(self, value):
        """Where a value is; one that is not positive is where a logarithmic axis begins."""
        if self.log:
            value = math.log10(value) if value > 0 else self.start
        first, last = self.places
        return first + (value - self.start) / (self.end - self.start) * (last - first)

    def ticks(self):
        first = math.ceil(self.start / self.step - 1e-9)
        last = math.floor(self.end / self.step + 1e-9)
        for i in range(first, last + 1):
            for k in self.within:
                at = i * self.step
                value = k * (10.0**at if self.log else round(at * 1e6) / 1e6)
                if not self.log or value <= 10.0**self.end * (1 + 1e-9):
                    whole = not self.log or 0.001 <= value < 1e6
                    yield plain(value) if whole else power_of_ten(value, 0), self.place(value)


def centered(middle, text, ends):
    """The place nearest to `middle` at which a centered text stays between `ends`."""
    half = 0.6 * text_width(text)  # some fonts are wider than others
    if 2 * half > ends[1] - ends[0]:
        return (ends[0] + ends[1]) / 2
    return max(min(middle, ends[1] - half), ends[0] + half)


def legend(layout, top, names):
    """Names of series with samples of their colors; the lines of SVG, and how many rows."""
    left = layout.legend
    out, x, y, rows = [], left, top, 1
    for i, (name, sample) in enumerate(names):
        color, width = i % COLORS, 28.0 + text_width(name) + 24.0
        if x > left and x + width > layout.width:
            x, y, rows = left, y + 18.0, rows + 1
        middle = y - 4.0
        if sample == "dot":
            out.append(f'<circle cx="{x + 11:.1f}" cy="{middle:.1f}" r="3" class="dot{color}"/>')
        elif sample == "bar":
            place = f'x="{x:.1f}" y="{y - 10:.1f}"'
            out.append(f'<rect {place} width="22" height="11" class="dot{color}"/>')
        else:
            out.append(f'<path class="line line{color}" d="M{x:.1f} {middle:.1f}h22"/>')
        out.append(f'<text x="{x + 28:.1f}" y="{y:.1f}">{escaped(name)}</text>')
        x += width
    return out, rows


def line_plot(plot, layout):
    """Series of points over a common horizontal axis; the lines of SVG, and the height."""
    series = [
        {**s, "points": [p for p in s["points"] if is_number(p[0]) and is_number(p[1])]}
        for s in plot["series"]
    ]
    xs = [x for s in series for x, _ in s["points"]]
    ys = [y for s in series for _, y in s["points"]]
    log_x, log_y = plot["log"]
    ends = [] if log_x else [end for end, _ in plot["spans"] if is_number(end)]
    whole = all(x == int(x) for x in xs)
    left, top, right, bottom = layout.frame
    across = Axis(xs + ends, (left, right), log_x, whole, layout.ticks)
    up = Axis(ys + ([] if log_y else [0.0]), (bottom, top), log_y)

    out = []
    for value, y in up.ticks():
        out.append(f'<path class="grid" d="M{plain(left)} {y:.1f}H{plain(right)}"/>')
        place = f'x="{left - 8:.1f}" y="{y + 4:.1f}"'
        out.append(f'<text {place} text-anchor="end">{value}</text>')
    for value, x in across.ticks():
        out.append(f'<path class="grid" d="M{x:.1f} {plain(bottom)}v5"/>')
        place = f'x="{x:.1f}" y="{bottom + 19:.1f}"'
        out.append(f'<text {place} text-anchor="middle">{value}</text>')
    frame = f"M{plain(left)} {plain(top)}V{plain(bottom)}H{plain(right)}"
    out.append(f'<path class="frame" d="{frame}"/>')
    middle = centered((left + right) / 2, plot["x_label"], (0.0, layout.width))
    place = f'x="{plain(middle)}" y="{plain(bottom + 40)}"'
    out.append(f'<text {place} text-anchor="middle">{escaped(plot["x_label"])}</text>')
    turn = f'transform="translate(14 {plain((top + bottom) / 2)}) rotate(-90)"'
    out.append(f'<text {turn} text-anchor="middle">{escaped(plot["y_label"])}</text>')
    out += named_spans(plot["spans"], across, layout)
    for i, one in enumerate(series):
        out += line(one, len(plot["series"][i]["points"]), i % COLORS, across, up)
    names = [(s["name"], "dot" if s["join"] == "dots" else "line") for s in series]
    drawn, rows = legend(layout, bottom + 66, names)
    return out + drawn, bottom + 62 + 18 * rows


def named_spans(spans, across, layout):
    """A line at the end of each part of the axis, and its name where there is room."""
    left, top, _, bottom = layout.frame
    out, start, free = [], left, [left] * layout.span_rows
    for end, name in spans:
        x = across.place(end)
        path = f"M{x:.1f} {plain(top)}V{plain(bottom)}"
        out.append(f'<path class="grid" stroke-dasharray="3 4" d="{path}"/>')
        # Letters of this size are about six units wide.
        half = len(name) * 3.0 + 2.0
        middle = centered((start + x) / 2, name, (left, layout.width))
        row = next((i for i, end in enumerate(free) if middle - half >= end - 1), None)
        if row is not None:
            place = f'x="{middle:.1f}" y="{plain(top - 8 - 13 * row)}"'
            text = f'<text class="small" {place} text-anchor="middle">{escaped(name)}</text>'
            out.append(text)
            free[row] = middle + half
        start = x
    return out


def line(series, points, color, across, up):
    """One series; `points` counts those that are not finite, too."""
    out, join = [], series["join"]
    places = [(across.place(x), up.place(y)) for x, y in series["points"]]
    # Few points are measurements, many are a course.
    few = join == "straight" and points <= FEW
    if few or join == "dots":
        radius = "3.5" if few else "2.4"
        for x, y in places:
            out.append(f'<circle cx="{x:.1f}" cy="{y:.1f}" r="{radius}" class="dot{color}"/>')
    if join == "dots":
        return out
    path = ""
    for i, (x, y) in enumerate(places):
        if i == 0:
            path = f"M{x:.1f} {y:.1f}"
        else:
            path += f"H{x:.1f}V{y:.1f}" if join == "steps" else f"L{x:.1f} {y:.1f}"
    return [*out, f'<path class="line line{color}" d="{path}"/>']


class Bars:
    """Bars from the left, in groups, side by side or one after the other."""

    def __init__(self, plot, layout):
        self.plot, self.log, self.stacked = plot, plot["log"], plot["stacked"]
        self.layout = layout
        groups = plot["groups"]
        # For each group the series that have a value there: the others take no room.
        self.values = [
            [
                (s, series["values"][g])
                for s, series in enumerate(plot["series"])
                if is_number(series["values"][g]) and (series["values"][g] > 0 or not self.log)
            ]
            for g in range(len(groups))
        ]
        self.above = NAME if layout.names_above else 0.0
        # Some fonts are wider than others.
        names = min(max([60.0, *(1.1 * text_width(name) for name in groups)]), MOST_LABEL)
        self.left = layout.legend if layout.names_above else names + 16
        heights = (self.above + self.thickness(g) + GAP for g in range(len(groups)))
        self.bottom = BARS_TOP + sum(heights) + GAP / 2
        marks = [value for value, _ in plot["marks"]]
        if self.stacked and not self.log:
            values = [sum(v for _, v in group) for group in self.values]
        else:
            values = [v for group in self.values for _, v in group]
        values += marks if self.log else [*marks, 0.0]
        self.axis = Axis(values, (self.left, layout.bars_right), self.log, ticks=layout.ticks)

    def thickness(self, group):
        return STACK if self.stacked else BAR * max(len(self.values[group]), 1)

    def drawn(self):
        """The lines of SVG, and the height."""
        out, plot, bottom = [], self.plot, self.bottom
        down = f"{plain(BARS_TOP)}V{bottom:.1f}"
        for value, x in self.axis.ticks():
            out.append(f'<path class="grid" d="M{x:.1f} {down}"/>')
            middle = centered(x, value, (0.0, self.layout.width))
            place = f'x="{middle:.1f}" y="{bottom + 17:.1f}"'
            out.append(f'<text {place} text-anchor="middle">{value}</text>')
        for value, name in plot["marks"]:
            x = self.axis.place(value)
            out.append(f'<path class="mark" d="M{x:.1f} {down}"/>')
            place = f'x="{x:.1f}" y="{BARS_TOP - 6:.1f}"'
            text = f'<text class="small" {place} text-anchor="middle">{escaped(name)}</text>'
            out.append(text)
        y = BARS_TOP + GAP / 2
        for g, name in enumerate(plot["groups"]):
            y += self.above
            middle = y + self.thickness(g) / 2 + 4.5
            place = f'x="{self.left - 8:.1f}" y="{middle:.1f}" text-anchor="end"'
            if self.above:
                place = f'x="{self.left + 3:.1f}" y="{y - 5:.1f}"'
            out.append(f"<text {place}>{escaped(name)}</text>")
            end = self.stack(out, g, y) if self.stacked else self.side_by_side(out, g, y)
            if g < len(plot["totals"]):
                total = escaped(plot["totals"][g])
                out.append(f'<text x="{end + 6:.1f}" y="{middle:.1f}">{total}</text>')
            y += self.thickness(g) + GAP
        right = self.layout.bars_right
        frame = f"M{self.left:.1f} {down}H{plain(right)}"
        out.append(f'<path class="frame" d="{frame}"/>')
        ends = (0.0, self.layout.width)
        middle = centered((self.left + right) / 2, plot["value_label"], ends)
        place = f'x="{middle:.1f}" y="{bottom + 36:.1f}"'
        out.append(f'<text {place} text-anchor="middle">{escaped(plot["value_label"])}</text>')
        names = [(series["name"], "bar") for series in plot["series"]]
        drawn, rows = legend(self.layout, bottom + 62, names)
        return out + drawn, bottom + 54 + 18 * rows

    def stack(self, out, group, y):
        """Parts of one bar; returns its end."""
        start = 0.0
        for s, value in self.values[group]:
            places = self.axis.place(start), self.axis.place(start + value)
            out.append(self.bar(places, y, STACK, s, group, value))
            start += value
        return self.axis.place(start)

    def side_by_side(self, out, group, y):
        """Bars with their values behind them; returns the end of the longest."""
        first = most = self.axis.place(0.0)
        for i, (s, value) in enumerate(self.values[group]):
            top, end = y + BAR * i, self.axis.place(value)
            out.append(self.bar((first, end), top, BAR - 1, s, group, value))
            place = f'x="{end + 5:.1f}" y="{top + 10:.1f}"'
            out.append(f'<text class="small" {place}>{short(value)}</text>')
            most = max(most, end)
        return most

    def bar(self, places, y, height, series, group, value):
        """One bar, with what it stands for."""
        groups, named = self.plot["groups"], self.plot["series"]
        told = escaped(f"{groups[group]}, {named[series]['name']}: {short(value)}")
        x, width = min(places), max(abs(places[1] - places[0]), 0.6)
        size = f'x="{x:.1f}" y="{y:.1f}" width="{width:.1f}" height="{plain(height)}"'
        return f'<rect {size} class="dot{series % COLORS}"><title>{told}</title></rect>'


def svg(plot_id, plot, layout):
    """A plot of either kind as a part of a page."""
    draw = line_plot if plot["kind"] == "line" else lambda *given: Bars(*given).drawn()
    lines, height = draw(plot, layout)
    name = f"{escaped(plot_id)}-{layout.name}"
    box = f'viewBox="0 {BELOW_TITLE} {plain(layout.width)} {plain(height - BELOW_TITLE)}"'
    labels = f'role="img" aria-labelledby="{name}-title {name}-desc"'
    return "\n".join(
        [
            f'<svg class="plot {layout.name}" {box} {labels}>',
            f'<title id="{name}-title">{escaped(plot["title"])}</title>',
            f'<desc id="{name}-desc">{escaped(plot["description"])}</desc>',
            *lines,
            "</svg>\n",
        ]
    )
