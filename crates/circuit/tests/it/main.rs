//! The integration tests of this crate, in one binary so that it is linked once.

mod all_rotations;
mod any_index;
mod any_slot;
mod axes;
mod axes_bootstrap;
mod axes_subring;
mod costs;
mod expand;
mod expression;
mod fuzzed_expressions;
mod linear;
mod noop;
mod ntru;
mod packing;
mod party;
mod ranges;
mod repeating;
mod rlwe;
mod square_factors;
mod squares;
mod term_levels;
mod threads;
mod tightness;
mod together;
mod wide_primes;
mod windows;
