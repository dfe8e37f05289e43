//! Levels of the modulus chain.

use std::fmt;

/// A level: an index into the modulus chain, where 0 is the lowest modulus. It is not a number of
/// remaining products.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Level(pub usize);

impl fmt::Display for Level {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}
