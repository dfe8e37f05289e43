//! Columns of typed integers: `encrypt --types`, `eval` and `decrypt` of files of columns.

mod arrays;
mod decrypt;
mod encrypt;
mod eval;

pub use decrypt::decrypt;
pub use encrypt::encrypt;
pub use eval::{eval, inputs, tables};
