//! A paper's own method beside the paper, and beside the best way here: what the machine and the
//! code do, and what other methods do.

use crate::report::model::{Cell, Figure, Kind, Table, column};
use crate::report::parts::{bars, figure, series};
use crate::report::plot::BarPlot;
use crate::report::records::Records;

/// A row of a paper's table.
#[derive(Clone)]
pub struct Compared {
    /// What it is called.
    pub name: String,
    /// Seconds in the paper, at the same parameters.
    pub paper: Option<f64>,
    /// Seconds of the paper's method here.
    pub method: Option<f64>,
    /// Seconds of every way here, and which way it is.
    pub ways: Vec<(f64, String)>,
}

impl Compared {
    fn best(&self) -> Option<&(f64, String)> {
        self.ways.iter().min_by(|a, b| a.0.total_cmp(&b.0))
    }

    fn best_seconds(&self) -> Option<f64> {
        self.best().map(|best| best.0)
    }
}

/// Three columns, the paper, its method here and the best here, and the ratio of each pair; none
/// where no method of a paper was run.
pub fn table<'a>(
    records: &Records<'a>,
    group: &'a str,
    title: &str,
    rows: &[Compared],
    notes: &[&str],
) -> Option<Table> {
    let columns = [
        column("", "row", Kind::Text),
        column("seconds", "paper", Kind::Paper),
        column("seconds", "its method here", Kind::Here),
        column("seconds", "best here", Kind::Here),
        column("seconds, machine and code", "its method here ÷ paper", Kind::Ratio),
        column("seconds, method", "best ÷ its method", Kind::Ratio),
        column("", "the best here", Kind::Text),
    ];
    let cells = |row: &Compared| {
        vec![
            Cell::text(row.name.clone()),
            Cell::exact(row.paper),
            Cell::number(row.method),
            Cell::number(row.best_seconds()),
            Cell::ratio(row.method, row.paper),
            Cell::ratio(row.best_seconds(), row.method),
            Cell::text(row.best().map_or("", |best| &best.1)),
        ]
    };
    rows.iter().any(|row| row.method.is_some()).then(|| Table {
        id: format!("{group}-methods"),
        missing: Vec::new(),
        ..records.table(group, title, &columns, rows.iter().map(cells).collect(), notes)
    })
}

/// The same as bars on a logarithmic axis.
pub fn drawn(
    id: &str,
    [title, description]: [&str; 2],
    command: String,
    rows: &[Compared],
    notes: Vec<String>,
) -> Option<Figure> {
    let all = vec![
        series("paper", rows.iter().map(|row| row.paper).collect()),
        series("the paper's method, here", rows.iter().map(|row| row.method).collect()),
        series("the best here", rows.iter().map(Compared::best_seconds).collect()),
    ];
    // Without a record of the paper's method there is nothing to set apart.
    let all = all.into_iter().filter(|s| s.values.iter().any(Option::is_some)).collect();
    let groups = rows.iter().map(|row| row.name.clone()).collect();
    let plot = bars(title, description, "seconds (logarithmic)", groups, all)?;
    Some(figure(id, command, notes, BarPlot { log: true, ..plot }))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_best_way_is_the_fastest() {
        let ways = vec![(2.0, "b".into()), (1.5, "a".into()), (9.0, "c".into())];
        let row = Compared { name: "x".into(), paper: Some(60.0), method: Some(9.0), ways };
        assert_eq!(row.best(), Some(&(1.5, "a".into())));
        let none = Compared { ways: vec![], ..row };
        assert_eq!(none.best_seconds(), None);
    }
}
