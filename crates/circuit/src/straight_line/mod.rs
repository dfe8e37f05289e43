//! Straight-line programs over a scheme: the form in which polynomials, product trees and digit
//! removal are planned.
//!
//! A [`Circuit`] knows its depth, products and relinearizations before it meets a ciphertext;
//! running it decides for every intermediate value how far its modulus is switched (from what it is
//! used for next) and drops it after its last use. Sums of products are relinearized once.

mod build;
mod run;
mod steps;

pub use build::CircuitBuilder;
pub(crate) use run::check_prime;
pub use steps::{Circuit, CircuitCosts, NodeId};
