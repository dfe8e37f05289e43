//! The cost of work, as rehearsals count it.

use std::iter::Sum;
use std::ops::{Mul, Sub};

/// The cost of some work.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
#[non_exhaustive]
pub struct Counted {
    /// Products of ciphertexts, those in bootstrappings included.
    pub products: u64,
    /// Key switches: relinearizations and rotations.
    pub key_switches: u64,
    /// Bootstrappings.
    pub refreshes: u64,
    /// Seconds on one thread, by the model of a typical core.
    pub seconds: f64,
}

impl Sum for Counted {
    fn sum<I: Iterator<Item = Counted>>(counts: I) -> Self {
        counts.fold(Counted::default(), |a, b| Counted {
            products: a.products + b.products,
            key_switches: a.key_switches + b.key_switches,
            refreshes: a.refreshes + b.refreshes,
            seconds: a.seconds + b.seconds,
        })
    }
}

/// The difference of two counts: the work in between.
impl Sub for Counted {
    type Output = Counted;

    fn sub(self, earlier: Counted) -> Counted {
        Counted {
            products: self.products - earlier.products,
            key_switches: self.key_switches - earlier.key_switches,
            refreshes: self.refreshes - earlier.refreshes,
            seconds: self.seconds - earlier.seconds,
        }
    }
}

/// The same work a number of times.
impl Mul<u64> for Counted {
    type Output = Counted;

    fn mul(self, times: u64) -> Counted {
        Counted {
            products: self.products.saturating_mul(times),
            key_switches: self.key_switches.saturating_mul(times),
            refreshes: self.refreshes.saturating_mul(times),
            seconds: self.seconds * times as f64,
        }
    }
}
