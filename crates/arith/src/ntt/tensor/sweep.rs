//! The transform of a buffer: first along its last axis, then along the line of all other axes, both times with one line in each lane.

use super::super::residues::Residues;
use super::plan::{Kind, Line, Stage};
use super::{large, small};
use crate::Modulus;
use crate::axes::Axes;
use std::marker::PhantomData;

#[cfg(target_arch = "x86_64")]
use crate::arch::lanes::Lanes;

/// Eight words on a cache line of their own.
#[repr(C, align(64))]
#[derive(Clone, Copy)]
pub(crate) struct Chunk([u64; 8]);

impl Chunk {
    pub(super) const ZERO: Chunk = Chunk([0; 8]);
}

/// How many vectors stay in the nearest cache.
const PIECE: usize = 512;

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
    pub(super) fn new(modulus: Modulus, root: u64, axes: &Axes) -> Self {
        let count = axes.all().len();
        let line = |range| Line::new::<A>(modulus, root, axes, range);
        Plan { modulus, last: line(count - 1..count), outer: line(0..count - 1), arithmetic: PhantomData }
    }
    /// The scratch that a transform needs.
    pub(super) fn scratch(&self) -> usize {
        let vectors = [&self.last, &self.outer].map(|line| line.length() + line.workspace());
        (vectors[0].max(vectors[1]) * A::WIDTH).div_ceil(8)
    }
}

/// [`transform`] with the arithmetic of an instruction set.
#[cfg(target_arch = "x86_64")]
#[inline(always)]
pub(crate) fn tensor<L: Lanes>(l: L, plan: &Plan<L::Transform>, direction: usize, scratch: &mut [Chunk], a: &mut [u64]) {
    transform(l.transform(plan.modulus), plan, direction, scratch, a);
}

/// From coefficients below 4q to canonical values (`direction` 0), or from values to coefficients (1).
#[inline(always)]
pub(super) fn transform<A: Residues>(m: A, plan: &Plan<A>, direction: usize, scratch: &mut [Chunk], a: &mut [u64]) {
    let (columns, rows) = (plan.last.length(), plan.outer.length());
    assert!(a.len() == rows * columns && scratch.len() >= plan.scratch() && size_of::<A::V>() == 8 * A::WIDTH);
    let vectors = scratch.len() * 8 / A::WIDTH;
    // SAFETY: vectors are words without padding, at most as aligned as a `Chunk`, and any bits are words.
    let scratch = unsafe { std::slice::from_raw_parts_mut(scratch.as_mut_ptr().cast::<A::V>(), vectors) };
    let (line, work) = scratch.split_at_mut(columns);
    for row in (0..rows).step_by(A::WIDTH) {
        let count = A::WIDTH.min(rows - row);
        let block = &mut a[row * columns..][..count * columns];
        for column in (0..columns).step_by(A::WIDTH) {
            let mut v = [m.zero(); 8];
            let width = A::WIDTH.min(columns - column);
            for i in 0..count {
                v[i] = fetch(m, &block[i * columns + column..][..width], true);
            }
            m.transpose(&mut v);
            for (x, &position) in v.iter().zip(&plan.last.positions[column..][..width]) {
                line[position as usize] = m.reduce(*x);
            }
        }
        correlate(m, &plan.last, direction, line, work);
        for column in (0..columns).step_by(A::WIDTH) {
            let mut v = [m.zero(); 8];
            let width = A::WIDTH.min(columns - column);
            for (x, &position) in v.iter_mut().zip(&plan.last.positions[column..][..width]) {
                *x = line[position as usize];
            }
            m.transpose(&mut v);
            for i in 0..count {
                put(m, &mut block[i * columns + column..][..width], v[i], rows == 1);
            }
        }
    }
    if rows == 1 {
        return;
    }
    let (line, work) = scratch.split_at_mut(rows);
    for column in (0..columns).step_by(A::WIDTH) {
        let width = A::WIDTH.min(columns - column);
        for (row, &position) in plan.outer.positions.iter().enumerate() {
            line[position as usize] = m.reduce(fetch(m, &a[row * columns + column..][..width], false));
        }
        correlate(m, &plan.outer, direction, line, work);
        for (row, &position) in plan.outer.positions.iter().enumerate() {
            put(m, &mut a[row * columns + column..][..width], line[position as usize], true);
        }
    }
}

