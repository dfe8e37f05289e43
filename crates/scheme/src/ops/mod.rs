//! The operations that circuits are written against.
//!
//! [`Scheme`] describes ciphertexts; [`Arithmetic`], [`PlainModulus`], [`Automorphisms`] and
//! [`LinearMaps`] are the operations on them; [`Bootstrappable`] has the additional operations for
//! bootstrapping. BGV and BFV (one evaluator), LTV (without bootstrapping) and the no-op scheme
//! implement them. `everlevel-circuit` names no concrete scheme, so every circuit can be tested in
//! milliseconds without cryptography. Every operation accepts operands at any levels and with any
//! correction factors, aligns them, and returns an error, never a wrong value, if the noise bound
//! of the result would be too large.

mod arithmetic;
mod automorphisms;
mod bootstrappable;
mod exact;
mod linear_maps;
mod plain_modulus;
mod scheme;

pub use arithmetic::{AffineForm, Arithmetic, SparseForm};
pub use automorphisms::Automorphisms;
pub use bootstrappable::Bootstrappable;
pub use exact::ExactScheme;
pub use linear_maps::{DiagonalValues, LinearMaps, PeriodicSlots};
pub use plain_modulus::PlainModulus;
pub use scheme::Scheme;
