//! The client of the everlevel service, and the code that client and service share.
//!
//! * [`Client`]: sends files, runs jobs and fetches results; interrupted transfers are continued.
//! * [`api`]: the messages of the protocol, as JSON.
//! * [`Connecting`], [`Exposure`]: options for connections; [`Token`]: the credential of a client.
//! * [`tls`]: certificates and cryptography, for both sides.
//!
//! Programs use the client as `everlevel::remote`, with the feature `remote` of that crate. It
//! handles files and bytes, and neither schemes nor values.
#![forbid(unsafe_code)]

pub mod api;
mod calls;
mod client;
mod connecting;
mod distinct;
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
