//! What every scheme of everlevel shares, without cryptography: parameters, levels, noise bounds,
//! the traits that circuits are written against, and the no-op scheme.
//!
//! A scheme implements [`Scheme`] (and [`Bootstrappable`] for bootstrapping) over one model of
//! levels and noise ([`noise`]), so a circuit that passes on [`NoOp`] passes on the BGV evaluator
//! of `everlevel-bgv` with the same levels, the same keys and the same refusals. No key and no
//! polynomial of a ciphertext is known here: of the workspace this crate uses `everlevel-ring`, for
//! rings and their slots, and `everlevel-estimator`, for the security of sets.
//!
//! Lowest first, which is also the order to read it in:
//!
//! * [`spec`]: plain data: levels, forms, the modulus chain, what a JSON file of parameters holds.
//! * [`noise`]: what each operation does to level and bound, once for all schemes.
//! * [`params`]: [`Params`], a set that was checked: its ring, its noise, the security of its keys.
//! * [`Plaintext`], [`KeyPlan`], [`Cost`]: what goes in, which keys work takes, what was done.
//! * [`Scheme`], [`Arithmetic`], [`PlainModulus`], [`Automorphisms`], [`LinearMaps`],
//!   [`Bootstrappable`]: the operations.
//! * [`noop`]: a scheme that computes on values in the clear, with the levels, noise bounds and
//!   costs of the real one; the shortest implementation of all traits.
//! * [`record`]: a scheme around another one that writes down each operation.

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
pub mod spec;

pub use checks::{no_parts, same_kind, same_modulus, same_owner};
pub use counters::{Cost, Counters};
pub use diagonal::diagonal_plaintext;
pub use error::SchemeError;
pub use key_id::KeyId;
pub use key_plan::KeyPlan;
pub use noise::Meta;
pub use noop::NoOp;
pub use ops::{
    AffineForm, Arithmetic, Automorphisms, Bootstrappable, DiagonalValues, ExactScheme, LinearMaps,
    PeriodicSlots, PlainModulus, Scheme,
};
pub use params::{OptIn, Params};
pub use plaintext::{Plaintext, message_coefficients};
pub use record::{Explanation, Recorded, RecordedCiphertext, Step};
pub use spec::{Form, Level, NextUse, ParamsSpec};
