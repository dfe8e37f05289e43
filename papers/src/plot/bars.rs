//! Bars from the left, in groups, side by side or one after the other.

use std::fmt::Write;

use everlevel_cli::plot::Axis;
use everlevel_cli::plot::svg::{COLOURS, Sample, escaped, legend, width_of};
use serde::Serialize;

use super::label::short;

/// A plot of bars: in each group one of each series.
#[derive(Serialize)]
pub struct BarPlot {
    /// What is shown.
    pub title: String,
    /// The same in more words, for those who do not see it.
    pub description: String,
    /// What the bars count, with its unit.
    pub value_label: String,
    /// The names of the groups, from above.
    pub groups: Vec<String>,
    /// The series, in the order of the legend; up to [`COLOURS`] of them are told apart.
    pub series: Vec<Bars>,
    /// Whether the bars of a group are parts of one.
    pub stacked: bool,
    /// Whether the axis is logarithmic (bars side by side only).
    pub log: bool,
    /// Values to compare with, and what they are called.
    pub marks: Vec<(f64, String)>,
    /// What is written at the end of the bar of each group, if they are stacked.
    pub totals: Vec<String>,
}

/// A series.
#[derive(Serialize)]
pub struct Bars {
    /// Its name in the legend.
    pub name: String,
    /// One value for each group, or none.
    pub values: Vec<Option<f64>>,
}

const TOP: f64 = 58.0;
const BAR: f64 = 13.0;
const STACK: f64 = 20.0;
const GAP: f64 = 12.0;
const RIGHT: f64 = 880.0;
/// Labels take no more than this.
const MOST_LABEL: f64 = 330.0;

impl BarPlot {
    /// Values that are there, and can be drawn.
    fn value(&self, series: usize, group: usize) -> Option<f64> {
        let value = self.series.get(series)?.values.get(group).copied().flatten()?;
        (value.is_finite() && (!self.log || value > 0.0)).then_some(value)
    }

    /// How high a group is: bars that are missing take no room.
    fn thickness(&self, group: usize) -> f64 {
        let bars =
            (0..self.series.len()).filter(|s| self.value(*s, group).is_some()).count().max(1);
        if self.stacked { STACK } else { BAR * bars as f64 }
    }

    fn bottom(&self) -> f64 {
        TOP + (0..self.groups.len()).map(|g| self.thickness(g) + GAP).sum::<f64>() + GAP / 2.0
    }

    pub(super) fn height(&self) -> f64 {
        self.bottom() + 54.0 + 18.0 * legend(&mut String::new(), 20.0, 0.0, &self.names()) as f64
    }

    fn names(&self) -> Vec<(&str, Sample)> {
        self.series.iter().map(|s| (s.name.as_str(), Sample::Bar)).collect()
    }

    fn axis(&self, left: f64) -> Axis {
        let all = |g: usize| (0..self.series.len()).filter_map(move |s| self.value(s, g));
        let groups = 0..self.groups.len();
        let marks = self.marks.iter().map(|m| m.0);
        match (self.log, self.stacked) {
            (true, _) => Axis::logarithmic(groups.flat_map(all).chain(marks), [left, RIGHT]),
            (_, true) => {
                Axis::over(groups.map(|g| all(g).sum()).chain(marks).chain([0.0]), [left, RIGHT])
            }
            _ => Axis::over(groups.flat_map(all).chain(marks).chain([0.0]), [left, RIGHT]),
        }
    }

    /// What is drawn, without the title.
    pub(super) fn body(&self) -> String {
        let mut out = String::new();
        let left =
            self.groups.iter().map(|name| width_of(name)).fold(60.0, f64::max).min(MOST_LABEL)
                + 16.0;
        let (axis, bottom) = (self.axis(left), self.bottom());
        for (value, x) in axis.ticks() {
            let _ = writeln!(out, "<path class=\"grid\" d=\"M{x:.1} {TOP}V{bottom:.1}\"/>");
            let _ = writeln!(
                out,
                "<text x=\"{x:.1}\" y=\"{:.1}\" text-anchor=\"middle\">{value}</text>",
                bottom + 17.0
            );
        }
        for (value, name) in &self.marks {
            let x = axis.place(*value);
            let _ = writeln!(out, "<path class=\"mark\" d=\"M{x:.1} {TOP}V{bottom:.1}\"/>");
            let _ = writeln!(
                out,
                "<text class=\"small\" x=\"{x:.1}\" y=\"{:.1}\" text-anchor=\"middle\">{}</text>",
                TOP - 6.0,
                escaped(name)
            );
        }
        let mut y = TOP + GAP / 2.0;
        for (g, name) in self.groups.iter().enumerate() {
            let thickness = self.thickness(g);
            let middle = y + thickness / 2.0 + 4.5;
            let _ = writeln!(
                out,
                "<text x=\"{:.1}\" y=\"{middle:.1}\" text-anchor=\"end\">{}</text>",
                left - 8.0,
                escaped(name)
            );
            let end = if self.stacked {
                self.stack(&mut out, &axis, g, y)
            } else {
                self.side_by_side(&mut out, &axis, g, y)
            };
            if let Some(total) = self.totals.get(g) {
                let _ = writeln!(
                    out,
                    "<text x=\"{:.1}\" y=\"{middle:.1}\">{}</text>",
                    end + 6.0,
                    escaped(total)
                );
            }
            y += thickness + GAP;
        }
        let _ = writeln!(out, "<path class=\"frame\" d=\"M{left:.1} {TOP}V{bottom:.1}H{RIGHT}\"/>");
        let middle = (left + RIGHT) / 2.0;
        let _ = writeln!(
            out,
            "<text x=\"{middle:.1}\" y=\"{:.1}\" text-anchor=\"middle\">{}</text>",
            bottom + 36.0,
            escaped(&self.value_label)
        );
        legend(&mut out, 20.0, bottom + 62.0, &self.names());
        out
    }

