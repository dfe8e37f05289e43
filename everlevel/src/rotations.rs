//! Keys for rotations by any number of steps, in little memory.

use std::cmp::Reverse;
use std::collections::BTreeSet;

use everlevel_circuit::rotation_elements;
use everlevel_circuit::sums::PowerSum;
use everlevel_ring::GaloisElement;
use everlevel_scheme::{KeyPlan, Level, Params};

use crate::error::Error;
use crate::planner::KeyPlanner;

/// The least part of the largest modulus that a fresh ciphertext keeps when it is rotated.
const HIGH_SHARE: f64 = 0.9;
/// The largest number of bits of modulus that a bootstrapped ciphertext loses when it is rotated.
const NEAR_BITS: f64 = 16.0;
/// The largest number of bits between other levels, and what ciphertexts there lose.
const LADDER_BITS: f64 = 120.0;

#[cfg(feature = "unstable")]
impl KeyPlanner {
    /// Adds keys for rotations by any number of columns and sums of all slots, those of
    /// [`crate::general_rotations`] that add least to the keys found so far.
    ///
    /// # Errors
    /// None: the dimensions are those of the slots.
    pub fn general_rotations(mut self) -> Result<Self, Error> {
        let found = rotations_beside(&self.params, self.after.level, &self.keys)?;
        self.keys = self.keys.merge(&found);
        Ok(self)
    }
}

/// The keys of a server for programs that are not known in advance: for products at every level,
/// for bootstrapping if the set supports it, and for rotations by any number of columns and sums of
/// all slots ([`general_rotations`]). Where bootstrapping has keys for the same rotations, these
/// serve both: for `bgv-65537-n15` 127 MiB are added to the 948 of bootstrapping.
///
/// # Errors
/// A bootstrapping plan that does not fit the set.
pub fn general_keys(params: &Params) -> Result<KeyPlan, Error> {
    if params.spec().bootstrap.is_none() {
        let rotations = rotations_beside(params, params.chain().top(), &KeyPlan::default())?;
        return Ok(KeyPlan::relinearization(params).merge(&rotations));
    }
    let planner = KeyPlanner::new(params)?;
    let held = planner.keys();
    let rotations = rotations_beside(params, planner.after.level, &held)?;
    Ok(held.merge(&rotations))
}

/// Keys for rotations by any number of columns and for sums of all slots: rotations by powers of
/// two to the left, by one to the right, and the exchange of the rows; along other dimensions one
/// step each way, and the automorphisms that their sums need.
///
/// The keys do not exist at every level: a ciphertext is first switched down to a level with a key
/// ([`rotate_by_keys`](everlevel_circuit::rotate_by_keys)). There is such a level in the highest
/// tenth of the modulus, one within 16 bits below the modulus of `near`, the level where most
/// rotations are expected (after bootstrapping), and one for every 120 bits elsewhere, all of them
/// for all these automorphisms. Within these limits the levels with the smallest keys are chosen. A
/// key serves more levels than its own, those whose primes are among its own and that have the same
/// gadget: for `bgv-65537-n15`, keys of 17 MiB for each automorphism instead of 77 are at 710 of
/// 760 bits, at 296 where bootstrapping ends, and at most 50 bits below any level above 127 bits.
///
/// # Errors
/// None: the dimensions are those of the slots.
#[cfg(feature = "unstable")]
pub fn general_rotations(params: &Params, near: Level) -> Result<KeyPlan, Error> {
    rotations_beside(params, near, &KeyPlan::default())
}

/// Whether keys are general: for products at every level, for bootstrapping if the set supports it,
/// and for rotations and sums from levels as close to each other as those of [`general_keys`],
/// which all of these have. It plans no bootstrapping, so that it takes no time: where there are
/// keys that raise the modulus, the others of bootstrapping are taken to be there.
///
/// # Errors
/// None: the dimensions are those of the slots.
#[cfg(feature = "unstable")]
pub fn are_general(params: &Params, keys: &KeyPlan) -> Result<bool, Error> {
    let refreshes = keys.bootstrap || params.spec().bootstrap.is_none();
    if !refreshes || !keys.covers(&KeyPlan::relinearization(params)) {
        return Ok(false);
    }
    let elements = general_automorphisms(params)?;
    let held = Chosen::new(params, &elements, keys);
    // As such levels are chosen: one near the top, and from each level the next one below it.
    let top = held.bits(params.chain().top());
    let mut next = held.served(HIGH_SHARE * top, top);
    while let Some(level) = next.filter(|&level| level > Level(0)) {
        let below = held.bits(Level(level.0 - 1));
        next = held.served(below - LADDER_BITS, below);
    }
    Ok(next.is_some())
}

