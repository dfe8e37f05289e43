//! Polynomials in Z\[X\]/Φ_m(X) modulo products of primes: RNS bases and conversion between them,
//! automorphisms, slots, sampling.
//!
//! The crates above this one do not assume that the index m is a power of two: schemes use a
//! [`Ring`] with transforms, automorphisms and a canonical norm, and a [`SlotShape`]. This crate
//! does not know keys.
//!
//! * [`Basis`]: a set of the ring's primes; a polynomial modulo their product is a [`Poly`].
//! * [`Poly<Coeff>`] and [`Poly<Eval>`]: polynomials as coefficients or as evaluations,
//!   distinguished by type; products exist for [`Eval`] only.
//! * [`Engine`]: the trait for computation on polynomials, in batches and fused operations; [`Cpu`]
//!   is the engine that runs on the processor.
//! * [`PrimePower`], [`GaussianRing`]: arithmetic modulo a plaintext modulus p^e, and in
//!   (Z/p^e)\[i\].
//! * [`GaloisRing`]: GR(p^e, d), the ring of the elements of a slot.
//! * [`PlaintextRing`], [`SlotShape`]: the plaintext ring modulo p^e, its slots and their
//!   automorphisms.
//! * [`sample`]: uniform, ternary, fixed-weight and error polynomials, sampled in constant time
//!   where they are secret.

mod axis_transform;
mod basis;
mod columns;
pub mod cpu;
mod elements;
mod engine;
mod error;
mod exponents;
mod factor;
mod gadget;
mod galois;
mod galois_ring;
mod gaussian;
mod index_kind;
mod integers;
mod memory;
mod norm;
mod odd_slots;
mod operations;
mod plaintext_ring;
mod poly;
mod prime_power;
mod product;
mod quotient;
mod ring;
pub mod sample;
mod slot_automorphisms;
mod slot_dimension;
mod slot_shape;

pub use basis::{Basis, MAX_PRIMES};
pub use cpu::{Cpu, KeyPoly, Limb, Timings, Work, by_places};
pub use engine::{
    Accumulation, Constant, Engine, Hoist, Hoisted, Pair, Rest, RoundingScale, Source, Sum, Use,
};
pub use error::RingError;
#[doc(hidden)]
pub use everlevel_arith::error_codes;
pub use everlevel_arith::{Axes, Axis, Backend, Block, Modulus, Selection, primes};
pub use gadget::{Gadget, KeyDigit};
pub use galois::{EvaluationShift, GaloisElement};
pub use galois_ring::GaloisRing;
pub use gaussian::GaussianRing;
pub use integers::{IntegerDigits, IntegerMap};
pub use memory::Memory;
pub use norm::CanonicalNorm;
pub use plaintext_ring::{Factor, PlaintextRing};
pub use poly::{Coeff, Eval, Poly, Representation};
pub use prime_power::PrimePower;
pub use ring::{Residues, Ring};
pub use slot_dimension::SlotDimension;
pub use slot_shape::SlotShape;