    /// Parts of one bar; returns its end.
    fn stack(&self, out: &mut String, axis: &Axis, group: usize, y: f64) -> f64 {
        let mut from = 0.0;
        for s in 0..self.series.len() {
            let Some(value) = self.value(s, group) else { continue };
            self.bar(out, [axis.place(from), axis.place(from + value)], [y, STACK], s, group);
            from += value;
        }
        axis.place(from)
    }

    /// Bars with their values behind them; returns the end of the longest.
    fn side_by_side(&self, out: &mut String, axis: &Axis, group: usize, y: f64) -> f64 {
        let there = (0..self.series.len()).filter_map(|s| Some((s, self.value(s, group)?)));
        let mut most = axis.place(0.0);
        for (line, (s, value)) in there.enumerate() {
            let (y, end) = (y + BAR * line as f64, axis.place(value));
            self.bar(out, [axis.place(0.0), end], [y, BAR - 1.0], s, group);
            let _ = writeln!(
                out,
                "<text class=\"small\" x=\"{:.1}\" y=\"{:.1}\">{}</text>",
                end + 5.0,
                y + 10.0,
                short(value)
            );
            most = most.max(end);
        }
        most
    }

    /// One bar, with what it stands for.
    fn bar(
        &self,
        out: &mut String,
        [from, to]: [f64; 2],
        [y, height]: [f64; 2],
        series: usize,
        group: usize,
    ) {
        let value = self.value(series, group).unwrap_or(0.0);
        let told = escaped(&format!(
            "{}, {}: {}",
            self.groups[group],
            self.series[series].name,
            short(value)
        ));
        let (from, width, colour) = (from.min(to), (to - from).abs().max(0.6), series % COLOURS);
        let _ = writeln!(
            out,
            "<rect x=\"{from:.1}\" y=\"{y:.1}\" width=\"{width:.1}\" height=\"{height}\" \
             class=\"dot{colour}\"><title>{told}</title></rect>"
        );
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn plot(stacked: bool, log: bool) -> BarPlot {
        let series = |name: &str, values: &[Option<f64>]| Bars {
            name: name.into(),
            values: values.to_vec(),
        };
        BarPlot {
            title: "t".into(),
            description: "d".into(),
            value_label: "seconds".into(),
            groups: vec!["a & b".into(), "c".into()],
            series: vec![
                series("paper", &[Some(100.0), None]),
                series("here", &[Some(1.0), Some(0.5)]),
            ],
            stacked,
            log,
            marks: vec![],
            totals: vec![],
        }
    }

    #[test]
    fn bars_have_the_lengths_of_their_values() {
        let widths = |plot: &BarPlot| -> Vec<f64> {
            let body = plot.body();
            let rects = body.split("<rect ").skip(1).filter(|r| r.contains("<title>"));
            rects
                .map(|r| {
                    r.split("width=\"").nth(1).unwrap().split('"').next().unwrap().parse().unwrap()
                })
                .collect()
        };
        let side = widths(&plot(false, false));
        assert!(
            side.len() == 3
                && (side[0] / side[1] - 100.0).abs() < 2.0
                && (side[1] / side[2] - 2.0).abs() < 0.1,
            "{side:?}"
        );
        // Three decades from 0.1 to 100.
        let log = widths(&plot(false, true));
        assert!((log[0] / log[1] - 3.0).abs() < 0.01, "{log:?}");
        let stacked = plot(true, false).body();
        assert!(stacked.contains("a &amp; b, paper: 100") && !stacked.contains("NaN"), "{stacked}");
    }

    #[test]
    fn missing_bars_take_no_room() {
        let plot = plot(false, false);
        assert_eq!((plot.thickness(0), plot.thickness(1)), (2.0 * BAR, BAR));
    }
}
