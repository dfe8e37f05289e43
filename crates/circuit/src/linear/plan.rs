//! The split of a linear map into baby and giant steps.

use std::collections::BTreeSet;

use everlevel_ring::{GaloisElement, GaussianRing, SlotShape};
use everlevel_scheme::PeriodicSlots;

use super::LinearMap;
use crate::error::CircuitError;
use crate::modular::PrimePower;
use crate::slots::{SlotMove, moved};

/// What the steps of a linear map and their keys cost, relative to each other, and how many keys they may use.
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
    /// A giant step at four baby steps, a key at one, and 14 keys: 9 x 7 steps for the 63 diagonals of five merged stages,
    /// 8 x 4 for the 32 of five cyclic ones.
    fn default() -> Self {
        StepCosts { baby: 1.0, giant: 4.0, key: 1.0, max_keys: 14 }
    }
}

/// A linear map split into baby and giant steps: `sum over giants g of g(sum over babies b of diag * b(v))`.
///
/// The diagonals are stored moved back by their giant step, as g(a) * (gb)(v) = g(a * b(v)). Evaluation costs one key
/// switch a step that is not the identity (babies share one decomposition), one level.
/// Source: Halevi–Shoup 2018 (ia.cr/2018/244), double hoisting as in Bossuat et al. 2021 (ia.cr/2020/1203), section 4.
#[derive(Clone, Debug, PartialEq)]
pub struct LinearMapPlan {
    ring: GaussianRing,
    columns: usize,
    babies: Vec<SlotMove>,
    giants: Vec<SlotMove>,
    /// One row for each giant, one entry for each baby.
    rows: Vec<Vec<Option<PeriodicSlots>>>,
    cost: f64,
}

/// One way to split: `width` shifts a giant step, starting `start` below zero; conjugations as babies or as giants.
#[derive(Clone, Copy)]
struct Split {
    width: usize,
    start: usize,
    swap_in_babies: bool,
}

impl LinearMapPlan {
    /// The cheapest split under `costs`.
    ///
    /// # Errors
    /// [`CircuitError::TooManyKeys`] if no split stays within the number of keys; [`CircuitError::Empty`] for the zero map.
    pub fn new(map: &LinearMap, costs: &StepCosts) -> Result<Self, CircuitError> {
        if map.diagonals.is_empty() {
            return Err(CircuitError::Empty { what: "the set of diagonals" });
        }
        let stride = stride(map);
        let positions = map.columns / stride;
        let mut best: Option<(f64, usize, Split)> = None;
        for swap_in_babies in [false, true] {
            for width in 1..=positions.min(WIDEST) {
                for start in starts(width) {
                    let split = Split { width, start, swap_in_babies };
                    let (babies, giants) = steps(map, stride, split);
                    let moving = |set: &BTreeSet<SlotMove>| set.iter().filter(|g| **g != SlotMove::IDENTITY).count();
                    let keys = babies.union(&giants).filter(|g| **g != SlotMove::IDENTITY).count();
                    let cost =
                        costs.baby * moving(&babies) as f64 + costs.giant * moving(&giants) as f64 + costs.key * keys as f64;
                    let better = best.is_none_or(|(c, k, _)| cost < c || (cost == c && keys < k));
                    if keys <= costs.max_keys && better {
                        best = Some((cost, keys, split));
                    }
                }
            }
        }
        let Some((cost, _, split)) = best else {
            return Err(CircuitError::TooManyKeys { diagonals: map.diagonals.len(), max_keys: costs.max_keys });
        };
        Ok(Self::with_split(map, stride, split, cost))
    }
    fn with_split(map: &LinearMap, stride: usize, split: Split, cost: f64) -> Self {
        let (babies, giants) = steps(map, stride, split);
        let (babies, giants): (Vec<_>, Vec<_>) = (babies.into_iter().collect(), giants.into_iter().collect());
        let mut rows = vec![vec![None; babies.len()]; giants.len()];
        for (by, diagonal) in map.diagonals() {
            let (baby, giant) = divide(by, map.columns, stride, split);
            if let (Ok(j), Ok(i)) = (giants.binary_search(&giant), babies.binary_search(&baby)) {
                rows[j][i] = Some(moved(diagonal, giant.inverse(map.columns), &map.ring));
            }
        }
        LinearMapPlan { ring: map.ring, columns: map.columns, babies, giants, rows, cost }
    }
    /// The plaintext modulus.
    pub fn modulus(&self) -> PrimePower {
        self.ring.modulus()
    }
    /// The number of columns of the slots.
    pub fn columns(&self) -> usize {
        self.columns
    }
    /// The baby steps, in the order of the entries of [`LinearMapPlan::rows`].
    pub fn babies(&self) -> &[SlotMove] {
        &self.babies
    }
    /// The giant steps, in the order of [`LinearMapPlan::rows`].
    pub fn giants(&self) -> &[SlotMove] {
        &self.giants
    }
    /// The diagonals, moved back by their giant step: one row for each giant, one entry for each baby.
    pub fn rows(&self) -> &[Vec<Option<PeriodicSlots>>] {
        &self.rows
    }
    /// The cost in the unit of [`StepCosts`].
    pub fn cost(&self) -> f64 {
        self.cost
    }
    /// The number of key switches: steps that are not the identity.
    pub fn key_switches(&self) -> usize {
        self.babies.iter().chain(&self.giants).filter(|g| **g != SlotMove::IDENTITY).count()
    }
    /// The number of plaintext products.
    pub fn plain_products(&self) -> usize {
        self.rows.iter().flatten().flatten().count()
    }
    /// The automorphisms that need keys, without the identity, each once.
    pub fn galois_elements(&self, shape: &SlotShape) -> Vec<GaloisElement> {
        let set: BTreeSet<SlotMove> = self.babies.iter().chain(&self.giants).copied().collect();
        set.into_iter().filter(|g| *g != SlotMove::IDENTITY).map(|g| g.galois_element(shape)).collect()
    }
}

/// No giant step is wider: babies are held in memory all at once.
const WIDEST: usize = 64;

/// Where intervals may begin. Diagonals lie around zero or from zero on, so wide intervals are centered or begin there.
fn starts(width: usize) -> impl Iterator<Item = usize> {
    (0..width).filter(move |s| width <= 16 || *s == 0 || *s == width / 2)
}

/// The largest power of two that divides all shifts (and the columns).
fn stride(map: &LinearMap) -> usize {
    let bits = map.diagonals.keys().map(|g| g.shift.trailing_zeros()).min().unwrap_or(0);
    map.columns.min(1usize.checked_shl(bits).unwrap_or(map.columns))
}

/// The baby and the giant step of a move. Shifts are taken in -columns/2 .. columns/2, so that the diagonals of merged
/// stages form one interval around zero.
fn divide(by: SlotMove, columns: usize, stride: usize, split: Split) -> (SlotMove, SlotMove) {
    let half = (columns / 2) as i64;
    let shift = by.shift as i64;
    let centered = (if shift > half { shift - columns as i64 } else { shift }) / stride as i64;
    let width = split.width as i64;
    let giant = (centered + split.start as i64).div_euclid(width) * width;
    let step = |k: i64, swap: bool| SlotMove { swap, ..SlotMove::rotation(k * stride as i64, columns) };
    (step(centered - giant, by.swap && split.swap_in_babies), step(giant, by.swap && !split.swap_in_babies))
}

fn steps(map: &LinearMap, stride: usize, split: Split) -> (BTreeSet<SlotMove>, BTreeSet<SlotMove>) {
    map.diagonals.keys().map(|g| divide(*g, map.columns, stride, split)).unzip()
}
