//! The integration tests of this crate, in one binary so that it is linked once.

mod common;
mod counts;
mod exhaustive;
mod graphs;
mod interval;
mod refused;
mod totals;
mod wide;
