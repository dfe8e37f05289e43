//! Intervals of integers, which follow from types and operations alone.

use std::fmt;

/// The integers from `low` to `high`, both included; -2^126 <= low <= high <= 2^126.
///
/// Every encrypted value has one. It is public and never comes from data, and each operation gives
/// the interval of its result: what could leave the range of an interval is refused when the
/// operation is asked for, before anything is computed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Interval {
    pub(crate) low: i128,
    pub(crate) high: i128,
}

/// The largest absolute value of an end, so that sums of two ends never overflow.
pub(crate) const LIMIT: i128 = 1 << 126;

impl fmt::Display for Interval {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "[{}, {}]", self.low, self.high)
    }
}

impl Interval {
    /// All integers that any value can have.
    pub const WIDEST: Interval = Interval { low: -LIMIT, high: LIMIT };
    /// The values of a truth value.
    pub const BOOL: Interval = Interval { low: 0, high: 1 };

    /// The lower end.
    pub fn low(&self) -> i128 {
        self.low
    }

    /// The upper end.
    pub fn high(&self) -> i128 {
        self.high
    }

    /// How many integers there are.
    pub fn points(&self) -> u128 {
        self.high.abs_diff(self.low) + 1
    }

    /// Whether `value` is one of them.
    pub fn contains(&self, value: i128) -> bool {
        (self.low..=self.high).contains(&value)
    }

    /// Whether all of `other` are among them.
    pub fn holds(&self, other: Interval) -> bool {
        self.low <= other.low && other.high <= self.high
    }

    /// The smallest interval with all of both.
    #[must_use]
    pub fn union(self, other: Interval) -> Interval {
        Interval { low: self.low.min(other.low), high: self.high.max(other.high) }
    }

    /// Of min(x, y).
    #[must_use]
    pub fn min(self, other: Interval) -> Interval {
        Interval { low: self.low.min(other.low), high: self.high.min(other.high) }
    }

    /// Of max(x, y).
    #[must_use]
    pub fn max(self, other: Interval) -> Interval {
        Interval { low: self.low.max(other.low), high: self.high.max(other.high) }
    }

    /// Of |x|.
    #[must_use]
    pub fn abs(self) -> Interval {
        let high = self.high.max(-self.low);
        let low = if self.contains(0) { 0 } else { self.low.abs().min(self.high.abs()) };
        Interval { low, high }
    }

    /// Of -x.
    #[must_use]
    pub fn negated(self) -> Interval {
        Interval { low: -self.high, high: -self.low }
    }
}
