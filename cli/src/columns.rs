//! Columns of integers in files: CSV, JSON and NumPy's format, by the ending of the name.

use std::path::Path;

use npyz::{NpyFile, TypeChar, WriterBuilder};

use crate::common::{read_bytes, read_text};
use crate::csv::{self, Range};
use crate::error::CliError;

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
            _ => Err(CliError::usage(format!("{}: expected a name that ends in .csv, .json or .npy", path.display()))),
        }
    }
}

/// The values of a column modulo `t`, at most `slots` of them.
pub fn read(path: &Path, t: u64, slots: usize, range: Range) -> Result<Vec<u64>, CliError> {
    let (format, shown) = (Format::of(path)?, path.display());
    let what = "the column";
    let values = match format {
        Format::Csv => return csv::parse(&read_text(path, csv::MAX_BYTES, what)?, &shown.to_string(), t, slots, range),
        Format::Json => json_values(&read_text(path, csv::MAX_BYTES, what)?),
        Format::Npy => npy_values(&read_bytes(path, csv::MAX_BYTES, what)?, slots),
    };
    let values = values.map_err(|problem| CliError::usage(format!("{shown}: {problem}")))?;
    if values.is_empty() || values.len() > slots {
        return Err(CliError::usage(format!("{shown}: expected 1 to {slots} values, one a slot, found {}", values.len())));
    }
    let at = |(i, v): (usize, i128)| {
        csv::in_range(v, t, range).map_err(|problem| CliError::usage(format!("{shown}, value {}: {problem}", i + 1)))
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

fn npy_values(bytes: &[u8], slots: usize) -> Result<Vec<i128>, String> {
    let file = NpyFile::new(bytes).map_err(|e| format!("not a NumPy file: {e}"))?;
    let shape = file.shape().to_vec();
    let [length] = shape[..] else {
        return Err(format!("expected a vector, found an array of shape {shape:?}: take one column, or flatten it"));
    };
    if length > slots as u64 {
        return Err(format!("expected at most {slots} values, one a slot, found {length}"));
    }
    let kind = match file.dtype() {
        npyz::DType::Plain(kind) => (kind.type_char(), kind.size_field()),
        other => return Err(format!("expected integers, found {}", other.descr())),
    };
    macro_rules! values {
        ($type:ty) => {
            file.into_vec::<$type>().map(|v| v.into_iter().map(i128::from).collect()).map_err(|e| format!("cut short: {e}"))
        };
    }
    match kind {
        (TypeChar::Int, 1) => values!(i8),
        (TypeChar::Int, 2) => values!(i16),
        (TypeChar::Int, 4) => values!(i32),
        (TypeChar::Int, 8) => values!(i64),
        (TypeChar::Uint, 1) => values!(u8),
        (TypeChar::Uint, 2) => values!(u16),
        (TypeChar::Uint, 4) => values!(u32),
        (TypeChar::Uint, 8) => values!(u64),
        (TypeChar::Bool, _) => {
            file.into_vec::<bool>().map(|v| v.into_iter().map(i128::from).collect()).map_err(|e| format!("cut short: {e}"))
        }
        (other, size) => Err(format!("expected integers, found type {other}{size}: convert with .astype('int64')")),
    }
}

/// A column as the bytes of a file.
pub fn bytes(format: Format, name: &str, values: &[i64]) -> Result<Vec<u8>, CliError> {
    match format {
        Format::Csv => Ok(values.iter().fold(format!("{name}\n"), |text, v| text + &format!("{v}\n")).into_bytes()),
        Format::Json => {
            let mut text = serde_json::to_vec(values).map_err(CliError::failure)?;
            text.push(b'\n');
            Ok(text)
        }
        Format::Npy => {
            let mut out = Vec::new();
            let options = npyz::WriteOptions::new().default_dtype().shape(&[values.len() as u64]).writer(&mut out);
            let written = options.begin_nd().and_then(|mut writer| {
                writer.extend(values)?;
                writer.finish()
            });
            written.map_err(CliError::failure)?;
            Ok(out)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numpy_vectors_go_there_and_back() {
        let values = [-3i64, 0, 7, i64::MAX, i64::MIN];
        let npy = bytes(Format::Npy, "x", &values).unwrap();
        assert_eq!(&npy[..6], b"\x93NUMPY");
        assert_eq!(npy_values(&npy, 5).unwrap(), values.map(i128::from));
        assert!(npy_values(&npy, 4).unwrap_err().contains("at most 4"));
        for cut in 0..npy.len() {
            assert!(npy_values(&npy[..cut], 5).is_err(), "{cut} bytes");
        }
        // What numpy.save writes for numpy.array([1, 2, 255], 'uint8') and for numpy.array([0.5]).
        let file = |descr: &str, shape: &str, data: &[u8]| {
            let mut header = format!("{{'descr': '{descr}', 'fortran_order': False, 'shape': {shape}, }}");
            header += &" ".repeat(117 - header.len());
            [b"\x93NUMPY\x01\x00\x76\x00".as_slice(), header.as_bytes(), b"\n", data].concat()
        };
        assert_eq!(npy_values(&file("|u1", "(3,)", &[1, 2, 255]), 9).unwrap(), [1, 2, 255]);
        assert_eq!(npy_values(&file(">i2", "(1,)", &[255, 254]), 9).unwrap(), [-2]);
        assert_eq!(npy_values(&file("|b1", "(2,)", &[1, 0]), 9).unwrap(), [1, 0]);
        assert!(npy_values(&file("<f8", "(1,)", &[0; 8]), 9).unwrap_err().contains("astype"));
        assert!(npy_values(&file("|u1", "(1, 3)", &[1, 2, 3]), 9).unwrap_err().contains("[1, 3]"));
        assert!(npy_values(&file("|u1", "(9000000000000000000,)", &[1]), 9).unwrap_err().contains("at most 9"));
    }

    #[test]
    fn json_and_csv() {
        assert_eq!(json_values("[1, -2, 18446744073709551615]").unwrap(), [1, -2, u64::MAX as i128]);
        for text in ["", "{}", "[1.5]", "[1", "[\"a\"]", "[1e3]"] {
            assert!(json_values(text).unwrap_err().contains("integer"), "{text}");
        }
        assert_eq!(bytes(Format::Csv, "y", &[1, -2]).unwrap(), b"y\n1\n-2\n");
        assert_eq!(bytes(Format::Json, "y", &[1, -2]).unwrap(), b"[1,-2]\n");
    }
}
