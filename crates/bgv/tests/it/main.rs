//! The integration tests of this crate, in one binary so that it is linked once.

mod bfv;
mod change;
mod combinations;
mod compact_products;
mod diagonals;
mod factor;
mod fewer_keys;
mod flooding;
mod foreign;
mod levels;
mod ntru;
mod owners;
mod products;
mod public;
mod raised;
mod random_circuits;
mod record;
mod rlwe;
mod seeded;
mod sets;
mod specifications;
mod switching;
mod tightness;
mod wide_moduli;
