//! The public data of columns that are added up.

use crate::column::Column;
use crate::encode::{standard_form, windows};
use crate::error::IntegersError;
use crate::interval::Interval;
use crate::types::Type;

/// The public data of a column that is added up; its values are anchor + Σ 16^i d_i.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Shape {
    pub(crate) anchor: i128,
    /// The windows of the digits, lowest first.
    pub(crate) windows: Vec<(i64, i64)>,
}

impl Shape {
    /// The shape of a column that was encrypted as this type.
    pub fn of(kind: Type) -> Self {
        let interval = kind.interval();
        let (anchor, digits) = standard_form(interval);
        Shape { anchor, windows: windows(interval, anchor, digits) }
    }

    /// The shape of an encrypted column.
    pub fn of_column<C>(x: &Column<C>) -> Self {
        let windows = x.digits.iter().map(|d| (d.low, d.high)).collect();
        Shape { anchor: x.anchor, windows }
    }
}

/// Checks that a number is at most 2^126 in absolute value.
pub(super) fn far(x: Option<i128>) -> Result<i128, IntegersError> {
    x.filter(|x| Interval::WIDEST.contains(*x)).ok_or_else(|| IntegersError::Range {
        operation: "a sum over all rows",
        operands: "products of columns".into(),
        allowed: Interval::WIDEST,
    })
}
