//! The sweeps of the forward transform; [`super::vector`] puts them in order.

// Register arrays are walked by index on purpose: loops with constant bounds unroll and leave no
// array behind.
#![allow(clippy::needless_range_loop)]

use super::passes::{passes, radix};
use super::twiddles::VectorTwiddles;
use super::unrolled::unrolled;
use crate::arch::butterfly::Butterflies;

/// The stages with distances 2^from to 2^(to - 1); the last pass makes values canonical if asked.
#[inline(always)]
pub(super) fn stages<B: Butterflies>(
    m: B,
    twiddles: &[u64],
    row: &mut [u64],
    from: u32,
    to: u32,
    canonical: bool,
) {
    let mut s = from;
    while s < to {
        let log = radix(to - s);
        let phase = if B::LAZY { s % 4 } else { 0 };
        let last = canonical && s + log == to;
        passes!(pass(m, twiddles, row, s); (log, phase, last);
            (1 0) (1 1) (1 2) (1 3)
            (2 0) (2 1) (2 2) (2 3)
            (3 0) (3 1) (3 2) (3 3));
        s += log;
    }
}

/// LOG stages from distance 2^s on, in registers; PHASE = s modulo 4 tells a lazy arithmetic which
/// of them reduces.
#[inline(always)]
fn pass<B: Butterflies, const LOG: usize, const PHASE: usize, const CANONICAL: bool>(
    m: B,
    twiddles: &[u64],
    row: &mut [u64],
    s: u32,
) {
    let d = 1usize << s;
    let block = d << LOG;
    assert!(
        row.len().is_multiple_of(block) && twiddles.len() >= block && d.is_multiple_of(B::WIDTH)
    );
    for start in (0..row.len()).step_by(block) {
        for j in (0..d).step_by(B::WIDTH) {
            // SAFETY: j + WIDTH <= d, so all places are inside the block, which is inside the row.
            let places = unsafe { row.as_mut_ptr().add(start + j) };
            let mut v = [m.zero(); 8];
            unrolled!(for i in 0..8 {
                if i < 1 << LOG {
                    // SAFETY: as above.
                    v[i] = unsafe { m.load(places.add(i * d)) };
                }
            });
            unrolled!(for t in 0..3 {
                if t < LOG {
                    let reach = 1 << t;
                    unrolled!(for i in 0..8 {
                        if i < 1 << LOG && i & reach == 0 {
                            let place = (d << t) + (i & (reach - 1)) * d + j;
                            // SAFETY: the index is below 2^t d + 2^t d <= block, and the table
                            // covers a block.
                            let w = unsafe { m.twiddle(twiddles.as_ptr(), place) };
                            (v[i], v[i + reach]) =
                                m.forward((PHASE + t) % 4 == 3, v[i], v[i + reach], w);
                        }
                    });
                }
            });
            unrolled!(for i in 0..8 {
                if i < 1 << LOG {
                    // SAFETY: as above.
                    unsafe {
                        if CANONICAL {
                            m.store_canonical(places.add(i * d), v[i]);
                        } else {
                            m.store(places.add(i * d), v[i]);
                        }
                    }
                }
            });
        }
    }
}

/// The row stage and the distances 1, 2, 4, which act between the vectors of a group, then the
/// transposition.
#[inline(always)]
pub(super) fn first_stages<B: Butterflies>(
    m: B,
    twiddles: &VectorTwiddles<B>,
    top: &mut [u64],
    bottom: &mut [u64],
) {
    assert!(top.len() == bottom.len() && top.len().is_multiple_of(64));
    let quarter = m.everywhere(twiddles.quarter);
    let w = [twiddles.first(m, 0), twiddles.first(m, 1)];
    for start in (0..top.len()).step_by(64) {
        // SAFETY: both rows have 64 words from here on.
        let sources = unsafe { [top.as_mut_ptr().add(start), bottom.as_mut_ptr().add(start)] };
        let mut g = [[m.zero(); 8]; 2];
        for part in 0..8 / B::WIDTH {
            for a in 0..8 {
                let place = 8 * a + B::WIDTH * part;
                // SAFETY: place + WIDTH <= 64.
                let (x, y) = unsafe {
                    (m.load_words(sources[0].add(place)), m.load_words(sources[1].add(place)))
                };
                let (x, y) = m.forward(true, x, y, quarter);
                g[part][a] = x;
                // SAFETY: as above. Both rows at once would not fit the registers.
                unsafe { m.store(sources[1].add(place), y) };
            }
        }
        for r in 0..2 {
            for part in 0..8 / B::WIDTH {
                if r == 1 {
                    for a in 0..8 {
                        let place = 8 * a + B::WIDTH * part;
                        // SAFETY: place + WIDTH <= 64.
                        g[part][a] = unsafe { m.load(sources[1].add(place)) };
                    }
                }
                let v = &mut g[part];
                unrolled!(for t in 0..3 {
                    let reach = 1 << t;
                    unrolled!(for a in 0..8 {
                        if a & reach == 0 {
                            (v[a], v[a + reach]) = m.forward(
                                false,
                                v[a],
                                v[a + reach],
                                w[r][reach + (a & (reach - 1))],
                            );
                        }
                    });
                });
            }
            m.transpose_group(&mut g);
            for part in 0..8 / B::WIDTH {
                for a in 0..8 {
                    // SAFETY: (8 part + a + 1) WIDTH <= 64.
                    unsafe {
                        m.store(sources[r].add((8 * part + a) * B::WIDTH), g[part][a]);
                    }
                }
            }
        }
    }
}
