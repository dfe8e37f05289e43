//! The integration tests of this crate, in one binary so that it is linked once.

mod along;
mod axioms;
mod book;
mod columns;
mod encodings;
mod engines;
mod error_codes;
mod examples;
mod expressions;
mod fingerprints;
mod fuzzed_indexes;
mod index;
mod interrupted;
mod mistakes;
mod orders;
mod plan_levels;
mod plans;
mod program;
mod saved;
mod seeded;
mod session;
mod sets;
mod transcipher;
mod wire;
mod workspace;
