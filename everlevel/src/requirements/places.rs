//! The rings over which sets are constructed.

use std::collections::BTreeMap;

use everlevel_ring::SlotShape;

use crate::error::Error;
use crate::indices::{FoundIndex, IndexSearch};

/// A ring with enough slots.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Place {
    /// m.
    pub(super) index: u64,
    /// n.
    pub(super) degree: usize,
    /// Its name in names of sets.
    pub(super) label: String,
}

/// The odd indices that are considered, with degrees in the range of those of powers of two.
const ODD_BELOW: u64 = 1 << 17;
/// The number of odd indices for every doubling of the degree.
const STEPS: f64 = 4.0;

/// Rings of power-of-two index with at least `slots` slots modulo powers of p, of degree 2^10 to
/// 2^17; if there are none, rings of odd index, for every step of degrees the one with the cheapest
/// transforms. Sorted by degree.
pub(super) fn places(p: u64, slots: usize) -> Result<Vec<Place>, Error> {
    let powers = powers_of_two(p).filter(|(_, found)| *found >= slots);
    let powers: Vec<Place> = powers
        .map(|(log_n, _)| Place {
            index: 2 << log_n,
            degree: 1 << log_n,
            label: format!("n{log_n}"),
        })
        .collect();
    if powers.is_empty() { odd(p, slots) } else { Ok(powers) }
}

/// The largest number of slots that a ring of power-of-two index has modulo powers of p.
pub(super) fn most_in_powers_of_two(p: u64) -> usize {
    powers_of_two(p).map(|(_, slots)| slots).max().unwrap_or(0)
}

/// log2 n and the number of slots; empty for p = 2, which divides these indices.
fn powers_of_two(p: u64) -> impl Iterator<Item = (u32, usize)> {
    (10..=17).filter_map(move |log_n| {
        SlotShape::new(2 << log_n, p, 1).ok().map(|shape| (log_n, shape.slots()))
    })
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
    let place =
        |ring: FoundIndex| Place { index: ring.m, degree: ring.n, label: format!("m{}", ring.m) };
    let mut places: Vec<Place> = best.into_values().map(place).collect();
    places.sort_by_key(|place| place.degree);
    Ok(places)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn powers_of_two_come_first_and_odd_indices_have_the_slots() {
        let labels = |p, slots| -> Vec<String> {
            places(p, slots).unwrap().into_iter().map(|place| place.label).collect()
        };
        assert_eq!(labels(65537, 1 << 15), ["n15", "n16", "n17"]);
        for (p, slots) in [(2, 1000), (2, 1), (257, 1000), (17, 1500)] {
            let found = places(p, slots).unwrap();
            assert!(found.len() > 3 && found.is_sorted_by_key(|place| place.degree), "{p}");
            for place in found {
                let shape = SlotShape::new(place.index, p, 1).unwrap();
                assert!(place.index % 2 == 1 && shape.slots() >= slots, "{place:?}");
                assert_eq!(shape.slots() * shape.degree_of_slot(), place.degree, "{place:?}");
            }
        }
        assert_eq!(places(2, 1 << 17).unwrap(), []);
        assert_eq!((most_in_powers_of_two(2), most_in_powers_of_two(257)), (0, 128));
    }
}
