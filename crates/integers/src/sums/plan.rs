//! The sums that are computed, and how the requested sums follow from them.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use everlevel_circuit::SumPacking;
use everlevel_ring::{PrimePower, SlotShape};
use everlevel_scheme::SchemeError;

use super::expand::{Expansion, Piece, refused};
use super::shape::{Shape, far};
use crate::error::IntegersError;

/// The largest number of sums that are packed into one ciphertext, and that are in memory at a
/// time, where there are as many slots; each doubling costs a bit of capacity.
const PACKED: usize = 256;
/// The largest number of sums of a plan; each takes two key switches.
const MOST_SUMS: usize = 1 << 16;

/// A sum over rows: Σ k Π x over the terms, where a truth value is 1.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SumRequest {
    /// The index of the truth values; `None` for all rows, or all rows that a filter chooses.
    pub mask: Option<usize>,
    /// Integers, each with the indices of the columns whose product it multiplies; the product of
    /// no columns is 1.
    pub terms: Vec<(i128, Vec<usize>)>,
    /// The sum of the terms in a slot behind the column, if the slot is chosen; otherwise 0.
    pub pad: i128,
}

/// A quantity whose sum over all slots is packed: a product of pieces of columns where a truth
/// value is 1.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) struct Accumulator {
    pub(crate) mask: Option<usize>,
    /// In order.
    pub(crate) pieces: Vec<Piece>,
}

/// A requested sum: `constant` plus weighted sums of accumulators.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Total {
    constant: i128,
    terms: Vec<(i128, usize)>,
}

/// The plan by which sums over many rows are computed modulo p^2 and read. It is public, and the
/// same for all data.
///
/// A column is anchor + Σ 16^i d_i, so a product of columns is a sum of products of *pieces* of a
/// few digits each, chosen such that their sums over all rows stay below p^2/2. There is one sum
/// for each such product and each truth value, and all sums are packed as described by
/// [`SumPacking`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SumPlan {
    pub(crate) shapes: Vec<Shape>,
    pub(crate) accumulators: Vec<Accumulator>,
    /// The largest absolute value of a sum.
    bounds: Vec<u64>,
    totals: Vec<Total>,
    modulus: PrimePower,
    pub(crate) packings: Vec<SumPacking>,
    /// The largest number of sums in one of them.
    packed: usize,
    pub(crate) blocks: usize,
    /// Whether a filter chooses rows.
    pub(crate) filtered: bool,
    /// Accumulators that are not added up, each with the two whose difference it is.
    pub(crate) differences: BTreeMap<usize, (usize, usize)>,
}

