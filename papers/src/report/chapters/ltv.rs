//! Doröz, Hu and Sunar 2014: the tables by formula.

use clap::ValueEnum;
use everlevel_cli::console::args::value_name;
use serde_json::Value;

use crate::args::LtvTable;
use crate::report::model::{Cell, Chapter, Column, Fields, Kind, Table, column};
use crate::report::parts::add;
use crate::report::records::Records;

pub fn chapter(records: &Records<'_>) -> Chapter {
    let mut chapter = Chapter::new(
        "ltv",
        "Doröz–Hu–Sunar",
        "Doröz, Hu and Sunar 2014: Homomorphic AES evaluation using the modified LTV scheme",
        &[
            "Every figure of tables 1 to 7 as printed, by the paper's own formula, corrected \
             where it slips, and as estimated today. **These parameters give no security**: LLL \
             finds an NTRU key at such moduli. The scheme is here to be studied.",
            "agrees: the formula rounds to what is printed; last digit: cut off instead of \
             rounded; differs: neither, and the remark says why where that is known.",
        ],
    );
    for table in LtvTable::value_variants() {
        let name = value_name(table);
        let group = GROUPS.iter().find(|group| group.strip_prefix("ltv-") == Some(&*name));
        if let Some(group) = group {
            add(&mut chapter, one(records, group));
        }
    }
    chapter
}

const GROUPS: [&str; 7] = [
    "ltv-table-1",
    "ltv-table-2",
    "ltv-table-3",
    "ltv-table-4",
    "ltv-table-5",
    "ltv-table-6",
    "ltv-table-7",
];
const COLUMNS: [Column; 10] = [
    column("", "figure", Kind::Text),
    column("", "paper", Kind::Paper),
    column("here", "by its formula", Kind::Here),
    column("here", "corrected", Kind::Here),
    column("here", "today", Kind::Here),
    column("here", "recorded", Kind::Here),
    column("", "here ÷ paper", Kind::Relation),
    column("seconds, hours or ms", "recorded ÷ paper", Kind::Ratio),
    column("", "agreement", Kind::Text),
    column("", "remark", Kind::Text),
];

/// As many digits as the figures of a table ask for: Hermite factors differ in the fourth.
fn figure(value: Option<f64>) -> Cell {
    match value {
        Some(v) if (1.0..1.1).contains(&v) => Cell::digits(value, 5),
        Some(v) if v.fract() == 0.0 => Cell::exact(value),
        _ => Cell::number(value),
    }
}

/// What records say in other words than are used now: they keep what was written with them. What
/// a record measured is recorded.
const REWORDED: [(&str, &str); 3] = [
    ("`aes bench`", "`papers aes`"),
    ("; measured with ", "; recorded with "),
    ("measured: here and now, ", "milliseconds here: "),
];

/// A remark, in the words that are used now.
fn remark(v: &Value) -> String {
    REWORDED.into_iter().fold(v.text(""), |text, (then, now)| text.replace(then, now))
}

/// What a run found: of an earlier run when the record was made, or of the one that made it.
fn recorded(figure: &Value) -> Option<f64> {
    figure.number("recorded").or_else(|| figure.number("measured"))
}

/// Whether a figure is the time of something that was run.
fn is_of_time(what: &str) -> bool {
    ["seconds ", "hours ", "ms to "].iter().any(|unit| what.contains(unit))
}

/// The cells of a figure.
fn cells(f: &Value) -> Vec<Cell> {
    let [paper, formula, corrected, today] =
        ["paper", "formula", "corrected", "today"].map(|key| f.number(key));
    let (recorded, what) = (recorded(f), f.text("what"));
    let time = is_of_time(&what);
    // What the paper could have printed: its formula without the slip, else its formula, else what
    // was recorded; times stand beside those of the paper in a column of their own.
    let here = corrected.or(formula).or(recorded.filter(|_| !time)).or(today);
    vec![
        Cell::text(what),
        figure(paper),
        figure(formula),
        figure(corrected),
        figure(today),
        figure(recorded),
        Cell::ratio(here, paper),
        Cell::ratio(recorded.filter(|_| time), paper),
        Cell::text(f.text("agreement").replace('-', " ")),
        Cell::text(f.text("note")),
    ]
}

fn one<'a>(records: &Records<'a>, group: &'a str) -> Table {
    let found = records.of(group).next().map(|(_, stored)| &stored.value);
    let rows = found.map_or_else(Vec::new, |r| r.list("figures").iter().map(cells).collect());
    let title = found.map_or_else(|| group.replace('-', " "), |r| r.text("title"));
    let remarks: Vec<String> =
        found.map_or_else(Vec::new, |r| r.list("remarks").iter().map(remark).collect());
    let mut table = records.table(group, &title, &COLUMNS, rows, &[]);
    table.notes.extend(remarks);
    // Columns that a table has no use for.
    let used: Vec<bool> = (0..COLUMNS.len())
        .map(|c| table.rows.is_empty() || table.rows.iter().any(|r| !r[c].text.is_empty()))
        .collect();
    let kept = |c: &usize| used[*c];
    table.columns = (0..COLUMNS.len()).filter(kept).map(|c| COLUMNS[c].clone()).collect();
    table.rows = table
        .rows
        .into_iter()
        .map(|r| r.into_iter().enumerate().filter(|(c, _)| kept(c)).map(|(_, cell)| cell).collect())
        .collect();
    table
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn times_stand_beside_those_of_the_paper() {
        let ratios = |f: Value| {
            let cells = cells(&f);
            assert_eq!(cells.len(), COLUMNS.len());
            [cells[6].value, cells[7].value]
        };
        let block = json!({ "what": "n = 27000: seconds a block, the best here", "paper": 50.0,
            "recorded": 0.02 });
        assert_eq!(ratios(block), [None, Some(0.02 / 50.0)]);
        let mean = json!({ "what": "ms to relinearize, LTV, mean over the levels", "paper": 80.0,
            "formula": 79.5, "measured": 2.0 });
        assert_eq!(ratios(mean), [Some(79.5 / 80.0), Some(0.025)]);
        let gain = json!({ "what": "times that transformed keys are faster", "paper": 3.0,
            "measured": 2.25 });
        assert_eq!(ratios(gain), [Some(0.75), None]);
    }

    #[test]
    fn what_a_record_measured_is_recorded() {
        assert_eq!(recorded(&json!({ "measured": 2.0 })), Some(2.0));
        assert_eq!(recorded(&json!({ "recorded": 1.0, "measured": null })), Some(1.0));
        assert_eq!(recorded(&json!({ "recorded": null, "measured": null })), None);
        let told = remark(&json!("measured: here and now, over prime powers p^1 to p^5"));
        assert_eq!(told, "milliseconds here: over prime powers p^1 to p^5");
        assert_eq!(remark(&json!("ways as `aes bench` has them")), "ways as `papers aes` has them");
    }
}
