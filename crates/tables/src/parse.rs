//! Translation of the text of a query to a computation.

use crate::error::TablesError;
use crate::flatten::flattened;
use crate::notes::Notes;
use crate::parameter::with_parameters;
use crate::query::{OrderedBy, Query};
use crate::schema::Schema;
use crate::sql::ast_of;

impl Query {
    /// Reads a query: a `select` of sums, counts, averages and columns of groups, `from` one table,
    /// which may be joined with the tables of its foreign keys on their keys, with `where`,
    /// `group by`, `order by` and `limit`. A constant that is compared with a column, or a prefix
    /// after `like`, may be `:name`, and is then encrypted.
    ///
    /// # Errors
    /// [`TablesError::Syntax`] for text that is not SQL; [`TablesError::Unsupported`] for SQL that
    /// encrypted tables do not support, with an alternative; [`TablesError::Name`],
    /// [`TablesError::Type`] and [`TablesError::Range`] for expressions that have no value.
    pub fn parse(text: &str, schema: &Schema) -> Result<Self, TablesError> {
        Self::parse_ordered(text, schema, OrderedBy::Reader)
    }

    /// The same, with a statement of who orders rows. A server orders rows for `min`, `max` and
    /// `median` of up to 256 groups, and for `order by … limit` in an answer of rows.
    ///
    /// # Errors
    /// As [`Query::parse`]; [`TablesError::Unsupported`] for what a server cannot order.
    pub fn parse_ordered(
        text: &str,
        schema: &Schema,
        ordered_by: OrderedBy,
    ) -> Result<Self, TablesError> {
        Self::noted(text, schema, ordered_by).map(|(query, _)| query)
    }

    /// The same, with notes on comparisons that hold for no row.
    pub(crate) fn noted(
        text: &str,
        schema: &Schema,
        ordered_by: OrderedBy,
    ) -> Result<(Self, Vec<String>), TablesError> {
        let (ast, notes) = (flattened(&ast_of(text)?, schema)?, Notes::default());
        let query = Self::bound(&ast, schema, &[], ordered_by, &notes)?;
        if query.parameters.is_empty() {
            return Ok((query, notes.told()));
        }
        // Encrypted constants have columns, which are known only now.
        let parameters = &query.parameters;
        let rows = with_parameters(schema, parameters)?;
        let bound = Self::bound(&ast, &rows, parameters, ordered_by, &notes)?;
        Ok((bound, notes.told()))
    }
}
