//! What columns are called, and what is public of them.

use std::collections::BTreeSet;

use everlevel_bgv::{Ciphertext, CompactCiphertext};
use everlevel_scheme::{Params, SchemeError};
use serde_json::Value;

use crate::error::WireError;

/// The entry of the metadata that the schema is in.
pub(crate) const SCHEMA: &str = "schema";
/// The most columns of a file.
const COLUMNS: usize = 1 << 16;
/// The longest name, in bytes.
const NAME_BYTES: usize = 64;

/// A column, or the total of one, as it is stored, with ciphertexts that are whole or cut to what
/// decryption needs. What its fields mean docs/format.md says.
#[derive(Clone, Debug)]
pub struct StoredColumn<C = Ciphertext> {
    /// Its name: 1 to 64 bytes without control characters.
    pub name: String,
    /// The number of entries; none for public constants and totals.
    pub length: Option<u64>,
    /// Of a total: what the sum is divided by.
    pub divisor: Option<u64>,
    /// The least value.
    pub low: i128,
    /// The largest value.
    pub high: i128,
    /// What is added to the digits.
    pub anchor: i128,
    /// By ascending powers, each once.
    pub digits: Vec<StoredDigit<C>>,
}

/// A digit of a column, or a part of a total.
#[derive(Clone, Debug)]
pub struct StoredDigit<C = Ciphertext> {
    /// Its weight is 16 to this power, at most 31.
    pub power: u32,
    /// Of a total: every slot at a multiple of it is added. Of a column 0.
    pub stride: u32,
    /// The least integer that a slot holds.
    pub low: i64,
    /// The largest one.
    pub high: i64,
    /// What the slots behind the column hold.
    pub pad: i64,
    /// None for a public digit, which is `low` in every slot.
    pub ciphertext: Option<C>,
}

impl StoredColumn {
    /// The column for decryption and nothing else, each of its ciphertexts cut to what that needs
    /// ([`Ciphertext::compact_for_decryption`]).
    ///
    /// # Errors
    /// Those of `Ciphertext::compact_for_decryption`.
    pub fn compact_for_decryption(
        &self,
        params: &Params,
    ) -> Result<StoredColumn<CompactCiphertext>, SchemeError> {
        let digit = |digit: &StoredDigit| {
            let StoredDigit { power, stride, low, high, pad, ref ciphertext } = *digit;
            let cut = ciphertext.as_ref().map(|x| x.compact_for_decryption(params)).transpose()?;
            Ok(StoredDigit { power, stride, low, high, pad, ciphertext: cut })
        };
        let StoredColumn { ref name, length, divisor, low, high, anchor, ref digits } = *self;
        let digits = digits.iter().map(digit).collect::<Result<_, SchemeError>>()?;
        Ok(StoredColumn { name: name.clone(), length, divisor, low, high, anchor, digits })
    }
}

/// [`WireError::Columns`] with these texts.
pub(super) fn wrong<T>(name: &str, problem: impl Into<String>) -> Result<T, WireError> {
    // Names of others are shown without what a terminal would obey.
    let name = name.chars().filter(|c| !c.is_control()).take(NAME_BYTES).collect();
    Err(WireError::Columns { name, problem: problem.into() })
}

/// The columns of a file with their public digits.
pub(super) struct Schema<C> {
    pub(super) columns: Vec<StoredColumn<C>>,
}

impl<C: Clone> Schema<C> {
    /// Of columns that are to be written.
    pub(super) fn of(columns: &[StoredColumn<C>]) -> Result<Self, WireError> {
        let public = |column: &StoredColumn<C>| {
            let digits = column.digits.iter().filter(|d| d.ciphertext.is_none()).cloned().collect();
            StoredColumn { digits, name: column.name.clone(), ..*column }
        };
        let schema = Schema { columns: columns.iter().map(public).collect() };
        schema.check()?;
        Ok(schema)
    }

    fn check(&self) -> Result<(), WireError> {
        let found = self.columns.len();
        if found > COLUMNS {
            let (what, limit) = ("columns of a file", COLUMNS as u64);
            return Err(WireError::Limit { what, found: found as u64, limit });
        }
        let mut names = BTreeSet::new();
        for StoredColumn { name, .. } in &self.columns {
            let fits = (1..=NAME_BYTES).contains(&name.len());
            if !fits || name.chars().any(char::is_control) {
                return wrong(name, "a name has 1 to 64 bytes and no control characters");
            }
            if !names.insert(name) {
                return wrong(name, "there are two of this name");
            }
        }
        Ok(())
    }

    /// As JSON without white space, fields in this order, those left out that are not there.
    pub(super) fn json(&self) -> String {
        let columns: Vec<String> = self.columns.iter().map(column_json).collect();
        format!("[{}]", columns.join(","))
    }

    /// From JSON, which has to be what [`Schema::json`] writes.
    pub(super) fn parse(text: &str) -> Result<Self, WireError> {
        let malformed = |found: String| {
            WireError::malformed("schema of the columns", "canonical JSON as specified", found)
        };
        let json: Value = serde_json::from_str(text).map_err(|e| malformed(e.to_string()))?;
        let columns = json.as_array().ok_or_else(|| malformed("no array".into()))?;
        let columns = columns.iter().map(column).collect::<Option<_>>();
        let columns = columns.ok_or_else(|| malformed("a column without its fields".into()))?;
        let schema = Schema { columns };
        schema.check()?;
        if schema.json() != text {
            return Err(malformed("another form of it".into()));
        }
        Ok(schema)
    }
}

fn column_json<C>(column: &StoredColumn<C>) -> String {
    let StoredColumn { name, length, divisor, low, high, anchor, digits } = column;
    let mut out = format!("{{\"name\":{}", Value::from(name.as_str()));
    let optional =
        |key: &str, v: &Option<u64>| v.map(|v| format!(",\"{key}\":{v}")).unwrap_or_default();
    out += &optional("length", length);
    out += &optional("divisor", divisor);
    // As strings: many a reader of JSON has binary64 only.
    out += &format!(",\"low\":\"{low}\",\"high\":\"{high}\",\"anchor\":\"{anchor}\"");
    let public: Vec<String> = digits.iter().map(|d| format!("[{},{}]", d.power, d.low)).collect();
    if !public.is_empty() {
        out += &format!(",\"public\":[{}]", public.join(","));
    }
    out + "}"
}

/// A column of the schema; none if its fields are not what they should be.
fn column<C>(json: &Value) -> Option<StoredColumn<C>> {
    let optional = |key: &str| match json.get(key) {
        None => Some(None),
        Some(v) => v.as_u64().map(Some),
    };
    let wide = |key: &str| json.get(key)?.as_str()?.parse::<i128>().ok();
    let mut digits: Vec<StoredDigit<C>> = Vec::new();
    for pair in json.get("public").map_or(Some(&Vec::new()), Value::as_array)? {
        let power = u32::try_from(pair.get(0)?.as_u64()?).ok().filter(|p| *p < 32)?;
        let value = pair.get(1)?.as_i64()?;
        if digits.last().is_some_and(|last| last.power >= power) {
            return None;
        }
        let (stride, ciphertext) = (0, None);
        digits.push(StoredDigit { power, stride, low: value, high: value, pad: value, ciphertext });
    }
    Some(StoredColumn {
        name: json.get("name")?.as_str()?.into(),
        length: optional("length")?,
        divisor: optional("divisor")?,
        low: wide("low")?,
        high: wide("high")?,
        anchor: wide("anchor")?,
        digits,
    })
}
