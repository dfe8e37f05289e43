//! The integration tests of this crate, in one binary so that it is linked once.

mod common;
mod files;
mod golden;
mod hostile;
mod manifest;
mod owners;
mod results;
mod round_trip;
