//! The transform over vectors of doubles, written once for every instruction set.
//!
//! Residues are signed integers in doubles between the passes. A product by a centered twiddle is at most
//! (1/2 + B/8) q when the other factor is at most B q ([`FloatModulus::mul`] with q < 2^50), so values grow slowly and
//! are reduced rarely. Bounds below are in units of q; a factor of a product must stay below 4.
//!
//! *Forward.* Reducing x (to 1/2) before x + w y and x - w y makes the bound 1 + B/8, not reducing makes it
//! 1/2 + 9 B/8. Inputs are below 4. The row stage reduces and gives 3/2; the stages with distance 2^s reduce where
//! s = 3 modulo 4. Bounds go 1.5, 2.19, 2.97, 3.84, and again 1.48, 2.17, 2.94, 3.81, 1.48, and so on.
//!
//! *Inverse.* Sums double: B to 2 B, and (x - y) w is at most 1/2 + B/4. Stages with odd s reduce their sums. Two
//! stages take B to at most 1/2 + B/2, so from canonical input B stays below 1 before an even stage and below 2 before
//! an odd one, and no factor reaches 4.

// Register arrays are walked by index on purpose: loops with constant bounds unroll and leave no array behind.
#![allow(clippy::needless_range_loop)]

use super::Powers;
use crate::Modulus;
use crate::arch::lanes::{FloatModulus, Lanes};

/// Rows are processed in pieces of this many words as long as distances allow: piece and twiddles fit the L1 cache.
const LOG_PIECE: u32 = 11;

/// Eight doubles on a cache line of their own.
#[repr(C, align(64))]
#[derive(Clone, Copy)]
struct Line([f64; 8]);

/// The twiddles as centered doubles, laid out as in [`Powers`]: 8 n bytes for both directions.
pub(crate) struct FloatTwiddles {
    modulus: Modulus,
    rows: [Vec<Line>; 2],
    quarter: f64,
    last: [f64; 2],
}

impl FloatTwiddles {
    /// Serves rows of at least one group of 64, that is log_n >= 7.
    pub(super) fn new(powers: &Powers) -> Self {
        let center = |w: u64| powers.modulus.centered(w) as f64;
        let lines = |row: &Vec<u64>| {
            row.chunks_exact(8)
                .map(|c| Line(std::array::from_fn(|j| center(c[j]))))
                .collect()
        };
        Self {
            modulus: powers.modulus,
            rows: [lines(&powers.rows[0]), lines(&powers.rows[1])],
            quarter: center(powers.quarter),
            last: powers.last.map(center),
        }
    }

    /// The entry for distance 1 of a row, preceded by one unused entry.
    #[inline(always)]
    fn row(&self, r: usize) -> &[f64] {
        let lines = &self.rows[r];
        // SAFETY: a `Line` is eight doubles without padding.
        unsafe { std::slice::from_raw_parts(lines.as_ptr().cast(), 8 * lines.len()) }
    }
}

/// How many of the next `remaining` stages to do in one pass: as equal shares as at most `L::MAX_LOG_RADIX` allows.
#[inline(always)]
fn radix<L: Lanes>(remaining: u32) -> u32 {
    remaining.div_ceil(remaining.div_ceil(L::MAX_LOG_RADIX))
}

/// From coefficients below 4q to canonical values; `a` has the length of the twiddles, at least 128.
#[inline(always)]
pub(crate) fn forward<L: Lanes>(l: L, twiddles: &FloatTwiddles, a: &mut [u64]) {
    let half = a.len() / 2;
    let log_half = half.trailing_zeros();
    assert!(half >= 64 && twiddles.row(0).len() == half);
    let m = FloatModulus::new(l, twiddles.modulus);
    let (first, second) = a.split_at_mut(half);
    let piece = half.min(1 << LOG_PIECE);
    let log_piece = piece.trailing_zeros();
    for start in (0..half).step_by(piece) {
        let (top, bottom) = (&mut first[start..][..piece], &mut second[start..][..piece]);
        first_stages(&m, twiddles, top, bottom);
        for (r, row) in [top, bottom].into_iter().enumerate() {
            stages(
                &m,
                twiddles.row(r),
                row,
                3,
                log_piece,
                log_piece == log_half,
            );
        }
    }
    if log_piece < log_half {
        for (r, row) in [first, second].into_iter().enumerate() {
            stages(&m, twiddles.row(r), row, log_piece, log_half, true);
        }
    }
}