/// Reads up to `WIDTH` words: words below 4q, or what [`put`] wrote.
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

/// Writes up to `WIDTH` words, canonical ones or for [`fetch`].
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

/// The transform along a line, from reduced residues to wide ones: stages forward, piece by piece once pieces are short, and back.
#[inline(always)]
fn correlate<A: Residues>(m: A, plan: &Line, direction: usize, line: &mut [A::V], work: &mut [A::V]) {
    let Some((leaf, stages)) = plan.stages.split_last() else { return };
    let (long, short) = stages.split_at(stages.iter().take_while(|s| s.block() > PIECE).count());
    let piece = short.first().map_or(leaf.block(), Stage::block);
    for stage in long {
        forward(m, stage, direction, line, work);
    }
    for (piece, spectrum) in line.chunks_exact_mut(piece).zip(plan.spectra[direction].chunks_exact(piece)) {
        for stage in short {
            forward(m, stage, direction, piece, work);
        }
        match (&leaf.kind, leaf.radix) {
            (Kind::Network, 2) => small::correlate::<A, 2>(m, leaf, spectrum, piece),
            (Kind::Network, 4) => small::correlate::<A, 4>(m, leaf, spectrum, piece),
            (Kind::Network, 8) => small::correlate::<A, 8>(m, leaf, spectrum, piece),
            (Kind::Network, _) => small::correlate::<A, 16>(m, leaf, spectrum, piece),
            _ => forward(m, leaf, direction, piece, work),
        }
        for stage in short.iter().rev() {
            back(m, stage, piece, work);
        }
    }
    for stage in long.iter().rev() {
        back(m, stage, line, work);
    }
}

/// A stage on all blocks of a piece.
#[inline(always)]
fn forward<A: Residues>(m: A, stage: &Stage, direction: usize, piece: &mut [A::V], work: &mut [A::V]) {
    for block in piece.chunks_exact_mut(stage.block()) {
        match (&stage.kind, stage.radix) {
            (Kind::Network, 2) => small::forward::<A, 2>(m, stage, block),
            (Kind::Network, 4) => small::forward::<A, 4>(m, stage, block),
            (Kind::Network, 8) => small::forward::<A, 8>(m, stage, block),
            (Kind::Network, _) => small::forward::<A, 16>(m, stage, block),
            (Kind::Three, _) => small::forward::<A, 3>(m, stage, block),
            (Kind::Prime(weights), _) => large::forward(m, stage, weights, block, work),
            (Kind::Dense(matrices), _) => large::multiply(m, stage, &matrices[direction], block, work),
        }
    }
}

/// The transpose of a stage on all blocks of a piece.
#[inline(always)]
fn back<A: Residues>(m: A, stage: &Stage, piece: &mut [A::V], work: &mut [A::V]) {
    for block in piece.chunks_exact_mut(stage.block()) {
        match (&stage.kind, stage.radix) {
            (Kind::Network, 2) => small::back::<A, 2>(m, stage, block),
            (Kind::Network, 4) => small::back::<A, 4>(m, stage, block),
            (Kind::Network, 8) => small::back::<A, 8>(m, stage, block),
            (Kind::Network, _) => small::back::<A, 16>(m, stage, block),
            (Kind::Three, _) => small::back::<A, 3>(m, stage, block),
            (Kind::Prime(weights), _) => large::back(m, stage, weights, block, work),
            (Kind::Dense(_), _) => {}
        }
    }
}
