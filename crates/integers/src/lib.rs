//! Typed integers over any scheme of everlevel: columns of integers with exact comparison,
//! selection, arithmetic and table look-up.
//!
//! * [`Type`], [`Interval`]: the public bounds on the entries of a column, which every operation
//!   tracks.
//! * [`Encoded`], [`Column`]: integers as hexadecimal digits, with one ciphertext for each digit.
//! * [`Integers`]: the operations, over a [`Session`](everlevel_circuit::Session) that bootstraps.
//! * [`Encoded::encrypt_indexed`]: columns with an index, that is with digits in unary, too, by
//!   which tables and comparisons with public integers take few products.
//! * [`TablePlan`]: functions on a small set of integers, evaluated as polynomials.
//! * [`Operation`]: an operation as a value, for code that builds programs.
//! * [`Orders`]: what operations of one program share that put the same column in order, which
//!   [`Along`] lists.
//! * [`Rehearsal`], [`Estimate`]: the cost of a computation, counted on the no-op scheme in
//!   advance.
//!
//! An example on the no-op scheme; for BGV and BFV only the first lines differ:
//!
//! ```
//! use std::sync::Arc;
//!
//! use everlevel_circuit::{PrimePower, Session};
//! use everlevel_integers::{Encoded, Integers, IntegersError, Type};
//! use everlevel_scheme::{NoOp, OptIn, Params, Plaintext};
//!
//! // Insecure: a toy ring. `bgv-65537-n15` holds 128 bits.
//! let params = Params::named("insecure_bgv-65537-n11", OptIn::InsecureResearch)?;
//! let scheme = Arc::new(NoOp::new(&params, 1));
//! let session = Session::leveled(scheme.clone());
//! let column = Encoded::new(&[3, -70, 12], Type::I8, params.slots())?;
//! let x = column.encrypt(|slots| scheme.encrypt(&Plaintext::encode(&params, slots)?))?;
//!
//! let ints = Integers::new(&session, &params)?;
//! let y = ints.max(&ints.neg(&x)?, 5)?;
//!
//! let open = |c: &_| Ok::<_, IntegersError>(scheme.decrypt(c)?.decode(&params)?);
//! assert_eq!(y.decrypt(PrimePower::new(65537, 1)?, open)?[..], [5, 70, 5]);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
#![forbid(unsafe_code)]

mod align;
mod alone;
mod along;
mod arithmetic;
mod arrays;
mod beside;
mod bilinear;
mod bins;
mod bits;
mod blocks;
mod border;
mod bounds;
mod by_index;
mod carry;
mod chosen;
mod column;
mod columns;
mod compare;
mod concurrent;
mod context;
mod count;
mod counted;
mod diagram;
mod diagrams;
mod division;
mod encode;
mod error;
mod estimate;
mod execution;
mod firsts;
mod functions;
mod in_sets;
mod index;
mod inner;
mod interval;
mod known;
mod large;
mod layers;
mod lengths;
mod lookup;
mod lowered;
mod method;
mod multiple;
mod narrow;
mod network;
mod operation;
mod order;
mod orders;
mod pairs;
mod parts;
mod passing;
mod pieces;
mod places;
mod plan;
mod prefix;
mod product;
mod program;
mod question;
mod quotients;
mod ranges;
mod ranked;
mod rehearsal;
mod restoring;
mod select;
mod sets;
mod shift;
mod slots;
mod split;
mod square;
mod stage;
mod statistics;
mod steps;
mod sums;
mod ties;
mod together;
mod told;
mod total;
mod truths;
mod types;
mod unary;
mod unary_pair;
mod weighted;
mod wide;

pub use arrays::ArrayOperation;
pub use chosen::ChosenShape;
pub use column::{Column, Operand};
pub use context::{IntegerScheme, Integers, TablePlans, WindowObserver};
pub use counted::Counted;
pub use encode::Encoded;
pub use error::IntegersError;
pub use estimate::{Estimate, EstimatedInput, EstimatedStep, best_estimate};
pub use index::index_level;
pub use interval::Interval;
pub use known::{EncryptedConstant, Relation};
pub use operation::Operation;
pub use order::Order;
pub use orders::{Along, Orders};
pub use parts::{DigitPart, Encrypted, Parts};
pub use plan::TablePlan;
pub use program::{NamedValues, ProgramError};
pub use rehearsal::{Origin, Rehearsal, ciphertext_bytes, no_op_column, no_op_session};
pub use sets::Sets;
pub use sums::{Accumulated, Shape, SumPlan, SumRequest};
pub use total::Total;
pub use truths::integers_of;
pub use types::Type;
pub use unary::{Step, Unary, UnaryBits};
pub use unary_pair::UnaryPair;
