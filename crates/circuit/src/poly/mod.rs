//! Polynomials over Z/p^e and their evaluation on ciphertexts.
//!
//! [`Polynomial`] is the mathematics (interpolation, products, plain evaluation),
//! [`PolynomialPlan`] the evaluation of one or several polynomials in one variable with few
//! products of ciphertexts, [`ProductTreePlan`] the evaluation of Π (x - a_i) without large
//! constants.

mod blocks;
mod goal;
mod newton;
mod plan;
mod polynomial;
mod powers;
mod shapes;
mod squares;
mod tree;

pub use goal::DepthGoal;
pub use plan::PolynomialPlan;
pub use polynomial::{Parity, Polynomial};
pub use tree::ProductTreePlan;

pub(crate) use blocks::{Candidate, candidates};
pub(crate) use goal::best;
pub(crate) use newton::p_part;
pub(crate) use powers::PowerTable;
pub(crate) use tree::{grouped_factors, product_tree};
