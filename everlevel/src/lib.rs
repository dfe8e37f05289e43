//! Exact homomorphic encryption of integers, for computations of any length.
//!
//! A client encrypts vectors of integers modulo p^r, or of elements of the Galois rings GR(p^r, d).
//! A server adds, multiplies and rotates them without the secret key, and refreshes them by
//! bootstrapping when their noise leaves no room for the next operation. The client decrypts the
//! results, and every slot is exact. The scheme is BGV or BFV, which are two forms of one scheme
//! here ([`Form`]): every function supports both.
//!
//! * [`Params`]: a validated parameter set, by name or from a [`ParamsSpec`].
//! * [`Client`]: the owner of the secret key, who generates keys, encrypts and decrypts.
//! * [`Server`]: computes on ciphertexts and bootstraps them automatically when necessary. It holds
//!   no secret.
//! * [`Expr`]: a computation for a server, written with operators; [`Wrapping`] computes modulo
//!   2^k.
//! * [`Plan`]: a program on typed integers whose parameter set, keys and cost are determined before
//!   it runs.
//! * [`Requirements`]: finds parameter sets for a plaintext modulus, a number of slots and a depth.
//! * [`KeyPlanner`], [`BootstrapMode`]: the keys that a server needs, and the mode in which it
//!   bootstraps.
//! * [`Integers`], [`Type`]: columns of `u8` to `i64`, of `bool` or of a range, with comparisons,
//!   selection, exact sums and tables; `examples/08_typed_integers.rs`.
//! * [`files`]: all objects as bytes and files, which are validated when they are read.
//! * With the feature `remote`: the module `remote`, the client of the service (`everlevel serve`).
//! * With the feature `unstable`: `lab`, the schemes and circuits below client and server, with and
//!   without cryptography; `Truncation` and `Comparison` of fixed-point numbers in slots, see
//!   `examples/05_comparison_and_truncation.rs`; `Program`, a program in text form, such as
//!   `y = 3*x*(1-x)`; `Explainer`, a server that records the effect of each operation on the noise;
//!   servers on other engines than the processor; searches for rings, for bootstrapping plans and
//!   for sets of servers without keys (`SumOfProducts`); and parts of clients, servers, keys and
//!   AES uploads, for programs that put them together in another way. These may change in any
//!   version.
//!
//! # Example
//! The program of the README:
//!
//! ```
#![doc = include_str!("../examples/01_hello.rs")]
//! ```
//!
//! The other numbered programs in `examples/` show levels and refresh, private statistics,
//! encrypted lookup, comparison and truncation of fixed-point numbers, an upload of AES data, and a
//! custom digit removal. From the third one on, client and server exchange only bytes.
//!
//! # What is guaranteed
//! Every [`Ciphertext`] carries a proved bound on its noise. An operation or a decryption that
//! could be wrong returns an [`Error`], never a wrong value, except with the probability that the
//! bound fails (below 2^-128 for a bootstrapping of a named set). See docs/noise.md for the bound
//! and SECURITY.md for what is and is not protected.
#![forbid(unsafe_code)]

mod aes_key;
mod arguments;
mod bytes;
mod client;
mod columns;
mod compute;
#[cfg(feature = "unstable")]
mod copies;
#[cfg(feature = "unstable")]
mod datasheet;
#[cfg(feature = "unstable")]
mod engines;
mod error;
#[cfg(feature = "unstable")]
mod evaluation;
#[cfg(feature = "unstable")]
mod explainer;
mod expression;
pub mod files;
mod indices;
mod integer_expression;
mod integers;
mod key_files;
mod keys;
mod open;
mod operand;
mod operations;
mod plan;
mod planner;
#[cfg(feature = "unstable")]
mod programs;
mod rehearsed;
#[cfg(feature = "remote")]
pub mod remote;
mod requirements;
#[cfg(feature = "unstable")]
mod rings;
mod rotations;
mod server;
mod stated;
mod stored;
mod sums;
mod transcipher;
mod uploads;
mod vectors;
mod wrapping;

