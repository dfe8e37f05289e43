//! Programs on arrays that were read from files: what goes together, how they are cut, and what is
//! known of results. The command line and the service compute by these rules, and no others.

mod error;
mod modular;
mod typed;

pub use error::EvaluationError;
pub use modular::{ModularInputs, ModularResult};
pub use typed::{TypedArray, TypedInputs};
