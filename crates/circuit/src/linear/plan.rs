//! Linear maps split into baby and giant steps.

use std::collections::BTreeSet;

use everlevel_ring::{GaloisElement, SlotShape};
use everlevel_scheme::DiagonalValues;

use crate::modular::PrimePower;

/// What the steps of a linear map and their keys cost, relative to each other, and how many keys
/// they may use.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct StepCosts {
    /// One baby step: an inner product with a key, the decomposition being shared.
    pub baby: f64,
    /// One giant step: a whole key switch, with its decomposition.
    pub giant: f64,
    /// One distinct automorphism key: what its memory is worth.
    pub key: f64,
    /// The largest number of distinct automorphism keys of one map.
    pub max_keys: usize,
}

impl Default for StepCosts {
    /// A giant step at four baby steps, a key at one, and 14 keys: 9 x 7 steps for the 63 diagonals
    /// of five merged stages, 8 x 4 for the 32 of five cyclic ones.
    fn default() -> Self {
        StepCosts { baby: 1.0, giant: 4.0, key: 1.0, max_keys: 14 }
    }
}

/// The largest number of babies: they are held in memory all at once.
pub(super) const MOST_BABIES: usize = 48;

/// How the giant steps are put together.
#[derive(Clone, Debug, PartialEq)]
pub enum GiantSteps {
    /// Σ g_j(row j): a key for each of them.
    Sum(Vec<GaloisElement>),
    /// .. g_2(row 2 + g_1(row 1)), with a few automorphisms that are used repeatedly.
    Chain(Vec<GaloisElement>),
}

impl GiantSteps {
    /// The automorphisms, row by row.
    pub fn elements(&self) -> &[GaloisElement] {
        match self {
            GiantSteps::Sum(elements) | GiantSteps::Chain(elements) => elements,
        }
    }
}

/// A linear map split into baby and giant steps: `sum over giants g of g(sum over babies b of
/// diag * b(v))`, for several inputs v with the same babies for each.
///
/// The diagonals are stored moved back by their giant step, as g(a) * (gb)(v) = g(a * b(v)).
/// Evaluation costs one key switch a step that is not the identity (babies of one input share one
/// decomposition), one level. Source: Halevi–Shoup 2018 (ia.cr/2018/244), double hoisting as in
/// Bossuat et al. 2021 (ia.cr/2020/1203), section 4.
#[derive(Clone, Debug, PartialEq)]
pub struct LinearMapPlan {
    pub(super) modulus: PrimePower,
    pub(super) shape: SlotShape,
    pub(super) inputs: usize,
    pub(super) babies: Vec<GaloisElement>,
    pub(super) giants: GiantSteps,
    /// One row for each giant, one entry for each baby of each input.
    pub(super) rows: Vec<Vec<Option<DiagonalValues>>>,
    pub(super) cost: f64,
}

impl LinearMapPlan {
    /// The plaintext modulus.
    pub fn modulus(&self) -> PrimePower {
        self.modulus
    }

    /// The slots.
    pub fn shape(&self) -> &SlotShape {
        &self.shape
    }

    /// The number of inputs.
    pub fn inputs(&self) -> usize {
        self.inputs
    }

    /// The baby steps of each input, in the order of the entries of [`LinearMapPlan::rows`].
    pub fn babies(&self) -> &[GaloisElement] {
        &self.babies
    }

    /// The giant steps, in the order of [`LinearMapPlan::rows`].
    pub fn giants(&self) -> &GiantSteps {
        &self.giants
    }

    /// The diagonals, moved back by their giant step: one row for each giant, one entry for each
    /// baby of each input.
    pub fn rows(&self) -> &[Vec<Option<DiagonalValues>>] {
        &self.rows
    }

    /// The cost in the unit of [`StepCosts`].
    pub fn cost(&self) -> f64 {
        self.cost
    }

    /// The number of key switches: steps that are not the identity.
    pub fn key_switches(&self) -> usize {
        let moving =
            |elements: &[GaloisElement]| elements.iter().filter(|g| !g.is_identity()).count();
        self.inputs * moving(&self.babies) + moving(self.giants.elements())
    }

    /// The number of plaintext products.
    pub fn plain_products(&self) -> usize {
        self.rows.iter().flatten().flatten().count()
    }

    /// The automorphisms that need keys, without the identity, each once.
    pub fn galois_elements(&self) -> Vec<GaloisElement> {
        let set: BTreeSet<GaloisElement> =
            self.babies.iter().chain(self.giants.elements()).copied().collect();
        set.into_iter().filter(|g| !g.is_identity()).collect()
    }
}