/// The stages with distances 2^from to 2^(to - 1); the last pass makes values canonical if asked.
#[inline(always)]
fn stages<L: Lanes>(
    m: &FloatModulus<L>,
    twiddles: &[f64],
    row: &mut [u64],
    from: u32,
    to: u32,
    canonical: bool,
) {
    let mut s = from;
    while s < to {
        let log = radix::<L>(to - s);
        let last = canonical && s + log == to;
        match (log, s % 4, last) {
            (4, 0, false) => pass::<L, 4, 0, false>(m, twiddles, row, s),
            (4, 1, false) => pass::<L, 4, 1, false>(m, twiddles, row, s),
            (4, 2, false) => pass::<L, 4, 2, false>(m, twiddles, row, s),
            (4, _, false) => pass::<L, 4, 3, false>(m, twiddles, row, s),
            (4, 0, true) => pass::<L, 4, 0, true>(m, twiddles, row, s),
            (4, 1, true) => pass::<L, 4, 1, true>(m, twiddles, row, s),
            (4, 2, true) => pass::<L, 4, 2, true>(m, twiddles, row, s),
            (4, _, true) => pass::<L, 4, 3, true>(m, twiddles, row, s),
            (3, 0, false) => pass::<L, 3, 0, false>(m, twiddles, row, s),
            (3, 1, false) => pass::<L, 3, 1, false>(m, twiddles, row, s),
            (3, 2, false) => pass::<L, 3, 2, false>(m, twiddles, row, s),
            (3, _, false) => pass::<L, 3, 3, false>(m, twiddles, row, s),
            (3, 0, true) => pass::<L, 3, 0, true>(m, twiddles, row, s),
            (3, 1, true) => pass::<L, 3, 1, true>(m, twiddles, row, s),
            (3, 2, true) => pass::<L, 3, 2, true>(m, twiddles, row, s),
            (3, _, true) => pass::<L, 3, 3, true>(m, twiddles, row, s),
            (2, 0, false) => pass::<L, 2, 0, false>(m, twiddles, row, s),
            (2, 1, false) => pass::<L, 2, 1, false>(m, twiddles, row, s),
            (2, 2, false) => pass::<L, 2, 2, false>(m, twiddles, row, s),
            (2, _, false) => pass::<L, 2, 3, false>(m, twiddles, row, s),
            (2, 0, true) => pass::<L, 2, 0, true>(m, twiddles, row, s),
            (2, 1, true) => pass::<L, 2, 1, true>(m, twiddles, row, s),
            (2, 2, true) => pass::<L, 2, 2, true>(m, twiddles, row, s),
            (2, _, true) => pass::<L, 2, 3, true>(m, twiddles, row, s),
            (_, 3, false) => pass::<L, 1, 3, false>(m, twiddles, row, s),
            (_, _, false) => pass::<L, 1, 0, false>(m, twiddles, row, s),
            (_, 3, true) => pass::<L, 1, 3, true>(m, twiddles, row, s),
            (_, _, true) => pass::<L, 1, 0, true>(m, twiddles, row, s),
        }
        s += log;
    }
}

