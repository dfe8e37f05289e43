//! TLS: who proves what to whom, by files in PEM.

mod client;
mod files;
mod issued;
mod processor;
mod server;

pub(crate) use client::{configured, unproved};
pub use issued::Issued;
#[cfg(feature = "cluster")]
pub(crate) use processor::{hmac256, sha256};
pub(crate) use server::ServerTls;
pub use server::TlsFiles;
