//! The integration tests of this crate, in one binary so that it is linked once.

mod along;
mod bases;
mod beside;
mod common;
mod constants;
mod counts;
mod division;
mod estimate;
mod exhausted;
mod exhaustive;
mod graphs;
mod interval;
mod known;
mod large;
mod lengths;
mod long;
mod narrow;
mod order;
mod parts;
mod products;
mod program;
mod refused;
mod sums;
mod totals;
mod weighted;
mod wide;
