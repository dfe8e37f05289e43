//! TLS: who proves what to whom, by files in PEM.

mod client;
mod files;
mod issued;
mod processor;
mod server;

pub(crate) use client::{configured, unproved};
pub use issued::Issued;
pub(crate) use server::ServerTls;
pub use server::TlsFiles;
