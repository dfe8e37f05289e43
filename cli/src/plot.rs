//! Line plots as SVG: one file each, without scripts or fonts of its own, readable on light and on dark ground.

use std::fmt::Write;

/// A plot: series of points over a common horizontal axis.
pub struct LinePlot {
    /// What is shown.
    pub title: String,
    /// What the horizontal axis counts.
    pub x_label: String,
    /// What the vertical axis counts, with its unit.
    pub y_label: String,
    /// The lines, in the order of the legend; up to [`COLOURS`] of them are told apart.
    pub series: Vec<Series>,
    /// Parts of the horizontal axis: where each ends, in ascending order, and what it is called.
    pub spans: Vec<(f64, String)>,
}

/// A line.
pub struct Series {
    /// Its name in the legend.
    pub name: String,
    /// Its points, from left to right; values that are not finite are left out.
    pub points: Vec<(f64, f64)>,
    /// How points are joined.
    pub join: Join,
}

/// How points are joined.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Join {
    /// By straight lines.
    Straight,
    /// Each value holds until the next point.
    Steps,
    /// Not at all: dots.
    Dots,
}

/// How many series are told apart by colour.
pub const COLOURS: usize = 5;
const WIDTH: f64 = 960.0;
const HEIGHT: f64 = 520.0;
/// Left, top, right, bottom of the frame.
const FRAME: [f64; 4] = [70.0, 70.0, 940.0, 440.0];
/// Colours that colour-blind readers tell apart (after Okabe and Ito 2008), on light ground and on dark: of the ground, text and frame, the grid, the series. As classes,
/// since not all that draws SVG knows variables.
const COLOURS_OF: [[&str; 3 + COLOURS]; 2] = [
    ["#fff", "#222", "#ddd", "#555", "#c04a00", "#0072b2", "#00805f", "#9a4a7c"],
    ["#16181c", "#ddd", "#3a3d42", "#aaa", "#ff9a4d", "#56b4e9", "#2fd0a5", "#e39bc4"],
];
const SHAPES: &str = "text{font:13px sans-serif}.title{font-size:17px;font-weight:bold}.small{font-size:11px}\
.frame,.line{fill:none}.line{stroke-width:1.8;stroke-linejoin:round}";

fn style() -> String {
    let colours = |[ground, ink, faint, series @ ..]: &[&str; 3 + COLOURS]| {
        let mut out = format!(".ground{{fill:{ground}}}text{{fill:{ink}}}.frame{{stroke:{ink}}}.grid{{stroke:{faint}}}");
        for (i, colour) in series.iter().enumerate() {
            let _ = write!(out, ".line{i}{{stroke:{colour}}}.dot{i}{{fill:{colour}}}");
        }
        out
    };
    let [light, dark] = COLOURS_OF.each_ref().map(colours);
    format!("{SHAPES}{light}@media(prefers-color-scheme:dark){{{dark}}}")
}

impl LinePlot {
    /// The file.
    pub fn svg(&self) -> String {
        let points = || self.series.iter().flat_map(|s| s.points.iter().copied()).filter(|(x, y)| x.is_finite() && y.is_finite());
        let ends = self.spans.iter().map(|span| span.0).filter(|x| x.is_finite());
        let across = Axis::over(points().map(|p| p.0).chain(ends), [FRAME[0], FRAME[2]]);
        let up = Axis::over(points().map(|p| p.1).chain([0.0]), [FRAME[3], FRAME[1]]);
        let style = style();
        let mut out = format!(
            "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {WIDTH} {HEIGHT}\" width=\"{WIDTH}\" height=\"{HEIGHT}\" role=\"img\">\n\
             <title>{0}</title>\n<style>{style}</style>\n<rect class=\"ground\" width=\"{WIDTH}\" height=\"{HEIGHT}\"/>\n\
             <text class=\"title\" x=\"{1}\" y=\"24\">{0}</text>\n",
            escaped(&self.title),
            FRAME[0]
        );
        self.grid(&mut out, &across, &up);
        self.named_spans(&mut out, &across);
        for (i, series) in self.series.iter().enumerate() {
            line(&mut out, series, i % COLOURS, &across, &up);
        }
        self.legend(&mut out);
        out.push_str("</svg>\n");
        out
    }

