//! Stages whose transforms fit the registers.

// Register arrays are walked by index on purpose: loops with constant bounds unroll and leave no
// array behind.
#![allow(clippy::needless_range_loop)]

use super::super::unrolled::unrolled;
use super::plan::Stage;
use crate::arch::residues::Residues;

/// How many constants a transform of length `radix` has.
pub(super) const fn count(radix: usize) -> usize {
    match radix {
        3 => 2,
        9 => 5,
        _ => radix / 2,
    }
}

/// A transform of length R, a power of two, 3 or 9, from reduced residues to wide ones.
#[inline(always)]
fn transform<A: Residues, const R: usize>(m: A, constants: &[[u64; 2]], v: &mut [A::V; 16]) {
    let constants = &constants[..count(R)];
    if R == 3 {
        return three(m, constants, v, [0, 1, 2]);
    }
    if R == 9 {
        unrolled!(for j in 0..3 {
            three(m, constants, v, [j, j + 3, j + 6]);
        });
        nine(m, constants, v);
        unrolled!(for k in 0..3 {
            three(m, constants, v, [3 * k, 3 * k + 1, 3 * k + 2]);
        });
        return;
    }
    unrolled!(for t in 0..4 {
        if 1 << t < R {
            let reach = R >> (t + 1);
            unrolled!(for i in 0..8 {
                if i < R / 2 {
                    let b = i / reach;
                    let x = i + b * reach;
                    if t > 0 {
                        v[x] = m.reduce(v[x]);
                        v[x + reach] = if b > 0 {
                            m.mul(v[x + reach], m.everywhere(constants[b]))
                        } else {
                            m.reduce(v[x + reach])
                        };
                    }
                    (v[x], v[x + reach]) = m.plus_minus(v[x], v[x + reach]);
                }
            });
        }
    });
}

/// The transpose of [`transform`], from reduced residues to wide ones.
#[inline(always)]
fn transpose<A: Residues, const R: usize>(m: A, constants: &[[u64; 2]], v: &mut [A::V; 16]) {
    let constants = &constants[..count(R)];
    if R == 3 {
        return three(m, constants, v, [0, 1, 2]);
    }
    if R == 9 {
        unrolled!(for k in 0..3 {
            three(m, constants, v, [3 * k, 3 * k + 1, 3 * k + 2]);
        });
        nine(m, constants, v);
        unrolled!(for j in 0..3 {
            three(m, constants, v, [j, j + 3, j + 6]);
        });
        return;
    }
    unrolled!(for t in 3..=0 {
        if 1 << t < R {
            let reach = R >> (t + 1);
            unrolled!(for i in 0..8 {
                if i < R / 2 {
                    let b = i / reach;
                    let x = i + b * reach;
                    (v[x], v[x + reach]) = m.plus_minus(v[x], v[x + reach]);
                    if t > 0 {
                        v[x] = m.reduce(v[x]);
                        v[x + reach] = if b > 0 {
                            m.mul(v[x + reach], m.everywhere(constants[b]))
                        } else {
                            m.reduce(v[x + reach])
                        };
                    }
                }
            });
        }
    });
}

/// The transform of length three, a symmetric matrix, on the given places.
#[inline(always)]
fn three<A: Residues>(m: A, constants: &[[u64; 2]], v: &mut [A::V; 16], [x, y, z]: [usize; 3]) {
    let (sum, difference) = m.plus_minus(v[y], v[z]);
    let (cosine, sine) =
        (m.mul(sum, m.everywhere(constants[0])), m.mul(difference, m.everywhere(constants[1])));
    let even = m.reduce(m.plus_minus(v[x], cosine).0);
    v[x] = m.plus_minus(v[x], m.reduce(sum)).0;
    (v[y], v[z]) = m.plus_minus(even, sine);
}

/// The twiddles inside of a transform of length nine.
#[inline(always)]
fn nine<A: Residues>(m: A, constants: &[[u64; 2]], v: &mut [A::V; 16]) {
    unrolled!(for k in 0..3 {
        unrolled!(for j in 0..3 {
            let x = &mut v[3 * k + j];
            *x = if k * j > 0 {
                m.mul(*x, m.everywhere(constants[2 + k * j / 2]))
            } else {
                m.reduce(*x)
            };
        });
    });
}

/// The transform of length 5 to 13, a symmetric matrix, from reduced residues to reduced ones; see
/// [`super::large::prime`].
#[inline(always)]
fn short<A: Residues, const R: usize>(m: A, constants: &[[u64; 2]], v: &mut [A::V; 16]) {
    let weights = &constants[..R];
    let (mut sums, mut differences) = ([m.zero(); 8], [m.zero(); 8]);
    let mut total = m.sum_from(v[0]);
    unrolled!(for j in 0..8 {
        if j < R / 2 {
            (sums[j], differences[j]) = m.plus_minus(v[1 + j], v[R - 1 - j]);
            if j > 0 && j.is_multiple_of(A::TERMS) {
                total = m.sum_settle(total, m.sum_zero()).0;
            }
            total = m.sum_add(total, sums[j], weights[0][0]);
        }
    });
    let first = v[0];
    v[0] = m.sum_end(total);
    unrolled!(for i in 0..8 {
        if i < R / 2 {
            let (mut even, mut odd) = (m.sum_from(first), m.sum_zero());
            unrolled!(for j in 0..8 {
                if j < R / 2 {
                    let [cosine, sine] = weights[(i + 1) * (j + 1) % R];
                    if j > 0 && j.is_multiple_of(A::TERMS) {
                        (even, odd) = m.sum_settle(even, odd);
                    }
                    even = m.sum_add(even, sums[j], cosine);
                    odd = m.sum_add(odd, differences[j], sine);
                }
            });
            (v[1 + i], v[R - 1 - i]) = m.sum_plus_minus(even, odd);
        }
    });
}

