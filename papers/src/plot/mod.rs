//! Bars beside the lines of the program, and both as parts of a page.

pub mod bars;
mod label;
mod page;

pub use label::short;
pub use page::{Plot, page_style, page_variables};