/// LOG stages from distance 2^s on, in registers; PHASE = s modulo 4 tells which of them reduces.
#[inline(always)]
fn pass<L: Lanes, const LOG: usize, const PHASE: usize, const CANONICAL: bool>(
    m: &FloatModulus<L>,
    twiddles: &[f64],
    row: &mut [u64],
    s: u32,
) {
    let (l, d) = (m.lanes, 1usize << s);
    let block = d << LOG;
    assert!(
        row.len().is_multiple_of(block) && twiddles.len() >= block && d.is_multiple_of(L::WIDTH)
    );
    for start in (0..row.len()).step_by(block) {
        for j in (0..d).step_by(L::WIDTH) {
            // SAFETY: j + WIDTH <= d, so all places are inside the block, which is inside the row.
            let places = unsafe { row.as_mut_ptr().add(start + j) };
            let mut v = [l.splat_f(0.0); 16];
            for (i, x) in v[..1 << LOG].iter_mut().enumerate() {
                // SAFETY: as above; between passes the words are doubles.
                *x = unsafe { l.load_f(places.add(i * d).cast()) };
            }
            for t in 0..LOG {
                let reach = 1 << t;
                for i in 0..1 << LOG {
                    if i & reach != 0 {
                        continue;
                    }
                    // SAFETY: the index is below 2^t d + 2^t d <= block <= twiddles.len().
                    let w = unsafe {
                        l.load_f(twiddles.as_ptr().add((d << t) + (i & (reach - 1)) * d + j))
                    };
                    let x = if (PHASE + t) % 4 == 3 {
                        m.reduce(v[i])
                    } else {
                        v[i]
                    };
                    let y = m.mul(v[i + reach], w);
                    v[i] = l.add_f(x, y);
                    v[i + reach] = l.sub_f(x, y);
                }
            }
            for (i, &x) in v[..1 << LOG].iter().enumerate() {
                // SAFETY: as above.
                unsafe {
                    if CANONICAL {
                        l.store(places.add(i * d), m.canonical(m.reduce(x)));
                    } else {
                        l.store_f(places.add(i * d).cast(), x);
                    }
                }
            }
        }
    }
}

/// The row stage and the distances 1, 2, 4, which act between the vectors of a group, then the transposition.
#[inline(always)]
fn first_stages<L: Lanes>(
    m: &FloatModulus<L>,
    twiddles: &FloatTwiddles,
    top: &mut [u64],
    bottom: &mut [u64],
) {
    let l = m.lanes;
    assert!(top.len() == bottom.len() && top.len().is_multiple_of(64));
    let quarter = l.splat_f(twiddles.quarter);
    let mut w = [[quarter; 8]; 2];
    for (r, w) in w.iter_mut().enumerate() {
        for (place, slot) in w.iter_mut().enumerate().skip(1) {
            *slot = l.splat_f(twiddles.row(r)[place]);
        }
    }
    for start in (0..top.len()).step_by(64) {
        // SAFETY: both rows have 64 words from here on.
        let sources = unsafe { [top.as_mut_ptr().add(start), bottom.as_mut_ptr().add(start)] };
        let mut g = [[[l.splat_f(0.0); 8]; 2]; 2];
        for part in 0..8 / L::WIDTH {
            for a in 0..8 {
                let place = 8 * a + L::WIDTH * part;
                // SAFETY: place + WIDTH <= 64.
                let (x, y) =
                    unsafe { (l.load(sources[0].add(place)), l.load(sources[1].add(place))) };
                let (x, y) = (m.reduce(l.widen(x)), m.mul(l.widen(y), quarter));
                g[0][part][a] = l.add_f(x, y);
                g[1][part][a] = l.sub_f(x, y);
            }
        }
        for r in 0..2 {
            for part in 0..8 / L::WIDTH {
                let v = &mut g[r][part];
                for t in 0..3 {
                    let reach = 1 << t;
                    for a in 0..8 {
                        if a & reach == 0 {
                            let y = m.mul(v[a + reach], w[r][reach + (a & (reach - 1))]);
                            (v[a], v[a + reach]) = (l.add_f(v[a], y), l.sub_f(v[a], y));
                        }
                    }
                }
            }
            l.transpose(&mut g[r]);
            for part in 0..8 / L::WIDTH {
                for a in 0..8 {
                    // SAFETY: (8 part + a + 1) WIDTH <= 64.
                    unsafe {
                        l.store_f(
                            sources[r].add((8 * part + a) * L::WIDTH).cast(),
                            g[r][part][a],
                        );
                    }
                }
            }
        }
    }
}

