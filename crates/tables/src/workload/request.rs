//! The requests to the planner.

use super::error::{MOST_ROWS, WorkloadError};
use super::operations::Operation;

/// The largest value of signed columns.
const LARGEST_SIGNED: u64 = i64::MAX as u64;

/// A description of values and operations, from which the planner recommends a method.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Workload {
    largest: u64,
    signed: bool,
    pub(super) rows: u64,
    pub(super) operations: Vec<Operation>,
}

/// The largest value from text: `1000000`, `1_000_000`, `1e6` or `2.5e3`.
///
/// # Errors
/// [`WorkloadError::Value`] for a text that is not a positive integer below 2^64.
pub fn parse_largest(text: &str) -> Result<u64, WorkloadError> {
    let wrong = || WorkloadError::Value {
        found: text.chars().take(60).collect(),
        expected: "an integer from 1 to 2^64 - 1, such as 1000000, 1_000_000 or 1e6".into(),
    };
    let (number, exponent) = text.trim().split_once(['e', 'E']).unwrap_or((text.trim(), "0"));
    let exponent = exponent.strip_prefix('+').unwrap_or(exponent);
    // Numbers may be read with a sign.
    let exponent = Some(exponent).filter(|text| !text.starts_with('+'));
    let exponent: usize = exponent.and_then(|text| text.parse().ok()).ok_or_else(wrong)?;
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
/// [`WorkloadError::Rows`] for a text that is not a positive integer below 2^64.
pub fn parse_rows(text: &str) -> Result<u64, WorkloadError> {
    parse_largest(text).map_err(|_| WorkloadError::Rows { found: text.chars().take(60).collect() })
}

impl Workload {
    /// Operations on columns of integers of at most `largest`, or from `-largest` to `largest` if
    /// they are signed, of `rows` rows.
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

    /// The number of rows.
    pub fn rows(&self) -> u64 {
        self.rows
    }

    pub(super) fn values(&self) -> String {
        let (low, high) = self.bounds();
        let s = if self.rows == 1 { "" } else { "s" };
        format!("{} row{s} of {low} to {high}", self.rows)
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
            "1e++2",
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
