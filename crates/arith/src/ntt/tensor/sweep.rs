//! The transform of a buffer: first along its last axis, then along the line of all other axes,
//! both times with one line in each lane.

use super::plan::{Kind, Line, Step, Way};
use super::{large, small};
use crate::arch::residues::Residues;
use crate::axes::Axes;
use crate::memory::CacheLine;
use crate::modulus::Modulus;
use crate::operations::Operations;
use std::marker::PhantomData;

#[cfg(target_arch = "x86_64")]
use crate::arch::lanes::Lanes;

/// The lines of a ring in the words of the arithmetic A.
pub(crate) struct Plan<A> {
    modulus: Modulus,
    /// The last axis.
    last: Line,
    /// All others, as one line.
    outer: Line,
    arithmetic: PhantomData<fn() -> A>,
}

impl<A: Residues> Plan<A> {
    pub(in crate::ntt) fn new(modulus: Modulus, root: u64, axes: &Axes) -> Self {
        let count = axes.all().len();
        let line = |range| Line::new::<A>(modulus, root, axes, range);
        Plan {
            modulus,
            last: line(count - 1..count),
            outer: line(0..count - 1),
            arithmetic: PhantomData,
        }
    }

    /// q.
    pub(super) fn modulus(&self) -> Modulus {
        self.modulus
    }

    /// What a transform computes: the last axis row by row, all others column by column.
    pub(in crate::ntt) fn operations(&self) -> Operations {
        let mut all = self.last.operations() * self.outer.length() as u64;
        all += self.outer.operations() * self.last.length() as u64;
        all
    }

    /// The cache lines of scratch that a transform needs.
    pub(in crate::ntt) fn scratch(&self) -> usize {
        let vectors = [&self.last, &self.outer].map(|line| line.length() + line.workspace());
        (vectors[0].max(vectors[1]) * A::WIDTH).div_ceil(8)
    }
}

/// [`transform`] with the arithmetic of an instruction set.
#[cfg(target_arch = "x86_64")]
#[inline(always)]
pub(crate) fn tensor<L: Lanes>(
    l: L,
    plan: &Plan<L::Transform>,
    direction: usize,
    scratch: &mut [CacheLine],
    a: &mut [u64],
) {
    transform(l.transform(plan.modulus), plan, direction, scratch, a);
}

/// From coefficients below 4q to canonical values (`direction` 0), or from values to coefficients
/// (1).
#[inline(always)]
pub(in crate::ntt) fn transform<A: Residues>(
    m: A,
    plan: &Plan<A>,
    direction: usize,
    scratch: &mut [CacheLine],
    a: &mut [u64],
) {
    let (columns, rows) = (plan.last.length(), plan.outer.length());
    assert!(
        a.len() == rows * columns
            && scratch.len() >= plan.scratch()
            && size_of::<A::V>() == 8 * A::WIDTH
    );
    let vectors = scratch.len() * 8 / A::WIDTH;
    // SAFETY: vectors are words without padding, at most as aligned as a `CacheLine`, and any bits
    // are words.
    let scratch =
        unsafe { std::slice::from_raw_parts_mut(scratch.as_mut_ptr().cast::<A::V>(), vectors) };
    let passes = if rows == 1 { 1 } else { 2 };
    let last = &plan.last;
    for pass in 0..passes {
        let (plan, lanes) = if pass == 0 { (&plan.last, rows) } else { (&plan.outer, columns) };
        let (line, work) = scratch.split_at_mut(plan.length());
        for first in (0..lanes).step_by(A::WIDTH) {
            let count = A::WIDTH.min(lanes - first);
            if pass == 0 {
                read_rows(m, &a[first * columns..][..count * columns], &plan.positions, line);
            } else {
                read_columns(m, a, last, first, &plan.positions, line);
            }
            correlate(m, plan, direction, line, work);
            if pass == 0 {
                write_rows(
                    m,
                    &mut a[first * columns..][..count * columns],
                    &plan.positions,
                    line,
                    rows == 1,
                );
            } else {
                write_columns(m, a, columns, first, &plan.positions, line);
            }
        }
    }
}

/// Reads up to `WIDTH` rows of words below 4q, one into each lane.
#[inline(always)]
fn read_rows<A: Residues>(m: A, rows: &[u64], positions: &[u32], line: &mut [A::V]) {
    let (columns, count) = (positions.len(), rows.len() / positions.len());
    for (column, positions) in (0..columns).step_by(A::WIDTH).zip(positions.chunks(A::WIDTH)) {
        let mut v = [m.zero(); 8];
        for i in 0..A::WIDTH {
            // A lane without a row of its own repeats the last one.
            let row = &rows[i.min(count - 1) * columns..][..columns];
            v[i] = fetch(m, &row[column..], true);
        }
        m.transpose(&mut v);
        for (i, &position) in positions.iter().enumerate() {
            line[position as usize] = m.reduce(v[i]);
        }
    }
}

/// Writes the lanes to rows: canonical words, or for [`read_columns`].
#[inline(always)]
fn write_rows<A: Residues>(
    m: A,
    rows: &mut [u64],
    positions: &[u32],
    line: &[A::V],
    canonical: bool,
) {
    let (columns, count) = (positions.len(), rows.len() / positions.len());
    for (column, positions) in (0..columns).step_by(A::WIDTH).zip(positions.chunks(A::WIDTH)) {
        let mut v = [m.zero(); 8];
        for (i, &position) in positions.iter().enumerate() {
            v[i] = line[position as usize];
        }
        m.transpose(&mut v);
        for i in 0..A::WIDTH {
            if i < count {
                put(m, &mut rows[i * columns..][..columns][column..], v[i], canonical);
            }
        }
    }
}