impl SumPlan {
    /// The plan of these sums over `rows` rows, in blocks of `slots` rows, the last one padded. If
    /// `filtered`, rows are chosen by a filter that all sums share.
    ///
    /// # Errors
    /// [`IntegersError::Set`] unless there are as many slots as coefficients and the set supports
    /// computation modulo the prime and its square; [`IntegersError::Range`] if a product of single
    /// digits, or a number of rows that is counted, could reach p^2/2 over `rows` rows, or a sum
    /// 2^126; [`IntegersError::Sums`] past 65,536 sums of products of pieces;
    /// [`IntegersError::Parts`] for a term of a column that has no shape.
    pub fn new(
        shapes: Vec<Shape>,
        requests: &[SumRequest],
        slot_shape: &SlotShape,
        rows: usize,
        filtered: bool,
    ) -> Result<Self, IntegersError> {
        let unfit = || IntegersError::Set {
            name: format!("of index {}", slot_shape.ring_index()),
            problem: "sums of whole tables need a power of two as index, a slot for each \
                      coefficient and a plaintext modulus p^2: use bgv-65537-n15",
        };
        let slots = slot_shape.slots();
        if slot_shape.max_exponent() < 2 || SumPacking::new(slot_shape, 1).is_none() {
            return Err(unfit());
        }
        let modulus = PrimePower::new(slot_shape.plain_modulus(1), 2)?;
        let blocks = rows.div_ceil(slots).max(1);
        // Past 2^63 places nothing could be added up.
        let places = (blocks as u64).saturating_mul(slots as u64).min(i64::MAX as u64);
        let budget = (modulus.value() - 1) / 2 / places;
        let mut known: HashMap<Accumulator, usize> = HashMap::new();
        let (mut accumulators, mut bounds, mut totals) = (Vec::new(), Vec::new(), Vec::new());
        for request in requests {
            let sum = Expansion::new(&shapes, &request.terms, budget)?;
            let mut terms = Vec::new();
            let pads = i128::from(places) - rows as i128;
            let mut constant = far(pads.checked_mul(request.pad).map(|x| -x))?;
            for (pieces, weight, bound) in sum.terms() {
                if pieces.is_empty() && request.mask.is_none() && !filtered {
                    let all = far(weight.checked_mul(i128::from(places)))?;
                    constant = far(constant.checked_add(all))?;
                    continue;
                }
                if bound > budget {
                    return Err(refused(0, budget));
                }
                let accumulator = Accumulator { mask: request.mask, pieces };
                let place = *known.entry(accumulator.clone()).or_insert_with(|| {
                    accumulators.push(accumulator);
                    bounds.push(bound * places);
                    accumulators.len() - 1
                });
                terms.push((weight, place));
                if accumulators.len() > MOST_SUMS {
                    return Err(IntegersError::Sums { most: MOST_SUMS });
                }
            }
            let largest = terms.iter().try_fold(constant.abs(), |sum, (weight, place)| {
                sum.checked_add(weight.abs().checked_mul(i128::from(bounds[*place]))?)
            });
            far(largest)?;
            totals.push(Total { constant, terms });
        }
        let packed = PACKED.min(slots);
        let counts = (0..accumulators.len()).step_by(packed).map(|i| accumulators.len() - i);
        let packings = counts.map(|n| SumPacking::new(slot_shape, n.min(packed)));
        let packings = packings.collect::<Option<Vec<_>>>().ok_or_else(unfit)?;
        let differences = BTreeMap::new();
        let found = SumPlan {
            shapes,
            accumulators,
            bounds,
            totals,
            modulus,
            packings,
            packed,
            blocks,
            filtered,
            differences,
        };
        Ok(found)
    }

    /// The same plan where some truth values are not needed, because each is a difference: that of
    /// the truth values `whole`, or of 1 if there are none, and of the truth values `part`, for
    /// `masks` from the index to these two. Where the sums of the whole and of the part are in the
    /// same batch, their difference is taken, and the answer is the same.
    #[must_use]
    pub fn with_differences(mut self, masks: &BTreeMap<usize, (Option<usize>, usize)>) -> Self {
        let known = |mask: &usize| masks.contains_key(mask);
        for (place, sum) in self.accumulators.iter().enumerate() {
            let Some((whole, part)) = sum.mask.and_then(|mask| masks.get(&mask)) else { continue };
            if whole.as_ref().is_some_and(known) || known(part) {
                continue;
            }
            let first = place - place % self.packed;
            let end = self.accumulators.len().min(first + self.packed);
            let batch = &self.accumulators[first..end];
            let find = |mask: Option<usize>| {
                let same = |a: &Accumulator| a.mask == mask && a.pieces == sum.pieces;
                batch.iter().position(same).map(|i| first + i)
            };
            if let Some(pair) = find(*whole).zip(find(Some(*part))) {
                self.differences.insert(place, pair);
            }
        }
        self
    }

    /// The accumulators that are added up.
    pub(crate) fn added_up(&self) -> impl Iterator<Item = &Accumulator> {
        let (all, differences) = (self.accumulators.iter().enumerate(), &self.differences);
        all.filter(move |(i, _)| !differences.contains_key(i)).map(|(_, sum)| sum)
    }

    /// The number of ciphertexts of the answer.
    pub fn ciphertexts(&self) -> usize {
        self.packings.len()
    }

