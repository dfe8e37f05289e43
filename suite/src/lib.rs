//! Stage programs for the workloads of the FHE Benchmarking Suite. A stage is a process of its own,
//! started in the root of a clone of the workload's harness, and talks to the others through files;
//! suite/README.md says which.
//!
//! What is computed is in the library. Here are the protocols: which files there are, which
//! arguments stages have, and which numbers are in range.
#![forbid(unsafe_code)]

mod error;
pub mod fetch;
mod instance;
mod keyless;
mod keys;
mod memory;
pub mod ml;
mod numbers;
mod output;
mod stage;
mod steps;
pub mod transciphering;
pub mod zn;

pub use error::SuiteError;
pub use instance::Instance;
pub use stage::run;
