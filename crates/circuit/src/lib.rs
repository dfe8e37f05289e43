//! Programs over any scheme of everlevel: linear maps, polynomials, digit removal, bootstrapping,
//! automatic refresh.
//!
//! Everything here is written against [`everlevel_scheme::ExactScheme`] (and
//! [`everlevel_scheme::Bootstrappable`]; straight-line programs ask for less); no concrete scheme
//! is named, so each circuit is proved in milliseconds on a scheme without cryptography and then
//! run. Each part comes in two halves: a
//! *plan*, plain mathematics that knows its cost (key switches, products, levels) and its keys
//! before it meets a ciphertext, and its evaluation.
//!
//! * [`linear`]: sparse sums of diagonals, composed, split into baby and giant steps.
//! * [`transform`]: slot-to-coefficient and back, the transform of the slots as a few merged linear
//!   maps: by butterflies for powers of two, axis by axis for all others.
//! * [`unpack`]: a polynomial taken apart into d polynomials in X^d, and put together again;
//!   [`coordinates`]: over indices with axes d coordinates of the slots; [`Expansion`]: numbers in
//!   one ciphertext expanded into a ciphertext for each.
//! * [`sums`], [`rotate_along`]: traces, sums and rotations along the dimensions of the slots;
//!   [`AnySlot`]: OR over slots of bits.
//! * [`straight_line`], [`poly`]: straight-line programs; Paterson–Stockmeyer at least depth,
//!   product trees.
//! * [`digits`]: digit removal by each [`digits::DigitKind`]; [`Truncation`], [`Comparison`]: what
//!   else it is good for.
//! * [`bootstrap`]: all of these in a row, in three modes, observed stage by stage; a planner.
//! * [`expression`]: programs written down, as on the command line.
//! * [`Session`]: an evaluator that bootstraps by itself, for circuits of any depth.
//!
//! A bootstrapping, planned and run on the no-op scheme; on BGV and BFV only the first lines
//! differ:
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
//! Slot-shape-specific knowledge is confined to `slots.rs` and `transform/columns.rs` (powers of
//! two), to `linear/axis_map.rs`, `transform/axes.rs` and `transform/block.rs` (indices with axes),
//! and to `bootstrap/path`.
#![forbid(unsafe_code)]

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

pub use any_slot::AnySlot;
pub use compare::Comparison;
pub use error::CircuitError;
pub use expand::Expansion;
pub use modular::PrimePower;
pub use packing::SumPacking;
pub use range::ValueRange;
pub use rotate::{rotate_along, rotate_by_keys, rotation_elements};
pub use session::{Session, Value};
pub use slots::SlotMove;
pub use truncate::{ClearLowestDigit, Truncation};
