//! Constants that a query calls by name.

use std::path::Path;

use crate::columns::typed::Entries;
use crate::console::errors::CliError;
use crate::console::files::read_text;

/// The largest file of constants, in bytes.
const MAX_BYTES: u64 = 1 << 20;

/// A JSON value that a cell can hold.
#[derive(serde::Deserialize)]
#[serde(untagged)]
enum Cell {
    Text(String),
    Truth(bool),
    Number(serde_json::Number),
}

/// The constants of arguments `NAME=VALUE` and of a JSON file.
pub fn values(texts: &[String], from: Option<&Path>) -> Result<Vec<(String, String)>, CliError> {
    let mut found = Vec::new();
    for text in texts {
        let parts = text.split_once('=').filter(|(name, _)| !name.is_empty());
        let (name, value) = parts.ok_or_else(|| {
            CliError::usage(format!("expected NAME=VALUE for a constant, found {text:?}"))
        })?;
        found.push((name.to_string(), value.to_string()));
    }
    if let Some(path) = from {
        let text = zeroize::Zeroizing::new(read_text(path, MAX_BYTES, "the constants")?);
        let Entries(cells): Entries<Cell> = serde_json::from_str(&text).map_err(|e| {
            CliError::usage(format!(
                "{}: {e}: expected a JSON object such as {{\"lo\": \"0.05\"}}",
                path.display()
            ))
        })?;
        for (name, cell) in cells {
            let text = match cell {
                Cell::Text(text) => text,
                Cell::Truth(value) => value.to_string(),
                // Digits are gone once it was read, as the parser rounds to 53 bits.
                Cell::Number(number) if number.is_f64() => {
                    let place = path.display();
                    return Err(CliError::usage(format!(
                        "{place}: {name} is a number that may have been rounded: write it as a \
                         text, such as \"0.05\""
                    ))
                    .with_code("table.constants"));
                }
                Cell::Number(number) => number.to_string(),
            };
            found.push((name, text));
        }
    }
    Ok(found)
}

#[cfg(test)]
mod tests {
    use super::values;

    #[test]
    fn values_of_a_file_are_what_is_written() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("values.json");
        let read = |text: &str| {
            std::fs::write(&path, text).unwrap();
            values(&[], Some(&path))
        };
        let found = read(r#"{"a": 9007199254740993, "b": "12345678901.123456789", "c": true}"#);
        let expected = [("a", "9007199254740993"), ("b", "12345678901.123456789"), ("c", "true")];
        let expected = expected.map(|(name, text)| (name.to_string(), text.to_string()));
        assert_eq!(found.unwrap(), expected);
        for text in ["12345678901.123456789", "0.05", "1e3", "99999999999999999999"] {
            let told = read(&format!(r#"{{"a": {text}}}"#)).unwrap_err().told();
            assert_eq!(told.map(|(_, code, _)| code), Some("table.constants"), "{text}");
        }
        // Not the last one of two.
        let told = read(r#"{"a": "1", "a": "2"}"#).unwrap_err().told();
        assert!(told.is_some_and(|(_, _, why)| why.contains("\"a\" occurs twice")));
    }
}
