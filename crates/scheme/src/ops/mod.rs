//! The operations that circuits are written against.
//!
//! [`Scheme`] says what a ciphertext is; [`Arithmetic`], [`PlainModulus`], [`Automorphisms`] and
//! [`LinearMaps`] what can be done with it; [`Bootstrappable`] is what bootstrapping needs
//! besides. BGV and BFV (one evaluator), LTV and the no-op scheme implement them; nothing in
//! `everlevel-circuit` names a concrete scheme, so every circuit is proved in milliseconds without
//! cryptography and then run once with it. Every operation takes ciphertexts at any levels and
//! plaintext scales, aligns them, and refuses (with an error, never a wrong value) what its noise
//! bound cannot cover.

mod arithmetic;
mod automorphisms;
mod bootstrappable;
mod exact;
mod linear_maps;
mod plain_modulus;
mod scheme;

pub use arithmetic::{AffineForm, Arithmetic};
pub use automorphisms::Automorphisms;
pub use bootstrappable::Bootstrappable;
pub use exact::ExactScheme;
pub use linear_maps::{DiagonalValues, LinearMaps, PeriodicSlots};
pub use plain_modulus::PlainModulus;
pub use scheme::Scheme;
