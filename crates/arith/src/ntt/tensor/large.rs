//! Stages whose transforms are sums of many products: large primes and matrices.

use super::plan::Stage;
use crate::arch::residues::Residues;

/// A stage of a prime r on all blocks of a piece: to reduced residues, forward from reduced ones,
/// too.
///
/// With s_u = x_u + x_-u and d_u = x_u - x_-u, the values ±v are x_0 + Σ s_u cos(u v) ± Σ d_u sin(u
/// v), u over the units modulo ±1: 2 h² products for h = (r - 1) / 2, and two reductions for two
/// values. Units are taken as powers of a generator, so that the weights of one value follow one
/// another and those of the next value begin one later. `work` has room for s and d.
#[inline(always)]
pub(super) fn prime<A: Residues>(
    m: A,
    stage: &Stage,
    units: &[u32],
    back: bool,
    piece: &mut [A::V],
    work: &mut [A::V],
) {
    let h = stage.radix / 2;
    let (sums, differences) = work[..2 * h].split_at_mut(h);
    for block in piece.chunks_exact_mut(stage.block()) {
        for j in 0..stage.distance() {
            let t = j / stage.inner;
            let mut places = Places { m, stage, t, j, block: &mut *block };
            let first = places.read(0, back);
            let mut total = m.sum_from(first);
            for e in 0..h {
                let (x, y) = (
                    places.read(units[e] as usize, back),
                    places.read(units[e + h] as usize, back),
                );
                (sums[e], differences[e]) = m.plus_minus(x, y);
                if e > 0 && e.is_multiple_of(A::TERMS) {
                    total = m.sum_settle(total, m.sum_zero()).0;
                }
                total = m.sum_add(total, sums[e], stage.unit);
            }
            places.write(0, back, m.sum_end(total));
            let mut e = 0;
            while e < h {
                // Several values at once share what they read.
                e += match h - e {
                    1 => values::<A, 1>(&mut places, units, back, first, sums, differences, e),
                    2 => values::<A, 2>(&mut places, units, back, first, sums, differences, e),
                    3 => values::<A, 3>(&mut places, units, back, first, sums, differences, e),
                    _ => values::<A, 4>(&mut places, units, back, first, sums, differences, e),
                };
            }
        }
    }
}

/// The values at plus and minus the units number e to e + C - 1; gives C.
#[inline(always)]
fn values<A: Residues, const C: usize>(
    places: &mut Places<A>,
    units: &[u32],
    back: bool,
    first: A::V,
    sums: &[A::V],
    differences: &[A::V],
    e: usize,
) -> usize {
    let (m, h) = (places.m, sums.len());
    let (mut even, mut odd) = ([m.sum_from(first); C], [m.sum_zero(); C]);
    let weights = &places.stage.constants[e..][..h + C - 1];
    for (i, ((&s, &d), weights)) in sums.iter().zip(differences).zip(weights.windows(C)).enumerate()
    {
        if i > 0 && i.is_multiple_of(A::TERMS) {
            for c in 0..C {
                (even[c], odd[c]) = m.sum_settle(even[c], odd[c]);
            }
        }
        for c in 0..C {
            even[c] = m.sum_add(even[c], s, weights[c][0]);
            odd[c] = m.sum_add(odd[c], d, weights[c][1]);
        }
    }
    for c in 0..C {
        let (plus, minus) = m.sum_plus_minus(even[c], odd[c]);
        places.write(units[e + c] as usize, back, plus);
        places.write(units[e + c + h] as usize, back, minus);
    }
    C
}

/// The places of one transform of a block: twiddles come after it, or before it on the way back.
struct Places<'a, A: Residues> {
    m: A,
    stage: &'a Stage,
    t: usize,
    j: usize,
    block: &'a mut [A::V],
}

impl<A: Residues> Places<'_, A> {
    #[inline(always)]
    fn twiddled(&self, k: usize, x: A::V) -> A::V {
        self.m.mul(x, self.m.everywhere(self.stage.twiddles[self.t * self.stage.radix + k]))
    }

    #[inline(always)]
    fn read(&self, k: usize, back: bool) -> A::V {
        let x = self.block[k * self.stage.distance() + self.j];
        match (back, self.t > 0) {
            (true, true) => self.twiddled(k, x),
            (true, false) if self.stage.wide => self.m.reduce(x),
            _ => x,
        }
    }

    #[inline(always)]
    fn write(&mut self, k: usize, back: bool, x: A::V) {
        let x = if self.t > 0 && !back { self.twiddled(k, x) } else { x };
        self.block[k * self.stage.distance() + self.j] = x;
    }
}

/// The correlation of every `radix` places with their weights, from reduced residues to reduced
/// ones.
#[inline(always)]
pub(super) fn correlate<A: Residues>(
    m: A,
    radix: usize,
    weights: &[[u64; 2]],
    piece: &mut [A::V],
    work: &mut [A::V],
) {
    let work = &mut work[..radix];
    for (block, weights) in piece.chunks_exact_mut(radix).zip(weights.chunks_exact(radix)) {
        let mut place = 0;
        while place < radix {
            let (rest, weights) = (radix - place, &weights.as_flattened()[place..]);
            let values = &mut work[place..];
            place += match rest.div_ceil(rest.div_ceil(8)) {
                1 => correlations::<A, 1>(m, weights, block, values),
                2 => correlations::<A, 2>(m, weights, block, values),
                3 => correlations::<A, 3>(m, weights, block, values),
                4 => correlations::<A, 4>(m, weights, block, values),
                5 => correlations::<A, 5>(m, weights, block, values),
                6 => correlations::<A, 6>(m, weights, block, values),
                7 => correlations::<A, 7>(m, weights, block, values),
                _ => correlations::<A, 8>(m, weights, block, values),
            };
        }
        block.copy_from_slice(work);
    }
}

/// The values Σ_j x_j w_(i+j) for i < C; gives C.
#[inline(always)]
fn correlations<A: Residues, const C: usize>(
    m: A,
    weights: &[u64],
    x: &[A::V],
    values: &mut [A::V],
) -> usize {
    let mut sums = [m.sum_from(m.zero()); C];
    for (j, (&x, weights)) in x.iter().zip(weights.windows(C)).enumerate() {
        if j > 0 && j.is_multiple_of(A::TERMS) {
            for sum in &mut sums {
                *sum = m.sum_settle(*sum, m.sum_zero()).0;
            }
        }
        for c in 0..C {
            sums[c] = m.sum_add(sums[c], x, weights[c]);
        }
    }
    for c in 0..C {
        values[c] = m.sum_end(sums[c]);
    }
    C
}

/// The product by a matrix in all blocks of a piece, from reduced residues to reduced ones.
#[inline(always)]
pub(super) fn multiply<A: Residues>(
    m: A,
    stage: &Stage,
    matrix: &[u64],
    piece: &mut [A::V],
    work: &mut [A::V],
) {
    let (n, distance) = (stage.radix, stage.distance());
    for block in piece.chunks_exact_mut(stage.block()) {
        for j in 0..distance {
            for k in 0..n {
                work[k] = block[k * distance + j];
            }
            for (k, row) in matrix.chunks_exact(n).enumerate() {
                let mut sum = m.sum_from(m.zero());
                for (i, (&x, &w)) in work[..n].iter().zip(row).enumerate() {
                    if i > 0 && i.is_multiple_of(A::TERMS) {
                        sum = m.sum_settle(sum, m.sum_zero()).0;
                    }
                    sum = m.sum_add(sum, x, w);
                }
                block[k * distance + j] = m.sum_end(sum);
            }
        }
    }
}
