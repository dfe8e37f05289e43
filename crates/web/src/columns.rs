//! Columns of typed integers, as objects that programs of the service compute on.

use everlevel::{NamedIntegers, Type};
use everlevel_tables::TablesError;
use zeroize::Zeroizing;

use crate::error::Refused;
use crate::owner::Owner;

/// The most values of a column that are read from text.
pub const MOST_VALUES: usize = 1 << 24;

/// The integers of a text, which commas divide.
fn integers(column: &str, text: &str) -> Result<Zeroizing<Vec<i128>>, TablesError> {
    let mut values = Zeroizing::new(Vec::new());
    for (i, word) in text.split(',').enumerate() {
        let value = word.trim().parse().ok().filter(|_| i < MOST_VALUES);
        values.push(value.ok_or_else(|| TablesError::Value {
            line: i as u64 + 1,
            column: column.into(),
            found: word.chars().take(40).collect(),
            expected: format!("one of at most {MOST_VALUES} integers"),
        })?);
    }
    Ok(values)
}

impl Owner {
    /// Encrypts columns, each with a name, a type as in `u16` or `-5..5`, and its values as text
    /// that commas divide: an object for the service, or for `everlevel eval`.
    ///
    /// # Errors
    /// A name of no type; values that are none of their type, or more of them than slots.
    pub fn encrypt_columns(
        &self,
        columns: &[(String, String, Zeroizing<String>)],
    ) -> Result<Vec<u8>, Refused> {
        let mut rng = everlevel::system_rng().map_err(everlevel::Error::from)?;
        let mut named: Vec<NamedIntegers> = Vec::with_capacity(columns.len());
        for (name, kind, values) in columns {
            let (kind, values) = (kind.parse::<Type>()?, integers(name, values)?);
            let column = self.client.encrypt_integers(&values[..], kind, &mut rng)?;
            named.push((name.clone(), column.into()));
        }
        Ok(self.client.upload_columns(&named)?)
    }

    /// The columns and totals of an object, decrypted: names, and values as text.
    ///
    /// # Errors
    /// Bytes that are damaged or hold something else; another secret key; values that cannot be.
    pub fn decrypt_columns(&self, bytes: &[u8]) -> Result<Vec<(String, Vec<String>)>, Refused> {
        let columns = self.client.read_columns(bytes)?;
        let decrypted = columns.iter().map(|(name, column)| {
            let values: Zeroizing<Vec<i128>> = Zeroizing::new(self.client.decrypt_column(column)?);
            Ok((name.clone(), values.iter().map(i128::to_string).collect()))
        });
        decrypted.collect()
    }
}
