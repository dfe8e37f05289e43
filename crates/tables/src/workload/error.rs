//! What is said of workloads that cannot be planned.

use crate::error::TablesError;

/// The most rows.
pub const MOST_ROWS: u64 = 1 << 40;

/// Why there is no recommendation.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum WorkloadError {
    /// A largest value that is none.
    #[error("largest value {found}: expected {expected}")]
    Value {
        /// What was given.
        found: String,
        /// What can be.
        expected: String,
    },
    /// No rows, or too many.
    #[error("{found} rows: expected 1 to {MOST_ROWS}")]
    Rows {
        /// What was given.
        found: String,
    },
    /// A word that names no operation.
    #[error("no operation is named {name:?}: expected some of {known}{meant}")]
    Operation {
        /// The word.
        name: String,
        /// The nearest operation, as a question.
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
        /// What was refused.
        problem: String,
        /// The way out.
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
