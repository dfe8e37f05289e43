//! The sweeps of the inverse transform; [`super::vector`] puts them in order.

// Register arrays are walked by index on purpose: loops with constant bounds unroll and leave no
// array behind.
#![allow(clippy::needless_range_loop)]

use super::passes::{passes, radix};
use super::twiddles::VectorTwiddles;
use super::unrolled::unrolled;
use crate::arch::butterfly::Butterflies;

/// The stages with distances 2^(to - 1) down to 2^from; the first pass reads canonical words if
/// told so.
#[inline(always)]
pub(super) fn stages_back<B: Butterflies>(
    m: B,
    twiddles: &[u64],
    row: &mut [u64],
    from: u32,
    to: u32,
    canonical: bool,
) {
    let mut end = to;
    while end > from {
        let log = radix(end - from);
        let s = end - log;
        let phase = if B::LAZY { s % 2 } else { 0 };
        let first = canonical && end == to;
        passes!(pass_back(m, twiddles, row, s); (log, phase, first);
            (1 0) (1 1)
            (2 0) (2 1)
            (3 0) (3 1));
        end = s;
    }
}

/// LOG stages down to distance 2^s, in registers; PHASE = s modulo 2 tells a lazy arithmetic which
/// of them reduce.
#[inline(always)]
fn pass_back<B: Butterflies, const LOG: usize, const PHASE: usize, const CANONICAL: bool>(
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
                    v[i] = unsafe {
                        if CANONICAL {
                            m.load_words(places.add(i * d))
                        } else {
                            m.load(places.add(i * d))
                        }
                    };
                }
            });
            unrolled!(for t in 2..=0 {
                if t < LOG {
                    let reach = 1 << t;
                    unrolled!(for i in 0..8 {
                        if i < 1 << LOG && i & reach == 0 {
                            let place = (d << t) + (i & (reach - 1)) * d + j;
                            // SAFETY: the index is below 2^t d + 2^t d <= block, and the table
                            // covers a block.
                            let w = unsafe { m.twiddle(twiddles.as_ptr(), place) };
                            (v[i], v[i + reach]) =
                                m.inverse((PHASE + t) % 2 == 1, v[i], v[i + reach], w);
                        }
                    });
                }
            });
            unrolled!(for i in 0..8 {
                if i < 1 << LOG {
                    // SAFETY: as above.
                    unsafe {
                        m.store(places.add(i * d), v[i]);
                    }
                }
            });
        }
    }
}

/// The transposition, the distances 4, 2, 1, the row stage and the division by n.
#[inline(always)]
pub(super) fn last_stages<B: Butterflies>(
    m: B,
    twiddles: &VectorTwiddles<B>,
    top: &mut [u64],
    bottom: &mut [u64],
) {
    assert!(top.len() == bottom.len() && top.len().is_multiple_of(64));
    let last = twiddles.last.map(|w| m.everywhere(w));
    let w = [twiddles.first(m, 1), twiddles.first(m, 0)];
    for start in (0..top.len()).step_by(64) {
        // SAFETY: both rows have 64 words from here on.
        let sources = unsafe { [top.as_mut_ptr().add(start), bottom.as_mut_ptr().add(start)] };
        let mut g = [[m.zero(); 8]; 2];
        // The second row first: it waits in memory, since both at once would not fit the registers.
        for r in [1, 0] {
            for part in 0..8 / B::WIDTH {
                for a in 0..8 {
                    // SAFETY: (8 part + a + 1) WIDTH <= 64.
                    g[part][a] = unsafe { m.load(sources[r].add((8 * part + a) * B::WIDTH)) };
                }
            }
            m.transpose_group_back(&mut g);
            for part in 0..8 / B::WIDTH {
                let v = &mut g[part];
                unrolled!(for t in 2..=0 {
                    let reach = 1 << t;
                    unrolled!(for a in 0..8 {
                        if a & reach == 0 {
                            let w = w[r][reach + (a & (reach - 1))];
                            (v[a], v[a + reach]) = m.inverse(t == 1, v[a], v[a + reach], w);
                        }
                    });
                });
                for a in 0..8 {
                    let place = 8 * a + B::WIDTH * part;
                    // SAFETY: place + WIDTH <= 64.
                    unsafe {
                        if r == 1 {
                            m.store(sources[1].add(place), v[a]);
                        } else {
                            let (x, y) = m.last(v[a], m.load(sources[1].add(place)), last);
                            m.store_words(sources[0].add(place), x);
                            m.store_words(sources[1].add(place), y);
                        }
                    }
                }
            }
        }
    }
}
