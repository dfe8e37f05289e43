//! Powers of two and all other indices.

use everlevel_arith::Axes;

use crate::error::RingError;

/// The two kinds of rings: they differ in the order in which buffers hold coefficients and
/// evaluations.
#[derive(Clone, Debug)]
pub(crate) enum IndexKind {
    /// Index 2n: orders of [`everlevel_arith::order`].
    PowerOfTwo { log_degree: u32 },
    /// Any other index: orders of [`everlevel_arith::axes`].
    Odd(Axes),
}

impl IndexKind {
    pub(crate) fn new(index: u64) -> Result<Self, RingError> {
        if index.is_power_of_two() && (32..=1 << 18).contains(&index) {
            return Ok(IndexKind::PowerOfTwo { log_degree: index.trailing_zeros() - 1 });
        }
        Axes::new(index).map(IndexKind::Odd).map_err(|_| RingError::UnsupportedIndex { index })
    }

    /// The axes; none for a power of two.
    pub(crate) fn axes(&self) -> Option<&Axes> {
        match self {
            IndexKind::PowerOfTwo { .. } => None,
            IndexKind::Odd(axes) => Some(axes),
        }
    }

    /// The number of odd prime factors of the index.
    pub(crate) fn odd_primes(&self) -> usize {
        self.axes().map_or(0, |axes| axes.all().iter().filter(|axis| axis.prime != 2).count())
    }

    /// The number modulo which the primes of the ring are 1.
    pub(crate) fn prime_step(&self) -> u64 {
        match self {
            IndexKind::PowerOfTwo { log_degree } => 2 << log_degree,
            IndexKind::Odd(axes) => axes.transform_order(),
        }
    }
}
