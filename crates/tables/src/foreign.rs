//! Foreign keys: rows that carry columns of their partners in another table.

use serde::{Deserialize, Serialize};

/// A foreign key: every row has one partner in another table and carries columns of it. The values
/// of the partner are added to each row before encryption, so that a join needs no computation.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ForeignKey {
    /// The column that names the partner: one of the table itself, or one that an earlier foreign
    /// key carries.
    pub column: String,
    /// The name of the other table in queries.
    pub table: String,
    /// The column of the other table that has an equal value in exactly one row. It is not stored.
    pub key: String,
    /// The columns of the schema that are the partner's, under their names there.
    pub include: Vec<String>,
}

/// A foreign key that fits a schema, by the indices of columns.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Carried {
    pub(crate) column: usize,
    pub(crate) table: String,
    pub(crate) key: String,
    pub(crate) include: Vec<usize>,
}

impl Carried {
    /// Whether queries refer to the other table by this name.
    pub(crate) fn is_called(&self, name: &str) -> bool {
        self.table.eq_ignore_ascii_case(name)
    }
}
