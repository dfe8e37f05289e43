//! Products of a matrix of constants with a column of slices, over vectors: see [`super::vector`].

use std::ops::Range;

use super::float::FloatModulus;
use super::lanes::Lanes;
use super::portable;
use super::vector::{at, put, weighted_sum, whole};
use crate::modulus::Modulus;

/// Rows that are summed together: a value that was read serves all of them.
const ROWS: usize = 4;
/// Vectors of each of these rows: twelve sums fill the registers of four lanes, and no addition
/// waits for the one before.
const VECTORS: usize = 3;
/// Doubles that are packed together, a quarter of a megabyte: they stay in a second-level cache.
const TILE: usize = 1 << 15;
/// A reduction takes as long as this many terms do.
const REDUCTION: usize = 3;
/// Integers up to it are exact in doubles.
const EXACT: u64 = 1 << f64::MANTISSA_DIGITS;

#[inline(always)]
pub(crate) fn matrix_product<L: Lanes>(
    l: L,
    q: Modulus,
    outs: &mut [&mut [u64]],
    xs: &[&[u64]],
    weights: &[i64],
) {
    let runs = if outs.len() > 1 { runs(q, xs.len(), weights) } else { None };
    match runs {
        Some(runs) => tiled(l, q, outs, xs, weights, &runs),
        None => portable::rows_of_matrix(q, outs, xs, weights, |out, weights| {
            weighted_sum(l, q, out, xs, weights);
        }),
    }
}

/// The lengths of the runs of terms that every row adds up exactly in doubles, beginning with a
/// reduced sum; none where reductions would take longer than the products do.
///
/// A reduced sum is at most q in magnitude and a word below q, so that a run stays below (1 + s) q
/// for the larger one, s, of the sums of its positive and of its negative constants in a row.
fn runs(q: Modulus, terms: usize, weights: &[i64]) -> Option<Vec<usize>> {
    if terms == 0 || weights.is_empty() {
        return None;
    }
    // `FloatModulus::reduce` takes magnitudes below 2^51 q.
    let most = (EXACT / q.value() - 1).min(1 << 50);
    let fits = |terms: Range<usize>, row: &[i64]| {
        let mut sums = [0u64; 2];
        for w in &row[terms] {
            let sum = &mut sums[usize::from(*w < 0)];
            *sum = sum.saturating_add(w.unsigned_abs());
        }
        sums.into_iter().all(|sum| sum <= most)
    };
    let mut runs = Vec::new();
    let (mut start, mut run) = (0, terms);
    while start < terms {
        run = run.min(terms - start);
        while !weights.chunks_exact(terms).all(|row| fits(start..start + run, row)) {
            if run == 1 {
                return None;
            }
            run /= 2;
        }
        runs.push(run);
        start += run;
        run *= 2;
    }
    (runs.len() * REDUCTION <= terms.max(REDUCTION)).then_some(runs)
}

/// The product, some places of all slices at a time: they are packed as doubles, in the order in
/// which they are multiplied, since slices that begin at multiples of a page would drive each other
/// out of a cache.
#[inline(always)]
fn tiled<L: Lanes>(
    l: L,
    q: Modulus,
    outs: &mut [&mut [u64]],
    xs: &[&[u64]],
    weights: &[i64],
    runs: &[usize],
) {
    let (m, terms, length) = (FloatModulus::new(l, q), xs.len(), outs[0].len());
    let step = VECTORS * L::WIDTH;
    let width = (TILE / (terms * step)).max(1) * step;
    let factors = factors(terms, weights);
    let mut tile = vec![0.0; terms * width];
    for start in (0..length).step_by(width) {
        let end = (start + width).min(length);
        for (term, x) in xs.iter().enumerate() {
            pack(l, &mut tile, terms, term, &x[start..end]);
        }
        for (outs, factors) in outs.chunks_mut(ROWS).zip(factors.chunks_exact(terms * ROWS)) {
            let places = (start..end).step_by(step);
            for (place, panel) in places.zip(tile.chunks_exact(terms * step)) {
                let sums = block(&m, panel, factors, runs);
                for (out, sums) in outs.iter_mut().zip(&sums) {
                    write(l, &mut out[place..end], sums);
                }
            }
        }
    }
}

