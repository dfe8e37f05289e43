//! Lines of 16 slots, which hold a block each.

use everlevel_ring::{GaloisElement, SlotShape};
use everlevel_scheme::{DiagonalValues, ExactScheme, Level, NextUse};

use crate::embedding::ByteEmbedding;
use crate::error::AesError;

/// The dimension that the bytes of a block lie along.
#[derive(Clone, Debug)]
pub(crate) struct Line {
    dimension: usize,
    inner: usize,
}

impl Line {
    /// The first good dimension of 16 slots ahead of the last one. With p = 2 every dimension is an
    /// axis, and this one that of 17.
    pub(crate) fn of(shape: &SlotShape) -> Result<Self, AesError> {
        let dimensions = shape.dimensions();
        let sizes = || dimensions.iter().map(|d| d.size).collect();
        let found = dimensions
            .split_last()
            .and_then(|(_, others)| others.iter().position(|d| d.good && d.size == 16));
        let dimension = found.ok_or_else(|| AesError::NoLine { sizes: sizes() })?;
        let inner = dimensions[dimension + 1..].iter().map(|d| d.size).product();
        Ok(Line { dimension, inner })
    }

    /// The dimension.
    pub(crate) fn dimension(&self) -> usize {
        self.dimension
    }

    /// How many slots lie between neighbors along it, which is the number of lines side by side.
    pub(crate) fn inner(&self) -> usize {
        self.inner
    }

    /// The slot of a byte.
    pub(crate) fn slot(&self, block: usize, byte: usize) -> usize {
        (block / self.inner * 16 + byte) * self.inner + block % self.inner
    }

    /// What is the same in all blocks, by its values along the line: a diagonal.
    pub(crate) fn diagonal(&self, element: impl Fn(usize) -> Vec<u64>) -> DiagonalValues {
        DiagonalValues::LastDimensions(
            (0..16).flat_map(|byte| element(byte).repeat(self.inner)).collect(),
        )
    }

    /// The automorphism that moves bytes by `k` to the left, cyclically.
    pub(crate) fn rotation(&self, shape: &SlotShape, k: i64) -> GaloisElement {
        shape.rotation_along(self.dimension, k)
    }
}

/// Sums of bytes along lines: rotations with masks.
pub(crate) struct LineMap<S: ExactScheme> {
    rotations: Vec<GaloisElement>,
    masks: Vec<S::Diagonal>,
}

impl<S: ExactScheme> LineMap<S> {
    /// The map that makes each byte the sum of those at its `sources`, for ciphertexts at `level`
    /// or below.
    pub(crate) fn new(
        scheme: &S,
        level: Level,
        sources: impl Fn(usize) -> Vec<usize>,
    ) -> Result<Self, AesError> {
        let shape = scheme.slot_shape();
        let (field, line) = (ByteEmbedding::new(shape)?, Line::of(shape)?);
        let (mut rotations, mut masks) = (Vec::new(), Vec::new());
        for k in 0..16 {
            let moved = |place: usize| sources(place).contains(&((place + k) % 16));
            if (0..16).any(moved) {
                rotations.push(line.rotation(shape, k as i64));
                let mask = line.diagonal(|place| field.element(u8::from(moved(place))));
                masks.push(scheme.diagonal(&mask, 1, level)?);
            }
        }
        Ok(LineMap { rotations, masks })
    }

    /// The sums: a hoisted key switch for each distance between bytes and their sources.
    pub(crate) fn apply(&self, scheme: &S, x: &S::Ciphertext) -> Result<S::Ciphertext, AesError> {
        let parts = scheme.hoist(&scheme.prepare(x, NextUse::LinearMap)?, &self.rotations)?;
        let sums = scheme.combine(&parts, &[self.masks.iter().map(Some).collect()])?;
        let identity = scheme.slot_shape().identity();
        Ok(scheme.galois_sum(
            sums.into_iter().map(|sum| (identity, sum)).collect(),
            NextUse::LinearMap,
        )?)
    }
}
