//! The rings over which sets are constructed.

use std::collections::BTreeMap;

use everlevel_arith::primes;
use everlevel_ring::SlotShape;

use crate::error::Error;
use crate::indices::{FoundIndex, IndexSearch};

/// A ring with enough slots.
#[derive(Clone, Debug)]
pub(super) struct Place {
    /// m.
    pub(super) index: u64,
    /// n.
    pub(super) degree: usize,
    /// Its name in names of sets.
    pub(super) label: String,
}

impl Place {
    fn new(index: u64, degree: usize) -> Self {
        let label = match index.is_power_of_two() {
            true => format!("n{}", degree.ilog2()),
            false => format!("m{index}"),
        };
        Place { index, degree, label }
    }

    /// Whether the linear map of bootstrapping along the carrier has few enough words. Over an odd
    /// index it has D diagonals for D slots along the last dimension, or 2 D - 1 if this is a bad
    /// one, of as many words as the carrier has coefficients. Maps over powers of two are
    /// butterflies, and those along the other axes have fewer words than the ring.
    pub(super) fn has_small_maps(&self, p: u64) -> bool {
        if self.index.is_power_of_two() {
            return true;
        }
        let Ok(dimensions) = SlotShape::dimensions_of(self.index, p) else { return false };
        let slots: usize = dimensions.iter().map(|dimension| dimension.size).product();
        dimensions.last().is_some_and(|last| {
            let diagonals = if last.good { last.size } else { 2 * last.size - 1 };
            diagonals * last.size * (self.degree / slots) <= MOST_WORDS
        })
    }
}

/// The most words of the diagonals of one linear map of a set that is made: over 30 primes they
/// take 4 GB. To encode more takes minutes or hours, in every dry run: for p = 2 the carrier of the
/// index 65537 has 4095 diagonals of 65536 words, with as many word products for each word.
const MOST_WORDS: usize = 1 << 24;

/// The odd indices that are considered, with degrees in the range of those of powers of two.
const ODD_BELOW: u64 = 1 << 17;
/// The number of odd indices for every doubling of the degree.
const STEPS: f64 = 4.0;

/// Rings of power-of-two index with at least `slots` slots modulo powers of p, of degree 2^10 to
/// 2^17; if there are none, rings of odd index, for every step of degrees the one with the cheapest
/// transforms. Sorted by degree.
pub(super) fn places(p: u64, slots: usize) -> Result<Vec<Place>, Error> {
    let powers = powers_of_two(p).filter(|(_, found)| *found >= slots);
    let powers: Vec<Place> = powers.map(|(log_n, _)| Place::new(2 << log_n, 1 << log_n)).collect();
    if powers.is_empty() { odd(p, slots) } else { Ok(powers) }
}

/// The ring of an index, and its number of slots modulo powers of p.
///
/// # Errors
/// An index without a ring that has such slots.
#[cfg(feature = "unstable")]
pub(super) fn single(p: u64, index: u64) -> Result<(Place, usize), Error> {
    let dimensions = SlotShape::dimensions_of(index, p)?;
    let slots = dimensions.iter().map(|dimension| dimension.size).product();
    Ok((Place::new(index, everlevel_ring::Ring::degree_of(index)?), slots))
}

/// The largest number of slots that a ring of power-of-two index has modulo powers of p.
fn most_in_powers_of_two(p: u64) -> usize {
    powers_of_two(p).map(|(_, slots)| slots).max().unwrap_or(0)
}

/// log2 n and the number of slots; empty for p = 2, which divides these indices.
fn powers_of_two(p: u64) -> impl Iterator<Item = (u32, usize)> {
    (10..=17).filter_map(move |log_n| {
        SlotShape::new(2 << log_n, p, 1).ok().map(|shape| (log_n, shape.slots()))
    })
}

/// Why there is no ring with more slots modulo powers of p.
pub(super) fn few_slots(p: u64) -> String {
    format!(
        "rings of power-of-two index have at most {} slots modulo powers of {p}, and no ring of \
         odd, square-free index below 2^17 in which one axis carries Frobenius has as many: ask \
         for fewer",
        most_in_powers_of_two(p)
    )
}

/// What is expected of a plaintext modulus.
pub(super) const MODULUS: &str =
    "plain_modulus: expected a power of a prime below 2^50, of at most 2^64";

/// (p, r) if this is p^r of at most 2^64 with p below 2^50.
pub(super) fn prime_power(modulus: u128) -> Option<(u64, u32)> {
    if modulus == 1 << 64 {
        return Some((2, 64));
    }
    match primes::factor(u64::try_from(modulus).ok()?).as_slice() {
        &[(p, r)] if p >> 50 == 0 => Some((p, r)),
        _ => None,
    }
}

fn odd(p: u64, slots: usize) -> Result<Vec<Place>, Error> {
    let search = IndexSearch { p, slots_at_least: slots, degree_of: 1, index_below: ODD_BELOW };
    let mut best: BTreeMap<u64, FoundIndex> = BTreeMap::new();
    // With square factors diagonals vary along their axes, and transforms are matrices.
    for ring in search.run()?.into_iter().filter(|ring| ring.has_cheap_maps(p)) {
        let step = (STEPS * (ring.n as f64).log2()) as u64;
        let cost = |ring: &FoundIndex| ring.n as u64 * ring.transform_radices;
        if best.get(&step).is_none_or(|known| cost(&ring) < cost(known)) {
            best.insert(step, ring);
        }
    }
    let mut places: Vec<Place> =
        best.into_values().map(|ring| Place::new(ring.m, ring.n)).collect();
    places.sort_by_key(|place| place.degree);
    Ok(places)
}
