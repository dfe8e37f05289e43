//! Columns of more entries than a ciphertext has slots, and arrays of several dimensions: which
//! columns of a file belong together.

use std::collections::BTreeSet;

use serde_json::{Map, Value, json};

use crate::error::WireError;
use crate::summary::Metadata;

/// The entry of the metadata with all of them, as JSON.
pub const ARRAYS: &str = "arrays";
/// The most dimensions.
const DIMENSIONS: usize = 32;

/// What a file says of an array of typed integers, or of a total that has several parts.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ColumnArray {
    /// Its name. Its only column is called so; of several column i is called `NAME#i`.
    pub name: String,
    /// How many columns it has.
    pub blocks: usize,
    /// The dimensions, in row-major order; absent of totals.
    pub shape: Option<Vec<usize>>,
    /// In how many parts of equal length the entries are; each begins a column.
    pub runs: usize,
    /// The type of integers, as NumPy calls it, that results wrap in.
    pub wrapping: Option<String>,
    /// Whether its entries are integers, such as places and counts, even if they can only be 0 and
    /// 1: no truth values.
    pub integers: bool,
}

impl ColumnArray {
    /// A vector of this many entries, or a total, in as many columns.
    pub fn vector(name: &str, blocks: usize, length: Option<usize>) -> Self {
        let (shape, wrapping) = (length.map(|n| vec![n]), None);
        ColumnArray { name: name.into(), blocks, shape, runs: 1, wrapping, integers: false }
    }

    /// The name of a column.
    pub fn column(&self, block: usize) -> String {
        if self.blocks == 1 { self.name.clone() } else { format!("{}#{block}", self.name) }
    }

    /// How many entries each column has; none of totals.
    pub fn lengths(&self, slots: usize) -> Option<Vec<usize>> {
        let length = self.shape.as_ref()?.iter().product::<usize>() / self.runs;
        let run = (0..length).step_by(slots).map(|first| slots.min(length - first));
        Some(std::iter::repeat_n(run.collect::<Vec<_>>(), self.runs).flatten().collect())
    }

    /// The arrays that metadata state for columns of `slots` slots and these names, in the order of
    /// the columns; without such an entry each column is an array by itself, of a length that is
    /// the column's own.
    ///
    /// # Errors
    /// [`WireError::Malformed`] for what does not describe just these columns.
    pub fn all(
        metadata: &Metadata,
        slots: usize,
        columns: &[&str],
    ) -> Result<Option<Vec<Self>>, WireError> {
        let Some(text) = metadata.get(ARRAYS) else { return Ok(None) };
        let wrong = |found: &str| {
            let found: String = found.chars().filter(|c| !c.is_control()).take(64).collect();
            WireError::malformed("arrays of columns", "a description of all columns", found)
        };
        let found: Map<String, Value> = serde_json::from_str(text).map_err(|_| wrong(text))?;
        let mut arrays = Vec::new();
        for (name, told) in found {
            arrays.push(Self::of(&name, &told, slots, columns.len()).ok_or_else(|| wrong(&name))?);
        }
        let place = |name: &str| columns.iter().position(|column| *column == name);
        let mut described = BTreeSet::new();
        for array in &arrays {
            for column in (0..array.blocks).map(|i| array.column(i)) {
                // "a#0" is a column of "a", or one by itself, not both.
                if !place(&column).is_some_and(|at| described.insert(at)) {
                    return Err(wrong(&column));
                }
            }
        }
        if described.len() != columns.len() {
            return Err(wrong(text));
        }
        arrays.sort_by_key(|array| place(&array.column(0)));
        Ok(Some(arrays))
    }

    fn of(name: &str, told: &Value, slots: usize, columns: usize) -> Option<Self> {
        let size = |value: &Value| value.as_u64().and_then(|n| usize::try_from(n).ok());
        let blocks = size(told.get("blocks")?).filter(|n| (1..=columns).contains(n))?;
        let runs = told.get("runs").map_or(Some(1), size).filter(|n| *n > 0)?;
        let shape = match told.get("shape") {
            None => None,
            Some(shape) => Some(shape.as_array()?.iter().map(size).collect::<Option<Vec<_>>>()?),
        };
        let wrapping = match told.get("wrapping") {
            None => None,
            Some(kind) => Some(kind.as_str()?.to_string()),
        };
        let integers = match told.get("integers") {
            None => false,
            Some(stated) => stated.as_bool().filter(|stated| *stated)?,
        };
        if let Some(shape) = &shape {
            let entries = shape.iter().try_fold(1, |n: usize, d| n.checked_mul(*d))?;
            // Counted before anything is allocated for what is claimed.
            let fits = shape.len() <= DIMENSIONS && entries > 0 && entries % runs == 0;
            let counted = (entries / runs).div_ceil(slots).checked_mul(runs);
            if !fits || counted != Some(blocks) {
                return None;
            }
        }
        Some(ColumnArray { name: name.into(), blocks, shape, runs, wrapping, integers })
    }

