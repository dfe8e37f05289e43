//! Inversion in GF(2^8), in slots that contain it.

use everlevel_ring::{GaloisElement, SlotShape};
use everlevel_scheme::{NextUse, Scheme};

use crate::error::CircuitError;

/// σ^0, .., σ^7, σ being Frobenius: what F_2-linear maps on bytes are sums of, with constants.
pub(super) fn conjugations(shape: &SlotShape) -> Vec<GaloisElement> {
    let next = |g: &GaloisElement| Some(shape.compose(*g, shape.frobenius()));
    std::iter::successors(Some(shape.identity()), next).take(8).collect()
}

/// x^254 by the [`conjugations`] σ, σ^2 and σ^4: four products, depth 3, and three automorphisms.
///
/// # Errors
/// Those of the scheme.
pub(super) fn inverse<S: Scheme>(scheme: &S, images: &[GaloisElement], x: &S::Ciphertext) -> Result<S::Ciphertext, CircuitError> {
    let power = |x: &S::Ciphertext, j: usize| scheme.apply_galois(x, images[j]);
    let x2 = power(x, 1)?;
    let x3 = scheme.mul(x, &x2, NextUse::LinearMap)?;
    let x12 = power(&x3, 2)?;
    let x15 = scheme.mul(&x12, &x3, NextUse::LinearMap)?;
    let x14 = scheme.mul(&x12, &x2, NextUse::Product)?;
    let x240 = power(&x15, 4)?;
    Ok(scheme.mul(&x240, &x14, NextUse::LinearMap)?)
}
