//! What must hold for every scheme and every engine of everlevel, as functions.
//!
//! A scheme's tests make a [`Subject`] of it, with closures that encrypt and decrypt, and call
//! [`Subject::check_all`], or the suites one by one. Everything is checked against the plain
//! computation on random vectors; a failed check panics with what was expected.
//!
//! [`engine_laws`] does the same for an implementation of
//! [`Engine`](everlevel_ring::Engine), and [`Naive`] is the slowest of these. [`ResidueScheme`] is
//! a scheme without a ring, for programs that compute value by value.
#![forbid(unsafe_code)]

mod definitions;
mod engine;
pub mod fingerprints;
mod matrices;
mod naive;
mod residues;
mod rng;
mod rotations;
mod slotwise;
mod subject;
mod toy;

pub use engine::engine_laws;
pub use naive::Naive;
pub use residues::{ResidueScheme, ResidueVector};
pub use rng::SplitMix;
pub use subject::Subject;
pub use toy::toy_spec;
