//! From the text of a query to what is computed.

use crate::error::TablesError;
use crate::flatten::flattened;
use crate::query::{OrderedBy, Query, with_parameters};
use crate::schema::Schema;
use crate::sql::ast_of;

impl Query {
    /// Reads a query: `select` of sums, counts, averages and columns that are grouped by, with
    /// `from` one table, joined with those of its foreign keys on their keys, and `where`, `group
    /// by`, `order by`, `limit`. A constant that is compared with a column may be `:name`, and is
    /// encrypted then.
    ///
    /// # Errors
    /// [`TablesError::Syntax`] for text that is no SQL; [`TablesError::Unsupported`] for what
    /// encrypted tables do not answer, with what could be used instead; [`TablesError::Name`],
    /// [`TablesError::Type`] and [`TablesError::Range`] for expressions that have no value.
    pub fn parse(text: &str, schema: &Schema) -> Result<Self, TablesError> {
        Self::parse_ordered(text, schema, OrderedBy::Reader)
    }

    /// The same, of which is said who orders rows. A server orders those of `min`, `max` and
    /// `median` of up to 256 groups, and of `order by … limit` in an answer of rows.
    ///
    /// # Errors
    /// As [`Query::parse`]; [`TablesError::Unsupported`] for what a server cannot order.
    pub fn parse_ordered(
        text: &str,
        schema: &Schema,
        ordered_by: OrderedBy,
    ) -> Result<Self, TablesError> {
        let ast = flattened(&ast_of(text)?, schema)?;
        let query = Self::bound(&ast, schema, &[], ordered_by)?;
        if query.parameters.is_empty() {
            return Ok(query);
        }
        // Encrypted constants have columns, which are known only now.
        let parameters = &query.parameters;
        Self::bound(&ast, &with_parameters(schema, parameters)?, parameters, ordered_by)
    }
}
