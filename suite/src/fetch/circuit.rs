//! What the server computes, over any scheme: run on encryptions, and rehearsed for its keys.

use std::ops::Range;

use everlevel_circuit::PrimePower;
use everlevel_circuit::poly::{DepthGoal, Polynomial, PolynomialPlan};
use everlevel_scheme::{
    Arithmetic, ExactScheme, KeyPlan, Level, NextUse, NoOp, Params, Plaintext, Scheme, SchemeError,
};
use rayon::prelude::*;

use super::diagonals::Diagonals;
use super::protocol::{LARGEST_SCORE, PAYLOAD, PAYLOAD_LEVEL, Task, Workload};
use crate::error::SuiteError;
use crate::stage::in_pool;

/// Chunks at the same time. Their products read the query once. Cores that compute a mask each do
/// not wait for each other at every operation, of which many share an odd number of primes.
const CHUNKS_TOGETHER: usize = 2;
/// What is added up for each payload beside its numbers: the mask, and the chunk's place.
pub(super) const BESIDE: usize = 2;

/// Where the encrypted database comes from, a part at a time: rows in the order of
/// [`Search::row_order`], then payloads in that of [`Search::payload_order`].
pub(super) trait Database<S: Arithmetic> {
    /// A diagonal of the rows of a chunk.
    type Row;

    /// Diagonals of the rows of a chunk, by their ranks in its file.
    fn rows(&mut self, chunk: usize, ranks: Range<usize>) -> Result<Vec<Self::Row>, SuiteError>;

    /// Sums of products of rotations of the query with diagonals.
    fn sums(
        scheme: &S,
        pairs: &[&[(&S::Ciphertext, &Self::Row)]],
    ) -> Result<Vec<S::Product>, SchemeError>;

    /// The numbers of the payloads of a chunk.
    fn payloads(&mut self, chunk: usize) -> Result<Vec<S::Ciphertext>, SuiteError>;
}

/// The search for rows whose score with a query is at least a threshold.
///
/// The query is one ciphertext, which is rotated. A chunk has a row in each slot, and as many
/// ciphertexts as there are coordinates, so that a score is a sum of products ([`Diagonals`]); a
/// polynomial makes 0 or 1 of it. Then either these are counted, or payloads times them are added
/// up over chunks, slot by slot.
pub(super) struct Search {
    diagonals: Diagonals,
    threshold: PolynomialPlan,
    chunks: usize,
    folds: u32,
    stride: i64,
}

impl Search {
    /// For a workload and a parameter set of its ring.
    pub fn new(params: &Params, workload: &Workload) -> Result<Self, SuiteError> {
        let shape = params.slot_shape();
        let diagonals = Diagonals::new(params, workload)?;
        let t = PrimePower::new(params.spec().plain_prime, 1)?;
        let scores = -LARGEST_SCORE..=LARGEST_SCORE;
        let points: Vec<u64> = scores.clone().map(|score| t.reduce_i64(score)).collect();
        let values: Vec<u64> = scores.map(|score| u64::from(workload.matches(score))).collect();
        let polynomial = Polynomial::interpolate(t, &points, &values)?;
        let threshold =
            PolynomialPlan::at_levels(&[polynomial], DepthGoal::Least, workload.term_levels())?;
        let chunks = workload.chunks(params.slots());
        let (folds, stride) = (folds(params, workload), stride(shape.columns()));
        Ok(Search { diagonals, threshold, chunks, folds, stride })
    }

    /// In which order rows are asked for: chunks, and ranks of diagonals.
    pub fn row_order(&self) -> impl Iterator<Item = (usize, Range<usize>)> {
        let (count, chunks) = (self.diagonals.count(), self.chunks);
        let together = self.diagonals.together();
        (0..count)
            .step_by(together)
            .flat_map(move |first| (0..chunks).map(move |chunk| (chunk, first..first + together)))
    }

    /// In which order payloads are asked for, by their chunks.
    pub fn payload_order(&self) -> impl Iterator<Item = usize> {
        (0..self.chunks).rev()
    }

    /// The keys that the server needs.
    pub fn key_plan(&self, params: &Params, task: Task) -> Result<KeyPlan, SuiteError> {
        let dry = NoOp::blank(params);
        self.rehearse(&dry, task)?;
        Ok(dry.key_plan())
    }

    /// The results of a run that has no values.
    pub fn rehearse(
        &self,
        dry: &NoOp,
        task: Task,
    ) -> Result<Vec<<NoOp as Scheme>::Ciphertext>, SuiteError> {
        let zero = Plaintext::encode(dry.params(), &[])?;
        let (row, payload) = (dry.encrypt(&zero)?, dry.encrypt_at(&zero, Level(PAYLOAD_LEVEL))?);
        self.run(dry, row.clone(), &mut Blank { row, payload }, task)
    }

