//! Schemes of everlevel: BGV and BFV over ring-LWE and over NTRU, and the no-op scheme that runs
//! every circuit without cryptography.
//!
//! Both implement one verb set, [`Scheme`] (and [`Raise`] for bootstrapping), over the same model
//! of levels and noise ([`noise`]), so a circuit that passes on [`NoOp`] passes on [`Evaluator`]
//! with the same levels, the same keys and the same refusals.
//!
//! A program on the key owner's side holds a [`SecretKey`]; one on the server's side holds
//! [`ServerKeys`], which no secret can be put into.

mod checks;
mod counters;
mod diagonal;
mod error;
pub mod keys;
pub mod noise;
pub mod params;
pub mod plain;
mod plaintext;
pub mod rlwe;
pub mod spec;
pub mod trace;
mod verbs;

pub use counters::{Cost, Counters};
pub use error::SchemeError;
pub use keys::{EvalKeys, KeyPlan, PublicKey, SecretKey, ServerKeys};
pub use noise::Meta;
pub use params::{OptIn, Params};
pub use plain::NoOp;
pub use plaintext::Plaintext;
pub use rlwe::{Ciphertext, CompactCiphertext, Evaluator, PlainFactor, SharingPolicy};
pub use spec::{Form, Level, NextUse, ParamsSpec};
pub use trace::{Explanation, Step, Traced, Tracked};
pub use verbs::{DiagonalValues, PeriodicSlots, Raise, Scheme};
