//! Errors of encrypted tables.

use everlevel::Error;
use everlevel_integers::IntegersError;
use everlevel_scheme::SchemeError;
use everlevel_wire::WireError;

/// An error of a table, of its schema, or of a query on it.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum TablesError {
    /// Typed integers refused an operation.
    #[error(transparent)]
    Integers(#[from] IntegersError),
    /// Keys, ciphertexts, bytes or files were refused.
    #[error(transparent)]
    Roles(#[from] Error),
    /// A schema that does not describe a table.
    #[error("schema, column {column:?}: {problem}")]
    Schema {
        /// The column.
        column: String,
        /// What is wrong with it.
        problem: String,
    },
    /// A cell that its column cannot hold.
    #[error(
        "line {line}, column {column:?}: {found:?}: expected {expected}; correct the cell, or \
         what the schema says of the column"
    )]
    Value {
        /// The line of the file, from 1.
        line: u64,
        /// The column.
        column: String,
        /// The text of the cell.
        found: String,
        /// The values that the schema allows.
        expected: String,
    },
    /// A row that does not have exactly one partner in another table, or that carries other values
    /// than another row with the same partner.
    #[error("{table}row {row}, from 0, column {column:?}: {found}: {problem}")]
    Partner {
        /// The name of the other table with a colon, if it is a row of that table; otherwise empty.
        table: String,
        /// The position of the row, from 0.
        row: usize,
        /// The column of the key.
        column: String,
        /// The key.
        found: String,
        /// What is wrong with it.
        problem: String,
    },
    /// A file that is not a table of this schema.
    #[error("{problem}")]
    Data {
        /// What is wrong with it.
        problem: String,
    },
    /// Text that is not SQL.
    #[error("{problem}")]
    Syntax {
        /// The complaint of the parser.
        problem: String,
    },
    /// SQL that encrypted tables do not support.
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
        /// The existing names.
        known: String,
        /// The most similar of them, as a question, or what else may be meant, or empty.
        meant: String,
    },
    /// Two expressions that cannot be compared or combined.
    #[error("{expression}: {problem}")]
    Type {
        /// The expression.
        expression: String,
        /// Why it has no value.
        problem: String,
    },
    /// A value that could exceed the range of intermediate results.
    #[error(
        "{expression} could need {bits} bits, and intermediate results have at most 63: state \
         narrower bounds in the schema, or add up parts of it"
    )]
    Range {
        /// The expression.
        expression: String,
        /// The number of bits of the largest absolute value.
        bits: u32,
    },
    /// A change that would give a cell a value that its column does not hold.
    #[error(
        "row {row}, column {column:?}: it would be {found}: expected {expected}; nothing was \
         changed"
    )]
    Change {
        /// The position of the row in the table, from 0.
        row: usize,
        /// The column.
        column: String,
        /// The value.
        found: String,
        /// The values that the schema allows.
        expected: String,
    },
    /// Encrypted constants that are missing, belong to another plan, or are not values of their
    /// columns.
    #[error("encrypted constants: {problem}")]
    Constants {
        /// What is wrong with them.
        problem: String,
    },
    /// Server keys that do not suffice for a plan.
    #[error(
        "the server keys do not suffice for this query on a table of {rows} rows, and nothing was \
         computed: make server keys for this number of rows with this query declared, beside all \
         others that they are for, or general keys"
    )]
    Keys {
        /// The number of rows of the table.
        rows: usize,
    },
    /// Text that is not a plan.
    #[error("this is no plan of a query: {problem}; give a file that `table ask` wrote")]
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
        /// The part that differs: the first different column, by its number from 1, or the foreign
        /// keys.
        part: String,
        /// This part of the plan.
        asked: String,
        /// This part of the table.
        there: String,
    },
    /// A directory that is not an encrypted table, or lacks a part of one.
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
        /// The place where it belongs, and the place where it is.
        problem: String,
    },
    /// A file that does not hold the result of a plan.
    #[error("this is no result of a query: {problem}")]
    Result {
        /// What is wrong with it.
        problem: String,
    },
    /// A result for another plan, or of another table, than the reader expects.
    #[error("the result is of another {what}: expected {expected}, found {found}")]
    OtherResult {
        /// `query` or `table`.
        what: &'static str,
        /// The plan or the table that the reader expects.
        expected: String,
        /// The plan or the table that the result states.
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
    /// The error for SQL that is not supported.
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
    Keys => "table.keys",
    Plan => "table.plan",
    OtherSchema => "table.other-schema",
    Table => "table.files",
    Block => "table.block",
    Result => "table.result",
    OtherResult => "table.other-result",
} inner { Integers, Roles });
