//! Vectors of elements along the last dimension of the slots of an index with axes.

use everlevel_ring::{GaloisRing, SlotShape};

use crate::error::CircuitError;

/// The ring of polynomials in X_c alone, c the last axis, as vectors of D elements of GR(p^e, d),
/// one for each place of the last dimension, d residues each: what the diagonals of linear maps
/// over indices with axes are.
#[derive(Clone, Debug)]
pub(crate) struct LastDimension {
    ring: GaloisRing,
    size: usize,
    /// j with h^D = p^j modulo the last axis, h being the generator: all the way round is Frobenius
    /// to this power.
    wrap: usize,
}

impl LastDimension {
    /// For the slots of `shape` modulo p^exponent.
    ///
    /// # Errors
    /// [`CircuitError::UnsupportedIndex`] for powers of two; [`CircuitError::Ring`].
    pub(crate) fn new(shape: &SlotShape, exponent: u32) -> Result<Self, CircuitError> {
        if shape.axes().is_none() {
            return Err(CircuitError::UnsupportedIndex { index: shape.ring_index() });
        }
        Ok(LastDimension {
            ring: shape.galois_ring(exponent)?,
            size: shape.columns(),
            wrap: shape.column_wrap(),
        })
    }

    /// GR(p^e, d).
    pub(crate) fn ring(&self) -> &GaloisRing {
        &self.ring
    }

    /// D.
    pub(crate) fn size(&self) -> usize {
        self.size
    }

    /// `element` at the places that `keep` holds for, 0 at the others.
    pub(crate) fn masked(&self, element: &[u64], keep: impl Fn(usize) -> bool) -> Vec<u64> {
        let zero = vec![0; element.len()];
        (0..self.size).flat_map(|i| if keep(i) { element } else { &zero }).copied().collect()
    }

    /// The product, place by place.
    pub(crate) fn product(&self, a: &[u64], b: &[u64]) -> Vec<u64> {
        let d = self.ring.degree();
        a.chunks_exact(d).zip(b.chunks_exact(d)).flat_map(|(x, y)| self.ring.mul(x, y)).collect()
    }

    /// The image under X_c -> X_c^(h^shift p^frobenius): shifted to the left, and conjugated by
    /// Frobenius, for elements that passed an end by the wrap, too.
    pub(crate) fn moved(&self, v: &[u64], shift: i64, frobenius: i64) -> Vec<u64> {
        let (d, size) = (self.ring.degree(), self.size as i64);
        (0..size)
            .flat_map(|i| {
                let (from, rounds) =
                    ((i + shift).rem_euclid(size) as usize, (i + shift).div_euclid(size));
                let power = (frobenius + rounds * self.wrap as i64).rem_euclid(d as i64) as usize;
                self.ring.frobenius(&v[from * d..(from + 1) * d], power)
            })
            .collect()
    }
}
