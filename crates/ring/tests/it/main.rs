//! The integration tests of this crate, in one binary so that it is linked once.

mod galois_ring;
mod odd_indices;
mod odd_slots;
mod ring;
mod slots;
mod wide_moduli;