/// The stage on all blocks of a piece, from reduced residues to reduced ones.
#[inline(always)]
pub(super) fn forward<A: Residues, const R: usize>(m: A, stage: &Stage, piece: &mut [A::V]) {
    let distance = stage.lower * stage.inner;
    for block in piece.chunks_exact_mut(R * distance) {
        for t in 0..stage.lower {
            let twiddles = if t > 0 { &stage.twiddles[t * R..][..R] } else { &[] };
            for j in t * stage.inner..(t + 1) * stage.inner {
                // SAFETY: j < distance, so that place k, k < R, is at index k distance + j < R
                // distance, the length of the block.
                let places = unsafe { block.as_mut_ptr().add(j) };
                let mut v = [m.zero(); 16];
                unrolled!(for k in 0..16 {
                    if k < R {
                        // SAFETY: as above.
                        v[k] = unsafe { *places.add(k * distance) };
                    }
                });
                transform::<A, R>(m, &stage.constants, &mut v);
                unrolled!(for k in 0..16 {
                    if k < R {
                        let twiddled = k > 0 && t > 0;
                        let x = if twiddled {
                            m.mul(v[k], m.everywhere(twiddles[k]))
                        } else {
                            m.reduce(v[k])
                        };
                        // SAFETY: as above.
                        unsafe { *places.add(k * distance) = x };
                    }
                });
            }
        }
    }
}

/// The transpose of the stage on all blocks of a piece, to wide residues.
#[inline(always)]
pub(super) fn back<A: Residues, const R: usize>(m: A, stage: &Stage, piece: &mut [A::V]) {
    let distance = stage.lower * stage.inner;
    for block in piece.chunks_exact_mut(R * distance) {
        for t in 0..stage.lower {
            let twiddles = if t > 0 { &stage.twiddles[t * R..][..R] } else { &[] };
            for j in t * stage.inner..(t + 1) * stage.inner {
                // SAFETY: j < distance, so that place k, k < R, is at index k distance + j < R
                // distance, the length of the block.
                let places = unsafe { block.as_mut_ptr().add(j) };
                let mut v = [m.zero(); 16];
                unrolled!(for k in 0..16 {
                    if k < R {
                        // SAFETY: as above.
                        let x = unsafe { *places.add(k * distance) };
                        let twiddled = k > 0 && t > 0;
                        v[k] = match twiddled {
                            true => m.mul(x, m.everywhere(twiddles[k])),
                            false if stage.wide => m.reduce(x),
                            false => x,
                        };
                    }
                });
                transpose::<A, R>(m, &stage.constants, &mut v);
                unrolled!(for k in 0..16 {
                    if k < R {
                        // SAFETY: as above.
                        unsafe { *places.add(k * distance) = v[k] };
                    }
                });
            }
        }
    }
}

/// A stage of length 5 to 13 on all blocks of a piece: to reduced residues, forward from reduced
/// ones, too.
#[inline(always)]
pub(super) fn symmetric<A: Residues, const R: usize>(
    m: A,
    stage: &Stage,
    back: bool,
    piece: &mut [A::V],
) {
    let distance = stage.lower * stage.inner;
    for block in piece.chunks_exact_mut(R * distance) {
        for t in 0..stage.lower {
            let twiddles = if t > 0 { &stage.twiddles[t * R..][..R] } else { &[] };
            for j in t * stage.inner..(t + 1) * stage.inner {
                // SAFETY: j < distance, so that place k, k < R, is at index k distance + j < R
                // distance, the length of the block.
                let places = unsafe { block.as_mut_ptr().add(j) };
                let mut v = [m.zero(); 16];
                unrolled!(for k in 0..16 {
                    if k < R {
                        // SAFETY: as above.
                        v[k] = unsafe { *places.add(k * distance) };
                        if back && k > 0 && t > 0 {
                            v[k] = m.mul(v[k], m.everywhere(twiddles[k]));
                        } else if back && stage.wide {
                            v[k] = m.reduce(v[k]);
                        }
                    }
                });
                short::<A, R>(m, &stage.constants, &mut v);
                unrolled!(for k in 0..16 {
                    if k < R {
                        if !back && k > 0 && t > 0 {
                            v[k] = m.mul(v[k], m.everywhere(twiddles[k]));
                        }
                        // SAFETY: as above.
                        unsafe { *places.add(k * distance) = v[k] };
                    }
                });
            }
        }
    }
}

/// A last stage, the product by the spectrum and the stage back, from reduced residues to wide
/// ones.
#[inline(always)]
pub(super) fn correlate<A: Residues, const R: usize>(
    m: A,
    stage: &Stage,
    spectrum: &[[u64; 2]],
    piece: &mut [A::V],
) {
    for (block, spectrum) in piece.chunks_exact_mut(R).zip(spectrum.chunks_exact(R)) {
        let mut v = [m.zero(); 16];
        unrolled!(for k in 0..16 {
            if k < R {
                v[k] = block[k];
            }
        });
        transform::<A, R>(m, &stage.constants, &mut v);
        unrolled!(for k in 0..16 {
            if k < R {
                v[k] = m.mul(v[k], m.everywhere(spectrum[k]));
            }
        });
        transpose::<A, R>(m, &stage.constants, &mut v);
        unrolled!(for k in 0..16 {
            if k < R {
                block[k] = v[k];
            }
        });
    }
}
