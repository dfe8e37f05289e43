//! The client of the service of everlevel, and what both sides have in common.
//!
//! * [`Client`]: sends files, runs jobs and fetches results; what breaks off goes on.
//! * [`api`]: what goes over the wire, as JSON.
//! * [`Connecting`], [`Exposure`]: the way to a service; [`Token`]: who asks.
//! * [`tls`]: certificates and cryptography, for both sides.
//!
//! Programs have the client as `everlevel::remote`, with the feature `remote` of that crate. It
//! knows files and bytes, and neither schemes nor values.
#![forbid(unsafe_code)]

pub mod api;
mod calls;
mod client;
mod connecting;
mod error;
mod exposure;
mod name;
pub mod tls;
mod token;

pub use client::Client;
pub use connecting::Connecting;
pub use error::{RemoteError, Told};
pub use exposure::Exposure;
pub use name::{IdempotencyKey, JobId, ObjectId, Tenant, random_hex};
pub use token::Token;
