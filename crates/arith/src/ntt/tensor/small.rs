//! Stages whose transforms fit the registers: powers of two and three.

// Register arrays are walked by index on purpose: loops with constant bounds unroll and leave no array behind.
#![allow(clippy::needless_range_loop)]

use super::super::residues::Residues;
use super::super::unrolled;
use super::plan::Stage;

type Constants = [[u64; 2]; 8];

/// A transform of length R, from reduced residues to wide ones.
#[inline(always)]
fn transform<A: Residues, const R: usize>(m: A, constants: &Constants, v: &mut [A::V; 16]) {
    if R == 3 {
        return three(m, constants, v);
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
                        v[x + reach] =
                            if b > 0 { m.mul(v[x + reach], m.everywhere(constants[b])) } else { m.reduce(v[x + reach]) };
                    }
                    (v[x], v[x + reach]) = m.plus_minus(v[x], v[x + reach]);
                }
            });
        }
    });
}

/// The transpose of [`transform`], from reduced residues to wide ones.
#[inline(always)]
fn transpose<A: Residues, const R: usize>(m: A, constants: &Constants, v: &mut [A::V; 16]) {
    if R == 3 {
        return three(m, constants, v);
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
                        v[x + reach] =
                            if b > 0 { m.mul(v[x + reach], m.everywhere(constants[b])) } else { m.reduce(v[x + reach]) };
                    }
                }
            });
        }
    });
}

/// The transform of length three, a symmetric matrix.
#[inline(always)]
fn three<A: Residues>(m: A, constants: &Constants, v: &mut [A::V; 16]) {
    let (sum, difference) = m.plus_minus(v[1], v[2]);
    let (cosine, sine) = (m.mul(sum, m.everywhere(constants[0])), m.mul(difference, m.everywhere(constants[1])));
    let even = m.reduce(m.plus_minus(v[0], cosine).0);
    v[0] = m.plus_minus(v[0], m.reduce(sum)).0;
    (v[1], v[2]) = m.plus_minus(even, sine);
}

/// The stage on one block, from reduced residues to reduced ones.
#[inline(always)]
pub(super) fn forward<A: Residues, const R: usize>(m: A, stage: &Stage, block: &mut [A::V]) {
    let distance = stage.distance();
    let block = &mut block[..R * distance];
    for t in 0..stage.lower {
        let twiddles = if stage.lower > 1 { &stage.twiddles[t * R..][..R] } else { &[] };
        for j in t * stage.inner..(t + 1) * stage.inner {
            let mut v = [m.zero(); 16];
            unrolled!(for k in 0..16 {
                if k < R {
                    v[k] = block[k * distance + j];
                }
            });
            transform::<A, R>(m, &stage.constants, &mut v);
            unrolled!(for k in 0..16 {
                if k < R {
                    let twiddled = k > 0 && t > 0;
                    block[k * distance + j] = if twiddled { m.mul(v[k], m.everywhere(twiddles[k])) } else { m.reduce(v[k]) };
                }
            });
        }
    }
}

/// The transpose of the stage, from wide residues to wide ones.
#[inline(always)]
pub(super) fn back<A: Residues, const R: usize>(m: A, stage: &Stage, block: &mut [A::V]) {
    let distance = stage.distance();
    let block = &mut block[..R * distance];
    for t in 0..stage.lower {
        let twiddles = if stage.lower > 1 { &stage.twiddles[t * R..][..R] } else { &[] };
        for j in t * stage.inner..(t + 1) * stage.inner {
            let mut v = [m.zero(); 16];
            unrolled!(for k in 0..16 {
                if k < R {
                    let (x, twiddled) = (block[k * distance + j], k > 0 && t > 0);
                    v[k] = if twiddled { m.mul(x, m.everywhere(twiddles[k])) } else { m.reduce(x) };
                }
            });
            transpose::<A, R>(m, &stage.constants, &mut v);
            unrolled!(for k in 0..16 {
                if k < R {
                    block[k * distance + j] = v[k];
                }
            });
        }
    }
}

/// A last stage, the product by the spectrum and the stage back, from reduced residues to wide ones.
#[inline(always)]
pub(super) fn correlate<A: Residues, const R: usize>(m: A, stage: &Stage, spectrum: &[[u64; 2]], piece: &mut [A::V]) {
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
