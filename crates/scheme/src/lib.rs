//! The parts that all schemes of everlevel share, without cryptography: parameters, levels, noise
//! bounds, the traits that circuits are written against, and the no-op scheme.
//!
//! A scheme implements [`Scheme`] (and [`Bootstrappable`] for bootstrapping) over one model of
//! levels and noise ([`noise`]), so a circuit that runs on [`NoOp`] runs on the BGV evaluator of
//! `everlevel-bgv` with the same levels, the same keys and the same errors. This crate does not
//! know keys or polynomials of ciphertexts; of the workspace it uses `everlevel-ring`, for rings
//! and their slots, and `everlevel-estimator`, for the security of sets.
//!
//! The modules, lowest first, which is also the order in which to read them:
//!
//! * [`spec`]: plain data: levels, forms, the modulus chain, the content of a JSON file of
//!   parameters.
//! * [`noise`]: the effect of each operation on level and noise bound, for all schemes.
//! * [`params`]: [`Params`], a validated parameter set, with its ring, its noise model and the
//!   security of its keys.
//! * [`Plaintext`], [`KeyPlan`], [`Cost`]: plaintexts, the keys that a computation needs, and the
//!   operations that it has performed.
//! * [`Scheme`], [`Arithmetic`], [`PlainModulus`], [`Automorphisms`], [`LinearMaps`],
//!   [`Bootstrappable`]: the operations.
//! * [`noop`]: a mock scheme that computes on plaintext values, with the levels, noise bounds and
//!   costs of the real one; the shortest implementation of all traits.
//! * [`record`]: a scheme that wraps another one and logs each operation.

mod checks;
mod counters;
mod diagonal;
mod error;
mod key_id;
mod key_plan;
pub mod noise;
pub mod noop;
mod ops;
pub mod params;
mod plaintext;
pub mod record;
mod smaller_keys;
pub mod spec;

pub use checks::{no_parts, same_kind, same_modulus, same_owner, same_parts};
pub use counters::{Cost, Counters};
pub use diagonal::diagonal_plaintext;
pub use error::SchemeError;
pub use key_id::KeyId;
pub use key_plan::KeyPlan;
pub use noise::Meta;
pub use noop::NoOp;
pub use ops::{
    AffineForm, Arithmetic, Automorphisms, Bootstrappable, DiagonalValues, ExactScheme, LinearMaps,
    PeriodicSlots, PlainModulus, Scheme, SparseForm,
};
pub use params::{OptIn, Params};
pub use plaintext::{Plaintext, message_coefficients};
pub use record::{Explanation, Recorded, RecordedCiphertext, Step};
pub use spec::{Form, Level, NextUse, ParamsSpec};
