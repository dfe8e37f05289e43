//! From values, rows and operations to a way of computing and a parameter set.
//!
//! The user says what the values are; plaintext moduli, slots and levels are the planner's. Nothing
//! here is looked up: each operation is rehearsed on the no-op scheme of the set that is then
//! recommended, at the types that are recommended, so that it is not refused later.

mod lines;
mod modular;
mod operations;
mod questions;
mod rehearsal;
mod typed;

use everlevel::{OptIn, Params, Type};
use serde::{Serialize, Serializer};

pub use operations::Operation;

use crate::error::TablesError;

/// The most rows.
pub const MOST_ROWS: u64 = 1 << 40;
/// The largest value of signed columns.
const LARGEST_SIGNED: u64 = i64::MAX as u64;

/// What is computed, in the words of whoever has the data.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Workload {
    largest: u64,
    signed: bool,
    rows: u64,
    operations: Vec<Operation>,
}

/// How it is computed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Way {
    /// Integers modulo p^r whose sums and products stay below: one ciphertext for a column.
    Modular,
    /// Encrypted tables, asked in SQL.
    Tables,
    /// Typed integers: a ciphertext for each hexadecimal digit, every operation.
    Integers,
}

/// What an operation costs, on all rows.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct OperationCost {
    /// Its name.
    pub operation: &'static str,
    /// What was rehearsed: a line of a program, or a question.
    pub rehearsed: String,
    /// The least result that there can be; none for answers in SQL.
    pub low: Option<String>,
    /// The largest one.
    pub high: Option<String>,
    /// Products of ciphertexts, those in bootstrappings included.
    pub products: u64,
    /// Bootstrappings.
    pub refreshes: u64,
    /// Seconds of one core by [`everlevel::TimeModel::typical`].
    pub seconds: f64,
}

/// A recommendation: everything in it was rehearsed.
#[derive(Clone, Debug, Serialize)]
pub struct Recommendation {
    /// How to compute.
    pub way: Way,
    /// The parameter set.
    #[serde(rename = "set", serialize_with = "name")]
    pub params: Params,
    /// Its security in bits.
    pub security_bits: f64,
    /// Values in a ciphertext.
    pub slots: usize,
    /// The type for the values; none where they are stated as a range.
    #[serde(rename = "type", serialize_with = "shown")]
    pub kind: Option<Type>,
    /// The least value.
    pub low: String,
    /// The largest one.
    pub high: String,
    /// Ciphertexts of one column of all rows.
    pub ciphertexts: u64,
    /// Their bytes, encrypted with the public key; half as many with the secret one.
    pub ciphertext_bytes: u64,
    /// Bytes of the server keys that the commands below make.
    pub key_bytes: u64,
    /// Whether ciphertexts are bootstrapped by themselves, so that programs may go on for as long
    /// as they like.
    pub refreshes_automatically: bool,
    /// All operations once, on one core, by a model.
    pub seconds: f64,
    /// Each of them.
    pub operations: Vec<OperationCost>,
    /// What to run next.
    pub commands: Vec<String>,
    /// The same in Python.
    pub python: Vec<String>,
    /// What has to be known.
    pub notes: Vec<String>,
}

fn name<S: Serializer>(params: &Params, out: S) -> Result<S::Ok, S::Error> {
    out.serialize_str(params.name())
}

fn shown<S: Serializer>(kind: &Option<Type>, out: S) -> Result<S::Ok, S::Error> {
    match kind {
        Some(kind) => out.collect_str(kind),
        None => out.serialize_none(),
    }
}

/// A way that was not taken.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Rejected {
    /// The way.
    pub way: Way,
    /// Why not.
    pub reason: String,
}

/// What a workload is answered.
#[derive(Clone, Debug, Serialize)]
pub struct WorkloadPlan {
    /// What is recommended.
    pub recommended: Recommendation,
    /// Why the other ways are not.
    pub others: Vec<Rejected>,
}

