//! The paper's method beside the paper and beside the best way here.

use std::collections::BTreeMap;

use serde_json::Value;

use super::names::{T3, T4, T5, bits_used, is_the_papers, problem, removals, space, way};
use crate::report::chapters::methods::{self, Compared, Way};
use crate::report::model::{Cell, Chapter, Column, Fields, Figure, Kind, Table, column};
use crate::report::parts::{add, shown};
use crate::report::plan::CHEN_HAN;
use crate::report::records::Records;

/// Rows of table 3, each by every method.
fn removed(records: &Records<'_>) -> Vec<Compared> {
    let compared = |r: &Value| {
        let methods = r.list("methods");
        let timed = |m: &Value| Way::of(m, "seconds", m.text("method"));
        Compared {
            name: problem(r, "paper."),
            paper: r.number("paper.chen_han.0").filter(|_| !records.quick()),
            method: methods
                .iter()
                .find(|m| m.text("method") == CHEN_HAN)
                .and_then(|m| m.number("seconds")),
            ways: methods.iter().filter_map(timed).collect(),
        }
    };
    records.of(removals(records)).map(|(_, stored)| compared(&stored.value)).collect()
}

/// The earlier method that the paper compares its own with.
const HALEVI_SHOUP: &str = "halevi_shoup";
const GAINS: [Column; 11] = [
    column("", "(p, e, v)", Kind::Text),
    column("halevi_shoup, seconds", "paper", Kind::Paper),
    column("halevi_shoup, seconds", "here", Kind::Here),
    column("halevi_shoup, seconds", "here ÷ paper", Kind::Ratio),
    column("chen_han, seconds", "paper", Kind::Paper),
    column("chen_han, seconds", "here", Kind::Here),
    column("chen_han, seconds", "here ÷ paper", Kind::Ratio),
    column("chen_han ÷ halevi_shoup, time", "paper", Kind::Relation),
    column("chen_han ÷ halevi_shoup, time", "here", Kind::Relation),
    column("chen_han ÷ halevi_shoup, bits used", "paper", Kind::Relation),
    column("chen_han ÷ halevi_shoup, bits used", "here", Kind::Relation),
];

/// What a method took for a row of table 3.
struct Taken {
    seconds_of_paper: Option<f64>,
    seconds: Option<f64>,
    /// In levels of the paper, which all have as many bits.
    levels_of_paper: Option<f64>,
    bits: Option<f64>,
}

impl Taken {
    fn of(r: &Value, method: &str) -> Self {
        let paper = |i: usize| r.number(&format!("paper.{method}.{i}"));
        let here = r.list("methods").iter().find(|m| m.text("method") == method);
        let number = |key: &str| here.and_then(|m| m.number(key));
        let less = |before: Option<f64>, after: Option<f64>| before.zip(after).map(|(b, a)| b - a);
        Taken {
            seconds_of_paper: paper(0),
            seconds: number("seconds"),
            levels_of_paper: less(paper(1), paper(2)),
            bits: here.and_then(bits_used),
        }
    }
}

/// Rows of table 3 by both methods of the paper, and what its own gains over the other; none
/// without records.
fn gains(records: &Records<'_>) -> Option<Table> {
    let row = |r: &Value| {
        let (old, new) = (Taken::of(r, HALEVI_SHOUP), Taken::of(r, CHEN_HAN));
        let mut cells = vec![Cell::text(problem(r, "paper."))];
        for taken in [&old, &new] {
            let paper = taken.seconds_of_paper;
            cells.extend([
                Cell::exact(paper),
                Cell::number(taken.seconds),
                Cell::ratio(taken.seconds, paper.filter(|_| !records.quick())),
            ]);
        }
        cells.extend([
            Cell::ratio(new.seconds_of_paper, old.seconds_of_paper),
            Cell::ratio(new.seconds, old.seconds),
            Cell::ratio(new.levels_of_paper, old.levels_of_paper),
            Cell::ratio(new.bits, old.bits),
        ]);
        cells
    };
    let from = removals(records);
    let rows: Vec<Vec<Cell>> = records.of(from).map(|(_, stored)| row(&stored.value)).collect();
    let title = "Removing digits: what the paper's method gains over Halevi and Shoup's";
    let note = "Each ratio is of two figures of one machine: the paper's, and the one here.";
    (!rows.is_empty()).then(|| Table {
        id: format!("{T3}-gains"),
        missing: Vec::new(),
        ..records.table(from, title, &GAINS, rows, &[note])
    })
}

/// Rows of table 4 or 5, each by everything that it was run with.
fn bootstrappings<'a>(records: &Records<'a>, group: &'a str) -> Vec<Compared> {
    let mut rows: BTreeMap<u64, Vec<&Value>> = BTreeMap::new();
    for (_, stored) in records.of(group) {
        if let Some(row) = stored.value.at("row").and_then(Value::as_u64) {
            rows.entry(row).or_default().push(&stored.value);
        }
    }
    let timed = |r: &Value| Way::of(r, "seconds_median", way(r));
    let compared = |runs: &Vec<&Value>| {
        let first = runs.first()?;
        let kind = if group == T4 { "full" } else { "slim" };
        Some(Compared {
            name: format!("{}, n = {}, {kind}", space(first), shown(first.number("n"))),
            paper: first.number("paper.seconds").filter(|_| !records.quick()),
            method: runs.iter().find(|r| is_the_papers(r)).and_then(|r| r.number("seconds_median")),
            ways: runs.iter().filter_map(|r| timed(r)).collect(),
        })
    };
    rows.values().filter_map(compared).collect()
}

/// The three columns of each table with times.
pub fn methods(records: &Records<'_>, chapter: &mut Chapter) {
    let of_removal = "Removing digits: paper, its method here, best here";
    let of_full = "Full bootstrapping: paper, its method here, best here";
    let of_slim = "Slim bootstrapping: paper, its method here, best here";
    let secrets = "Its method: chen_han, with the paper's secret of weight 128 and \
                   scale-invariant products. The best: any secret, any arithmetic, any digit \
                   removal of the table above.";
    let of_chen_han = match removals(records) {
        T3 => "Its method: chen_han.",
        _ => "Its method: chen_han, at the paper's own moduli.",
    };
    let tables = [
        methods::table(records, removals(records), of_removal, &removed(records), &[of_chen_han]),
        gains(records),
        methods::table(records, T4, of_full, &bootstrappings(records, T4), &[secrets]),
        methods::table(records, T5, of_slim, &bootstrappings(records, T5), &[secrets]),
    ];
    tables.into_iter().flatten().for_each(|table| add(chapter, table));
}

pub fn seconds(records: &Records<'_>) -> Option<Figure> {
    let rows = [bootstrappings(records, T5), bootstrappings(records, T4)].concat();
    let title = "One bootstrapping: the paper, its method here, the best here";
    let description = "seconds of one bootstrapping at the rings and moduli of tables 5 and 4, on \
                       a logarithmic axis: the paper's on its machine, the same method on one \
                       thread here, and the fastest way here";
    methods::drawn(
        "fig-chen-han-seconds",
        [title, description],
        records.plan.command(T5),
        &rows,
        vec![],
    )
}
