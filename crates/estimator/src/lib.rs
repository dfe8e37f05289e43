//! Estimates of the cost of lattice attacks on LWE and NTRU keys, by formulas: no lattice is
//! reduced, and no other crate of the workspace is used.
//!
//! * [`lwe`]: unique SVP, bounded distance decoding, hybrid and dual attacks on dense and sparse
//!   secrets.
//! * [`ntru`]: secret-key recovery, dense sublattices and subfields, by today's estimates.
//! * [`reduction`]: root Hermite factors, the shape of a reduced basis, and the cost of block
//!   reduction.
//! * [`hermite`]: the estimates of 2014, by experimental Hermite factors.
//!
//! Logarithms are to base 2 where a name says `log2` or `bits`, natural otherwise.
#![forbid(unsafe_code)]

mod attack;
mod error;
pub mod hermite;
pub mod lwe;
pub mod ntru;
pub mod reduction;
mod search;
mod special;

pub use attack::{Attack, AttackName, Estimate, Guess};
pub use error::SecurityError;
pub use reduction::CostModel;