    /// The results: a count in parts, or accumulators of payloads.
    pub fn run<S: ExactScheme>(
        &self,
        scheme: &S,
        query: S::Ciphertext,
        database: &mut (impl Database<S> + Send),
        task: Task,
    ) -> Result<Vec<S::Ciphertext>, SuiteError> {
        in_pool(|| {
            let scores = self.scores(scheme, query, database)?;
            match task {
                Task::Count => Ok(vec![self.count(scheme, &scores)?]),
                Task::Fetch => self.accumulate(scheme, &scores, database),
            }
        })
    }

    /// The parts of the scores of each chunk, not relinearized yet.
    fn scores<S: ExactScheme, D: Database<S>>(
        &self,
        scheme: &S,
        query: S::Ciphertext,
        database: &mut D,
    ) -> Result<Vec<Vec<S::Product>>, SuiteError> {
        // Chunk by chunk for each giant step.
        let none: Vec<Option<S::Product>> = vec![None; self.chunks];
        let mut sums = vec![none; self.diagonals.giants()];
        let size = self.diagonals.together();
        let (mut done, mut together) = (0, Vec::with_capacity(size));
        self.diagonals.rotations().rotate(scheme, query, |_, x| {
            together.push(x);
            if together.len() < size {
                return Ok(());
            }
            for sums in &mut sums {
                let ranks = done..done + size;
                for (group, sums) in sums.chunks_mut(CHUNKS_TOGETHER).enumerate() {
                    let chunks = (group * CHUNKS_TOGETHER..).take(sums.len());
                    let rows = chunks.map(|chunk| database.rows(chunk, ranks.clone()));
                    let rows = rows.collect::<Result<Vec<_>, _>>()?;
                    let pairs = rows.iter().map(|rows| together.iter().zip(rows).collect());
                    let pairs: Vec<Vec<_>> = pairs.collect();
                    let pairs: Vec<_> = pairs.iter().map(Vec::as_slice).collect();
                    let parts = D::sums(scheme, &pairs)?;
                    for (sum, part) in sums.iter_mut().zip(parts) {
                        *sum = Some(match sum.take() {
                            None => part,
                            Some(sum) => scheme.add_products(&sum, &part)?,
                        });
                    }
                }
                done = ranks.end;
            }
            together.clear();
            Ok::<(), SuiteError>(())
        })?;
        let mut all = Vec::with_capacity(self.chunks);
        for chunk in 0..self.chunks {
            all.push(sums.iter_mut().filter_map(|sums| sums[chunk].take()).collect());
        }
        Ok(all)
    }

    /// The scores of a chunk from their parts: by Horner's rule, so that one key rotates all.
    fn score<S: ExactScheme>(
        &self,
        scheme: &S,
        parts: &[S::Product],
    ) -> Result<S::Ciphertext, SuiteError> {
        // The polynomial switches them down for its products where this does not.
        let next = if parts.len() > 1 { NextUse::LinearMap } else { NextUse::Product };
        let by = self.diagonals.rotations().count() as i64;
        let mut parts = parts.iter().rev().map(|part| scheme.relinearize(part, next));
        let last = parts.next().ok_or(SchemeError::BadArgument {
            what: "scores",
            expected: "at least one part".into(),
            found: "none".into(),
        })??;
        parts.try_fold(last, |sum, part| Ok(scheme.add(&scheme.rotate_columns(&sum, by)?, &part?)?))
    }

    /// 1 where the score reaches the threshold, else 0.
    fn mask<S: ExactScheme>(
        &self,
        scheme: &S,
        parts: &[S::Product],
        next: NextUse,
    ) -> Result<S::Ciphertext, SuiteError> {
        let score = self.score(scheme, parts)?;
        let mut found = self.threshold.evaluate(scheme, &score, next)?;
        Ok(found.swap_remove(0))
    }

    /// The number of matches, in sums over so few slots each that none wraps.
    fn count<S: ExactScheme>(
        &self,
        scheme: &S,
        scores: &[Vec<S::Product>],
    ) -> Result<S::Ciphertext, SuiteError> {
        let mut sum: Option<S::Ciphertext> = None;
        for scores in scores.chunks(CHUNKS_TOGETHER) {
            let masks = scores.par_iter().map(|x| self.mask(scheme, x, NextUse::LinearMap));
            for mask in masks.collect::<Result<Vec<_>, _>>()? {
                sum = Some(match sum {
                    None => mask,
                    Some(sum) => scheme.add(&sum, &mask)?,
                });
            }
        }
        let mut sum = sum.ok_or(SchemeError::BadArgument {
            what: "database",
            expected: "at least one chunk".into(),
            found: "none".into(),
        })?;
        let columns = scheme.slot_shape().columns().ilog2();
        for fold in 0..self.folds {
            let moved = if fold < columns {
                scheme.rotate_columns(&sum, 1 << fold)?
            } else {
                scheme.swap_rows(&sum)?
            };
            sum = scheme.add(&sum, &moved)?;
        }
        Ok(sum)
    }

