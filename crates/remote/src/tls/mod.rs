//! TLS: who proves what to whom, by files in PEM, and the cryptography of both sides.

mod client;
mod files;
mod processor;

pub(crate) use client::{configured, unproved};
pub use files::{Identity, authorities};
pub use processor::{hmac256, new_key, provider, sha256};
