//! AES's field inside of the slots' field.

use std::collections::BTreeMap;

use everlevel_ring::{GaloisRing, SlotShape};

use super::AesError;
use super::field::REDUCTION;
use crate::error::CircuitError;

/// The bytes of AES as elements of GF(2^d), 8 | d: a ring homomorphism, so sums, products and powers of bytes are those of slots.
///
/// It takes x to the first root of x^8 + x^4 + x^3 + x + 1 found in the slots' field. The other roots are its conjugates.
#[derive(Clone, Debug)]
pub struct ByteEmbedding {
    degree: usize,
    images: Vec<Vec<u64>>,
    bytes: BTreeMap<Vec<u64>, u8>,
}

impl ByteEmbedding {
    /// For the slots of a ring with p = 2. O(d^3).
    ///
    /// # Errors
    /// [`CircuitError::ModulusMismatch`] for p other than 2, [`AesError::NoBytes`] unless d is a multiple of 8.
    pub fn new(shape: &SlotShape) -> Result<Self, CircuitError> {
        AesError::check_prime(shape.plain_prime())?;
        let (ring, degree) = (shape.galois_ring(1)?, shape.degree_of_slot());
        let root = if degree.is_multiple_of(8) { root(&ring) } else { None };
        let root = root.ok_or(AesError::NoBytes { degree })?;
        let image = |byte: u8| {
            (0..8).rev().fold(ring.scalar(0), |sum, i| ring.add(&ring.mul(&sum, &root), &ring.scalar(u64::from(byte >> i & 1))))
        };
        let images: Vec<_> = (0..=255).map(image).collect();
        let bytes = images.iter().cloned().zip(0..=255).collect();
        Ok(ByteEmbedding { degree, images, bytes })
    }
    /// The element for a byte: d bits.
    pub fn element(&self, byte: u8) -> &[u64] {
        &self.images[usize::from(byte)]
    }
    /// The byte of an element, if it is one.
    pub fn byte(&self, element: &[u64]) -> Option<u8> {
        self.bytes.get(element).copied()
    }
    /// d.
    pub fn degree(&self) -> usize {
        self.degree
    }
}

/// A root of x^8 + x^4 + x^3 + x + 1 in a field whose degree is a multiple of 8.
fn root(field: &GaloisRing) -> Option<Vec<u64>> {
    // Relative traces of a basis span the subfield of 256 elements.
    let mut subfield = vec![field.scalar(0)];
    let basis = std::iter::successors(Some(field.one()), |power| Some(field.times_x(power)));
    for power in basis.take(field.degree()) {
        let conjugates = (0..field.degree()).step_by(8).map(|k| field.frobenius(&power, k));
        let trace = conjugates.fold(field.scalar(0), |sum, x| field.add(&sum, &x));
        if !subfield.contains(&trace) {
            let moved: Vec<_> = subfield.iter().map(|x| field.add(x, &trace)).collect();
            subfield.extend(moved);
        }
    }
    let value = |x: &Vec<u64>| {
        let low =
            (0..8).rev().fold(field.one(), |sum, i| field.add(&field.mul(&sum, x), &field.scalar(u64::from(REDUCTION >> i & 1))));
        low.iter().all(|&c| c == 0)
    };
    subfield.into_iter().find(value)
}
