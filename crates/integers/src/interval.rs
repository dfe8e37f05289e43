//! Intervals of integers, which follow from types and operations alone.

use std::fmt;

/// The integers from `low` to `high`, both included; -2^126 <= low <= high <= 2^126.
///
/// Every encrypted value has an interval. It is public and never depends on data, and each
/// operation determines the interval of its result: an operation whose result could exceed the
/// limits of an interval is refused before anything is computed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Interval {
    pub(crate) low: i128,
    pub(crate) high: i128,
}

/// The largest absolute value of an end.
pub(crate) const LIMIT: i128 = 1 << 126;

impl fmt::Display for Interval {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "[{}, {}]", self.low, self.high)
    }
}

impl Interval {
    /// The interval of all integers that a value can be.
    pub const WIDEST: Interval = Interval { low: -LIMIT, high: LIMIT };
    /// The interval of truth values, 0 and 1.
    pub const BOOL: Interval = Interval { low: 0, high: 1 };

    /// The lower end.
    pub fn low(&self) -> i128 {
        self.low
    }

    /// The upper end.
    pub fn high(&self) -> i128 {
        self.high
    }

    /// The number of integers.
    pub fn points(&self) -> u128 {
        self.high.abs_diff(self.low) + 1
    }

    /// Whether `value` is in the interval.
    pub fn contains(&self, value: i128) -> bool {
        (self.low..=self.high).contains(&value)
    }

    /// Whether all integers of `other` are in the interval.
    pub fn holds(&self, other: Interval) -> bool {
        self.low <= other.low && other.high <= self.high
    }

    /// The smallest interval that contains both.
    #[must_use]
    pub fn union(self, other: Interval) -> Interval {
        Interval { low: self.low.min(other.low), high: self.high.max(other.high) }
    }

    /// The interval of min(x, y).
    #[must_use]
    pub fn min(self, other: Interval) -> Interval {
        Interval { low: self.low.min(other.low), high: self.high.min(other.high) }
    }

    /// The interval of max(x, y).
    #[must_use]
    pub fn max(self, other: Interval) -> Interval {
        Interval { low: self.low.max(other.low), high: self.high.max(other.high) }
    }

    /// The interval of |x|.
    #[must_use]
    pub fn abs(self) -> Interval {
        let high = self.high.max(-self.low);
        let low = if self.contains(0) { 0 } else { self.low.abs().min(self.high.abs()) };
        Interval { low, high }
    }

    /// The interval of x & y.
    pub(crate) fn bits_of_both(self, other: Interval) -> Interval {
        // x & y is at most x if that is not negative, or if y is negative.
        let below = |x: Interval, y: Interval| (x.low >= 0 || y.high < 0).then_some(x.high);
        let high = match (below(self, other), below(other, self)) {
            (Some(x), Some(y)) => x.min(y),
            (Some(x), None) | (None, Some(x)) => x,
            (None, None) => self.high.max(other.high),
        };
        let low = if self.low >= 0 || other.low >= 0 { 0 } else { self.filled(other).low };
        Interval { low, high }
    }

    /// The interval of x | y, which is ~(~x & ~y).
    pub(crate) fn bits_of_any(self, other: Interval) -> Interval {
        let not = |x: Interval| Interval { low: -1 - x.high, high: -1 - x.low };
        not(not(self).bits_of_both(not(other)))
    }

    /// The interval of x ^ y.
    pub(crate) fn bits_of_one(self, other: Interval) -> Interval {
        let Interval { low, high } = self.filled(other);
        match (self.low >= 0, self.high < 0, other.low >= 0, other.high < 0) {
            (true, _, true, _) | (_, true, _, true) => Interval { low: 0, high },
            (true, _, _, true) | (_, true, true, _) => Interval { low, high: -1 },
            _ => Interval { low, high },
        }
    }

    /// The interval from -2^k to 2^k - 1 for the least k such that it contains both.
    fn filled(self, other: Interval) -> Interval {
        let both = self.union(other);
        let most = both.high.max(-1 - both.low).unsigned_abs();
        let bits = 128 - most.leading_zeros();
        let power = 1i128 << bits.min(126);
        Interval { low: -power, high: power - 1 }
    }

    /// The interval of -x.
    #[must_use]
    pub fn negated(self) -> Interval {
        Interval { low: -self.high, high: -self.low }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// All pairs of intervals with ends from -9 to 9: no value is outside.
    #[test]
    fn intervals_of_bits_hold_all_values() {
        let intervals =
            || (-9..=9).flat_map(|low| (low..=9).map(move |high| Interval { low, high }));
        type Case = (fn(Interval, Interval) -> Interval, fn(i128, i128) -> i128);
        let cases: [Case; 3] = [
            (Interval::bits_of_both, |x, y| x & y),
            (Interval::bits_of_any, |x, y| x | y),
            (Interval::bits_of_one, |x, y| x ^ y),
        ];
        for (bounds, f) in cases {
            for (x, y) in intervals().flat_map(|x| intervals().map(move |y| (x, y))) {
                let all = (x.low..=x.high).flat_map(|a| (y.low..=y.high).map(move |b| f(a, b)));
                let found = bounds(x, y);
                let (least, most) =
                    all.fold((i128::MAX, i128::MIN), |(l, h), v| (l.min(v), h.max(v)));
                assert!(found.low <= least && most <= found.high, "{x} {y}: {found}");
                assert!(found.low >= -16 && found.high <= 15, "{x} {y}: {found}");
            }
        }
        let byte = Interval { low: 0, high: 255 };
        let int = Interval { low: -(1 << 31), high: (1 << 31) - 1 };
        assert_eq!(byte.bits_of_both(int), byte);
        assert_eq!(
            byte.bits_of_any(Interval { low: 7, high: 300 }),
            Interval { low: 7, high: 511 }
        );
        assert_eq!(byte.bits_of_one(Interval { low: 1, high: 3 }), byte);
        assert_eq!(int.bits_of_one(byte), int);
    }
}