/// [`general_rotations`] without what `held` has of them, beside which they add least.
fn rotations_beside(params: &Params, near: Level, held: &KeyPlan) -> Result<KeyPlan, Error> {
    let elements = general_automorphisms(params)?;
    let mut plan = KeyPlan::default();
    if !elements.is_empty() {
        for level in Chosen::new(params, &elements, held).levels(near) {
            elements.iter().for_each(|&g| plan.add_galois(params, g, level));
        }
    }
    Ok(plan)
}

fn general_automorphisms(params: &Params) -> Result<BTreeSet<GaloisElement>, Error> {
    let shape = params.slot_shape();
    let mut elements = BTreeSet::from([shape.swap_rows()]);
    for (dimension, found) in shape.dimensions().iter().enumerate() {
        elements.extend(PowerSum::along(shape, dimension)?.galois_elements());
        let last = dimension + 1 == shape.dimensions().len();
        let powers =
            (0..usize::BITS - 1).map(|i| 1i64 << i).take_while(|&k| last && k < found.size as i64);
        for k in powers.chain([1, -1]) {
            elements.extend(rotation_elements(shape, dimension, k)?);
        }
    }
    elements.retain(|g| !g.is_identity());
    Ok(elements)
}

/// Levels with keys for some automorphisms, as they are chosen.
struct Chosen<'a> {
    params: &'a Params,
    elements: &'a BTreeSet<GaloisElement>,
    /// The keys for these automorphisms that are held or chosen.
    plan: KeyPlan,
    levels: Vec<Level>,
}

impl<'a> Chosen<'a> {
    /// None yet, beside the keys of `held`.
    fn new(params: &'a Params, elements: &'a BTreeSet<GaloisElement>, held: &KeyPlan) -> Self {
        let mut plan = KeyPlan::default();
        let own = held.galois.iter().filter(|((g, _), _)| elements.contains(g));
        plan.galois.extend(own.map(|(key, basis)| (*key, *basis)));
        Chosen { params, elements, plan, levels: Vec::new() }
    }

    fn bits(&self, level: Level) -> f64 {
        self.params.modulus_bits(level)
    }

    /// The levels of (low, high] in bits, lowest first.
    fn window(&self, low: f64, high: f64) -> impl Iterator<Item = Level> {
        let within = move |level: &Level| self.bits(*level) > low && self.bits(*level) <= high;
        (0..=self.params.chain().top().0).map(Level).filter(within)
    }

    /// The keys with those for all automorphisms at a level.
    fn with(&self, level: Level) -> KeyPlan {
        let mut plan = self.plan.clone();
        self.elements.iter().for_each(|&g| plan.add_galois(self.params, g, level));
        plan
    }

    /// Whether there are keys for all automorphisms at a level.
    fn serves(&self, level: Level) -> bool {
        let chain = self.params.chain();
        let (id, needed) = (chain.gadget_id(level), chain.basis(level));
        let held = |g: &GaloisElement| self.plan.galois.get(&(*g, id));
        self.elements.iter().all(|g| held(g).is_some_and(|basis| needed.is_subset(*basis)))
    }

    /// The lowest level of (low, high] in bits at which there are keys for all automorphisms.
    fn served(&self, low: f64, high: f64) -> Option<Level> {
        self.window(low, high).find(|level| self.serves(*level))
    }

    /// Chooses the level of (low, high] that adds least to the keys, the highest of several.
    fn choose(&mut self, low: f64, high: f64) -> Option<Level> {
        let added = |level: &Level| (self.with(*level).seeded_bytes(self.params), Reverse(*level));
        let best = self.window(low, high).min_by_key(added)?;
        self.plan = self.with(best);
        self.levels.push(best);
        Some(best)
    }

    /// The levels, in the order of choice.
    fn levels(mut self, near: Level) -> Vec<Level> {
        let (top, near) = (self.bits(self.params.chain().top()), self.bits(near));
        // What is near the top is high enough.
        let high = match near - NEAR_BITS > HIGH_SHARE * top {
            true => None,
            false => self.choose(HIGH_SHARE * top, top),
        };
        let mut next = high.max(self.choose(near - NEAR_BITS, near));
        while let Some(level) = next.filter(|&level| level > Level(0)) {
            let below = self.bits(Level(level.0 - 1));
            // As far down as the keys reach that there are.
            let served = self.served(below - LADDER_BITS, below);
            next = served.or_else(|| self.choose(below - LADDER_BITS, below));
        }
        self.levels
    }
}
