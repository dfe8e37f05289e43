//! Digit removal: from u = l + Δ h with small l to h, the nonlinear step of bootstrapping.
//!
//! A [`DigitProblem`] takes x = i + p^v m modulo p^e to m modulo p^(e-v). Every [`DigitMethod`]
//! solves it with a [`crate::straight_line::Circuit`] of its own; [`DigitKind`] lists them: the
//! triangle of Halevi and Shoup, the lowest-digit-retain polynomials of Chen and Han, those of
//! Geelen et al. reduced modulo the null ideal, those of Ma et al. reduced on the values that
//! occur, chains that double the precision of bits, a closed form. [`compare`] lists their costs.
//!
//! Bootstrapping can also have u = l + Δ h modulo p, with two small digits ("type B"), by
//! interpolation on the grid of all values: more products, but the plaintext modulus stays p.
//! [`DigitRemoval`] holds any of them.

mod closed_form;
mod doubling;
mod grid;
pub(crate) mod kind;
mod method;
mod polynomials;
mod problem;
mod removal;
mod report;
mod rows;
#[cfg(test)]
mod tests;
mod triangle;

pub(crate) use method::SENSIBLE_POINTS;

pub use doubling::lowest_bit;
pub use grid::GridPolynomial;
pub use kind::DigitKind;
pub use method::DigitMethod;
pub use polynomials::{digit_polynomial, lifting_polynomial, lowest_digit_retain};
pub use problem::DigitProblem;
pub use removal::DigitRemoval;
pub use report::{MethodReport, Prediction, compare};
