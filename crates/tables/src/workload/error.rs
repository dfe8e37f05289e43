//! Errors of workloads that cannot be planned.

use crate::error::TablesError;

/// The largest number of rows.
pub const MOST_ROWS: u64 = 1 << 40;

/// The reason why there is no recommendation.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum WorkloadError {
    /// An invalid largest value.
    #[error("largest value {found}: expected {expected}")]
    Value {
        /// The given text.
        found: String,
        /// The allowed values.
        expected: String,
    },
    /// No rows, or too many.
    #[error("{found} rows: expected 1 to {MOST_ROWS}")]
    Rows {
        /// The given text.
        found: String,
    },
    /// A word that does not name an operation.
    #[error("no operation is named {name:?}: expected some of {known}{meant}")]
    Operation {
        /// The word.
        name: String,
        /// The most similar operation, as a question.
        meant: String,
        /// All operations.
        known: String,
    },
    /// No operation at all.
    #[error("no operations: expected some of {known}")]
    NoOperations {
        /// All operations.
        known: String,
    },
    /// An operation for which there is no set.
    #[error("no parameter set supports {operation} of {values}: {problem}; {remedy}")]
    Unsupported {
        /// The operation.
        operation: &'static str,
        /// Rows and values.
        values: String,
        /// The reason of the refusal.
        problem: String,
        /// An alternative.
        remedy: String,
    },
    /// A set could not be made or rehearsed at all.
    #[error("{0}")]
    Rehearsal(Box<TablesError>),
}

everlevel_ring::error_codes!(WorkloadError {
    Value => "workload.value",
    Rows => "workload.rows",
    Operation => "workload.operation",
    NoOperations => "workload.no-operations",
    Unsupported => "workload.unsupported",
    Rehearsal => "workload.rehearsal",
});

impl From<TablesError> for WorkloadError {
    fn from(e: TablesError) -> Self {
        WorkloadError::Rehearsal(Box::new(e))
    }
}
