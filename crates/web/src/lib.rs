//! The owner of data, in a browser: draws keys, encrypts columns and tables, makes the server keys
//! of a question, and reads answers.
//!
//! What can be done is in [`Owner`] and [`Question`] and in the functions on tables, which know
//! nothing of a browser and are tested without one. `bindings`, for WebAssembly alone, hands them
//! to JavaScript; `page/` is what is made of them there.

mod columns;
mod error;
mod owner;
mod question;
mod tables;

#[cfg(all(target_arch = "wasm32", target_os = "unknown"))]
mod bindings;

pub use columns::MOST_VALUES;
pub use error::Refused;
pub use owner::{Owner, sets};
pub use question::Question;
pub use tables::{check_table, distinct, infer};
