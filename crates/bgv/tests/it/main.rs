//! The integration tests of this crate, in one binary so that it is linked once.

mod bfv;
mod change;
mod diagonals;
mod factor;
mod flooding;
mod foreign;
mod levels;
mod ntru;
mod owners;
mod products;
mod random_circuits;
mod record;
mod rlwe;
mod tightness;
