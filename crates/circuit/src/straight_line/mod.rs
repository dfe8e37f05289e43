//! Straight-line programs over a scheme: the form in which polynomials, product trees and digit
//! removal are planned.
//!
//! A [`Circuit`] knows its depth, products and relinearizations in advance. When it runs, the next
//! use of each intermediate value determines how far its modulus is switched, and the value is
//! dropped after its last use. Sums of products are relinearized once; up to eight sums
//! with terms in common are computed in one pass over these.

mod build;
mod groups;
mod run;
mod steps;
mod together;

pub use build::CircuitBuilder;
pub(crate) use run::check_prime;
pub use steps::{Circuit, CircuitCosts, NodeId};
