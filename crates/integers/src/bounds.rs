//! Intervals of results, with checks against the limits.

use crate::error::IntegersError;
use crate::interval::{Interval, LIMIT};

impl Interval {
    /// The integers from `low` to `high`.
    ///
    /// # Errors
    /// [`IntegersError::Range`] if `low` exceeds `high`, or an end exceeds 2^126.
    pub fn new(low: i128, high: i128) -> Result<Self, IntegersError> {
        if low <= high && -LIMIT <= low && high <= LIMIT {
            return Ok(Interval { low, high });
        }
        Err(IntegersError::Range {
            operation: "an interval",
            operands: format!("{low} and {high}"),
            allowed: Self::WIDEST,
        })
    }

    /// One integer.
    ///
    /// # Errors
    /// [`IntegersError::Range`] if it exceeds 2^126.
    pub fn point(value: i128) -> Result<Self, IntegersError> {
        Self::new(value, value)
    }

    /// The interval of x + y.
    ///
    /// # Errors
    /// [`IntegersError::Range`] past 2^126.
    pub fn checked_add(self, other: Interval) -> Result<Interval, IntegersError> {
        // Two ends of 2^126 add up to 2^127, which is one too much.
        let low = self.low.saturating_add(other.low);
        self.checked("the sum", other, low, self.high.saturating_add(other.high))
    }

    /// The interval of x - y.
    ///
    /// # Errors
    /// [`IntegersError::Range`] past 2^126.
    pub fn checked_sub(self, other: Interval) -> Result<Interval, IntegersError> {
        let low = self.low.saturating_sub(other.high);
        self.checked("the difference", other, low, self.high.saturating_sub(other.low))
    }

    /// The interval of x * y.
    ///
    /// # Errors
    /// [`IntegersError::Range`] past 2^126.
    pub fn checked_mul(self, other: Interval) -> Result<Interval, IntegersError> {
        let refused = || self.refused("the product", other);
        let ends = [
            self.low.checked_mul(other.low),
            self.low.checked_mul(other.high),
            self.high.checked_mul(other.low),
            self.high.checked_mul(other.high),
        ];
        let ends = ends.into_iter().collect::<Option<Vec<i128>>>().ok_or_else(refused)?;
        let (low, high) = ends.iter().fold((ends[0], ends[0]), |(l, h), x| (l.min(*x), h.max(*x)));
        self.checked("the product", other, low, high)
    }

    /// Checks the anchor of values of this interval, which is added to their digits. Digits may
    /// begin up to 16 times lower than the values: beyond 2^126, differences of two anchors would
    /// wrap.
    ///
    /// # Errors
    /// [`IntegersError::Range`] past 2^126.
    pub(crate) fn anchored(
        self,
        operation: &'static str,
        anchor: Option<i128>,
    ) -> Result<i128, IntegersError> {
        anchor.filter(|v| Self::WIDEST.contains(*v)).ok_or_else(|| IntegersError::Range {
            operation,
            operands: format!("the digits of {self}"),
            allowed: Self::WIDEST,
        })
    }

    fn refused(self, operation: &'static str, other: Interval) -> IntegersError {
        IntegersError::Range {
            operation,
            operands: format!("{self} and {other}"),
            allowed: Self::WIDEST,
        }
    }

    fn checked(
        self,
        operation: &'static str,
        other: Interval,
        low: i128,
        high: i128,
    ) -> Result<Interval, IntegersError> {
        Self::new(low, high).map_err(|_| self.refused(operation, other))
    }
}
