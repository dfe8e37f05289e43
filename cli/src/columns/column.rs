//! A column of integers, wherever it comes from.

use everlevel::ValueRange;

use super::npy::Kind;
use crate::console::errors::CliError;

/// Whether the first line of a CSV file is the name of the column.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub enum Header {
    /// Yes if it is not a value and looks like a name
    Auto,
    /// It is a name
    Yes,
    /// It is a value
    No,
}

/// The range of the values of a column modulo `t`: residues, signed ones, or, where they are to be
/// reduced, none.
pub fn stated(signed: bool, reduce: bool, t: impl Into<u128>) -> Option<ValueRange> {
    let t: u128 = t.into();
    let last = t as i128 - 1;
    match (signed, reduce) {
        (_, true) => None,
        (true, _) => ValueRange::new(-(last / 2), last / 2),
        _ => ValueRange::new(0, last),
    }
}

/// All residues modulo `t` as the integers of least absolute value: of two the positive one, or
/// modulo 2^64 the one that is a signed word.
pub fn centered(t: u128) -> Option<ValueRange> {
    let high = ((t / 2) as i128).min(i64::MAX.into());
    ValueRange::new(high - (t as i128 - 1), high)
}

/// A column as it was read. `Debug` shows the number of its values alone.
pub struct Column {
    /// Its name, if the file has one.
    pub name: Option<String>,
    /// The type of its integers, if the file has one.
    pub kind: Option<Kind>,
    /// Its values.
    pub values: Vec<i128>,
    /// The file.
    source: String,
    /// What counts places: lines, values.
    unit: &'static str,
    /// The place of the first value.
    pub(super) first: usize,
}

impl std::fmt::Debug for Column {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Column({}, {} values)", self.source, self.values.len())
    }
}

impl Column {
    pub(super) fn of(source: &str, unit: &'static str) -> Self {
        let source = source.to_string();
        Column { name: None, kind: None, values: Vec::new(), source, unit, first: 1 }
    }

    /// The same column with values of a type.
    pub(super) fn with(self, kind: Option<Kind>, values: Vec<i128>) -> Self {
        Column { kind, values, ..self }
    }

    /// The values modulo `t`, at most `slots`, all of them in `range`, if there is one.
    pub fn residues(
        &self,
        t: impl Into<u128>,
        slots: usize,
        range: Option<ValueRange>,
    ) -> Result<Vec<u64>, CliError> {
        let t: u128 = t.into();
        let wrong = |i: usize, problem: String| {
            let place = self.first + i;
            CliError::usage(format!("{}, {} {place}: {problem}", self.source, self.unit))
        };
        match self.values.len() {
            0 => {
                let problem = "expected a column of integers, found no value";
                return Err(CliError::usage(format!("{}: {problem}", self.source)));
            }
            count if count > slots => {
                let problem = format!(
                    "expected at most {slots} values, one for each slot: shorten the file, or use \
                     a set with more slots, such as bgv-786433-n16"
                );
                return Err(wrong(slots, problem));
            }
            _ => {}
        }
        let outside = |v: &i128| range.is_some_and(|range| !range.contains(*v));
        if let (Some(i), Some(range)) = (self.values.iter().position(outside), range) {
            let problem = format!(
                "expected a value from {} to {}, found {}: --signed is for values of \u{b1}{}, \
                 --reduce reduces them modulo {t}, and `encrypt` has --range LOW..HIGH for \
                 others, and --types for columns that never wrap around",
                range.low(),
                range.high(),
                self.values[i],
                (t - 1) / 2
            );
            return Err(wrong(i, problem));
        }
        Ok(self.values.iter().map(|v| v.rem_euclid(t as i128) as u64).collect())
    }
}