/// Why there is no recommendation.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum WorkloadError {
    /// A largest value that is none.
    #[error("largest value {found}: expected {expected}")]
    Value {
        /// What was given.
        found: String,
        /// What can be.
        expected: String,
    },
    /// No rows, or too many.
    #[error("{found} rows: expected 1 to {MOST_ROWS}")]
    Rows {
        /// What was given.
        found: String,
    },
    /// A word that names no operation.
    #[error("no operation is named {name:?}:{meant} expected some of {known}")]
    Operation {
        /// The word.
        name: String,
        /// The nearest operation, as a question.
        meant: String,
        /// All operations.
        known: String,
    },
    /// No operation at all.
    #[error("no operations: expected some of {known}")]
    NoOperations {
        /// All operations.
        known: String,
    },
    /// An operation for which there is no set.
    #[error("no parameter set does {operation} of {values}: {problem}; {remedy}")]
    Unsupported {
        /// The operation.
        operation: &'static str,
        /// Rows and values.
        values: String,
        /// What was refused.
        problem: String,
        /// The way out.
        remedy: String,
    },
    /// A set could not be made or rehearsed at all.
    #[error("{0}")]
    Rehearsal(Box<TablesError>),
}

everlevel_ring::error_codes!(WorkloadError {
    Value => "workload.value",
    Rows => "workload.rows",
    Operation => "workload.operation",
    NoOperations => "workload.no-operations",
    Unsupported => "workload.unsupported",
    Rehearsal => "workload.rehearsal",
});

impl From<TablesError> for WorkloadError {
    fn from(e: TablesError) -> Self {
        WorkloadError::Rehearsal(Box::new(e))
    }
}

/// The largest value from text: `1000000`, `1_000_000`, `1e6` or `2.5e3`.
///
/// # Errors
/// [`WorkloadError::Value`] for what is no positive integer below 2^64.
pub fn parse_largest(text: &str) -> Result<u64, WorkloadError> {
    let wrong = || WorkloadError::Value {
        found: text.chars().take(60).collect(),
        expected: "an integer from 1 to 2^64 - 1, such as 1000000, 1_000_000 or 1e6".into(),
    };
    let (number, exponent) = text.trim().split_once(['e', 'E']).unwrap_or((text.trim(), "0"));
    let exponent: usize =
        exponent.strip_prefix('+').unwrap_or(exponent).parse().map_err(|_| wrong())?;
    let (whole, fraction) = number.split_once('.').unwrap_or((number, ""));
    let fraction = fraction.trim_end_matches('0');
    let grouped = whole.split('_').all(|part| !part.is_empty());
    if !grouped || exponent > 40 || fraction.len() > exponent {
        return Err(wrong());
    }
    let digits = format!("{}{fraction}", whole.replace('_', ""));
    let zeros = "0".repeat(exponent - fraction.len());
    if !digits.bytes().all(|b| b.is_ascii_digit()) {
        return Err(wrong());
    }
    let value: u64 = format!("{digits}{zeros}").parse().map_err(|_| wrong())?;
    if value == 0 { Err(wrong()) } else { Ok(value) }
}

/// Rows from text, in the forms of [`parse_largest`].
///
/// # Errors
/// [`WorkloadError::Rows`] for what is no positive integer below 2^64.
pub fn parse_rows(text: &str) -> Result<u64, WorkloadError> {
    parse_largest(text).map_err(|_| WorkloadError::Rows { found: text.chars().take(60).collect() })
}

impl Workload {
    /// Operations on columns of integers of at most `largest`, or from `-largest` to `largest` if
    /// they are signed, of so many rows.
    ///
    /// # Errors
    /// [`WorkloadError::Value`] for 0 and for signed values past 2^63 - 1; [`WorkloadError::Rows`];
    /// [`WorkloadError::NoOperations`].
    pub fn new(
        largest: u64,
        signed: bool,
        rows: u64,
        operations: Vec<Operation>,
    ) -> Result<Self, WorkloadError> {
        let most = if signed { LARGEST_SIGNED } else { u64::MAX };
        if !(1..=most).contains(&largest) {
            let kind = if signed { "signed" } else { "unsigned" };
            let expected = format!("1 to {most} for {kind} values");
            return Err(WorkloadError::Value { found: largest.to_string(), expected });
        }
        if !(1..=MOST_ROWS).contains(&rows) {
            return Err(WorkloadError::Rows { found: rows.to_string() });
        }
        if operations.is_empty() {
            Operation::parse_all([])?;
        }
        Ok(Workload { largest, signed, rows, operations })
    }

