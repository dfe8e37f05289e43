//! Doröz–Hu–Sunar 2014: every figure of tables 1 to 7 as printed, by the paper's formula, corrected
//! where it slips, by today's estimate, and as recorded where something was run.

mod aes;
mod experiment;
mod keys;
mod noise;
mod parameters;
mod timing;

use serde::Serialize;

use super::record;
use crate::console::args::Common;
use crate::console::circumstances::Circumstances;
use crate::console::errors::CliError;
use crate::console::output::{emit, emit_json, table};
use crate::reproduce::args::{LtvTable, ReproduceArgs};
pub use aes::hours_of_paper;

/// How a printed figure and the formula compare.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
enum Agreement {
    /// The formula rounds to what is printed.
    Agrees,
    /// Within one unit of the last digit: cut off instead of rounded.
    LastDigit,
    /// Neither.
    Differs,
}

/// One figure of a table.
#[derive(Serialize)]
struct Figure {
    row: usize,
    what: String,
    paper: Option<f64>,
    /// The paper's formula, evaluated; in table 3, whose figures are cited there, the simulator of
    /// this library.
    formula: Option<f64>,
    /// What it should be, where the paper's formula or its reading slips.
    corrected: Option<f64>,
    /// What is known today.
    today: Option<f64>,
    /// From a recorded run.
    measured: Option<f64>,
    agreement: Option<Agreement>,
    note: Option<String>,
    /// Digits after the point of what is printed, and of what is computed.
    #[serde(skip)]
    printed: usize,
    #[serde(skip)]
    decimals: usize,
}

impl Figure {
    fn new(row: usize, what: impl Into<String>) -> Self {
        Figure {
            row,
            what: what.into(),
            paper: None,
            formula: None,
            corrected: None,
            today: None,
            measured: None,
            agreement: None,
            note: None,
            printed: 0,
            decimals: 0,
        }
    }

    /// As printed, with its digits.
    fn paper(mut self, printed: &str) -> Self {
        self.paper = printed.parse().ok();
        self.printed = printed.split_once('.').map_or(0, |(_, digits)| digits.len());
        self.digits(0)
    }

    /// Computed figures have so many digits after the point more than the printed one.
    fn digits(mut self, more: usize) -> Self {
        self.decimals = self.printed + more;
        self
    }

    fn formula(mut self, value: f64) -> Self {
        self.agreement =
            self.paper.map(|paper| match (value - paper).abs() * 10f64.powi(self.printed as i32) {
                // A little more than half for what is exactly between.
                units if units <= 0.500_001 => Agreement::Agrees,
                units if units < 1.0 => Agreement::LastDigit,
                _ => Agreement::Differs,
            });
        self.recomputed(value)
    }

    /// By a model that is not the paper's own: nothing to agree with to the digit.
    fn recomputed(mut self, value: f64) -> Self {
        self.formula = Some(value);
        self
    }

    fn corrected(mut self, value: f64) -> Self {
        self.corrected = Some(value);
        self
    }

    fn today(mut self, value: f64) -> Self {
        self.today = Some(value);
        self
    }

    fn measured(mut self, value: Option<f64>) -> Self {
        self.measured = value;
        self
    }

    fn note(mut self, note: impl Into<String>) -> Self {
        self.note = Some(note.into());
        self
    }

    fn columns(&self) -> [Option<f64>; 5] {
        [self.paper, self.formula, self.corrected, self.today, self.measured]
    }
}

/// A table of the paper.
#[derive(Serialize)]
struct Chapter {
    table: &'static str,
    title: &'static str,
    figures: Vec<Figure>,
    /// Where the paper disagrees with itself, and what else to know.
    remarks: Vec<String>,
}

#[derive(Serialize)]
struct Record<'a> {
    #[serde(flatten)]
    chapter: &'a Chapter,
    circumstances: Circumstances,
}

/// Prints a table, and writes it to `--out`.
pub fn run(which: LtvTable, args: &ReproduceArgs, common: &Common) -> Result<(), CliError> {
    let mut chapter = match which {
        LtvTable::Table1 => parameters::table_1(),
        LtvTable::Table2 => parameters::table_2()?,
        LtvTable::Table3 => parameters::table_3()?,
        LtvTable::Table4 => noise::table_4(),
        LtvTable::Table5 => aes::table_5()?,
        LtvTable::Table6 => keys::table_6()?,
        LtvTable::Table7 => keys::table_7()?,
    };
    if args.row.is_some() {
        let count = chapter.figures.iter().map(|f| f.row).max().unwrap_or(0);
        let wanted = super::rows(args, count)?;
        chapter.figures.retain(|f| wanted.contains(&(f.row - 1)));
    }
    if let Some(directory) = &args.out {
        let row = args.row.map_or_else(String::new, |row| format!("-row-{row}"));
        let record = Record { chapter: &chapter, circumstances: Circumstances::now() };
        record::write(directory, &format!("ltv-{}{row}", which.name()), &record)?;
    }
    if common.json { emit_json(&chapter) } else { emit(&text(&chapter)) }
}

fn text(chapter: &Chapter) -> String {
    const HEADS: [&str; 5] = ["paper", "formula", "corrected", "today", "measured"];
    let used: Vec<usize> = (0..HEADS.len())
        .filter(|c| chapter.figures.iter().any(|f| f.columns()[*c].is_some()))
        .collect();
    let compared = chapter.figures.iter().any(|f| f.agreement.is_some());
    let mut head = vec!["row".to_string()];
    head.extend(used.iter().map(|c| HEADS[*c].to_string()));
    head.extend(compared.then(String::new));
    let mut rows = vec![head];
    for f in &chapter.figures {
        let number = |c: &usize| {
            let digits = if *c == 0 { f.printed } else { f.decimals };
            f.columns()[*c].map_or_else(String::new, |x| format!("{x:.digits$}"))
        };
        let mut row = vec![format!("{}: {}", f.row, f.what)];
        row.extend(used.iter().map(number));
        row.extend(compared.then(|| match f.agreement {
            Some(Agreement::Differs) => "differs".to_string(),
            Some(Agreement::LastDigit) => "last digit".to_string(),
            _ => String::new(),
        }));
        rows.push(row);
    }
    let notes = chapter.figures.iter().map(|f| f.note.clone());
    let lines = table(&rows);
    let lines = lines.lines().zip(std::iter::once(None).chain(notes));
    let body: Vec<String> = lines
        .map(|(line, note)| note.map_or_else(|| line.to_string(), |n| format!("{line}  {n}")))
        .collect();
    let remarks: String = chapter.remarks.iter().map(|r| format!("\n* {r}")).collect();
    format!("{}\n{}{remarks}", chapter.title, body.join("\n"))
}
