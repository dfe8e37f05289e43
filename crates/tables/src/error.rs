//! Errors of encrypted tables.

use everlevel::Error;
use everlevel_integers::IntegersError;
use everlevel_scheme::SchemeError;
use everlevel_wire::WireError;

/// What can be wrong with a table, with its schema, or with a query on it.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum TablesError {
    /// Typed integers refused an operation.
    #[error(transparent)]
    Integers(#[from] IntegersError),
    /// Keys, ciphertexts, bytes or files were refused.
    #[error(transparent)]
    Roles(#[from] Error),
    /// A schema that describes no table.
    #[error("schema, column {column:?}: {problem}")]
    Schema {
        /// The column.
        column: String,
        /// What is wrong with it.
        problem: String,
    },
    /// A cell that its column cannot hold.
    #[error("line {line}, column {column:?}: {found:?}: expected {expected}")]
    Value {
        /// The line of the file, from 1.
        line: u64,
        /// The column.
        column: String,
        /// The text of the cell.
        found: String,
        /// What the schema says.
        expected: String,
    },
    /// A row without one partner in another table, or with what another row of the same partner
    /// does not carry.
    #[error("{table}row {row}, from 0, column {column:?}: {found}: {problem}")]
    Partner {
        /// The other table with a colon, if the row is one of it; else nothing.
        table: String,
        /// The place of the row, from 0.
        row: usize,
        /// The column of the key.
        column: String,
        /// The key.
        found: String,
        /// What is wrong with it.
        problem: String,
    },
    /// A file that is no table of this schema.
    #[error("{problem}")]
    Data {
        /// What is wrong with it.
        problem: String,
    },
    /// Text that is no SQL.
    #[error("{problem}")]
    Syntax {
        /// The complaint of the parser.
        problem: String,
    },
    /// SQL that encrypted tables do not answer.
    #[error("{found} is not supported: {remedy}")]
    Unsupported {
        /// The clause or expression.
        found: String,
        /// What could be used instead.
        remedy: String,
    },
    /// A name that the schema does not have.
    #[error("no column is named {name:?}: the table has {known}{meant}")]
    Name {
        /// The name in the query.
        name: String,
        /// The names that there are.
        known: String,
        /// The nearest of them, as a question, or nothing.
        meant: String,
    },
    /// Two things that cannot be compared or computed with each other.
    #[error("{expression}: {problem}")]
    Type {
        /// The expression.
        expression: String,
        /// Why it has no value.
        problem: String,
    },
    /// A value that could leave what is computed with.
    #[error(
        "{expression} could need {bits} bits, and intermediate results have at most 63: state \
         narrower bounds in the schema, or add up parts of it"
    )]
    Range {
        /// The expression.
        expression: String,
        /// Bits of the largest absolute value.
        bits: u32,
    },
    /// A change that would give a cell a value that its column does not hold.
    #[error(
        "row {row}, column {column:?}: it would be {found}: expected {expected}; nothing was \
         changed"
    )]
    Change {
        /// The place of the row in the table, from 0.
        row: usize,
        /// The column.
        column: String,
        /// The value.
        found: String,
        /// What the schema says.
        expected: String,
    },
    /// Encrypted constants that are missing, of another plan, or no values of their columns.
    #[error("encrypted constants: {problem}")]
    Constants {
        /// What is wrong with them.
        problem: String,
    },
    /// Text that is no plan.
    #[error("this is no plan of a query: {problem}")]
    Plan {
        /// What is wrong with it.
        problem: String,
    },
    /// A plan or a change for tables of another schema.
    #[error(
        "the {what} is for tables of another schema: the {part} of the {what} is {asked}, of the \
         table {there}; make it again with the schema of the table"
    )]
    OtherSchema {
        /// `plan` or `change`.
        what: &'static str,
        /// What differs: the first column that does, by its place from 1, or the foreign keys.
        part: String,
        /// What the plan has there.
        asked: String,
        /// What the table has there.
        there: String,
    },
    /// A directory that is no encrypted table, or lacks a part of it.
    #[error("this is not an encrypted table: {problem}")]
    Table {
        /// What is wrong with it.
        problem: String,
    },
    /// A block of rows that belongs elsewhere.
    #[error("block {block}: {problem}; give only files from one encryption of the table")]
    Block {
        /// Its number, from 0.
        block: usize,
        /// Where it belongs, and where it is.
        problem: String,
    },
    /// A file that holds no sums of a plan.
    #[error("this is no result of a query: {problem}")]
    Result {
        /// What is wrong with it.
        problem: String,
    },
    /// A result for another plan or of another table than the reader means.
    #[error("the result is of another {what}: expected {expected}, found {found}")]
    OtherResult {
        /// `query` or `table`.
        what: &'static str,
        /// What the reader means.
        expected: String,
        /// What the result states.
        found: String,
    },
}

impl From<WireError> for TablesError {
    fn from(e: WireError) -> Self {
        TablesError::Roles(e.into())
    }
}

impl From<SchemeError> for TablesError {
    fn from(e: SchemeError) -> Self {
        TablesError::Roles(e.into())
    }
}

impl TablesError {
    /// A refusal of SQL.
    pub(crate) fn unsupported(found: &str, remedy: &str) -> Self {
        TablesError::Unsupported { found: found.into(), remedy: remedy.into() }
    }
}

everlevel_ring::error_codes!(TablesError {
    Schema => "table.schema",
    Value => "table.value",
    Partner => "table.partner",
    Data => "table.data",
    Syntax => "table.syntax",
    Unsupported => "table.unsupported",
    Name => "table.name",
    Type => "table.type",
    Range => "table.range",
    Change => "table.change",
    Constants => "table.constants",
    Plan => "table.plan",
    OtherSchema => "table.other-schema",
    Table => "table.files",
    Block => "table.block",
    Result => "table.result",
    OtherResult => "table.other-result",
} inner { Integers, Roles });
