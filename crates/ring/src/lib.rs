//! Polynomials of everlevel: RNS bases and conversion between them, Z\[X\]/Φ_m(X), automorphisms,
//! slots, sampling.
//!
//! Nothing above this crate assumes that the index m is a power of two: the schemes see a [`Ring`]
//! with transforms, automorphisms and a canonical norm, and a [`SlotShape`]. Nothing in this crate
//! knows what a key is.
//!
//! * [`Basis`]: a set of the ring's primes; a polynomial modulo their product is a [`Poly`].
//! * [`Poly<Coeff>`] and [`Poly<Eval>`]: the representation is in the type; only [`Eval`]
//!   multiplies.
//! * [`Engine`]: what computes on polynomials, in batches and fused operations; [`Cpu`] is the
//!   engine of the processor.
//! * [`PrimePower`], [`GaussianRing`]: arithmetic modulo a plaintext modulus p^e, and with i
//!   adjoined.
//! * [`GaloisRing`]: GR(p^e, d), what a whole slot holds.
//! * [`PlaintextRing`], [`SlotShape`]: the plaintext ring modulo p^e, its slots and their
//!   automorphisms.
//! * [`sample`]: uniform, ternary, fixed-weight and error polynomials, constant-time on secrets.

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
pub use cpu::{Cpu, Limb, Timings, Work};
pub use engine::{Constant, Engine, Hoist, Pair, Rest, RoundingScale, Source, Sum, Use};
pub use error::RingError;
#[doc(hidden)]
pub use everlevel_arith::error_codes;
pub use everlevel_arith::{Axes, Axis, Backend, Modulus, Selection, primes};
pub use gadget::{Gadget, KeyDigit};
pub use galois::{EvaluationShift, GaloisElement};
pub use galois_ring::GaloisRing;
pub use gaussian::GaussianRing;
pub use memory::Memory;
pub use norm::CanonicalNorm;
pub use plaintext_ring::{Factor, PlaintextRing};
pub use poly::{Coeff, Eval, Poly, Representation};
pub use prime_power::PrimePower;
pub use ring::{Residues, Ring};
pub use slot_dimension::SlotDimension;
pub use slot_shape::SlotShape;
