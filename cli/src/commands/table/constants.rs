//! Constants that a question calls by name.

use std::collections::BTreeMap;
use std::path::Path;

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
        let cells: BTreeMap<String, Cell> = serde_json::from_str(&text).map_err(|e| {
            CliError::usage(format!(
                "{}: {e}: expected a JSON object such as {{\"lo\": \"0.05\"}}",
                path.display()
            ))
        })?;
        found.extend(cells.into_iter().map(|(name, cell)| {
            let text = match cell {
                Cell::Text(text) => text,
                Cell::Truth(value) => value.to_string(),
                Cell::Number(number) => number.to_string(),
            };
            (name, text)
        }));
    }
    Ok(found)
}
