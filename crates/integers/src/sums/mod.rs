//! Sums of products of columns over chosen rows, all packed into few ciphertexts.

mod expand;
mod lift;
mod plan;
mod run;

pub use plan::{Shape, SumPlan, SumRequest};
pub use run::Accumulated;
