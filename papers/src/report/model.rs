//! What a report shows: tables and figures in chapters. `report.json` is this, and
//! `papers/report/page.py` makes the page of it.

use serde::Serialize;
use serde_json::Value;

use super::plot::{Plot, short};
use super::store::Origin;

/// A report.
#[derive(Serialize)]
pub struct Report {
    /// Whether of small rings.
    pub quick: bool,
    /// What was done.
    pub summary: Summary,
    /// What it showed.
    pub chapters: Vec<Chapter>,
}

/// What was done.
#[derive(Serialize)]
pub struct Summary {
    /// Jobs in all.
    pub jobs: usize,
    /// Those with a record.
    pub done: usize,
    /// Those whose record was taken from elsewhere, by directory.
    pub taken: Vec<(String, usize)>,
    /// Those without record.
    pub missing: Vec<String>,
    /// Those that failed, and why.
    pub failed: Vec<(String, String)>,
    /// Slots and blocks that were decrypted and compared.
    pub checked: u64,
    /// Those that were wrong.
    pub wrong: u64,
    /// What the tables say of time, here over paper.
    pub times: Vec<Times>,
    /// Machines, by what they are called.
    pub machines: Vec<Machine>,
}

/// The ratios of a table, here over paper.
#[derive(Serialize)]
pub struct Times {
    /// The table.
    pub id: String,
    /// Its chapter and its title.
    pub what: String,
    /// Of what.
    pub of: String,
    /// How many.
    pub count: usize,
    /// The least, the median, the largest.
    pub ratios: [f64; 3],
}

/// Records of one machine.
#[derive(Serialize)]
pub struct Machine {
    /// The processor.
    pub cpu: String,
    /// Its instruction sets.
    pub cpu_flags: String,
    /// How many records.
    pub records: usize,
    /// The first and the last day.
    pub dates: [String; 2],
    /// Commits that records are of.
    pub commits: Vec<String>,
    /// Versions.
    pub versions: Vec<String>,
}

/// A chapter.
#[derive(Serialize)]
pub struct Chapter {
    /// The name to link to.
    pub id: String,
    /// What it is called where there is little room.
    pub short: &'static str,
    /// Its title.
    pub title: String,
    /// Paragraphs before the first table.
    pub intro: Vec<String>,
    /// Tables and figures.
    pub parts: Vec<Part>,
}

/// A table or a figure.
#[derive(Serialize)]
#[serde(tag = "part", rename_all = "kebab-case")]
pub enum Part {
    /// A table.
    Table(Table),
    /// A figure.
    Figure(Figure),
}

/// A table.
#[derive(Serialize)]
pub struct Table {
    /// The name to link to.
    pub id: String,
    /// Its title.
    pub title: String,
    /// How to run it again.
    pub command: String,
    /// The columns.
    pub columns: Vec<Column>,
    /// The rows.
    pub rows: Vec<Vec<Cell>>,
    /// What to know.
    pub notes: Vec<String>,
    /// Jobs without record.
    pub missing: Vec<String>,
    /// Where its records come from.
    pub origins: Vec<Origin>,
}

/// A column.
#[derive(Clone, Serialize)]
pub struct Column {
    /// What it has in common with those beside it.
    pub group: &'static str,
    /// Its own head.
    pub label: &'static str,
    /// What its figures are.
    pub kind: Kind,
}

/// What a figure is.
#[derive(Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Kind {
    /// Text.
    Text,
    /// A parameter or a count.
    Number,
    /// As the paper has it.
    Paper,
    /// Found here.
    Here,
    /// Here over paper, of what is better if there is less of it.
    Ratio,
    /// Here over paper, of anything else.
    Relation,
    /// What has to be 0.
    Wrong,
}

/// A cell.
#[derive(Clone, Default, Serialize)]
pub struct Cell {
    /// What is shown.
    pub text: String,
    /// The number behind it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub value: Option<f64>,
}