/// From canonical values to canonical coefficients; `a` has the length of the twiddles, at least 128.
#[inline(always)]
pub(crate) fn inverse<L: Lanes>(l: L, twiddles: &FloatTwiddles, a: &mut [u64]) {
    let half = a.len() / 2;
    let log_half = half.trailing_zeros();
    assert!(half >= 64 && twiddles.row(0).len() == half);
    let m = FloatModulus::new(l, twiddles.modulus);
    let (first, second) = a.split_at_mut(half);
    let piece = half.min(1 << LOG_PIECE);
    let log_piece = piece.trailing_zeros();
    // The inverse twiddles of a row are the twiddles of the other row.
    if log_piece < log_half {
        for (r, row) in [&mut *first, &mut *second].into_iter().enumerate() {
            stages_back(&m, twiddles.row(1 - r), row, log_piece, log_half, true);
        }
    }
    for start in (0..half).step_by(piece) {
        let (top, bottom) = (&mut first[start..][..piece], &mut second[start..][..piece]);
        for (r, row) in [&mut *top, &mut *bottom].into_iter().enumerate() {
            stages_back(
                &m,
                twiddles.row(1 - r),
                row,
                3,
                log_piece,
                log_piece == log_half,
            );
        }
        last_stages(&m, twiddles, top, bottom);
    }
}

/// The stages with distances 2^(to - 1) down to 2^from; the first pass reads canonical words if told so.
#[inline(always)]
fn stages_back<L: Lanes>(
    m: &FloatModulus<L>,
    twiddles: &[f64],
    row: &mut [u64],
    from: u32,
    to: u32,
    canonical: bool,
) {
    let mut end = to;
    while end > from {
        let log = radix::<L>(end - from);
        let s = end - log;
        let first = canonical && end == to;
        match (log, s % 2, first) {
            (4, 0, false) => pass_back::<L, 4, 0, false>(m, twiddles, row, s),
            (4, _, false) => pass_back::<L, 4, 1, false>(m, twiddles, row, s),
            (4, 0, true) => pass_back::<L, 4, 0, true>(m, twiddles, row, s),
            (4, _, true) => pass_back::<L, 4, 1, true>(m, twiddles, row, s),
            (3, 0, false) => pass_back::<L, 3, 0, false>(m, twiddles, row, s),
            (3, _, false) => pass_back::<L, 3, 1, false>(m, twiddles, row, s),
            (3, 0, true) => pass_back::<L, 3, 0, true>(m, twiddles, row, s),
            (3, _, true) => pass_back::<L, 3, 1, true>(m, twiddles, row, s),
            (2, 0, false) => pass_back::<L, 2, 0, false>(m, twiddles, row, s),
            (2, _, false) => pass_back::<L, 2, 1, false>(m, twiddles, row, s),
            (2, 0, true) => pass_back::<L, 2, 0, true>(m, twiddles, row, s),
            (2, _, true) => pass_back::<L, 2, 1, true>(m, twiddles, row, s),
            (_, 0, false) => pass_back::<L, 1, 0, false>(m, twiddles, row, s),
            (_, _, false) => pass_back::<L, 1, 1, false>(m, twiddles, row, s),
            (_, 0, true) => pass_back::<L, 1, 0, true>(m, twiddles, row, s),
            (_, _, true) => pass_back::<L, 1, 1, true>(m, twiddles, row, s),
        }
        end = s;
    }
}

