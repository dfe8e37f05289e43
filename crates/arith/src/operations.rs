//! Counts of what transforms and sums compute.

use std::ops::{AddAssign, Mul};

/// Operations on words, counted.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Operations {
    /// Butterflies of transforms: a product by a constant, reduced, a sum and a difference.
    pub butterflies: u64,
    /// Products that are added up before they are reduced.
    pub products: u64,
}

impl AddAssign for Operations {
    fn add_assign(&mut self, other: Operations) {
        self.butterflies += other.butterflies;
        self.products += other.products;
    }
}

impl Mul<u64> for Operations {
    type Output = Operations;
    fn mul(self, times: u64) -> Operations {
        Operations { butterflies: self.butterflies * times, products: self.products * times }
    }
}
