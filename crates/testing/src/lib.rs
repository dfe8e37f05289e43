//! Laws that every scheme and every engine of everlevel must satisfy, as test functions.
//!
//! The tests of a scheme construct a [`Subject`] from it, with closures that encrypt and decrypt,
//! and call [`Subject::check_all`], or the suites one by one. Results are compared with plaintext
//! computation on random vectors; a failed check panics and prints the expected values.
//!
//! [`engine_laws`] does the same for an implementation of [`Engine`](everlevel_ring::Engine), and
//! [`Naive`] is a straightforward, slow implementation. [`ResidueScheme`] is a scheme without a
//! ring, for programs that compute value by value.
#![forbid(unsafe_code)]

mod definitions;
mod engine;
pub mod fingerprints;
mod matrices;
mod naive;
mod residues;
mod rng;
mod rotated;
mod rotations;
mod slotwise;
mod subject;
mod toy;

pub use engine::engine_laws;
pub use naive::Naive;
pub use residues::{ResidueScheme, ResidueVector};
pub use rng::SplitMix;
pub use rotated::rotated_along;
pub use subject::Subject;
pub use toy::toy_spec;
