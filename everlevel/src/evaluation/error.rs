//! Reasons why a program is not computed.

use everlevel_integers::ProgramError;
use everlevel_scheme::SchemeError;
use everlevel_wire::WireError;

use crate::error::Error;

/// The reason why a program is not computed on the given inputs.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum EvaluationError {
    /// Inputs that cannot be combined, or that the program does not accept.
    #[error("{problem}")]
    Inputs {
        /// The sentence that says what was expected, what was found, and what to do.
        problem: String,
    },
    /// Columns of different lengths, of which the shorter ones could be filled up with 0.
    #[error("{name} has {values} values and {longest} has {most}: rows would not belong together")]
    Lengths {
        /// A shorter column.
        name: String,
        /// Its number of values.
        values: usize,
        /// The longest column.
        longest: String,
        /// The number of values of the longest column.
        most: usize,
    },
    /// An error at a position in the text of a program on typed integers.
    #[error("the program, column {}: {}", .0.column, .0.error)]
    Program(ProgramError),
    /// An error of the library, with its code.
    #[error(transparent)]
    Library(#[from] Error),
}

impl EvaluationError {
    pub(super) fn inputs(problem: impl Into<String>) -> Self {
        EvaluationError::Inputs { problem: problem.into() }
    }
}

impl From<SchemeError> for EvaluationError {
    fn from(e: SchemeError) -> Self {
        EvaluationError::Library(e.into())
    }
}

impl From<WireError> for EvaluationError {
    fn from(e: WireError) -> Self {
        EvaluationError::Library(e.into())
    }
}
