//! Errors on their way to JavaScript.

use everlevel::{Error, IntegersError};
use everlevel_scheme::SchemeError;
use everlevel_tables::TablesError;
use everlevel_wire::WireError;

/// What was refused: a code that stays the same, and a sentence.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Refused {
    /// One of docs/errors.md.
    pub code: &'static str,
    /// What was expected, what was found and what to do.
    pub message: String,
}

impl From<TablesError> for Refused {
    fn from(e: TablesError) -> Self {
        Refused { code: e.code(), message: e.to_string() }
    }
}

impl From<Error> for Refused {
    fn from(e: Error) -> Self {
        Refused { code: e.code(), message: e.to_string() }
    }
}

impl From<WireError> for Refused {
    fn from(e: WireError) -> Self {
        Error::from(e).into()
    }
}

impl From<SchemeError> for Refused {
    fn from(e: SchemeError) -> Self {
        Error::from(e).into()
    }
}

impl From<IntegersError> for Refused {
    fn from(e: IntegersError) -> Self {
        Error::from(e).into()
    }
}
