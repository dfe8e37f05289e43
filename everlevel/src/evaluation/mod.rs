//! Programs on arrays that were read from files: which arrays can be combined, how they are divided
//! into ciphertexts, and what is known about the results. The command line and the service both use
//! these rules.

mod error;
mod lowest;
mod modular;
mod planned;
mod typed;

pub use error::EvaluationError;
pub use lowest::work_estimate;
pub use modular::{ModularInputs, ModularResult};
pub use planned::TypedProgram;
pub use typed::{TypedArray, TypedInputs};
