//! Indexes: which columns of a file are the truth values of others.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value;

use super::schema::{StoredColumn, StoredDigit};
use crate::error::WireError;
use crate::summary::Metadata;

/// The entry of the metadata with the names of the columns that have an index, as JSON.
pub const INDEXES: &str = "indexes";

/// The name of the column that says whether a digit of the column `name`, by its power, is at least
/// an integer.
pub fn index_column(name: &str, digit: usize, least: i64) -> String {
    format!("{name}%{digit}.{least}")
}

/// States in metadata which columns have an index, if any has.
pub fn state_indexes(names: &[&str], metadata: &mut Metadata) {
    if !names.is_empty() {
        metadata.insert(INDEXES.into(), Value::from(names.to_vec()).to_string());
    }
}

/// The columns that have an index by the metadata, which lose this entry.
///
/// # Errors
/// [`WireError::Malformed`] for what is no list of names of these columns, each once.
pub fn take_indexes(metadata: &mut Metadata, columns: &[&str]) -> Result<Vec<String>, WireError> {
    let Some(text) = metadata.remove(INDEXES) else { return Ok(Vec::new()) };
    let wrong = || {
        let found: String = text.chars().filter(|c| !c.is_control()).take(64).collect();
        WireError::malformed("indexes of columns", "a list of names of columns", found)
    };
    let names: Vec<String> = serde_json::from_str(&text).map_err(|_| wrong())?;
    let known: BTreeSet<&str> = columns.iter().copied().collect();
    let mut stated = BTreeSet::new();
    match names.iter().all(|name| known.contains(name.as_str()) && stated.insert(name)) {
        true => Ok(names),
        false => Err(wrong()),
    }
}

/// The columns without the truth values of indexes, and the metadata without the entry about them:
/// what is only to be decrypted has no use for them.
///
/// # Errors
/// As [`take_indexes`].
pub fn without_indexes<C>(
    mut columns: Vec<StoredColumn<C>>,
    metadata: &mut Metadata,
) -> Result<Vec<StoredColumn<C>>, WireError> {
    let names: Vec<&str> = columns.iter().map(|column| column.name.as_str()).collect();
    let indexed: BTreeSet<String> = take_indexes(metadata, &names)?.into_iter().collect();
    let indexed = columns.iter().filter(|column| indexed.contains(&column.name));
    let indexed: BTreeMap<&str, &StoredColumn<C>> =
        indexed.map(|column| (column.name.as_str(), column)).collect();
    let kept: Vec<bool> = columns.iter().map(|column| !is_truth(column, &indexed)).collect();
    let mut kept = kept.into_iter();
    columns.retain(|_| kept.next().unwrap_or(true));
    Ok(columns)
}

/// Whether a column is a truth value of one of these: by its name and what the schema says of it,
/// and by the windows of digits where these are known.
fn is_truth<C>(column: &StoredColumn<C>, indexed: &BTreeMap<&str, &StoredColumn<C>>) -> bool {
    let Some((name, step)) = column.name.rsplit_once('%') else { return false };
    let (Some(of), Some((digit, least))) = (indexed.get(name), step.split_once('.')) else {
        return false;
    };
    let (Ok(digit), Ok(least)) = (digit.parse::<usize>(), least.parse::<i64>()) else {
        return false;
    };
    let bits = column.low >= 0 && column.high <= 1 && column.anchor == 0;
    let alike = bits && column.divisor.is_none() && column.length == of.length;
    let recorded = || of.digits.iter().filter(|d| d.ciphertext.is_some());
    let has = |d: &StoredDigit<C>| d.power as usize == digit && d.low < least && least <= d.high;
    let there = recorded().next().is_none() || recorded().any(has);
    alike && there && index_column(name, digit, least) == column.name
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_stated_and_read() {
        let mut metadata = Metadata::new();
        state_indexes(&[], &mut metadata);
        assert!(metadata.is_empty());
        state_indexes(&["age", "a \"b\""], &mut metadata);
        let columns = ["a \"b\"", "age", "age%0.1", "age%1.2"];
        let mut read = metadata.clone();
        assert_eq!(take_indexes(&mut read, &columns), Ok(vec!["age".into(), "a \"b\"".into()]));
        assert!(read.is_empty());
        assert_eq!(take_indexes(&mut read, &columns), Ok(Vec::new()));
        for text in ["", "{}", "[1]", r#"["x"]"#, r#"["age","age"]"#, r#"["age""#] {
            let mut metadata = Metadata::from([(INDEXES.into(), text.into())]);
            assert!(take_indexes(&mut metadata, &columns).is_err(), "{text}");
        }
    }

    #[test]
    fn truth_values_are_left_out() {
        let names = ["age", "age%0.1", "age%0.x", "b%0.1", "age%00.1", "age%1.-3"];
        let column = |name: &&str| StoredColumn::<()> {
            name: (*name).into(),
            length: Some(1),
            divisor: None,
            low: 0,
            high: 1,
            anchor: 0,
            digits: Vec::new(),
        };
        let columns: Vec<_> = names.iter().map(column).collect();
        let mut metadata = Metadata::new();
        state_indexes(&["age"], &mut metadata);
        let left = without_indexes(columns, &mut metadata).unwrap();
        let left: Vec<&str> = left.iter().map(|column| column.name.as_str()).collect();
        assert_eq!(left, ["age", "age%0.x", "b%0.1", "age%00.1"]);
    }

    /// Where windows are known, only truth values of them are left out.
    #[test]
    fn columns_with_names_of_no_truth_value_stay() {
        let digit = |low, high| StoredDigit {
            power: 0,
            stride: 0,
            low,
            high,
            pad: low,
            ciphertext: Some(()),
        };
        let column = |name: &str, (low, high): (i64, i64)| StoredColumn {
            name: name.into(),
            length: Some(1),
            divisor: None,
            low: low.into(),
            high: high.into(),
            anchor: 0,
            digits: vec![digit(low, high)],
        };
        let all = vec![
            column("age", (0, 9)),
            column("age%0.1", (0, 1)),
            column("age%0.9", (0, 1)),
            column("age%0.0", (0, 1)),
            column("age%0.10", (0, 1)),
            column("age%1.1", (0, 1)),
            column("age%0.2", (0, 3)),
        ];
        let mut metadata = Metadata::new();
        state_indexes(&["age"], &mut metadata);
        let left = without_indexes(all, &mut metadata).unwrap();
        let left: Vec<&str> = left.iter().map(|column| column.name.as_str()).collect();
        assert_eq!(left, ["age", "age%0.0", "age%0.10", "age%1.1", "age%0.2"]);
    }
}
