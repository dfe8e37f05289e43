//! Tables in the clear, before they are encrypted: what they hold.

use std::collections::BTreeSet;

use everlevel_tables::{Data, Inferred, Schema, TablesError};
use serde_json::{Value, json};

use crate::error::Refused;

/// The most different texts of a column that are listed.
const MOST_TEXTS: usize = 256;

/// A schema for JavaScript: the bounds of integers, which may have 63 bits, are texts.
pub(crate) fn shown(schema: &Schema) -> Value {
    with_bounds(json!(schema), |bound| Some(bound.as_i64()?.to_string().into()))
}

/// A schema from JavaScript.
///
/// # Errors
/// Text that describes no table.
pub(crate) fn schema_of(text: &str) -> Result<Schema, Refused> {
    let wrong = |e: serde_json::Error| TablesError::Data { problem: format!("schema: {e}") };
    let read = |bound: &Value| Some(bound.as_str()?.trim().parse::<i64>().ok()?.into());
    let schema = with_bounds(serde_json::from_str(text).map_err(wrong)?, read);
    Ok(Schema::from_json(&schema.to_string())?)
}

/// A schema as JSON with what `change` makes of the bounds of integers; what it makes nothing of
/// stays.
fn with_bounds(mut schema: Value, change: impl Fn(&Value) -> Option<Value>) -> Value {
    let columns = schema.get_mut("columns").and_then(Value::as_array_mut);
    for column in columns.into_iter().flatten().filter(|column| column["type"] == "integer") {
        for end in ["low", "high"] {
            if let Some(changed) = column.get(end).and_then(&change) {
                column[end] = changed;
            }
        }
    }
    schema
}

/// A schema that a table of comma-separated values fits, as JSON, with what each column was taken
/// for: `{"schema": {"columns": …}, "notes": [{"column", "told", "kept"}]}`.
///
/// # Errors
/// Text that is no table, or of which no column can be kept.
pub fn infer(csv: &[u8]) -> Result<Value, Refused> {
    let (schema, notes) = Schema::infer(csv)?;
    let note = |found: &Inferred| {
        let Inferred { column, told, kept } = found;
        json!({ "column": column, "told": told, "kept": kept })
    };
    Ok(json!({ "schema": shown(&schema), "notes": notes.iter().map(note).collect::<Vec<_>>() }))
}

/// How many rows a table has, each cell of which fits the schema.
///
/// # Errors
/// A cell that its column cannot hold, with its line; a missing column; text that is no table.
pub fn check_table(csv: &[u8], schema: &str) -> Result<usize, Refused> {
    Ok(Data::from_csv(csv, &schema_of(schema)?)?.rows())
}

/// The different texts of a column, in their order: what a category of it would publish.
///
/// # Errors
/// A column that is not there, or of more than 256 different texts.
pub fn distinct(csv: &[u8], column: &str) -> Result<Vec<String>, Refused> {
    let wrong = |problem: String| TablesError::Data { problem };
    let mut reader = csv::ReaderBuilder::new().trim(csv::Trim::All).from_reader(csv);
    let names = reader.headers().map_err(|e| wrong(e.to_string()))?;
    let place = names.iter().position(|name| name.eq_ignore_ascii_case(column));
    let place = place.ok_or_else(|| wrong(format!("the first line names no column {column:?}")))?;
    let mut found = BTreeSet::new();
    for record in reader.records() {
        let record = record.map_err(|e| wrong(e.to_string()))?;
        let text = record.get(place).unwrap_or_default();
        if !text.is_empty() && !found.contains(text) {
            found.insert(text.to_string());
        }
        if found.len() > MOST_TEXTS {
            let problem = format!("column {column:?} has more than {MOST_TEXTS} different texts");
            return Err(wrong(problem).into());
        }
    }
    Ok(found.into_iter().collect())
}