/// LOG stages down to distance 2^s, in registers; PHASE = s modulo 2 tells which of them reduce.
#[inline(always)]
fn pass_back<L: Lanes, const LOG: usize, const PHASE: usize, const CANONICAL: bool>(
    m: &FloatModulus<L>,
    twiddles: &[f64],
    row: &mut [u64],
    s: u32,
) {
    let (l, d) = (m.lanes, 1usize << s);
    let block = d << LOG;
    assert!(
        row.len().is_multiple_of(block) && twiddles.len() >= block && d.is_multiple_of(L::WIDTH)
    );
    for start in (0..row.len()).step_by(block) {
        for j in (0..d).step_by(L::WIDTH) {
            // SAFETY: j + WIDTH <= d, so all places are inside the block, which is inside the row.
            let places = unsafe { row.as_mut_ptr().add(start + j) };
            let mut v = [l.splat_f(0.0); 16];
            for (i, x) in v[..1 << LOG].iter_mut().enumerate() {
                // SAFETY: as above; between passes the words are doubles.
                *x = unsafe {
                    if CANONICAL {
                        l.widen(l.load(places.add(i * d)))
                    } else {
                        l.load_f(places.add(i * d).cast())
                    }
                };
            }
            for t in (0..LOG).rev() {
                let reach = 1 << t;
                for i in 0..1 << LOG {
                    if i & reach != 0 {
                        continue;
                    }
                    // SAFETY: the index is below 2^t d + 2^t d <= block <= twiddles.len().
                    let w = unsafe {
                        l.load_f(twiddles.as_ptr().add((d << t) + (i & (reach - 1)) * d + j))
                    };
                    let (x, y) = (v[i], v[i + reach]);
                    let sum = l.add_f(x, y);
                    v[i] = if (PHASE + t) % 2 == 1 {
                        m.reduce(sum)
                    } else {
                        sum
                    };
                    v[i + reach] = m.mul(l.sub_f(x, y), w);
                }
            }
            for (i, &x) in v[..1 << LOG].iter().enumerate() {
                // SAFETY: as above.
                unsafe { l.store_f(places.add(i * d).cast(), x) };
            }
        }
    }
}

/// The transposition, the distances 4, 2, 1, the row stage and the division by n.
#[inline(always)]
fn last_stages<L: Lanes>(
    m: &FloatModulus<L>,
    twiddles: &FloatTwiddles,
    top: &mut [u64],
    bottom: &mut [u64],
) {
    let l = m.lanes;
    assert!(top.len() == bottom.len() && top.len().is_multiple_of(64));
    let last = twiddles.last.map(|w| l.splat_f(w));
    let mut w = [[last[0]; 8]; 2];
    for (r, w) in w.iter_mut().enumerate() {
        for (place, slot) in w.iter_mut().enumerate().skip(1) {
            *slot = l.splat_f(twiddles.row(1 - r)[place]);
        }
    }
    for start in (0..top.len()).step_by(64) {
        // SAFETY: both rows have 64 words from here on.
        let sources = unsafe { [top.as_mut_ptr().add(start), bottom.as_mut_ptr().add(start)] };
        let mut g = [[[l.splat_f(0.0); 8]; 2]; 2];
        for r in 0..2 {
            for part in 0..8 / L::WIDTH {
                for a in 0..8 {
                    // SAFETY: (8 part + a + 1) WIDTH <= 64.
                    g[r][part][a] =
                        unsafe { l.load_f(sources[r].add((8 * part + a) * L::WIDTH).cast()) };
                }
            }
            l.transpose_back(&mut g[r]);
            for part in 0..8 / L::WIDTH {
                let v = &mut g[r][part];
                for t in (0..3).rev() {
                    let reach = 1 << t;
                    for a in 0..8 {
                        if a & reach == 0 {
                            let (x, y) = (v[a], v[a + reach]);
                            let sum = l.add_f(x, y);
                            v[a] = if t == 1 { m.reduce(sum) } else { sum };
                            v[a + reach] = m.mul(l.sub_f(x, y), w[r][reach + (a & (reach - 1))]);
                        }
                    }
                }
            }
        }
        for part in 0..8 / L::WIDTH {
            for a in 0..8 {
                let place = 8 * a + L::WIDTH * part;
                let (x, y) = (g[0][part][a], g[1][part][a]);
                let sum = m.canonical(m.mul(l.add_f(x, y), last[0]));
                let difference = m.canonical(m.mul(l.sub_f(x, y), last[1]));
                // SAFETY: place + WIDTH <= 64.
                unsafe {
                    l.store(sources[0].add(place), sum);
                    l.store(sources[1].add(place), difference);
                }
            }
        }
    }
}
