//! A paper's own method beside the paper, and beside the best way here: what the machine and the
//! code do, and what other methods do.

use serde_json::Value;

use crate::report::model::{Cell, Fields, Figure, Kind, Table, column};
use crate::report::parts::{bars, figure, series};
use crate::report::plot::BarPlot;
use crate::report::records::Records;

/// What every table says below its own notes.
const FLOOR: &str = "Floor: what the transforms and the memory traffic of the best take alone, on \
                     the same machine.";

/// A row of a paper's table.
#[derive(Clone)]
pub struct Compared {
    /// What it is called.
    pub name: String,
    /// Seconds in the paper, at the same parameters.
    pub paper: Option<f64>,
    /// Seconds of the paper's method here.
    pub method: Option<f64>,
    /// Every way here.
    pub ways: Vec<Way>,
}

/// One way to compute a row here.
#[derive(Clone)]
pub struct Way {
    /// What it is called.
    pub name: String,
    /// The time.
    pub seconds: f64,
    /// The floor of the machine, where the record has one.
    pub floor: Option<f64>,
}

impl Way {
    /// Of a record that has its time in a field; none if it was not timed.
    pub fn of(r: &Value, seconds: &str, name: String) -> Option<Self> {
        Some(Way { name, seconds: r.number(seconds)?, floor: r.number("floor_seconds") })
    }
}

impl Compared {
    /// The fastest way here; none if none was timed.
    pub fn best(&self) -> Option<&Way> {
        self.ways.iter().min_by(|a, b| a.seconds.total_cmp(&b.seconds))
    }

    fn best_seconds(&self) -> Option<f64> {
        self.best().map(|best| best.seconds)
    }

    /// Its cells, in the order of the columns.
    fn cells(&self) -> Vec<Cell> {
        let (best, seconds) = (self.best(), self.best_seconds());
        vec![
            Cell::text(self.name.clone()),
            Cell::exact(self.paper),
            Cell::number(self.method),
            Cell::number(seconds),
            Cell::number(best.and_then(|best| best.floor)),
            Cell::ratio(self.method, self.paper),
            Cell::ratio(seconds, self.method),
            Cell::ratio(seconds, self.paper),
            Cell::text(best.map_or("", |best| &best.name)),
        ]
    }
}

/// Three columns, the paper, its method here and the best here, the floor of the best, and the
/// ratio of each pair; none where no method of a paper was run.
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
        column("seconds", "floor of the best", Kind::Number),
        column("seconds, machine and code", "its method here ÷ paper", Kind::Ratio),
        column("seconds, method", "best ÷ its method", Kind::Ratio),
        column("seconds, both", "best ÷ paper", Kind::Ratio),
        column("", "the best here", Kind::Text),
    ];
    let notes = [notes, &[FLOOR]].concat();
    rows.iter().any(|row| row.method.is_some()).then(|| Table {
        id: format!("{group}-methods"),
        missing: Vec::new(),
        ..records.table(group, title, &columns, rows.iter().map(Compared::cells).collect(), &notes)
    })
}

/// How many times faster than the paper, from the least to the most: by its method, which is what
/// machine and code do, and by the best; none without both.
fn gained(rows: &[Compared]) -> Option<String> {
    let range = |seconds: fn(&Compared) -> Option<f64>| {
        let gain = |row: &Compared| Some(row.paper? / seconds(row)?);
        let gains: Vec<f64> = rows.iter().filter_map(gain).collect();
        let least = gains.iter().copied().reduce(f64::min)?;
        let most = gains.iter().copied().reduce(f64::max)?;
        Some(format!("{}× to {}×", factor(least), factor(most)))
    };
    Some(format!(
        "The paper's method here is {} as fast as the paper, which is what machine and code do; \
         the best here is {} as fast.",
        range(|row| row.method)?,
        range(Compared::best_seconds)?
    ))
}

/// A factor with three digits, or all of its whole ones.
fn factor(value: f64) -> String {
    let digits = [100.0, 10.0].iter().filter(|least| value < **least).count();
    let text = format!("{value:.digits$}");
    match text.len().checked_sub(3) {
        Some(at @ 1..) if digits == 0 => format!("{},{}", &text[..at], &text[at..]),
        _ => text,
    }
}

/// The same as bars on a logarithmic axis, with what is gained in words.
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
    let notes = gained(rows).into_iter().chain(notes).collect();
    let plot = bars(title, description, "seconds (logarithmic)", groups, all)?;
    Some(figure(id, command, notes, BarPlot { log: true, ..plot }))
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn the_best_way_is_the_fastest() {
        let way = |name: &str, r: Value| Way::of(&r, "seconds", name.into());
        let ways = [
            way("b", json!({ "seconds": 2.0, "floor_seconds": 1.0 })),
            way("a", json!({ "seconds": 1.5, "floor_seconds": 1.2 })),
            way("c", json!({ "seconds": 9.0 })),
            way("not timed", json!({ "floor_seconds": 0.1 })),
        ];
        let ways: Vec<Way> = ways.into_iter().flatten().collect();
        assert_eq!(ways.len(), 3);
        let row = Compared { name: "x".into(), paper: Some(60.0), method: Some(9.0), ways };
        let cells = row.cells();
        let texts: Vec<&str> = cells.iter().map(|cell| cell.text.as_str()).collect();
        assert_eq!((texts[0], texts[8]), ("x", "a"));
        let values: Vec<Option<f64>> = cells[1..8].iter().map(|cell| cell.value).collect();
        // Paper, its method, the best, its floor, and the ratio of each pair.
        assert_eq!(values, [60.0, 9.0, 1.5, 1.2, 0.15, 1.5 / 9.0, 0.025].map(Some));
        // The ratios of machine and code and of the method make up that of both.
        let [code, method, both] = [4, 5, 6].map(|i| values[i].unwrap());
        assert!((code * method - both).abs() < 1e-12);
        let rows = [row.clone(), Compared { paper: Some(12000.0), ..row.clone() }];
        let told = gained(&rows).unwrap();
        assert!(told.contains("here is 6.67× to 1,333× as fast as"), "{told}");
        assert!(told.contains("the best here is 40.0× to 8,000× as fast."), "{told}");
        assert_eq!(gained(&[Compared { method: None, ..row.clone() }]), None);
        assert_eq!([0.5, 12.34, 205.4, 1535.0].map(factor), ["0.50", "12.3", "205", "1,535"]);
        let none = Compared { ways: vec![], ..row };
        assert_eq!(none.best_seconds(), None);
        assert_eq!(none.cells().len(), cells.len());
    }
}
