//! The client in a browser: generates keys, encrypts columns and tables, generates the server keys
//! for a query, and decrypts answers.
//!
//! The functions are in [`Owner`] and [`Query`] and in the functions on tables, which do not
//! depend on a browser and are tested without one. `bindings`, which is compiled for WebAssembly
//! only, exposes them to JavaScript; `page/` is the page that uses them.

mod columns;
mod error;
mod owner;
mod query;
mod tables;

#[cfg(all(target_arch = "wasm32", target_os = "unknown"))]
mod bindings;

pub use columns::MOST_VALUES;
pub use error::Refused;
pub use owner::{Owner, sets};
pub use query::Query;
pub use tables::{check_table, distinct, infer};