    fn grid(&self, out: &mut String, across: &Axis, up: &Axis) {
        let [left, top, right, bottom] = FRAME;
        for (value, y) in up.ticks() {
            let _ = writeln!(out, "<path class=\"grid\" d=\"M{left} {y:.1}H{right}\"/>");
            let _ = writeln!(out, "<text x=\"{:.1}\" y=\"{:.1}\" text-anchor=\"end\">{value}</text>", left - 8.0, y + 4.0);
        }
        for (value, x) in across.ticks() {
            let _ = writeln!(out, "<path class=\"grid\" d=\"M{x:.1} {bottom}v5\"/>");
            let _ = writeln!(out, "<text x=\"{x:.1}\" y=\"{:.1}\" text-anchor=\"middle\">{value}</text>", bottom + 19.0);
        }
        let _ = writeln!(out, "<path class=\"frame\" d=\"M{left} {top}V{bottom}H{right}\"/>");
        let (middle, half) = ((left + right) / 2.0, (top + bottom) / 2.0);
        let (x_label, y_label) = (escaped(&self.x_label), escaped(&self.y_label));
        let _ = writeln!(out, "<text x=\"{middle}\" y=\"{}\" text-anchor=\"middle\">{x_label}</text>", bottom + 40.0);
        let _ = writeln!(out, "<text transform=\"translate(20 {half}) rotate(-90)\" text-anchor=\"middle\">{y_label}</text>");
    }
    /// A line at the end of each part, and its name where there is room, on rows of their own by turns.
    fn named_spans(&self, out: &mut String, across: &Axis) {
        let [left, top, _, bottom] = FRAME;
        let (mut from, mut free) = (left, [left; 2]);
        for (end, name) in &self.spans {
            let x = across.place(*end);
            let _ = writeln!(out, "<path class=\"grid\" stroke-dasharray=\"3 4\" d=\"M{x:.1} {top}V{bottom}\"/>");
            // Letters of this size are about six units wide.
            let (middle, half) = ((from + x) / 2.0, name.chars().count() as f64 * 3.0 + 2.0);
            let start = middle - half;
            if let Some(row) = free.iter().position(|&free| start >= free - 1.0) {
                let y = top - 8.0 - 13.0 * row as f64;
                let _ = writeln!(
                    out,
                    "<text class=\"small\" x=\"{middle:.1}\" y=\"{y}\" text-anchor=\"middle\">{}</text>",
                    escaped(name)
                );
                free[row] = middle + half;
            }
            from = x;
        }
    }
    fn legend(&self, out: &mut String) {
        let (mut x, y) = (FRAME[0], HEIGHT - 14.0);
        for (i, series) in self.series.iter().enumerate() {
            let colour = i % COLOURS;
            let _ = match series.join {
                Join::Dots => {
                    writeln!(out, "<circle cx=\"{:.1}\" cy=\"{:.1}\" r=\"3\" class=\"dot{colour}\"/>", x + 11.0, y - 4.0)
                }
                _ => writeln!(out, "<path class=\"line line{colour}\" d=\"M{x:.1} {:.1}h22\"/>", y - 4.0),
            };
            let _ = writeln!(out, "<text x=\"{:.1}\" y=\"{y}\">{}</text>", x + 28.0, escaped(&series.name));
            x += 28.0 + series.name.chars().count() as f64 * 7.0 + 24.0;
        }
    }
}

fn line(out: &mut String, series: &Series, colour: usize, across: &Axis, up: &Axis) {
    let finite = series.points.iter().filter(|(x, y)| x.is_finite() && y.is_finite());
    let places = finite.map(|&(x, y)| (across.place(x), up.place(y)));
    if series.join == Join::Dots {
        for (x, y) in places {
            let _ = writeln!(out, "<circle cx=\"{x:.1}\" cy=\"{y:.1}\" r=\"2.4\" class=\"dot{colour}\"/>");
        }
        return;
    }
    let mut path = String::new();
    for (i, (x, y)) in places.enumerate() {
        let _ = match (i, series.join) {
            (0, _) => write!(path, "M{x:.1} {y:.1}"),
            (_, Join::Steps) => write!(path, "H{x:.1}V{y:.1}"),
            _ => write!(path, "L{x:.1} {y:.1}"),
        };
    }
    let _ = writeln!(out, "<path class=\"line line{colour}\" d=\"{path}\"/>");
}

/// From values to places, with ticks at round values.
struct Axis {
    from: f64,
    to: f64,
    places: [f64; 2],
    step: f64,
}

impl Axis {
    fn over(values: impl Iterator<Item = f64> + Clone, places: [f64; 2]) -> Self {
        let (least, most) = values.fold((f64::INFINITY, f64::NEG_INFINITY), |(a, b), v| (a.min(v), b.max(v)));
        let (least, most) = if least.is_finite() { (least, most.max(least + 1.0)) } else { (0.0, 1.0) };
        // A step of 1, 2 or 5 times a power of ten that makes five to twelve ticks.
        let rough = (most - least) / 10.0;
        let power = 10f64.powf(rough.log10().floor());
        let step = [1.0, 2.0, 5.0, 10.0].into_iter().map(|k| k * power).find(|s| *s >= rough).unwrap_or(rough);
        Axis { from: least, to: most, places, step }
    }
    fn place(&self, value: f64) -> f64 {
        self.places[0] + (value - self.from) / (self.to - self.from) * (self.places[1] - self.places[0])
    }
    /// Values and places.
    fn ticks(&self) -> impl Iterator<Item = (f64, f64)> {
        let first = (self.from / self.step).ceil() as i64;
        let last = (self.to / self.step).floor() as i64;
        (first..=last).map(|i| (i as f64 * self.step * 1e6).round() / 1e6).map(|value| (value, self.place(value)))
    }
}

fn escaped(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;").replace('"', "&quot;")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn places_ticks_and_text() {
        let axis = Axis::over([0.0, 95.0].into_iter(), [100.0, 290.0]);
        let ticks: Vec<(f64, f64)> = axis.ticks().collect();
        assert_eq!((ticks.len(), ticks[0], ticks[9]), (10, (0.0, 100.0), (90.0, 280.0)));
        let plot = LinePlot {
            title: "a < b".into(),
            x_label: "x".into(),
            y_label: "y".into(),
            series: vec![Series {
                name: "s & t".into(),
                points: vec![(0.0, 0.0), (1.0, f64::NAN), (2.0, 4.0)],
                join: Join::Steps,
            }],
            spans: vec![(2.0, "whole".into())],
        };
        let svg = plot.svg();
        assert!(svg.contains("a &lt; b") && svg.contains("s &amp; t") && svg.contains(">whole<"), "{svg}");
        // From the lower left to the upper right corner of the frame, the value that is none left out.
        assert!(svg.contains("d=\"M70.0 440.0H940.0V70.0\""), "{svg}");
        assert!(!svg.contains("NaN"));
    }
    #[test]
    fn nothing_to_plot_is_a_frame() {
        let plot =
            LinePlot { title: String::new(), x_label: String::new(), y_label: String::new(), series: vec![], spans: vec![] };
        assert!(plot.svg().starts_with("<svg") && !plot.svg().contains("NaN"));
    }
}
