//! The sets that have names.

use super::ma;
use crate::error::SchemeError;
use crate::spec::{ParamsSpec, ntru_sets, sets};

/// The names of all sets, those of papers' chapters and NTRU's ([`ntru_names`]) left out.
pub fn names() -> impl Iterator<Item = &'static str> {
    sets::names()
}

/// The names of the NTRU sets.
pub fn ntru_names() -> impl Iterator<Item = &'static str> {
    ntru_sets::names()
}

/// The specification of a named set, of one of a paper's chapter
/// ([`paper_sets`](super::paper_sets)), or of one over NTRU ([`ntru_names`]).
///
/// # Errors
/// An unknown name; the error lists the known ones.
pub fn spec(name: &str) -> Result<ParamsSpec, SchemeError> {
    let of_paper = ma::paper_sets().find(|set| set.name() == name).map(|set| set.spec());
    of_paper.or_else(|| ntru_sets::spec(name)).or_else(|| sets::spec(name)).ok_or_else(|| {
        SchemeError::UnknownParams {
            name: name.into(),
            known: names().collect::<Vec<_>>().join(", "),
        }
    })
}
