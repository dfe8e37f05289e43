//! Schemes of everlevel: BGV and BFV over ring-LWE and over NTRU, and the no-op scheme that runs
//! every circuit without cryptography.
//!
//! Both implement one verb set, [`Scheme`] (and [`Bootstrappable`] for bootstrapping), over the
//! same model of levels and noise ([`noise`]), so a circuit that passes on [`NoOp`] passes on
//! [`Evaluator`] with the same levels, the same keys and the same refusals.
//!
//! A program on the key owner's side holds a [`SecretKey`]; one on the server's side holds
//! [`ServerKeys`], which no secret can be put into.

mod checks;
mod counters;
mod diagonal;
mod error;
pub mod keys;
pub mod noise;
pub mod noop;
mod ops;
pub mod params;
mod plaintext;
pub mod record;
pub mod rlwe;
pub mod spec;

pub use counters::{Cost, Counters};
pub use error::SchemeError;
pub use keys::{EvalKeys, KeyPlan, PublicKey, SecretKey, ServerKeys};
pub use noise::Meta;
pub use noop::NoOp;
pub use ops::{Bootstrappable, DiagonalValues, PeriodicSlots, Scheme};
pub use params::{OptIn, Params};
pub use plaintext::Plaintext;
pub use record::{Explanation, Recorded, RecordedCiphertext, Step};
pub use rlwe::{Ciphertext, CompactCiphertext, Evaluator, FloodingPolicy, PreparedPlaintext};
pub use spec::{Form, Level, NextUse, ParamsSpec};
