//! The integration tests of this crate, in one binary so that it is linked once.

mod columns;
mod common;
mod files;
mod golden;
pub mod hostile;
mod interrupted;
mod manifest;
mod owners;
mod places;
mod product_results;
mod products;
mod results;
mod round_trip;
mod uploads;
mod wide_moduli;