    /// Of a chunk: the mask, its place times the mask, and its payloads times the mask.
    fn masked<S: ExactScheme>(
        &self,
        scheme: &S,
        (chunk, parts): (usize, &[S::Product]),
        payloads: &[S::Ciphertext],
    ) -> Result<Vec<S::Ciphertext>, SuiteError> {
        let mask = self.mask(scheme, parts, NextUse::Product)?;
        // Not switched further down afterwards: the sums need what the modulus holds.
        let level = scheme.level(&mask).min(Level(PAYLOAD_LEVEL));
        let mask = scheme.mod_switch_to(&mask, level)?;
        let payload =
            |x| Ok(scheme.relinearize(&scheme.mul_lazy_aligned(&mask, x)?, NextUse::Keep)?);
        let payloads = payloads.iter().map(payload).collect::<Result<Vec<_>, SuiteError>>()?;
        let level = payloads.iter().map(|x| scheme.level(x)).min();
        let mask = scheme.mod_switch_to(&mask, level.unwrap_or(scheme.level(&mask)))?;
        let place = scheme.mul_scalar(&mask, chunk as i64)?;
        Ok([mask, place].into_iter().chain(payloads).collect())
    }

    /// [`Search::masked`], added up over all chunks; and, if there are several, once more with the
    /// columns of chunk c rotated to the left by c times a stride: rows that share a slot in one
    /// sum do not in the other.
    fn accumulate<S: ExactScheme>(
        &self,
        scheme: &S,
        scores: &[Vec<S::Product>],
        database: &mut impl Database<S>,
    ) -> Result<Vec<S::Ciphertext>, SuiteError> {
        let mut sums: Option<[Vec<S::Ciphertext>; 2]> = None;
        let order: Vec<usize> = self.payload_order().collect();
        for chunks in order.chunks(CHUNKS_TOGETHER) {
            let parts = chunks.iter().map(|chunk| Ok((*chunk, database.payloads(*chunk)?)));
            let parts = parts.collect::<Result<Vec<_>, SuiteError>>()?;
            let masked = |(chunk, payloads): &(usize, Vec<S::Ciphertext>)| {
                self.masked(scheme, (*chunk, &scores[*chunk][..]), payloads)
            };
            for all in parts.par_iter().map(masked).collect::<Result<Vec<_>, _>>()? {
                sums = Some(match sums {
                    None => [all.clone(), all],
                    Some([plain, moved]) => {
                        let add = |(sum, x): (S::Ciphertext, _)| scheme.add(&sum, x);
                        let turn = |(sum, x): (S::Ciphertext, _)| {
                            scheme.add(&scheme.rotate_columns(&sum, self.stride)?, x)
                        };
                        let plain = plain.into_iter().zip(&all).map(add);
                        let moved = moved.into_iter().zip(&all).map(turn);
                        [plain.collect::<Result<_, _>>()?, moved.collect::<Result<_, _>>()?]
                    }
                });
            }
        }
        let sums = sums.into_iter().flatten();
        Ok(sums.take(accumulators(self.chunks)).flatten().collect())
    }
}

/// A database without values.
struct Blank<C> {
    row: C,
    payload: C,
}

impl<S: Arithmetic> Database<S> for Blank<S::Ciphertext> {
    type Row = S::Ciphertext;

    fn sums(
        scheme: &S,
        pairs: &[&[(&S::Ciphertext, &S::Ciphertext)]],
    ) -> Result<Vec<S::Product>, SchemeError> {
        scheme.sums_of_products(pairs)
    }

    fn rows(&mut self, _: usize, ranks: Range<usize>) -> Result<Vec<S::Ciphertext>, SuiteError> {
        Ok(vec![self.row.clone(); ranks.len()])
    }

    fn payloads(&mut self, _: usize) -> Result<Vec<S::Ciphertext>, SuiteError> {
        Ok(vec![self.payload.clone(); PAYLOAD])
    }
}

/// How many sums of payloads there are: rows of one chunk never share a slot.
pub(super) fn accumulators(chunks: usize) -> usize {
    chunks.min(2)
}

/// How often the counts of slots are folded: to one slot if no more rows than the plaintext modulus
/// tells apart are there, else to as few as keep each sum below it.
pub(super) fn folds(params: &Params, workload: &Workload) -> u32 {
    let (slots, largest) = (params.slots(), params.plain_modulus() - 1);
    let all = slots.ilog2();
    if workload.instance.count <= largest {
        return all;
    }
    let each = largest / workload.chunks(slots) as u64;
    each.max(1).ilog2().min(all)
}

/// By how much the columns of each chunk are rotated more than those of the one before: odd, so
/// that no two chunks of fewer than there are columns are rotated alike, and large, so that rows
/// near to each other do not meet.
pub(super) fn stride(columns: usize) -> i64 {
    ((columns / 8 * 5) | 1) as i64
}

#[cfg(test)]
mod tests;
