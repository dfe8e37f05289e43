//! What lattice reduction makes of NTRU keys, by formula: no lattice is reduced here, and no other crate of the workspace is needed.
//!
//! * [`ntru`]: secret-key recovery, dense sublattices and subfields, the estimates of today.
//! * [`reduction`]: root Hermite factors, the shape of a reduced basis, and what block reduction costs.
//!
//! Logarithms are to base 2 where a name says `log2` or `bits`, natural otherwise.
#![forbid(unsafe_code)]

mod error;
pub mod ntru;
pub mod reduction;
mod special;

pub use error::SecurityError;
