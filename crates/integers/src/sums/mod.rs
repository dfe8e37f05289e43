//! Sums of products of columns over chosen rows, packed into few ciphertexts.

mod expand;
mod lift;
mod plan;
mod run;
mod shape;

pub use plan::{SumPlan, SumRequest};
pub use run::Accumulated;
pub use shape::Shape;