/// The constants as doubles: [`ROWS`] rows after the other, term by term, and 0 beyond the last
/// row.
fn factors(terms: usize, weights: &[i64]) -> Vec<f64> {
    let rows = weights.len() / terms;
    let mut factors = vec![0.0; rows.div_ceil(ROWS) * ROWS * terms];
    for (row, weights) in weights.chunks_exact(terms).enumerate() {
        let group = &mut factors[row / ROWS * ROWS * terms..];
        for (factor, &w) in group[row % ROWS..].iter_mut().step_by(ROWS).zip(weights) {
            *factor = w as f64;
        }
    }
    factors
}

/// Writes the words of a term into the panels of a tile, as doubles, and 0 up to the end of the
/// last panel that they reach.
#[inline(always)]
fn pack<L: Lanes>(l: L, tile: &mut [f64], terms: usize, term: usize, x: &[u64]) {
    let step = VECTORS * L::WIDTH;
    let panels = tile[term * step..].chunks_mut(terms * step);
    for (x, panel) in x.chunks(step).zip(panels) {
        let (panel, done) = (&mut panel[..step], whole::<L>(x.len()));
        for i in (0..done).step_by(L::WIDTH) {
            // SAFETY: `done` is at most the length of the panel, and both are whole vectors.
            unsafe { l.store_f(panel.as_mut_ptr().add(i), l.widen(at(l, x, i))) };
        }
        let rest = x[done..].iter().map(|&x| x as f64).chain(std::iter::repeat(0.0));
        panel[done..].iter_mut().zip(rest).for_each(|(to, x)| *to = x);
    }
}

/// The canonical sums of [`ROWS`] rows over the places of a panel.
#[inline(always)]
fn block<L: Lanes>(
    m: &FloatModulus<L>,
    panel: &[f64],
    factors: &[f64],
    runs: &[usize],
) -> [[L::U; VECTORS]; ROWS] {
    let l = m.lanes;
    let mut sums = [[l.splat_f(0.0); VECTORS]; ROWS];
    let (mut panel, mut factors) = (panel, factors);
    for &run in runs {
        let (xs, later) = panel.split_at(run * VECTORS * L::WIDTH);
        let (ws, others) = factors.split_at(run * ROWS);
        (panel, factors) = (later, others);
        for (x, w) in xs.chunks_exact(VECTORS * L::WIDTH).zip(ws.chunks_exact(ROWS)) {
            let mut values = [l.splat_f(0.0); VECTORS];
            for (v, value) in values.iter_mut().enumerate() {
                // SAFETY: the chunk has that many vectors.
                *value = unsafe { l.load_f(x.as_ptr().add(v * L::WIDTH)) };
            }
            for (sums, &w) in sums.iter_mut().zip(w) {
                let w = l.splat_f(w);
                for (sum, &value) in sums.iter_mut().zip(&values) {
                    *sum = l.mul_add_f(value, w, *sum);
                }
            }
        }
        for sum in sums.iter_mut().flatten() {
            *sum = m.reduce(*sum);
        }
    }
    sums.map(|row| row.map(|sum| m.canonical(sum)))
}

/// Writes as many words as there is room for.
#[inline(always)]
fn write<L: Lanes>(l: L, out: &mut [u64], sums: &[L::U; VECTORS]) {
    for (out, &sum) in out.chunks_mut(L::WIDTH).zip(sums) {
        if out.len() == L::WIDTH {
            put(l, out, 0, sum);
        } else {
            // Eight lanes at most.
            let mut words = [0; 8];
            put(l, &mut words, 0, sum);
            out.copy_from_slice(&words[..out.len()]);
        }
    }
}
