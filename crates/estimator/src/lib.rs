//! What lattice reduction makes of LWE and NTRU keys, by formula: no lattice is reduced here, and
//! no other crate of the workspace is needed.
//!
//! * [`lwe`]: unique SVP, bounded distance decoding, hybrid and dual attacks on dense and sparse
//!   secrets.
//! * [`ntru`]: secret-key recovery, dense sublattices and subfields, the estimates of today.
//! * [`reduction`]: root Hermite factors, the shape of a reduced basis, and what block reduction
//!   costs.
//! * [`hermite`]: what was believed of such keys in 2014: Hermite factors by experiment.
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
