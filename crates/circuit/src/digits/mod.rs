//! Digit removal: from u = l + Δ h with |l|, |h| <= B to h, the heart of bootstrapping.
//!
//! Two types, chosen by cost through a [`DigitMethod`]. Type A works on u = l + p h modulo p^2 by a closed form; type B on
//! u = l + Δ h modulo p by interpolation on the grid of all values: more products, but the plaintext modulus stays p.
//! [`DigitRemoval`] holds either.

mod closed_form;
mod grid;
mod method;
mod removal;

pub use grid::GridPolynomial;
pub use method::DigitMethod;
pub use removal::DigitRemoval;
