//! Columns of integers in files: CSV, JSON and NumPy's format, by the ending of the name.

pub(crate) mod csv;
mod npy;

use std::path::Path;

use crate::columns::csv::Range;
use crate::console::errors::CliError;
use crate::console::files::{read_bytes, read_text};

/// A format.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Format {
    /// One value a line, with an optional header.
    Csv,
    /// An array of integers.
    Json,
    /// NumPy's, a vector of integers.
    Npy,
}

impl Format {
    /// The format of a file by its name.
    pub fn of(path: &Path) -> Result<Self, CliError> {
        match path.extension().and_then(|e| e.to_str()).map(str::to_ascii_lowercase).as_deref() {
            Some("csv") => Ok(Format::Csv),
            Some("json") => Ok(Format::Json),
            Some("npy") => Ok(Format::Npy),
            _ => Err(CliError::usage(format!(
                "{}: expected a name that ends in .csv, .json or .npy",
                path.display()
            ))),
        }
    }
}

/// The values of a column modulo `t`, at most `slots` of them.
pub fn read(path: &Path, t: u64, slots: usize, range: Range) -> Result<Vec<u64>, CliError> {
    let (format, shown) = (Format::of(path)?, path.display());
    let what = "the column";
    let values = match format {
        Format::Csv => {
            return csv::parse(
                &read_text(path, csv::MAX_BYTES, what)?,
                &shown.to_string(),
                t,
                slots,
                range,
            );
        }
        Format::Json => json_values(&read_text(path, csv::MAX_BYTES, what)?),
        Format::Npy => npy::read(&read_bytes(path, csv::MAX_BYTES, what)?, slots),
    };
    let values = values.map_err(|problem| CliError::usage(format!("{shown}: {problem}")))?;
    if values.is_empty() || values.len() > slots {
        return Err(CliError::usage(format!(
            "{shown}: expected 1 to {slots} values, one a slot, found {}",
            values.len()
        )));
    }
    let at = |(i, v): (usize, i128)| {
        csv::in_range(v, t, range)
            .map_err(|problem| CliError::usage(format!("{shown}, value {}: {problem}", i + 1)))
    };
    values.into_iter().enumerate().map(at).collect()
}

fn json_values(text: &str) -> Result<Vec<i128>, String> {
    let numbers: Vec<serde_json::Number> =
        serde_json::from_str(text).map_err(|e| format!("expected an array of integers: {e}"))?;
    let integer = |(i, n): (usize, &serde_json::Number)| {
        let value = n.as_i64().map(i128::from).or_else(|| n.as_u64().map(i128::from));
        value.ok_or_else(|| format!("value {}: expected an integer of 64 bits, found {n}", i + 1))
    };
    numbers.iter().enumerate().map(integer).collect()
}

/// A column as the bytes of a file.
pub fn bytes(format: Format, name: &str, values: &[i64]) -> Result<Vec<u8>, CliError> {
    match format {
        Format::Csv => Ok(values
            .iter()
            .fold(format!("{name}\n"), |text, v| text + &format!("{v}\n"))
            .into_bytes()),
        Format::Json => {
            let mut text = serde_json::to_vec(values).map_err(CliError::failure)?;
            text.push(b'\n');
            Ok(text)
        }
        Format::Npy => Ok(npy::write(values)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn json_and_csv() {
        assert_eq!(
            json_values("[1, -2, 18446744073709551615]").unwrap(),
            [1, -2, u64::MAX as i128]
        );
        for text in ["", "{}", "[1.5]", "[1", "[\"a\"]", "[1e3]"] {
            assert!(json_values(text).unwrap_err().contains("integer"), "{text}");
        }
        assert_eq!(bytes(Format::Csv, "y", &[1, -2]).unwrap(), b"y\n1\n-2\n");
        assert_eq!(bytes(Format::Json, "y", &[1, -2]).unwrap(), b"[1,-2]\n");
    }
}
