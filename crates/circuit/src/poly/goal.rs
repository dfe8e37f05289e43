//! The choice between programs for the same values.

use std::collections::BTreeMap;
use std::collections::btree_map::Entry;

use crate::error::CircuitError;
use crate::straight_line::Circuit;

/// How deep an evaluation may be.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DepthGoal {
    /// As shallow as possible, then as few products as possible.
    Least,
    /// This number of levels more than the least, then as few products as possible.
    Extra(u32),
    /// At most this number of levels, then as few products as possible.
    AtMost(u32),
}

/// The program of fewest products, then relinearizations, then levels, within the depth asked for;
/// of several outputs each is to be as shallow as it can be, or nearly. Programs of large
/// polynomials are large, so only the best of each depth is kept while they are made.
pub(crate) fn best(
    programs: impl IntoIterator<Item = Result<Circuit, CircuitError>>,
    goal: DepthGoal,
) -> Result<Circuit, CircuitError> {
    let key = |p: &Circuit| {
        let c = p.costs();
        (c.products, c.relinearizations, c.depth, c.scalar_products)
    };
    let mut by_depth: BTreeMap<Vec<u32>, Circuit> = BTreeMap::new();
    for program in programs {
        let program = program?;
        match by_depth.entry(program.output_depths()) {
            Entry::Vacant(place) => {
                place.insert(program);
            }
            Entry::Occupied(mut place) if key(&program) < key(place.get()) => {
                place.insert(program);
            }
            Entry::Occupied(_) => {}
        }
    }
    let deepest = |depths: &[u32]| depths.iter().copied().max().unwrap_or(0);
    let needed = by_depth.keys().map(|depths| deepest(depths)).min().unwrap_or(0);
    let outputs = by_depth.keys().next().map_or(0, Vec::len);
    let least: Vec<u32> =
        (0..outputs).map(|i| by_depth.keys().map(|depths| depths[i]).min().unwrap_or(0)).collect();
    let extra = match goal {
        DepthGoal::Least => 0,
        DepthGoal::Extra(levels) => levels,
        DepthGoal::AtMost(allowed) => {
            let within = by_depth.into_values().filter(|p| p.costs().depth <= allowed);
            return within.min_by_key(key).ok_or(CircuitError::TooDeep { allowed, needed });
        }
    };
    // Sharing powers may keep two outputs from being shallow at once: as few levels beyond the goal
    // as possible.
    let beyond = |depths: &[u32]| {
        depths.iter().zip(&least).map(|(d, l)| (d - l).saturating_sub(extra)).max()
    };
    let found = by_depth.into_iter().min_by_key(|(depths, p)| (beyond(depths), key(p)));
    found.map(|(_, program)| program).ok_or(CircuitError::Empty { what: "the list of programs" })
}
