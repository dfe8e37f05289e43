//! Errors of the estimator.

/// An argument outside of the range of the formulas.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum SecurityError {
    /// A number is outside its range.
    #[error("{name} = {value}: expected {expected}")]
    OutOfRange {
        /// Which number.
        name: &'static str,
        /// Its value.
        value: f64,
        /// The allowed range.
        expected: &'static str,
    },
}

impl SecurityError {
    /// The only code of this type.
    pub const CODES: &'static [&'static str] = &["security.out-of-range"];
    /// A stable code for programs, which does not change when messages do.
    pub fn code(&self) -> &'static str {
        match self {
            SecurityError::OutOfRange { .. } => Self::CODES[0],
        }
    }
}

/// `value`, if it lies in `range`.
pub(crate) fn in_range(
    name: &'static str,
    value: f64,
    range: std::ops::RangeInclusive<f64>,
    expected: &'static str,
) -> Result<f64, SecurityError> {
    // Not-a-number is in no range.
    if range.contains(&value) {
        Ok(value)
    } else {
        Err(SecurityError::OutOfRange { name, value, expected })
    }
}
