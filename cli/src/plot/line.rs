//! Line plots: series of points over a common horizontal axis.

use std::fmt::Write;

use serde::Serialize;

use super::axis::Axis;
use super::svg::{COLORS, Sample, escaped, file, legend};

/// A plot: series of points over a common horizontal axis.
#[derive(Serialize)]
pub struct LinePlot {
    /// What is shown.
    pub title: String,
    /// The same in more words, for those who do not see it.
    pub description: String,
    /// What the horizontal axis counts.
    pub x_label: String,
    /// What the vertical axis counts, with its unit.
    pub y_label: String,
    /// Whether the horizontal and the vertical axis are logarithmic; one that is not begins at 0 or
    /// below.
    pub log: [bool; 2],
    /// The lines, in the order of the legend; up to [`COLORS`] of them are told apart.
    pub series: Vec<Series>,
    /// Parts of the horizontal axis: where each ends, in ascending order, and what it is called.
    pub spans: Vec<(f64, String)>,
}

/// A line.
#[derive(Serialize)]
pub struct Series {
    /// Its name in the legend.
    pub name: String,
    /// Its points, from left to right; values that are not finite are left out.
    pub points: Vec<(f64, f64)>,
    /// How points are joined.
    pub join: Join,
}

/// How points are joined.
#[derive(Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Join {
    /// By straight lines.
    Straight,
    /// Each value holds until the next point.
    Steps,
    /// Not at all: dots.
    Dots,
}

const HEIGHT: f64 = 520.0;
/// Straight lines with no more points than this show them.
const FEW: usize = 16;
/// Left, top, right, bottom of the frame.
const FRAME: [f64; 4] = [70.0, 70.0, 940.0, 440.0];

impl LinePlot {
    /// A file of its own.
    pub fn svg(&self) -> String {
        file(&self.title, &self.description, FRAME[0], self.height(), &self.body())
    }

    /// How high it is, with the title and the legend.
    fn height(&self) -> f64 {
        HEIGHT - 18.0 + 18.0 * legend(&mut String::new(), FRAME[0], 0.0, &self.names()) as f64
    }

    fn names(&self) -> Vec<(&str, Sample)> {
        let sample = |join| if join == Join::Dots { Sample::Dot } else { Sample::Line };
        self.series.iter().map(|s| (s.name.as_str(), sample(s.join))).collect()
    }

    /// What is drawn, without the title.
    fn body(&self) -> String {
        let points = || {
            self.series
                .iter()
                .flat_map(|s| s.points.iter().copied())
                .filter(|(x, y)| x.is_finite() && y.is_finite())
        };
        let ends = self.spans.iter().map(|span| span.0).filter(|x| x.is_finite());
        let across = match self.log[0] {
            true => Axis::logarithmic(points().map(|p| p.0), [FRAME[0], FRAME[2]]),
            false => {
                let axis = Axis::over(points().map(|p| p.0).chain(ends), [FRAME[0], FRAME[2]]);
                if points().all(|p| p.0.fract() == 0.0) { axis.whole() } else { axis }
            }
        };
        let up = match self.log[1] {
            true => Axis::logarithmic(points().map(|p| p.1), [FRAME[3], FRAME[1]]),
            false => Axis::over(points().map(|p| p.1).chain([0.0]), [FRAME[3], FRAME[1]]),
        };
        let mut out = String::new();
        self.grid(&mut out, &across, &up);
        self.named_spans(&mut out, &across);
        for (i, series) in self.series.iter().enumerate() {
            line(&mut out, series, i % COLORS, &across, &up);
        }
        legend(&mut out, FRAME[0], HEIGHT - 14.0, &self.names());
        out
    }

