//! Stages whose transforms are sums of many products: large primes and matrices.

use super::super::residues::Residues;
use super::plan::Stage;

/// A transform of prime length r on `v`, a symmetric matrix, from reduced residues to reduced ones.
///
/// With s_j = x_j + x_(r-j) and d_j = x_j - x_(r-j), value ±k is x_0 + Σ s_j cos(j k) ± Σ d_j sin(j k), j up to h = (r - 1) / 2: 2 h² products,
/// two reductions for every two values. `halves` has room for s and d.
#[inline(always)]
fn transform<A: Residues>(m: A, weights: &[[u64; 2]], v: &mut [A::V], halves: &mut [A::V]) {
    let r = v.len();
    let h = r / 2;
    let (sums, differences) = halves[..2 * h].split_at_mut(h);
    let mut total = m.sum_from(v[0]);
    for j in 0..h {
        (sums[j], differences[j]) = m.plus_minus(v[1 + j], v[r - 1 - j]);
        total = m.sum_add(total, sums[j], weights[0][0]);
        if (j + 1) % A::TERMS == 0 {
            total = m.sum_settle(total);
        }
    }
    let first = v[0];
    v[0] = m.sum_plus_minus(total, m.sum_zero()).0;
    let mut k = 1;
    while k <= h {
        // Several values at once share what they read.
        k += match h + 1 - k {
            1 => values::<A, 1>(m, weights, first, sums, differences, k, v),
            2 => values::<A, 2>(m, weights, first, sums, differences, k, v),
            3 => values::<A, 3>(m, weights, first, sums, differences, k, v),
            _ => values::<A, 4>(m, weights, first, sums, differences, k, v),
        };
    }
}

/// The values ±k, ..., ±(k + C - 1); gives C.
#[inline(always)]
fn values<A: Residues, const C: usize>(
    m: A,
    weights: &[[u64; 2]],
    first: A::V,
    sums: &[A::V],
    differences: &[A::V],
    k: usize,
    v: &mut [A::V],
) -> usize {
    let r = weights.len();
    let (mut even, mut odd, mut turns) = ([m.sum_from(first); C], [m.sum_zero(); C], [0; C]);
    for (j, (&s, &d)) in sums.iter().zip(differences).enumerate() {
        for i in 0..C {
            turns[i] += k + i;
            if turns[i] >= r {
                turns[i] -= r;
            }
            let [cosine, sine] = weights[turns[i]];
            even[i] = m.sum_add(even[i], s, cosine);
            odd[i] = m.sum_add(odd[i], d, sine);
        }
        if (j + 1) % A::TERMS == 0 {
            for i in 0..C {
                (even[i], odd[i]) = (m.sum_settle(even[i]), m.sum_settle(odd[i]));
            }
        }
    }
    for i in 0..C {
        (v[k + i], v[r - k - i]) = m.sum_plus_minus(even[i], odd[i]);
    }
    C
}

/// A stage of a prime on one block, from reduced residues to reduced ones.
#[inline(always)]
pub(super) fn forward<A: Residues>(m: A, stage: &Stage, weights: &[[u64; 2]], block: &mut [A::V], work: &mut [A::V]) {
    let (r, distance) = (stage.radix, stage.distance());
    let (v, halves) = work.split_at_mut(r);
    for t in 0..stage.lower {
        for j in t * stage.inner..(t + 1) * stage.inner {
            for k in 0..r {
                v[k] = block[k * distance + j];
            }
            transform(m, weights, v, halves);
            for k in 0..r {
                let x = if k > 0 && t > 0 { m.mul(v[k], m.everywhere(stage.twiddles[t * r + k])) } else { v[k] };
                block[k * distance + j] = x;
            }
        }
    }
}

/// The transpose of [`forward`], from wide residues to reduced ones.
#[inline(always)]
pub(super) fn back<A: Residues>(m: A, stage: &Stage, weights: &[[u64; 2]], block: &mut [A::V], work: &mut [A::V]) {
    let (r, distance) = (stage.radix, stage.distance());
    let (v, halves) = work.split_at_mut(r);
    for t in 0..stage.lower {
        for j in t * stage.inner..(t + 1) * stage.inner {
            for k in 0..r {
                let x = block[k * distance + j];
                v[k] = if k > 0 && t > 0 { m.mul(x, m.everywhere(stage.twiddles[t * r + k])) } else { m.reduce(x) };
            }
            transform(m, weights, v, halves);
            for k in 0..r {
                block[k * distance + j] = v[k];
            }
        }
    }
}

/// The product by a matrix along one block, from reduced residues to reduced ones.
#[inline(always)]
pub(super) fn multiply<A: Residues>(m: A, stage: &Stage, matrix: &[u64], block: &mut [A::V], work: &mut [A::V]) {
    let (n, distance) = (stage.radix, stage.distance());
    for j in 0..distance {
        for k in 0..n {
            work[k] = block[k * distance + j];
        }
        for (k, row) in matrix.chunks_exact(n).enumerate() {
            let mut sum = m.sum_from(m.zero());
            for (i, (&x, &w)) in work[..n].iter().zip(row).enumerate() {
                sum = m.sum_add(sum, x, w);
                if (i + 1) % A::TERMS == 0 {
                    sum = m.sum_settle(sum);
                }
            }
            block[k * distance + j] = m.sum_plus_minus(sum, m.sum_zero()).0;
        }
    }
}
