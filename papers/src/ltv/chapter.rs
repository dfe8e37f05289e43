//! A table of Doröz–Hu–Sunar, figure by figure: as printed, by the paper's formula, corrected where
//! it slips, by today's estimate, as recorded where something was run before, and as measured now.

use everlevel_cli::console::output::table;
use serde::Serialize;

use crate::record::COMMITTED;

/// How a printed figure and the formula compare.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Agreement {
    /// The formula rounds to what is printed.
    Agrees,
    /// Within one unit of the last digit: cut off instead of rounded.
    LastDigit,
    /// Neither.
    Differs,
}

/// One figure of a table.
#[derive(Serialize)]
pub struct Figure {
    /// The row of the table, from 1.
    pub row: usize,
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
    recorded: Option<f64>,
    /// From the run that makes the table.
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
    /// A figure without any value yet.
    pub fn new(row: usize, what: impl Into<String>) -> Self {
        Figure {
            row,
            what: what.into(),
            paper: None,
            formula: None,
            corrected: None,
            today: None,
            recorded: None,
            measured: None,
            agreement: None,
            note: None,
            printed: 0,
            decimals: 0,
        }
    }

    /// As printed, with its digits.
    pub fn paper(mut self, printed: &str) -> Self {
        self.paper = printed.parse().ok();
        self.printed = printed.split_once('.').map_or(0, |(_, digits)| digits.len());
        self.digits(0)
    }

    /// Computed figures have `more` more digits after the point than the printed one.
    pub fn digits(mut self, more: usize) -> Self {
        self.decimals = self.printed + more;
        self
    }

    /// By the paper's own formula; also says how that compares with what is printed.
    pub fn formula(mut self, value: f64) -> Self {
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
    pub fn recomputed(mut self, value: f64) -> Self {
        self.formula = Some(value);
        self
    }

    /// What it should be.
    pub fn corrected(mut self, value: f64) -> Self {
        self.corrected = Some(value);
        self
    }

    /// By today's estimate.
    pub fn today(mut self, value: f64) -> Self {
        self.today = Some(value);
        self
    }

    /// From a recorded run, if there is one.
    pub fn recorded(mut self, value: Option<f64>) -> Self {
        self.recorded = value;
        self
    }

    /// From the run that makes the table.
    pub fn measured(mut self, value: f64) -> Self {
        self.measured = Some(value);
        self
    }

    /// With a remark behind it.
    pub fn note(mut self, note: impl Into<String>) -> Self {
        self.note = Some(note.into());
        self
    }

    /// The values, in the order of the columns.
    pub fn columns(&self) -> [Option<f64>; 6] {
        [self.paper, self.formula, self.corrected, self.today, self.recorded, self.measured]
    }
}

/// A table of the paper.
#[derive(Serialize)]
pub struct Chapter {
    /// As on the command line.
    pub table: &'static str,
    /// Its title.
    pub title: &'static str,
    /// Its figures, row by row.
    pub figures: Vec<Figure>,
    /// Where the paper disagrees with itself, and what else to know.
    pub remarks: Vec<String>,
}

/// The table as text.
pub fn text(chapter: &Chapter) -> String {
    const HEADS: [&str; 6] = ["paper", "formula", "corrected", "today", "recorded", "measured"];
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
    let origins = used.iter().filter_map(|c| match HEADS[*c] {
        "recorded" => Some(format!("recorded: by earlier runs, in {COMMITTED}")),
        "measured" => Some("measured: by this run".to_string()),
        _ => None,
    });
    let remarks = chapter.remarks.iter().cloned().chain(origins);
    let remarks: String = remarks.map(|r| format!("\n* {r}")).collect();
    format!("{}\n{}{remarks}", chapter.title, body.join("\n"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_recorded_is_not_called_measured() {
        let of = |figure: Figure| {
            text(&Chapter {
                table: "ltv table-0",
                title: "Title",
                figures: vec![figure.digits(1)],
                remarks: vec!["a remark".into()],
            })
        };
        let recorded = of(Figure::new(1, "seconds").paper("2").recorded(Some(1.0)));
        assert!(recorded.ends_with("* recorded: by earlier runs, in papers/results"), "{recorded}");
        assert!(recorded.contains("* a remark\n") && !recorded.contains("measured"), "{recorded}");
        let measured = of(Figure::new(1, "seconds").paper("2").measured(1.0));
        assert!(measured.ends_with("* measured: by this run"), "{measured}");
        assert!(!measured.contains("recorded"), "{measured}");
        let neither = of(Figure::new(1, "seconds").paper("2").recorded(None));
        assert!(neither.ends_with("* a remark"), "{neither}");
    }
}
