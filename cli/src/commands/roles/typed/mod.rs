//! Columns of typed integers: `plan`, `encrypt --types`, and `eval`, `explain` and `decrypt` of
//! files of columns.

mod arrays;
mod decrypt;
mod encrypt;
mod eval;
mod explain;
pub mod plan;

pub use decrypt::decrypt;
pub use encrypt::encrypt;
#[cfg(feature = "service")]
pub use eval::tables;
pub use eval::{eval, inputs};
pub use explain::{Asked, explain};
