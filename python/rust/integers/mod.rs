//! Typed integers: computed on by a server, or traced on the no-op scheme.

mod bytes;
mod column;
mod encryption;
mod operations;
mod server;

pub use bytes::{columns_from_bytes, columns_to_bytes, compact_columns_to_bytes};
pub use column::{Column, Total};
pub use encryption::{decrypt_column, decrypt_compact_columns, decrypt_total, encrypt_column};
pub use server::{IntegerServer, Trace};
