//! Columns of integers in files: CSV, JSON and NumPy's format, by the ending of the name.

mod column;
pub(crate) mod csv;
pub(crate) mod levels;
pub(crate) mod named;
mod npy;
pub(crate) mod typed;

use std::path::Path;

pub use crate::columns::column::{Column, Header, centered, stated};
pub use crate::columns::npy::Kind;
use crate::console::errors::CliError;
use crate::console::files::{is_standard, read_bytes, read_text};

/// A format.
#[derive(Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
pub enum Format {
    /// Comma-separated values, with or without a header
    Csv,
    /// An array of integers, or of typed columns an object of arrays
    Json,
    /// NumPy's, a vector of integers
    Npy,
}

impl Format {
    /// The format that is asked for; else that of a file by its name, and CSV of standard input and
    /// output.
    pub fn of(path: &Path, asked: Option<Self>) -> Result<Self, CliError> {
        if asked.is_some() || is_standard(path) {
            return Ok(asked.unwrap_or(Format::Csv));
        }
        match path.extension().and_then(|e| e.to_str()).map(str::to_ascii_lowercase).as_deref() {
            Some("csv") => Ok(Format::Csv),
            Some("json") => Ok(Format::Json),
            Some("npy") => Ok(Format::Npy),
            _ => Err(CliError::usage(format!(
                "{}: expected a name that ends in .csv, .json or .npy, or --format",
                path.display()
            ))),
        }
    }
}

/// Reads the columns of these names from a CSV file, or the only column of a file.
pub fn read(
    path: &Path,
    format: Option<Format>,
    header: Header,
    names: &[String],
) -> Result<Vec<Column>, CliError> {
    let (format, source) = (Format::of(path, format)?, path.display().to_string());
    let what = "the column";
    let of_file = |problem: String| CliError::usage(format!("{source}: {problem}"));
    let csv_only = [(header != Header::Auto, "--header"), (!names.is_empty(), "--column")];
    for (given, option) in csv_only.into_iter().filter(|_| format != Format::Csv) {
        if given {
            return Err(of_file(format!("{option} is for CSV, as other formats have no header")));
        }
    }
    Ok(vec![match format {
        Format::Csv if !names.is_empty() => {
            let names: Vec<&str> = names.iter().map(String::as_str).collect();
            return csv::all_named(&read_text(path, csv::MAX_BYTES, what)?, &source, &names);
        }
        Format::Csv => csv::parse(&read_text(path, csv::MAX_BYTES, what)?, &source, header)?,
        Format::Json => {
            let values = json_values(&read_text(path, csv::MAX_BYTES, what)?).map_err(of_file)?;
            Column::of(&source, "value").with(None, values)
        }
        Format::Npy => {
            let (kind, values) =
                npy::read(&read_bytes(path, csv::MAX_BYTES, what)?).map_err(of_file)?;
            Column::of(&source, "value").with(Some(kind), values)
        }
    }])
}

/// Integers of a file as they are, such as the entries of a table: at most `most` of them.
pub fn integers(path: &Path, most: usize) -> Result<Vec<i128>, CliError> {
    let (format, shown) = (Format::of(path, None)?, path.display());
    let what = "the table";
    let values = match format {
        Format::Csv => csv_integers(&read_text(path, csv::MAX_BYTES, what)?),
        Format::Json => json_values(&read_text(path, csv::MAX_BYTES, what)?),
        Format::Npy => {
            npy::read(&read_bytes(path, csv::MAX_BYTES, what)?).map(|(_, values)| values)
        }
    };
    let values = values.map_err(|problem| CliError::usage(format!("{shown}: {problem}")))?;
    if values.is_empty() || values.len() > most {
        let found = values.len();
        return Err(CliError::usage(format!(
            "{shown}: expected 1 to {most} integers, found {found}"
        )));
    }
    Ok(values)
}

/// One integer a line.
fn csv_integers(text: &str) -> Result<Vec<i128>, String> {
    let text = text.trim_start_matches('\u{feff}').trim_end();
    let lines = text.lines().zip(1..).map(|(line, number)| (line.trim(), number));
    let integer = |(line, number): (&str, usize)| {
        line.parse().map_err(|_| {
            let shown: String = line.chars().take(40).collect();
            format!("line {number}: expected an integer, found {shown:?}")
        })
    };
    // An empty line is an entry that is missing, but at the end of the file.
    lines.map(integer).collect()
}

fn json_values(text: &str) -> Result<Vec<i128>, String> {
    let found: Vec<serde_json::Value> =
        serde_json::from_str(text).map_err(|e| format!("expected an array of integers: {e}"))?;
    let integer = |(i, v): (usize, &serde_json::Value)| {
        let value = v.as_i64().map(i128::from).or_else(|| v.as_u64().map(i128::from));
        let shown: String = v.to_string().chars().take(40).collect();
        value.ok_or_else(|| {
            format!("value {}: expected an integer of 64 bits, found {shown}", i + 1)
        })
    };
    found.iter().enumerate().map(integer).collect()
}

/// A column as the bytes of a file.
pub fn bytes(
    format: Format,
    name: &str,
    kind: Option<Kind>,
    values: &[i128],
) -> Result<Vec<u8>, CliError> {
    match format {
        Format::Csv => Ok(csv::write(name, values).into_bytes()),
        Format::Json => {
            // Integers of 64 bits, with or without a sign.
            let mut text = serde_json::to_vec(values).map_err(CliError::failure)?;
            text.push(b'\n');
            Ok(text)
        }
        Format::Npy => npy::write(kind.unwrap_or(Kind::I64), values).map_err(CliError::usage),
    }
}

#[cfg(test)]
mod tests {
    use everlevel::ValueRange;

    use super::*;

    #[test]
    fn json_and_csv() {
        assert_eq!(
            json_values("[1, -2, 18446744073709551615]").unwrap(),
            [1, -2, u64::MAX as i128]
        );
        for text in
            ["", "{}", "[1.5]", "[1", "[\"a\"]", "[1e3]", "[null]", "[NaN]", "[true]", "[1,,2]"]
        {
            assert!(json_values(text).unwrap_err().contains("integer"), "{text}");
        }
        assert_eq!(bytes(Format::Csv, "y", None, &[1, -2]).unwrap(), b"y\n1\n-2\n");
        assert_eq!(bytes(Format::Json, "y", None, &[1, -2]).unwrap(), b"[1,-2]\n");
    }

    #[test]
    fn places_of_values_that_are_outside() {
        let column = csv::parse("v\n3\n-4\n", "t.csv", Header::Auto).unwrap();
        let told = |slots, range| match column.residues(17u64, slots, range) {
            Err(CliError::Usage(m)) => m.text,
            other => panic!("expected a usage error, found {other:?}"),
        };
        let range = |low, high| ValueRange::new(low, high);
        assert_eq!(column.residues(17u64, 2, range(-8, 8)).unwrap(), [3, 13]);
        assert_eq!(column.residues(17u64, 2, None).unwrap(), [3, 13]);
        assert!(told(2, range(0, 16)).contains("t.csv, line 3: expected a value from 0 to 16"));
        assert!(told(1, None).contains("line 3: expected at most 1 values"));
        let empty = csv::parse("reading\n", "t.csv", Header::Auto).unwrap();
        assert!(empty.residues(17u64, 2, None).is_err());
    }
}
