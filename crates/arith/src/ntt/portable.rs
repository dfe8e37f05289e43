//! The transform in plain integer code: Harvey's lazy butterflies with 64-bit Shoup quotients.

use super::powers::Powers;
use crate::modulus::{Modulus, ShoupFactor, subtract_once};

/// Twiddles with their quotients, laid out as in [`Powers`].
pub(super) struct PortableTwiddles {
    modulus: Modulus,
    rows: [Vec<ShoupFactor>; 2],
    quarter: ShoupFactor,
    last: [ShoupFactor; 2],
}

impl PortableTwiddles {
    pub(super) fn new(powers: &Powers) -> Self {
        let modulus = powers.modulus;
        let factors = |row: &Vec<u64>| row.iter().map(|&w| modulus.shoup(w)).collect();
        Self {
            modulus,
            rows: [factors(&powers.rows[0]), factors(&powers.rows[1])],
            quarter: modulus.shoup(powers.quarter),
            last: powers.last.map(|w| modulus.shoup(w)),
        }
    }

    /// Values stay in [0, 4q) until the end.
    pub(super) fn forward(&self, a: &mut [u64]) {
        let half = a.len() / 2;
        let (modulus, q) = (self.modulus, self.modulus.value());
        let (first, second) = a.split_at_mut(half);
        for (x, y) in first.iter_mut().zip(second.iter_mut()) {
            (*x, *y) = forward_butterfly(modulus, *x, *y, self.quarter);
        }
        for (row, twiddles) in [first, second].into_iter().zip(&self.rows) {
            transpose_groups(row);
            let mut d = 1;
            while d < half {
                for block in row.chunks_exact_mut(2 * d) {
                    let (even, odd) = block.split_at_mut(d);
                    for ((x, y), &w) in even.iter_mut().zip(odd).zip(&twiddles[d..]) {
                        (*x, *y) = forward_butterfly(modulus, *x, *y, w);
                    }
                }
                d *= 2;
            }
            for x in row {
                *x = subtract_once(subtract_once(*x, 2 * q), q);
            }
        }
    }

    /// Values stay in [0, 2q) until the end; the last stage divides by n.
    pub(super) fn inverse(&self, a: &mut [u64]) {
        let half = a.len() / 2;
        let (modulus, q) = (self.modulus, self.modulus.value());
        let (first, second) = a.split_at_mut(half);
        // The inverse twiddles of a row are the twiddles of the other row.
        for (row, twiddles) in [&mut *first, &mut *second].into_iter().zip(self.rows.iter().rev()) {
            let mut d = half / 2;
            while d >= 1 {
                for block in row.chunks_exact_mut(2 * d) {
                    let (even, odd) = block.split_at_mut(d);
                    for ((x, y), &w) in even.iter_mut().zip(odd).zip(&twiddles[d..]) {
                        (*x, *y) = inverse_butterfly(modulus, *x, *y, w);
                    }
                }
                d /= 2;
            }
            transpose_groups(row);
        }
        for (x, y) in first.iter_mut().zip(second) {
            let (sum, difference) = (*x + *y, *x + 2 * q - *y);
            *x = modulus.mul_shoup(sum, self.last[0]);
            *y = modulus.mul_shoup(difference, self.last[1]);
        }
    }
}

/// (x, y) -> (x + w y, x - w y), all four in [0, 4q).
#[inline(always)]
pub(super) fn forward_butterfly(modulus: Modulus, x: u64, y: u64, w: ShoupFactor) -> (u64, u64) {
    let twice = 2 * modulus.value();
    let x = subtract_once(x, twice);
    let t = modulus.mul_shoup_lazy(y, w);
    (x + t, x + twice - t)
}

/// (x, y) -> (x + y, w (x - y)), all four in [0, 2q).
#[inline(always)]
pub(super) fn inverse_butterfly(modulus: Modulus, x: u64, y: u64, w: ShoupFactor) -> (u64, u64) {
    let twice = 2 * modulus.value();
    (subtract_once(x + y, twice), modulus.mul_shoup_lazy(x + twice - y, w))
}

/// Transposes each 8 x 8 group of a row, if the row has groups: between coefficient order and
/// bit-reversed order.
fn transpose_groups(row: &mut [u64]) {
    for group in row.chunks_exact_mut(64) {
        for u in 0..8 {
            for v in 0..u {
                group.swap(8 * u + v, 8 * v + u);
            }
        }
    }
}
