//! Exact homomorphic encryption that never runs out of levels.
//!
//! Encrypt vectors of integers modulo p^r, or of elements of its extensions GR(p^r, d), add,
//! multiply and rotate them without the key, refresh them by bootstrapping when their noise budget
//! is spent, go on, decrypt: every slot is exact. The scheme is BGV or BFV, which are two forms of
//! one ([`Form`]): everything here serves both.
//!
//! * [`Params`]: a validated parameter set, by name or from a [`ParamsSpec`].
//! * [`Client`]: the key owner. Encrypts, decrypts, makes keys.
//! * [`Server`]: computes, bootstrapping by itself when it must. It cannot hold a secret.
//! * [`Requirements`]: from a plaintext modulus, slots and depth to the sets that can do it.
//! * [`Explainer`]: a server that tells what each operation did to the noise.
//! * [`KeyPlanner`], [`BootstrapMode`]: which keys a server gets, and how it bootstraps.
//! * [`Integers`], [`Type`]: columns of `u8` to `i64`, of `bool` or of a range, with comparisons,
//!   selection, exact sums and tables; `examples/08_typed_integers.rs`.
//! * [`Truncation`], [`Comparison`]: fixed-point numbers in slots;
//!   `examples/05_comparison_and_truncation.rs` shows them at work.
//! * [`wire`]: all of this as bytes and files, read with nothing taken on trust.
//! * [`Evaluator`], [`NoOp`] and the traits [`Scheme`] and [`Bootstrappable`]: the same without the
//!   convenience, and without cryptography.
//! * [`Bootstrapper`] and [`circuit`]: bootstrapping, linear maps, polynomials, digit removal over
//!   any scheme.
//!
//! # Example
//! The program of the README:
//!
//! ```
#![doc = include_str!("../examples/01_hello.rs")]
//! ```
//!
//! The numbered programs in `examples/` go on from here: levels and refresh, private statistics,
//! encrypted lookup, comparison and truncation of fixed-point numbers, an upload of AES data, a
//! digit removal of one's own. From the third on client and server share nothing but bytes.
//!
//! # What is guaranteed
//! Every [`Ciphertext`] carries a proved bound on its noise. An operation or a decryption that
//! could be wrong is an [`Error`], never a wrong value; see [`scheme::noise`] for the bound and
//! SECURITY.md for what is and is not protected.
#![forbid(unsafe_code)]

mod client;
mod datasheet;
mod error;
mod explainer;
pub mod files;
mod integers;
mod planner;
mod requirements;
mod rings;
mod rotations;
mod server;
mod transcipher;
mod vectors;

pub use client::Client;
pub use datasheet::{Datasheet, Measured};
pub use error::Error;
pub use explainer::{Explainer, RecordedValue};
pub use integers::{IntegerColumn, IntegerTotal};
pub use planner::{
    KeyPlanner, bootstrap_plan, failure_log2, multiplications_left, program_keys, search_plan,
    spec_with_plan,
};
pub use requirements::{Candidate, Depth, Minimize, Requirements};
pub use rings::{FoundRing, RingDimension, RingSearch};
pub use rotations::{general_keys, general_rotations};
pub use server::{Server, Value};
pub use transcipher::{AesMethod, AesServer, EncryptedAesKey, aes_keys};
pub use vectors::SlotCopy;

pub use everlevel_arith::Backend;
pub use everlevel_bgv::{
    Ciphertext, CompactCiphertext, EvalKeys, Evaluator, FloodingPolicy, PreparedPlaintext,
    PublicKey, SecretKey, ServerKeys,
};
pub use everlevel_circuit::bootstrap::{
    BootstrapPlan, Bootstrapper, Objective, PlanReport, Stage, StageObserver, StageReport,
    TimeModel,
};
pub use everlevel_circuit::digits::{DigitKind, DigitMethod, DigitProblem, DigitRemoval};
pub use everlevel_circuit::{CircuitError, ClearLowestDigit, Comparison, Session, Truncation};
pub use everlevel_integers::{Integers, IntegersError, Interval, Type};
pub use everlevel_ring::sample::system_rng;
pub use everlevel_ring::{Basis, GaloisElement, Ring, SlotShape};
pub use everlevel_scheme::spec::BootstrapMode;
pub use everlevel_scheme::{
    Bootstrappable, Cost, Explanation, Form, KeyPlan, Level, NextUse, NoOp, OptIn, Params,
    ParamsSpec, PeriodicSlots, Plaintext, Recorded, RecordedCiphertext, Scheme, SchemeError, Step,
};

/// Programs over any scheme: linear maps, transforms, polynomials, digit removal, bootstrapping.
pub mod circuit {
    pub use everlevel_circuit::*;
}

/// AES on ciphertexts of any scheme, transciphering, bytes to integers.
pub mod aes {
    pub use everlevel_aes::*;
}

/// Typed integers over any scheme.
pub mod typed {
    pub use everlevel_integers::*;
}

/// Parameters, levels, noise bounds, the traits of schemes and the no-op scheme.
pub mod scheme {
    pub use everlevel_scheme::*;
}

/// BGV and BFV: keys, encryption and evaluation.
pub mod bgv {
    pub use everlevel_bgv::*;
}

/// Files and messages: the wire format of everything that a client and a server exchange or keep.
pub mod wire {
    pub use everlevel_wire::*;
}

/// What keys are worth against lattice reduction, by formula.
pub mod security {
    pub use everlevel_estimator::*;
}

/// Polynomials, slots and sampling.
pub mod ring {
    pub use everlevel_ring::*;
}

/// What runs below: the active instruction set, transforms and primes, for reports and
/// measurements.
pub mod arith {
    pub use everlevel_arith::*;
}

/// The code of the README and of the book is compiled and run as well.
#[cfg(doctest)]
mod book;
