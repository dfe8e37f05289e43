//! Lines of 16 slots, which hold a block each.

use everlevel_ring::{GaloisElement, SlotShape};
use everlevel_scheme::DiagonalValues;

use super::AesError;

/// The dimension that the bytes of a block lie along.
#[derive(Clone, Debug)]
pub(super) struct Line {
    dimension: usize,
    inner: usize,
}

impl Line {
    /// The first good dimension of 16 slots that is not the last one. In rings with p = 2 and bytes in slots that of 17 it is, and dimensions are axes.
    pub(super) fn of(shape: &SlotShape) -> Result<Self, AesError> {
        let dimensions = shape.dimensions();
        let sizes = || dimensions.iter().map(|d| d.size).collect();
        let found = dimensions[..dimensions.len() - 1].iter().position(|d| d.good && d.size == 16);
        let dimension = found.ok_or_else(|| AesError::NoLine { sizes: sizes() })?;
        let inner = dimensions[dimension + 1..].iter().map(|d| d.size).product();
        Ok(Line { dimension, inner })
    }
    /// How many slots lie between neighbours along it: so many lines lie side by side.
    pub(super) fn inner(&self) -> usize {
        self.inner
    }
    /// The slot of a byte.
    pub(super) fn slot(&self, block: usize, byte: usize) -> usize {
        (block / self.inner * 16 + byte) * self.inner + block % self.inner
    }
    /// What is the same in all blocks, by its values along the line: a diagonal.
    pub(super) fn diagonal<'e>(&self, element: impl Fn(usize) -> &'e [u64]) -> DiagonalValues {
        DiagonalValues::LastDimensions((0..16).flat_map(|byte| element(byte).repeat(self.inner)).collect())
    }
    /// The automorphism that moves bytes by `k` to the left, cyclically.
    pub(super) fn rotation(&self, shape: &SlotShape, k: i64) -> GaloisElement {
        shape.rotation_along(self.dimension, k)
    }
}
