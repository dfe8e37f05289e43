//! Schemes of everlevel: BGV, and the no-op scheme that runs every circuit without cryptography.
//!
//! Both implement one verb set, [`Scheme`] (and [`Raise`] for bootstrapping), over the same model of levels and noise
//! ([`noise`]), so a circuit that passes on [`NoOp`] passes on [`Bgv`] with the same levels, the same keys and the same
//! refusals.
//!
//! A program on the key owner's side holds a [`SecretKey`]; one on the server's side holds [`ServerKeys`], which no
//! secret can be put into.

pub mod bgv;
mod counters;
mod error;
pub mod keys;
pub mod noise;
pub mod params;
pub mod plain;
mod plaintext;
mod verbs;

pub use bgv::{Bgv, Ciphertext};
pub use counters::{Cost, Counters};
pub use error::SchemeError;
pub use keys::{EvalKeys, KeyPlan, PublicKey, SecretKey, ServerKeys};
pub use noise::Meta;
pub use params::{Level, OptIn, Params, ParamsSpec};
pub use plain::NoOp;
pub use plaintext::Plaintext;
pub use verbs::{NextUse, PeriodicSlots, Raise, Scheme};
