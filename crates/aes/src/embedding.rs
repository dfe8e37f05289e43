//! AES's field inside of the slots' field.

use everlevel_ring::{GaloisRing, SlotShape};
use zeroize::Zeroizing;

use crate::error::AesError;
use crate::field::REDUCTION;

/// The bytes of AES as elements of GF(2^d), 8 | d: a ring homomorphism, so sums, products and
/// powers of bytes are those of slots.
///
/// It takes x to the first root of x^8 + x^4 + x^3 + x + 1 found in the slots' field. The other
/// roots are its conjugates.
///
/// Linear over bits, and computed so, in both directions: no branch and no address depends on a
/// byte, as bytes may be those of a key.
#[derive(Clone, Debug)]
pub struct ByteEmbedding {
    degree: usize,
    /// The images of the powers of x below 8.
    images: [Vec<u64>; 8],
    /// Eight coefficients that tell elements apart, each with the bits of the byte that depend on
    /// it.
    pivots: [(usize, u8); 8],
}

impl ByteEmbedding {
    /// For the slots of a ring with p = 2. O(d^3).
    ///
    /// # Errors
    /// [`AesError::PlainModulus`] for p other than 2, [`AesError::NoBytes`] unless d is a
    /// multiple of 8.
    ///
    pub fn new(shape: &SlotShape) -> Result<Self, AesError> {
        AesError::check_prime(shape.plain_prime())?;
        let (ring, degree) = (shape.galois_ring(1)?, shape.degree_of_slot());
        let root = if degree.is_multiple_of(8) { root(&ring) } else { None };
        let root = root.ok_or(AesError::NoBytes { degree })?;
        let mut power = ring.one();
        let images = std::array::from_fn(|_| {
            let next = ring.mul(&power, &root);
            std::mem::replace(&mut power, next)
        });
        let pivots = pivots(&images).ok_or(AesError::NoBytes { degree })?;
        Ok(ByteEmbedding { degree, images, pivots })
    }

    /// Writes the element for a byte: d bits.
    pub fn write(&self, byte: u8, element: &mut [u64]) {
        for (j, x) in element.iter_mut().enumerate() {
            *x = self
                .images
                .iter()
                .enumerate()
                .fold(0, |sum, (i, image)| sum ^ (image[j] & u64::from(byte >> i & 1)));
        }
    }

    /// The element for a byte.
    pub fn element(&self, byte: u8) -> Vec<u64> {
        let mut out = vec![0; self.degree];
        self.write(byte, &mut out);
        out
    }

    /// The byte of an element, if it is one.
    pub fn byte(&self, element: &[u64]) -> Option<u8> {
        if element.len() != self.degree {
            return None;
        }
        let byte = self
            .pivots
            .iter()
            .fold(0, |byte, &(at, bits)| byte ^ (bits & (element[at] as u8 & 1).wrapping_neg()));
        let image = Zeroizing::new(self.element(byte));
        let difference = element.iter().zip(image.iter()).fold(0, |d, (a, b)| d | (a ^ b));
        (difference == 0).then_some(byte)
    }

    /// d.
    pub fn degree(&self) -> usize {
        self.degree
    }
}

/// Gauss–Jordan on the images as bit vectors over the coefficients: places where they are
/// independent, and the inverse map.
fn pivots(images: &[Vec<u64>; 8]) -> Option<[(usize, u8); 8]> {
    // Row i: image i after the steps so far, as the combination of images that it is.
    let mut rows: Vec<(Vec<u64>, u8)> =
        images.iter().cloned().zip((0..8).map(|i| 1 << i)).collect();
    let mut found = [(0, 0); 8];
    for i in 0..8 {
        let at = rows[i].0.iter().position(|&x| x == 1)?;
        let pivot = rows[i].clone();
        for (k, (row, combination)) in rows.iter_mut().enumerate() {
            if k != i && row[at] == 1 {
                row.iter_mut().zip(&pivot.0).for_each(|(x, y)| *x ^= y);
                *combination ^= pivot.1;
            }
        }
        found[i].0 = at;
    }
    // Row i is now 1 at its own place and 0 at the others, and so what the coefficient there stands
    // for.
    rows.iter().zip(&mut found).for_each(|((_, combination), found)| found.1 = *combination);
    Some(found)
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
        let low = (0..8).rev().fold(field.one(), |sum, i| {
            field.add(&field.mul(&sum, x), &field.scalar(u64::from(REDUCTION >> i & 1)))
        });
        low.iter().all(|&c| c == 0)
    };
    subfield.into_iter().find(value)
}