    /// The number of sums over all slots in the answer.
    pub fn sums(&self) -> usize {
        self.accumulators.len()
    }

    /// The number of batches of at most 256 sums, at least one. If one batch is added up after the
    /// other, each over all rows, at most 256 sums are in memory at a time.
    pub fn batches(&self) -> usize {
        self.packings.len().max(1)
    }

    /// A batch as a plan of its own, without totals, for [`Integers::accumulate`] and
    /// [`Integers::pack`], and the indices of the masks that it needs, in its order. The packed
    /// batches, one after the other, are the answer.
    ///
    /// [`Integers::accumulate`]: crate::Integers::accumulate
    /// [`Integers::pack`]: crate::Integers::pack
    pub fn batch(&self, number: usize) -> (SumPlan, Vec<usize>) {
        let count = self.accumulators.len();
        let range = count.min(number * self.packed)..count.min((number + 1) * self.packed);
        let first = range.start;
        let differences = self.differences.range(range.clone());
        let differences = differences.map(|(i, (a, b))| (i - first, (a - first, b - first)));
        let mut plan = SumPlan {
            shapes: self.shapes.clone(),
            accumulators: self.accumulators[range.clone()].to_vec(),
            bounds: self.bounds[range].to_vec(),
            totals: Vec::new(),
            modulus: self.modulus,
            packings: self.packings.get(number).cloned().into_iter().collect(),
            packed: self.packed,
            blocks: self.blocks,
            filtered: self.filtered,
            differences: differences.collect(),
        };
        let masks: BTreeSet<usize> = plan.added_up().filter_map(|a| a.mask).collect();
        let masks: Vec<usize> = masks.into_iter().collect();
        for accumulator in &mut plan.accumulators {
            accumulator.mask = accumulator.mask.and_then(|i| masks.binary_search(&i).ok());
        }
        (plan, masks)
    }

    /// The requested sums, from the coefficients of the plaintexts of the answer.
    ///
    /// # Errors
    /// [`IntegersError::Parts`] for another number of plaintexts; [`SchemeError::NotDecryptable`],
    /// after all sums were checked, for an impossible sum: a bound that was stated for an input
    /// does not hold, or the answer was modified on its way.
    pub fn totals(&self, plaintexts: &[impl AsRef<[u64]>]) -> Result<Vec<i128>, IntegersError> {
        if plaintexts.len() != self.packings.len() {
            let (found, expected) = (plaintexts.len(), self.packings.len());
            let problem = format!("{found} ciphertexts of sums instead of {expected}");
            return Err(IntegersError::Parts { problem });
        }
        let mut sums = Vec::with_capacity(self.accumulators.len());
        let mut possible = true;
        for (i, bound) in self.bounds.iter().enumerate() {
            let (number, place) = (i / self.packed, i % self.packed);
            let place = self.packings[number].place(place);
            let residue = plaintexts[number].as_ref().get(place).copied().unwrap_or(0);
            let value = self.modulus.centered(self.modulus.reduce_u64(residue));
            let held = value.unsigned_abs() <= *bound;
            possible &= held;
            sums.push(if held { i128::from(value) } else { 0 });
        }
        let total = |total: &Total| {
            total.terms.iter().fold(total.constant, |sum, (weight, i)| sum + weight * sums[*i])
        };
        let totals = self.totals.iter().map(total).collect();
        if possible { Ok(totals) } else { Err(SchemeError::NotDecryptable.into()) }
    }

    /// The packing of each ciphertext of the answer, with the range of its accumulators.
    pub(crate) fn groups(&self) -> impl Iterator<Item = (&SumPacking, std::ops::Range<usize>)> {
        let (count, packed) = (self.accumulators.len(), self.packed);
        let group = move |i: usize| i * packed..count.min((i + 1) * packed);
        self.packings.iter().enumerate().map(move |(i, packing)| (packing, group(i)))
    }
}