/// A figure.
#[derive(Serialize)]
pub struct Figure {
    /// The name to link to.
    pub id: String,
    /// What there is to see, and under what circumstances.
    pub notes: Vec<String>,
    /// How to run it again.
    pub command: String,
    /// What is drawn.
    pub plot: Plot,
}

impl Chapter {
    /// With nothing in it yet.
    pub fn new(id: &str, short: &'static str, title: &str, intro: &[&str]) -> Self {
        Chapter {
            id: id.into(),
            short,
            title: title.into(),
            intro: intro.iter().map(|p| (*p).to_string()).collect(),
            parts: Vec::new(),
        }
    }

    /// Adds a figure, unless there is none.
    pub fn figure(&mut self, figure: Option<Figure>) {
        self.parts.extend(figure.map(Part::Figure));
    }
}

/// A column.
pub const fn column(group: &'static str, label: &'static str, kind: Kind) -> Column {
    Column { group, label, kind }
}

impl Cell {
    /// Text.
    pub fn text(text: impl Into<String>) -> Self {
        Cell { text: text.into(), value: None }
    }

    /// A number with as many digits as help.
    pub fn number(value: Option<f64>) -> Self {
        Cell { text: value.map_or_else(String::new, short), value }
    }

    /// A number with `digits` digits after the point.
    pub fn digits(value: Option<f64>, digits: usize) -> Self {
        Cell { text: value.map_or_else(String::new, |v| format!("{v:.digits$}")), value }
    }

    /// A number without rounding: a parameter, a count, a figure as printed.
    pub fn exact(value: Option<f64>) -> Self {
        Cell { text: value.map_or_else(String::new, |v| v.to_string()), value }
    }

    /// Here over paper.
    pub fn ratio(here: Option<f64>, paper: Option<f64>) -> Self {
        let ratio =
            here.zip(paper).filter(|(_, paper)| *paper != 0.0).map(|(here, paper)| here / paper);
        Cell {
            text: ratio.map_or_else(String::new, |r| {
                if r < 0.001 { format!("{r:.1e}") } else { short(r) }
            }),
            value: ratio,
        }
    }
}

/// Fields of a record.
pub trait Fields {
    /// The value at a path of names and numbers, with points between.
    fn at(&self, path: &str) -> Option<&Value>;

    /// The number there.
    fn number(&self, path: &str) -> Option<f64> {
        self.at(path)?.as_f64()
    }

    /// The text there.
    fn text(&self, path: &str) -> String {
        self.at(path).and_then(Value::as_str).unwrap_or_default().to_string()
    }

    /// The list there.
    fn list(&self, path: &str) -> &[Value] {
        self.at(path).and_then(Value::as_array).map_or(&[], Vec::as_slice)
    }
}

impl Fields for Value {
    fn at(&self, path: &str) -> Option<&Value> {
        path.split('.').filter(|key| !key.is_empty()).try_fold(self, |value, key| match value {
            Value::Array(items) => items.get(key.parse::<usize>().ok()?),
            other => other.get(key),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fields_are_found_and_missing_ones_are_none() {
        let record = serde_json::json!({"paper": {"seconds": [1, 2.5]}, "name": "x"});
        assert_eq!(
            (
                record.number("paper.seconds.1"),
                record.number("paper.seconds.2"),
                record.number("name")
            ),
            (Some(2.5), None, None)
        );
        assert_eq!((record.text("name").as_str(), record.text("none").as_str()), ("x", ""));
        assert_eq!((record.list("paper.seconds").len(), record.list("name").len()), (2, 0));
    }

    #[test]
    fn ratios_need_both_sides() {
        assert_eq!(Cell::ratio(Some(1.0), Some(4.0)).value, Some(0.25));
        assert_eq!(Cell::ratio(Some(1.0), None).text, "");
        assert_eq!(Cell::ratio(Some(1.0), Some(0.0)).value, None);
        assert_eq!(Cell::ratio(Some(38.0), Some(104400.0)).text, "3.6e-4");
    }
}