    /// States arrays in metadata, if one of them is more than a vector in one column or a total.
    pub fn state(arrays: &[Self], metadata: &mut Metadata) {
        let plain = |a: &Self| {
            let one = a.shape.as_ref().is_none_or(|shape| shape.len() == 1);
            a.blocks == 1 && a.wrapping.is_none() && !a.integers && one
        };
        if !arrays.iter().all(plain) {
            Self::describe(arrays, metadata);
        }
    }

    /// States arrays in metadata, also those that columns alone tell.
    pub fn describe(arrays: &[Self], metadata: &mut Metadata) {
        let described = |a: &Self| {
            let mut told = json!({ "blocks": a.blocks });
            if let Some(shape) = &a.shape {
                told["shape"] = json!(shape);
            }
            if a.runs > 1 {
                told["runs"] = json!(a.runs);
            }
            if let Some(kind) = &a.wrapping {
                told["wrapping"] = json!(kind);
            }
            if a.integers {
                told["integers"] = json!(true);
            }
            (a.name.clone(), told)
        };
        let all: Map<String, Value> = arrays.iter().map(described).collect();
        metadata.insert(ARRAYS.into(), Value::from(all).to_string());
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn all(text: &str, columns: &[&str]) -> Result<Option<Vec<ColumnArray>>, WireError> {
        ColumnArray::all(&Metadata::from([(ARRAYS.into(), text.into())]), 128, columns)
    }

    #[test]
    fn arrays_are_described_and_read() {
        let arrays = vec![
            ColumnArray::vector("b", 3, Some(300)),
            ColumnArray::vector("a", 1, Some(5)),
            ColumnArray::vector("total", 2, None),
            ColumnArray { integers: true, ..ColumnArray::vector("places", 1, Some(2)) },
            ColumnArray {
                runs: 2,
                shape: Some(vec![2, 129]),
                wrapping: Some("uint8".into()),
                ..ColumnArray::vector("rows", 4, None)
            },
        ];
        let named = |a: &ColumnArray| (0..a.blocks).map(|i| a.column(i)).collect::<Vec<_>>();
        let names: Vec<String> = arrays.iter().flat_map(named).collect();
        let names: Vec<&str> = names.iter().map(String::as_str).collect();
        assert_eq!(names[..4], ["b#0", "b#1", "b#2", "a"]);
        let mut metadata = Metadata::new();
        ColumnArray::state(&arrays, &mut metadata);
        assert_eq!(ColumnArray::all(&metadata, 128, &names), Ok(Some(arrays.clone())));
        assert_eq!(arrays[0].lengths(128), Some(vec![128, 128, 44]));
        assert_eq!(arrays[2].lengths(128), None);
        assert_eq!(arrays[4].lengths(128), Some(vec![128, 1, 128, 1]));
        assert_eq!(metadata[ARRAYS].matches("integers").count(), 1);
        let mut places = Metadata::new();
        ColumnArray::state(&arrays[3..4], &mut places);
        assert_eq!(ColumnArray::all(&places, 128, &["places"]), Ok(Some(arrays[3..4].to_vec())));
        let mut plain = Metadata::new();
        ColumnArray::state(&arrays[1..2], &mut plain);
        assert!(plain.is_empty());
        assert_eq!(ColumnArray::all(&plain, 128, &["a"]), Ok(None));
    }

    #[test]
    fn what_does_not_describe_the_columns_is_refused() {
        let columns = ["x#0", "x#1"];
        assert!(all(r#"{"x":{"blocks":2,"shape":[200]}}"#, &columns).is_ok());
        for text in [
            "",
            "[]",
            "{}",
            r#"{"x":{}}"#,
            r#"{"x":{"blocks":0,"shape":[]}}"#,
            r#"{"x":{"blocks":3,"shape":[300]}}"#,
            r#"{"x":{"blocks":2,"shape":[300]}}"#,
            r#"{"x":{"blocks":2,"shape":[-200]}}"#,
            r#"{"x":{"blocks":2,"shape":[0]}}"#,
            r#"{"x":{"blocks":2,"shape":[4294967296,4294967296]}}"#,
            r#"{"x":{"blocks":2,"shape":[200],"runs":0}}"#,
            r#"{"x":{"blocks":2,"shape":[200],"runs":3}}"#,
            r#"{"x":{"blocks":2,"shape":[200],"integers":1}}"#,
            r#"{"x":{"blocks":2,"shape":[200],"integers":false}}"#,
            r#"{"y":{"blocks":2,"shape":[200]}}"#,
            r#"{"x#0":{"blocks":1,"shape":[5]}}"#,
        ] {
            assert!(all(text, &columns).is_err(), "{text}");
        }
        // One column in two arrays, and another in none.
        let twice = r#"{"x":{"blocks":2,"shape":[200]},"x#0":{"blocks":1,"shape":[128]}}"#;
        assert!(all(twice, &["x#0", "x#1", "y"]).is_err());
        assert!(all(r#"{"x":{"blocks":2},"y":{"blocks":1}}"#, &["x#0", "x#1", "y"]).is_ok());
    }
}