    /// The least and the largest value.
    pub fn bounds(&self) -> (i128, i128) {
        let high = i128::from(self.largest);
        (if self.signed { -high } else { 0 }, high)
    }

    /// The operations.
    pub fn operations(&self) -> &[Operation] {
        &self.operations
    }

    /// How many rows there are.
    pub fn rows(&self) -> u64 {
        self.rows
    }

    fn values(&self) -> String {
        let (low, high) = self.bounds();
        let s = if self.rows == 1 { "" } else { "s" };
        format!("{} row{s} of {low} to {high}", self.rows)
    }

    /// How to compute, on which set, and what that takes.
    ///
    /// Modular arithmetic where no result can wrap and its ciphertexts are no larger than those of
    /// typed integers; tables where rows are only filtered and added up; typed integers else. Sets
    /// have 128 bits unless `opt_in` allows others, which are then tried first. Takes seconds.
    ///
    /// # Errors
    /// [`WorkloadError::Unsupported`] for an operation that no set does, with the way out.
    pub fn plan(&self, opt_in: OptIn) -> Result<WorkloadPlan, WorkloadError> {
        let mut others = Vec::new();
        let mut rejected = |way, reason| others.push(Rejected { way, reason });
        let modular = modular::plan(self, opt_in);
        let asked = questions::plan(self, opt_in);
        let recommended = match (modular, asked) {
            (Ok(modular), asked) => {
                if let Err(reason) = asked {
                    rejected(Way::Tables, reason);
                }
                let reason = "sums and products modulo p that cannot wrap take less".into();
                rejected(Way::Integers, reason);
                modular
            }
            (Err(reason), Ok(tables)) => {
                rejected(Way::Modular, reason);
                let reason = "rows are only filtered and added up, which tables do in one question";
                rejected(Way::Integers, reason.into());
                tables
            }
            (Err(reason), Err(asked)) => {
                rejected(Way::Modular, reason);
                rejected(Way::Tables, asked);
                typed::plan(self, opt_in)?
            }
        };
        Ok(WorkloadPlan { recommended, others })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn largest_values_are_read_exactly() {
        for (text, value) in [
            ("1000000", 1_000_000),
            ("1_000_000", 1_000_000),
            ("1e6", 1_000_000),
            ("1E+6", 1_000_000),
            ("2.5e3", 2_500),
            ("7.0", 7),
            ("18446744073709551615", u64::MAX),
            ("1.8446744073709551615e19", u64::MAX),
        ] {
            assert_eq!(parse_largest(text), Ok(value), "{text}");
        }
        for text in [
            "",
            "0",
            "0e5",
            "-1",
            "1.5",
            "2.55e1",
            "1e",
            "e6",
            "1e-2",
            "1e20",
            "1_",
            "_1",
            "1__0",
            "18446744073709551616",
            "1e999999999999",
            "0x10",
            "1 000",
            "ten",
            "NaN",
            "١",
        ] {
            assert_eq!(parse_largest(text).map_err(|e| e.code()), Err("workload.value"), "{text}");
        }
    }

    #[test]
    fn workloads_have_edges() {
        let sum = || Operation::parse_all(["sum"]).unwrap();
        let code = |largest, signed, rows| {
            Workload::new(largest, signed, rows, sum()).map(|_| ()).map_err(|e| e.code())
        };
        assert_eq!(code(u64::MAX, false, 1), Ok(()));
        assert_eq!(code(LARGEST_SIGNED, true, MOST_ROWS), Ok(()));
        assert_eq!(code(LARGEST_SIGNED + 1, true, 1), Err("workload.value"));
        assert_eq!(code(0, false, 1), Err("workload.value"));
        assert_eq!(code(1, false, 0), Err("workload.rows"));
        assert_eq!(code(1, false, MOST_ROWS + 1), Err("workload.rows"));
        let none = Workload::new(1, false, 1, Vec::new()).unwrap_err();
        assert_eq!(none.code(), "workload.no-operations");
    }
}
