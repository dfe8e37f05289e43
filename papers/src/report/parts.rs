//! What chapters are made of.

use super::model::{Chapter, Figure, Part, Table};
use super::plot::Plot;
use super::plot::{BarPlot, Bars};

/// A plot of bars side by side, unless there is nothing in it.
pub fn bars(
    title: &str,
    description: &str,
    value_label: &str,
    groups: Vec<String>,
    series: Vec<Bars>,
) -> Option<BarPlot> {
    let something = series.iter().any(|s| s.values.iter().any(Option::is_some));
    something.then(|| BarPlot {
        title: title.into(),
        description: description.into(),
        value_label: value_label.into(),
        groups,
        series,
        stacked: false,
        log: false,
        marks: Vec::new(),
        totals: Vec::new(),
    })
}

/// A figure of bars.
pub fn figure(id: &str, command: String, notes: Vec<String>, plot: BarPlot) -> Figure {
    Figure { id: id.into(), notes, command, plot: Plot::Bars(plot) }
}

pub fn series(name: impl Into<String>, values: Vec<Option<f64>>) -> Bars {
    Bars { name: name.into(), values }
}

/// A count.
pub fn shown(number: Option<f64>) -> String {
    number.map_or_else(|| "–".into(), |n| n.to_string())
}

/// A table as a part.
pub fn add(chapter: &mut Chapter, table: Table) {
    chapter.parts.push(Part::Table(table));
}
