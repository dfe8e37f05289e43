//! Errors of tables, their keys and answers as Python has them.

use everlevel_tables::{TableKey, TablesError};

use crate::errors::{Failure, Result, refusal};
use crate::keys::{PublicKey, SecretKey};

impl From<TablesError> for Failure {
    fn from(error: TablesError) -> Self {
        let class = match error {
            TablesError::Roles(e) => return e.into(),
            TablesError::Integers(e) => return e.into(),
            TablesError::Plan { .. }
            | TablesError::Table { .. }
            | TablesError::Block { .. }
            | TablesError::Result { .. } => "FormatError",
            TablesError::Keys { .. } => "KeyMissingError",
            _ => "TableError",
        };
        refusal(class, error.code(), &error.to_string())
    }
}

pub(super) fn one_key<'a>(
    secret: Option<&'a SecretKey>,
    public: Option<&'a PublicKey>,
) -> Result<TableKey<'a>> {
    match (secret, public) {
        (Some(key), None) => Ok(TableKey::Secret(&key.0)),
        (None, Some(key)) => Ok(TableKey::Public(&key.0)),
        _ => Err(refusal("ParameterError", "python.one-key", "expected one key")),
    }
}

pub(super) fn json(value: &impl serde::Serialize) -> Result<String> {
    serde_json::to_string(value).map_err(|e| refusal("FormatError", "python.json", &e.to_string()))
}
