//! The transform between the columns of slots and coefficients.

use zeroize::Zeroizing;

use crate::error::RingError;
use crate::gaussian::GaussianRing;

/// Values at K columns of the polynomials of degree below 2K over Z/p^e, modulo W^2K + 1.
///
/// With i = W^K, such a polynomial is one of degree below K over the Gaussian integers modulo p^e,
/// and column j holds its value at ω^(5^j), ω a root of unity of order 4K with ω^K = i. Decimation
/// in time: coefficient c starts in column bitreverse(c); in each block of 2D columns \[E | O\],
/// new\[j\] = E\[j\] + w O\[j\] and new\[j + D\] = E\[j\] - w O\[j\], w = ω_{8D}^(5^j), for D = 1,
/// 2, .., K/2. The twiddles depend on D only, so the tables of K columns serve all divisors of K.
#[derive(Debug)]
pub(crate) struct ColumnTransform {
    ring: GaussianRing,
    /// w for D and j at place D + j, and its inverse; place 0 is unused.
    twiddles: Vec<[u64; 2]>,
    inverses: Vec<[u64; 2]>,
    /// i and 1/(2i).
    quarter: [u64; 2],
    half_quarter: [u64; 2],
    half: u64,
}

impl ColumnTransform {
    /// The tables of `columns` (a power of two) with ω = `root`: about 5 `columns` products.
    pub(crate) fn new(
        ring: GaussianRing,
        columns: usize,
        root: [u64; 2],
    ) -> Result<Self, RingError> {
        let [twiddles, inverses] =
            [root, ring.inv(root)?].map(|root| twiddles(&ring, columns, root));
        let quarter = ring.pow(root, columns as u128);
        let half = ring.modulus().inv(2)?;
        let half_quarter = ring.mul(ring.scalar(half), ring.inv(quarter)?);
        Ok(ColumnTransform { ring, twiddles, inverses, quarter, half_quarter, half })
    }

    /// 2K coefficients to K elements, given as K first and K second components: O(K log K).
    pub(crate) fn evaluate(&self, coefficients: &[u64]) -> Vec<u64> {
        let ring = &self.ring;
        let columns = coefficients.len() / 2;
        let (low, high) = coefficients.split_at(columns);
        let folded =
            |c: usize| ring.add(ring.scalar(low[c]), ring.mul(self.quarter, ring.scalar(high[c])));
        let mut values = Zeroizing::new(
            (0..columns).map(|j| folded(reversed(j, columns))).collect::<Vec<[u64; 2]>>(),
        );
        let mut distance = 1;
        while distance < columns {
            let row = &self.twiddles[distance..2 * distance];
            for block in values.chunks_exact_mut(2 * distance) {
                let (even, odd) = block.split_at_mut(distance);
                for ((a, b), &w) in even.iter_mut().zip(odd).zip(row) {
                    let turned = ring.mul(w, *b);
                    (*a, *b) = (ring.add(*a, turned), ring.sub(*a, turned));
                }
            }
            distance *= 2;
        }
        values.iter().map(|v| v[0]).chain(values.iter().map(|v| v[1])).collect()
    }

    /// The inverse of [`ColumnTransform::evaluate`].
    pub(crate) fn interpolate(&self, values: &[u64]) -> Vec<u64> {
        let ring = &self.ring;
        let columns = values.len() / 2;
        let mut values = Zeroizing::new(
            (0..columns).map(|j| [values[j], values[columns + j]]).collect::<Vec<[u64; 2]>>(),
        );
        let mut distance = columns / 2;
        while distance >= 1 {
            let row = &self.inverses[distance..2 * distance];
            for block in values.chunks_exact_mut(2 * distance) {
                let (even, odd) = block.split_at_mut(distance);
                for ((a, b), &w) in even.iter_mut().zip(odd).zip(row) {
                    (*a, *b) = (ring.add(*a, *b), ring.mul(w, ring.sub(*a, *b)));
                }
            }
            distance /= 2;
        }
        let t = ring.modulus();
        let scale = t.pow(self.half, u64::from(columns.trailing_zeros()));
        let (real, imaginary) =
            (ring.scalar(t.mul(scale, self.half)), self.half_quarter.map(|x| t.mul(scale, x)));
        let mut out = vec![0; 2 * columns];
        for c in 0..columns {
            // a + i b, from the sum and the difference of the element and its conjugate.
            let v = values[reversed(c, columns)];
            let bar = ring.conjugate(v);
            out[c] = ring.mul(real, ring.add(v, bar))[0];
            out[columns + c] = ring.mul(imaginary, ring.sub(v, bar))[0];
        }
        out
    }
}

fn twiddles(ring: &GaussianRing, columns: usize, root: [u64; 2]) -> Vec<[u64; 2]> {
    let mut table = vec![ring.one(); columns];
    let mut power = root;
    for w in &mut table[columns / 2..] {
        *w = power;
        power = ring.pow(power, 5);
    }
    for place in (1..columns / 2).rev() {
        // D + j is the square of 2D + j.
        let double = place + (1 << place.ilog2());
        table[place] = ring.mul(table[double], table[double]);
    }
    table
}

/// The reversal of the bits of `j` below the power of two `columns`.
fn reversed(j: usize, columns: usize) -> usize {
    if columns == 1 { 0 } else { j.reverse_bits() >> (usize::BITS - columns.trailing_zeros()) }
}
