//! What a figure shows. `papers/report/plots.py` draws it.

use everlevel_cli::plot::LinePlot;
use serde::Serialize;

/// A plot of either kind.
#[derive(Serialize)]
#[serde(tag = "kind", rename_all = "kebab-case")]
pub enum Plot {
    /// Points over a common horizontal axis.
    Line(LinePlot),
    /// Bars from the left.
    Bars(BarPlot),
}

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
    /// The series, in the order of the legend.
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

/// A number as a label: no more digits than help.
pub fn short(value: f64) -> String {
    let size = value.abs();
    match size {
        _ if !value.is_finite() => "–".into(),
        _ if value.fract() == 0.0 && size < 1e6 => format!("{value:.0}"),
        _ if (100.0..1e6).contains(&size) => format!("{value:.0}"),
        _ if size >= 1e6 => format!("{value:.2e}"),
        _ if size >= 10.0 => format!("{value:.1}"),
        _ if size >= 1.0 => format!("{value:.2}"),
        _ if size >= 0.01 => format!("{value:.3}"),
        _ => format!("{value:.2e}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_short() {
        let shown = [0.0, 46203.0, 21.04, 6.75, 0.2655, 0.00012, 2.5e7, f64::NAN].map(short);
        assert_eq!(shown, ["0", "46203", "21.0", "6.75", "0.266", "1.20e-4", "2.50e7", "–"]);
    }
}