pub use aes_key::EncryptedAesKey;
pub use client::Client;
#[cfg(feature = "unstable")]
pub use columns::NamedResults;
pub use columns::{IntegerResult, IntegerValue, NamedIntegers};
#[cfg(feature = "unstable")]
pub use copies::SlotCopy;
#[cfg(feature = "unstable")]
pub use datasheet::{Datasheet, Measured};
pub use error::Error;
#[cfg(feature = "unstable")]
pub use explainer::{Explainer, RecordedValue};
pub use expression::{Expr, Input};
pub use integers::{IntegerColumn, IntegerTotal};
pub use keys::Keys;
pub use operand::Operand;
pub use plan::{Plan, PlanTracer, PlannedColumn};
pub use planner::{KeyPlanner, bootstrap_plan};
#[cfg(feature = "unstable")]
pub use planner::{failure_log2, multiplications_left, search_plan, spec_with_plan};
#[cfg(feature = "unstable")]
pub use programs::program_keys;
#[cfg(feature = "unstable")]
pub use requirements::{Candidate, KeylessSet, SumOfProducts};
pub use requirements::{Depth, Minimize, Requirements};
#[cfg(feature = "unstable")]
pub use rings::{FoundRing, RingDimension, RingSearch};
pub use rotations::general_keys;
#[cfg(feature = "unstable")]
pub use rotations::{are_general, general_rotations};
pub use server::{Server, Value};
pub use transcipher::{AesMethod, AesServer, aes_keys};
pub use uploads::AesUpload;
#[cfg(feature = "unstable")]
pub use uploads::mode_of;
pub use wrapping::Wrapping;

pub use everlevel_aes::integers::{ByteOrder, IntegersFromBytes};
pub use everlevel_aes::{AesKeyId, Direction};
#[cfg(feature = "unstable")]
pub use everlevel_arith::Backend;
pub use everlevel_bgv::{
    Ciphertext, CompactCiphertext, FloodingPolicy, PublicKey, SecretKey, ServerKeys,
};
pub use everlevel_circuit::ValueRange;
pub use everlevel_circuit::bootstrap::BootstrapPlan;
pub use everlevel_integers::{ArrayOperation, Estimate, Integers, Order, Type};
pub use everlevel_ring::SlotShape;
pub use everlevel_ring::sample::system_rng;
pub use everlevel_scheme::spec::BootstrapMode;
pub use everlevel_scheme::{Form, KeyId, KeyPlan, Level, OptIn, Params, ParamsSpec, Plaintext};
pub use everlevel_wire::uploads::ModeKind;

#[cfg(feature = "unstable")]
pub use everlevel_aes::Mode;
#[cfg(feature = "unstable")]
pub use everlevel_bgv::PreparedPlaintext;
#[cfg(feature = "unstable")]
pub use everlevel_circuit::bootstrap::{Objective, TimeModel};
#[cfg(feature = "unstable")]
pub use everlevel_circuit::expression::Program;
#[cfg(feature = "unstable")]
pub use everlevel_circuit::{ClearLowestDigit, Comparison, Truncation};
#[cfg(feature = "unstable")]
pub use everlevel_integers::{IntegersError, Interval};
#[cfg(feature = "unstable")]
pub use everlevel_ring::GaloisElement;
#[cfg(feature = "unstable")]
pub use everlevel_scheme::{Cost, Explanation, NextUse, Step};

/// For research: the schemes and circuits below client and server, without automatic refresh, and
/// also without cryptography (the no-op scheme). If you need more of them, depend on the crates
/// `everlevel-scheme`, `everlevel-bgv` and `everlevel-circuit`, which promise nothing before 1.0.
#[cfg(feature = "unstable")]
pub mod lab {
    pub use crate::evaluation::{
        EvaluationError, ModularInputs, ModularResult, TypedArray, TypedInputs, TypedProgram,
        work_estimate,
    };
    pub use crate::keys::ServerEvaluator;
    pub use everlevel_bgv::{EvalKeys, Evaluator};
    pub use everlevel_circuit::bootstrap::{
        Bootstrapper, PlanReport, Stage, StageObserver, StageReport,
    };
    pub use everlevel_circuit::digits::{
        DigitKind, DigitMethod, DigitProblem, DigitRemoval, compare,
    };
    pub use everlevel_circuit::poly::Polynomial;
    pub use everlevel_circuit::straight_line::{Circuit, CircuitBuilder, NodeId};
    pub use everlevel_circuit::sums::{PowerSum, total_sum};
    pub use everlevel_circuit::{CircuitError, PrimePower, Session};
    pub use everlevel_ring::Cpu;
    pub use everlevel_scheme::{
        Arithmetic, Automorphisms, Bootstrappable, ExactScheme, LinearMaps, NoOp, PeriodicSlots,
        PlainModulus, Recorded, RecordedCiphertext, Scheme, SchemeError,
    };
}

/// The code blocks of the README and of the book are compiled and run as tests.
#[cfg(doctest)]
mod book;
