//! Products of several factors.

use everlevel_circuit::CircuitError;
use everlevel_scheme::{Arithmetic, NextUse, SchemeError};

use crate::error::SuiteError;

/// The product, as a tree.
pub(super) fn product<S: Arithmetic>(
    scheme: &S,
    mut factors: Vec<S::Ciphertext>,
) -> Result<S::Ciphertext, SuiteError> {
    while factors.len() > 1 {
        let pair = |pair: &[S::Ciphertext]| match pair {
            [x, y] => scheme.mul(x, y, NextUse::Product),
            _ => Ok(pair[0].clone()),
        };
        factors = factors.chunks(2).map(pair).collect::<Result<_, SchemeError>>()?;
    }
    factors.pop().ok_or_else(|| CircuitError::Empty { what: "the list of factors" }.into())
}
