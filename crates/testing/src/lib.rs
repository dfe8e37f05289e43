//! What must hold for every scheme of everlevel, as functions.
//!
//! A scheme's tests make a [`Subject`] of it, with closures that encrypt and decrypt, and call
//! [`Subject::check_all`], or the suites one by one. Everything is checked against the plain
//! computation on random vectors; a failed check panics with what was expected.
#![forbid(unsafe_code)]

pub mod fingerprints;
mod rotations;
mod slotwise;
mod subject;

pub use subject::Subject;