    fn grid(&self, out: &mut String, across: &Axis, up: &Axis) {
        let [left, top, right, bottom] = FRAME;
        for (value, y) in up.ticks() {
            let _ = writeln!(out, "<path class=\"grid\" d=\"M{left} {y:.1}H{right}\"/>");
            let _ = writeln!(
                out,
                "<text x=\"{:.1}\" y=\"{:.1}\" text-anchor=\"end\">{value}</text>",
                left - 8.0,
                y + 4.0
            );
        }
        for (value, x) in across.ticks() {
            let _ = writeln!(out, "<path class=\"grid\" d=\"M{x:.1} {bottom}v5\"/>");
            let _ = writeln!(
                out,
                "<text x=\"{x:.1}\" y=\"{:.1}\" text-anchor=\"middle\">{value}</text>",
                bottom + 19.0
            );
        }
        let _ = writeln!(out, "<path class=\"frame\" d=\"M{left} {top}V{bottom}H{right}\"/>");
        let (middle, half) = ((left + right) / 2.0, (top + bottom) / 2.0);
        let (x_label, y_label) = (escaped(&self.x_label), escaped(&self.y_label));
        let _ = writeln!(
            out,
            "<text x=\"{middle}\" y=\"{}\" text-anchor=\"middle\">{x_label}</text>",
            bottom + 40.0
        );
        let _ = writeln!(
            out,
            "<text transform=\"translate(20 {half}) rotate(-90)\" \
             text-anchor=\"middle\">{y_label}</text>"
        );
    }

    /// A line at the end of each part, and its name where there is room, on rows of their own by
    /// turns.
    fn named_spans(&self, out: &mut String, across: &Axis) {
        let [left, top, _, bottom] = FRAME;
        let (mut from, mut free) = (left, [left; 2]);
        for (end, name) in &self.spans {
            let x = across.place(*end);
            let _ = writeln!(
                out,
                "<path class=\"grid\" stroke-dasharray=\"3 4\" d=\"M{x:.1} {top}V{bottom}\"/>"
            );
            // Letters of this size are about six units wide.
            let (middle, half) = ((from + x) / 2.0, name.chars().count() as f64 * 3.0 + 2.0);
            let start = middle - half;
            if let Some(row) = free.iter().position(|&free| start >= free - 1.0) {
                let y = top - 8.0 - 13.0 * row as f64;
                let _ = writeln!(
                    out,
                    "<text class=\"small\" x=\"{middle:.1}\" y=\"{y}\" \
                     text-anchor=\"middle\">{}</text>",
                    escaped(name)
                );
                free[row] = middle + half;
            }
            from = x;
        }
    }
}

fn line(out: &mut String, series: &Series, color: usize, across: &Axis, up: &Axis) {
    let finite = series.points.iter().filter(|(x, y)| x.is_finite() && y.is_finite());
    let places = finite.map(|&(x, y)| (across.place(x), up.place(y)));
    // Few points are measurements, many are a course.
    let few = series.join == Join::Straight && series.points.len() <= FEW;
    if few || series.join == Join::Dots {
        let radius = if few { 3.5 } else { 2.4 };
        for (x, y) in places.clone() {
            let _ = writeln!(
                out,
                "<circle cx=\"{x:.1}\" cy=\"{y:.1}\" r=\"{radius}\" class=\"dot{color}\"/>"
            );
        }
    }
    if series.join == Join::Dots {
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
    let _ = writeln!(out, "<path class=\"line line{color}\" d=\"{path}\"/>");
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn places_and_text() {
        let plot = LinePlot {
            title: "a < b".into(),
            description: String::new(),
            log: [false; 2],
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
        assert!(
            svg.contains("a &lt; b") && svg.contains("s &amp; t") && svg.contains(">whole<"),
            "{svg}"
        );
        // From the lower left to the upper right corner of the frame, the value that is none left
        // out.
        assert!(svg.contains("d=\"M70.0 440.0H940.0V70.0\""), "{svg}");
        assert!(!svg.contains("NaN"));
    }

    #[test]
    fn nothing_to_plot_is_a_frame() {
        let none = String::new;
        let plot = LinePlot {
            title: none(),
            description: none(),
            x_label: none(),
            y_label: none(),
            log: [false, true],
            series: vec![],
            spans: vec![],
        };
        assert!(plot.svg().starts_with("<svg") && !plot.svg().contains("NaN"));
    }
}
