//! Homomorphic circuits over any scheme of everlevel: linear maps, polynomials, digit removal,
//! bootstrapping, automatic refresh.
//!
//! Everything here is written against [`everlevel_scheme::ExactScheme`] (and
//! [`everlevel_scheme::Bootstrappable`]; straight-line programs require less). No concrete scheme
//! is named, so each circuit can be tested in milliseconds on a scheme without cryptography before
//! it runs on ciphertexts. Each part consists of a *plan*, which states its cost (key switches,
//! products, levels) and its keys in advance, and its evaluation.
//!
//! * [`linear`]: linear maps as sparse sums of diagonals, their composition, and evaluation by baby
//!   steps and giant steps.
//! * [`transform`]: slot-to-coefficient and coefficient-to-slot as a few merged linear maps: by
//!   butterflies for indices that are powers of two, axis by axis for all others.
//! * [`unpack`]: a polynomial as d polynomials in X^d, and back; [`coordinates`]: over indices with
//!   axes, the d coordinates of each slot; [`Expansion`]: the coefficients of one ciphertext as one
//!   ciphertext each.
//! * [`sums`], [`rotate_along`]: traces, sums and rotations along the dimensions of the slots;
//!   [`AllRotations`]: a ciphertext rotated by 0, 1, 2, ..; [`AnySlot`]: OR over slots of bits.
//! * [`straight_line`], [`poly`]: straight-line programs; the Paterson–Stockmeyer method at minimal
//!   depth, product trees.
//! * [`digits`]: digit removal by each [`digits::DigitKind`]; [`Truncation`], [`Comparison`]: its
//!   applications to fixed-point numbers.
//! * [`bootstrap`]: bootstrapping in three modes, with reports for each stage, and a planner.
//! * [`expression`]: programs in text form, as on the command line.
//! * [`Session`]: an evaluator that bootstraps automatically, for circuits of any depth.
//!
//! The following example plans a bootstrapping and runs it on the no-op scheme; for BGV and BFV
//! only the first lines differ:
//!
//! ```
//! use everlevel_circuit::bootstrap::{BootstrapPlan, Bootstrapper};
//! use everlevel_scheme::{Level, NoOp, OptIn, Params, Plaintext};
//!
//! // Insecure: a toy ring. `bgv-65537-n15` holds 128 bits.
//! let params = Params::named("insecure_bgv-257-n8", OptIn::InsecureResearch)?;
//! let scheme = NoOp::new(&params, 1);
//! let bootstrapper = Bootstrapper::new(&scheme, BootstrapPlan::balanced(params.slots()))?;
//! println!("{:?}", bootstrapper.costs());
//!
//! let exhausted = scheme.encrypt_at(&Plaintext::encode(&params, &[1, 2, 3])?, Level(1))?;
//! let fresh = bootstrapper.bootstrap(&scheme, &exhausted)?;
//! assert_eq!(scheme.decrypt(&fresh)?.decode(&params)?[..3], [1, 2, 3]);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! Code that depends on the shape of the slots is confined to `slots.rs` and `transform/columns.rs`
//! (powers of two), to `linear/axis_map.rs`, `transform/axes.rs` and `transform/block.rs` (indices
//! with axes), and to `bootstrap/path`.
#![forbid(unsafe_code)]

mod all_rotations;
mod any_slot;
pub mod bootstrap;
mod compare;
pub mod coordinates;
pub mod digits;
mod error;
mod expand;
pub mod expression;
pub mod linear;
mod modular;
mod normal_basis;
mod packing;
pub mod poly;
mod range;
mod rotate;
mod session;
mod slots;
pub mod straight_line;
pub mod sums;
pub mod transform;
mod truncate;
pub mod unpack;

pub use all_rotations::AllRotations;
pub use any_slot::AnySlot;
pub use compare::Comparison;
pub use error::CircuitError;
pub use expand::Expansion;
pub use modular::PrimePower;
pub use packing::SumPacking;
pub use range::ValueRange;
pub use rotate::{rotate_along, rotate_by_keys, rotation_elements, rotation_switches};
pub use session::{Session, Value, take_least};
pub use slots::SlotMove;
pub use truncate::{ClearLowestDigit, Truncation};