/// Reads the columns from `first` on that [`write_rows`] wrote, one into each lane.
#[inline(always)]
fn read_columns<A: Residues>(
    m: A,
    a: &[u64],
    columns: &Line,
    first: usize,
    positions: &[u32],
    line: &mut [A::V],
) {
    let wide = columns.is_wide();
    for (row, &position) in a.chunks_exact(columns.length()).zip(positions) {
        let x = fetch(m, &row[first..], false);
        line[position as usize] = if wide { m.reduce(x) } else { x };
    }
}

/// Writes the lanes to columns, as canonical words.
#[inline(always)]
fn write_columns<A: Residues>(
    m: A,
    a: &mut [u64],
    columns: usize,
    first: usize,
    positions: &[u32],
    line: &[A::V],
) {
    for (row, &position) in a.chunks_exact_mut(columns).zip(positions) {
        put(m, &mut row[first..], line[position as usize], true);
    }
}

/// Reads `WIDTH` words, fewer at the end of a row: words below 4q, or what [`put`] wrote.
#[inline(always)]
fn fetch<A: Residues>(m: A, source: &[u64], words: bool) -> A::V {
    let mut part = [0; 8];
    let mut source = source;
    if source.len() < A::WIDTH {
        part[..source.len()].copy_from_slice(source);
        source = &part;
    }
    // SAFETY: the slice has at least `WIDTH` words.
    unsafe { if words { m.load_words(source.as_ptr()) } else { m.load(source.as_ptr()) } }
}

/// Writes `WIDTH` words, fewer at the end of a row: canonical ones, or for [`fetch`].
#[inline(always)]
fn put<A: Residues>(m: A, target: &mut [u64], x: A::V, canonical: bool) {
    let mut part = [0; 8];
    let whole = target.len() >= A::WIDTH;
    let start = if whole { target.as_mut_ptr() } else { part.as_mut_ptr() };
    // SAFETY: there are `WIDTH` words from `start` on.
    unsafe { if canonical { m.store_canonical(start, x) } else { m.store(start, x) } }
    if !whole {
        target.copy_from_slice(&part[..target.len()]);
    }
}

/// The transform along a line, from reduced residues to wide ones.
#[inline(always)]
fn correlate<A: Residues>(
    m: A,
    plan: &Line,
    direction: usize,
    line: &mut [A::V],
    work: &mut [A::V],
) {
    for Step { stage, way, range } in &plan.steps {
        let (stage, way) = (&plan.stages[*stage], *way);
        let (piece, spectrum) = (&mut line[range.clone()], &plan.spectra[direction][range.clone()]);
        match (&stage.kind, stage.radix, way) {
            (Kind::Network, 2, Way::Forward) => small::forward::<A, 2>(m, stage, piece),
            (Kind::Network, 3, Way::Forward) => small::forward::<A, 3>(m, stage, piece),
            (Kind::Network, 4, Way::Forward) => small::forward::<A, 4>(m, stage, piece),
            (Kind::Network, 8, Way::Forward) => small::forward::<A, 8>(m, stage, piece),
            (Kind::Network, 9, Way::Forward) => small::forward::<A, 9>(m, stage, piece),
            (Kind::Network, 16, Way::Forward) if A::LOG_RADIX > 3 => {
                small::forward::<A, 16>(m, stage, piece)
            }
            (Kind::Network, 2, Way::Back) => small::back::<A, 2>(m, stage, piece),
            (Kind::Network, 3, Way::Back) => small::back::<A, 3>(m, stage, piece),
            (Kind::Network, 4, Way::Back) => small::back::<A, 4>(m, stage, piece),
            (Kind::Network, 8, Way::Back) => small::back::<A, 8>(m, stage, piece),
            (Kind::Network, 9, Way::Back) => small::back::<A, 9>(m, stage, piece),
            (Kind::Network, 16, Way::Back) if A::LOG_RADIX > 3 => {
                small::back::<A, 16>(m, stage, piece)
            }
            (Kind::Network, 2, Way::Turn) => small::correlate::<A, 2>(m, stage, spectrum, piece),
            (Kind::Network, 3, Way::Turn) => small::correlate::<A, 3>(m, stage, spectrum, piece),
            (Kind::Network, 4, Way::Turn) => small::correlate::<A, 4>(m, stage, spectrum, piece),
            (Kind::Network, 8, Way::Turn) => small::correlate::<A, 8>(m, stage, spectrum, piece),
            (Kind::Network, 9, Way::Turn) => small::correlate::<A, 9>(m, stage, spectrum, piece),
            (Kind::Network, 16, Way::Turn) if A::LOG_RADIX > 3 => {
                small::correlate::<A, 16>(m, stage, spectrum, piece)
            }
            (Kind::Short | Kind::Long(_), radix, Way::Turn) => {
                large::correlate(m, radix, spectrum, piece, work)
            }
            (Kind::Short, 5, _) => small::symmetric::<A, 5>(m, stage, way == Way::Back, piece),
            (Kind::Short, 7, _) => small::symmetric::<A, 7>(m, stage, way == Way::Back, piece),
            (Kind::Short, 11, _) => small::symmetric::<A, 11>(m, stage, way == Way::Back, piece),
            (Kind::Short, 13, _) => small::symmetric::<A, 13>(m, stage, way == Way::Back, piece),
            (Kind::Long(units), ..) => large::prime(m, stage, units, way == Way::Back, piece, work),
            (Kind::Dense(matrices), ..) => {
                large::multiply(m, stage, &matrices[direction], piece, work)
            }
            _ => unreachable!("plans have no other stages"),
        }
    }
}
