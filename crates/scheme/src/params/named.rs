//! The sets that have names.

use crate::error::SchemeError;
use crate::spec::{ParamsSpec, ntru_sets, sets};

/// The names of all sets except those over NTRU ([`ntru_names`]).
pub fn names() -> impl Iterator<Item = &'static str> {
    sets::names()
}

/// The names of the NTRU sets.
pub fn ntru_names() -> impl Iterator<Item = &'static str> {
    ntru_sets::names()
}

impl ParamsSpec {
    /// The specification of a named set, to change it before it becomes [`crate::Params`].
    ///
    /// # Errors
    /// An unknown name; the error lists the known ones.
    pub fn named(name: &str) -> Result<Self, SchemeError> {
        spec(name)
    }
}

/// The specification of a named set, or of one over NTRU ([`ntru_names`]).
///
/// # Errors
/// An unknown name; the error lists the known ones.
pub fn spec(name: &str) -> Result<ParamsSpec, SchemeError> {
    ntru_sets::spec(name).or_else(|| sets::spec(name)).ok_or_else(|| SchemeError::UnknownParams {
        name: name.into(),
        known: names().collect::<Vec<_>>().join(", "),
    })
}
