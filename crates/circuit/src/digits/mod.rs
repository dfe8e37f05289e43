//! Digit removal: from u = l + Δ h with |l|, |h| <= B to h, the heart of bootstrapping.
//!
//! Two routes, chosen by cost. [`DigitRemoval`] works on u = l + p h modulo p^2 by a closed form; [`GridDigitRemoval`]
//! on u = l + (2B + 1) h modulo p by interpolation: more products, but the plaintext modulus stays p.

mod closed_form;
mod grid;

pub use closed_form::{DigitMethod, DigitRemoval};
pub use grid::GridDigitRemoval;
