//! The engine that computes on the processor.
//!
//! Everything is parallel over primes, which share nothing, and over places where there are many
//! threads for few primes. Where several passes go over the same
//! words, they do so a few words at a time, so that what one pass leaves is still in a near cache
//! for the next; whatever is consumed once is made where it is consumed and never stored.

pub(crate) mod access;
mod combine;
mod convert;
mod decompose;
mod divide;
mod elementwise;
mod engine;
mod hoist;
pub(crate) mod keys;
pub(crate) mod limb;
mod matrix;
mod places;
pub(crate) mod processor;
mod products;
mod read;
mod stored;
mod sum;
mod timings;

pub use access::{from_limbs, into_limbs, limb, limbs, limbs_mut};
pub use combine::Diagonal;
pub use decompose::Digits;
pub use keys::KeyPoly;
pub use limb::{Limb, Limbs};
pub use places::by_places;
pub use processor::Cpu;
pub use products::{Body, SeededPair};
pub use read::fingerprint;
pub use stored::{SharedBytes, StoredPoly};
pub use timings::{Timings, Work};
