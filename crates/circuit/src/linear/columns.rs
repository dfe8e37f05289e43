//! The split into baby and giant steps where the index is a power of two: by shifts of the columns,
//! and their conjugation.

use std::collections::BTreeSet;

use everlevel_ring::SlotShape;
use everlevel_scheme::DiagonalValues;

use super::{GiantSteps, LinearMap, LinearMapPlan, StepCosts};
use crate::error::CircuitError;
use crate::slots::{SlotMove, moved};

/// One way to split: `width` shifts a giant step, starting `start` below zero; conjugations as
/// babies or as giants.
#[derive(Clone, Copy)]
struct Split {
    width: usize,
    start: usize,
    swap_in_babies: bool,
}

impl LinearMapPlan {
    /// The cheapest split under `costs` of a map on the slots of `shape`, whose index is a power of
    /// two.
    ///
    /// # Errors
    /// [`CircuitError::PlanMismatch`] if the slots have other columns;
    /// [`CircuitError::TooManyKeys`] if no split stays within the number of keys;
    /// [`CircuitError::Empty`] for the zero map.
    pub fn new(
        map: &LinearMap,
        shape: &SlotShape,
        costs: &StepCosts,
    ) -> Result<Self, CircuitError> {
        if shape.columns() != map.columns || shape.axes().is_some() {
            return Err(CircuitError::PlanMismatch {
                reason: "a linear map is for another number of slots",
            });
        }
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
                    let moving = |set: &BTreeSet<SlotMove>| {
                        set.iter().filter(|g| **g != SlotMove::IDENTITY).count()
                    };
                    let keys = babies.union(&giants).filter(|g| **g != SlotMove::IDENTITY).count();
                    let cost = costs.baby * moving(&babies) as f64
                        + costs.giant * moving(&giants) as f64
                        + costs.key * keys as f64;
                    let better = best.is_none_or(|(c, k, _)| cost < c || (cost == c && keys < k));
                    if keys <= costs.max_keys && better {
                        best = Some((cost, keys, split));
                    }
                }
            }
        }
        let Some((cost, _, split)) = best else {
            return Err(CircuitError::TooManyKeys {
                diagonals: map.diagonals.len(),
                max_keys: costs.max_keys,
            });
        };
        Ok(Self::with_split(map, shape, stride, split, cost))
    }

    fn with_split(
        map: &LinearMap,
        shape: &SlotShape,
        stride: usize,
        split: Split,
        cost: f64,
    ) -> Self {
        let (babies, giants) = steps(map, stride, split);
        let (babies, giants): (Vec<_>, Vec<_>) =
            (babies.into_iter().collect(), giants.into_iter().collect());
        let mut rows = vec![vec![None; babies.len()]; giants.len()];
        for (by, diagonal) in map.diagonals() {
            let (baby, giant) = divide(by, map.columns, stride, split);
            if let (Ok(j), Ok(i)) = (giants.binary_search(&giant), babies.binary_search(&baby)) {
                rows[j][i] = Some(DiagonalValues::Periodic(moved(
                    diagonal,
                    giant.inverse(map.columns),
                    &map.ring,
                )));
            }
        }
        let elements =
            |moves: Vec<SlotMove>| moves.into_iter().map(|g| g.galois_element(shape)).collect();
        LinearMapPlan {
            modulus: map.modulus(),
            shape: shape.clone(),
            inputs: 1,
            babies: elements(babies),
            giants: GiantSteps::Sum(elements(giants)),
            rows,
            cost,
        }
    }
}

/// No giant step is wider: babies are held in memory all at once.
const WIDEST: usize = 64;

/// Where intervals may begin. Diagonals lie around zero or from zero on, so wide intervals are
/// centered or begin there.
fn starts(width: usize) -> impl Iterator<Item = usize> {
    (0..width).filter(move |s| width <= 16 || *s == 0 || *s == width / 2)
}

/// The largest power of two that divides all shifts (and the columns).
fn stride(map: &LinearMap) -> usize {
    let bits = map.diagonals.keys().map(|g| g.shift.trailing_zeros()).min().unwrap_or(0);
    map.columns.min(1usize.checked_shl(bits).unwrap_or(map.columns))
}

/// The baby and the giant step of a move. Shifts are taken in -columns/2 .. columns/2, so that the
/// diagonals of merged stages form one interval around zero.
fn divide(by: SlotMove, columns: usize, stride: usize, split: Split) -> (SlotMove, SlotMove) {
    let half = (columns / 2) as i64;
    let shift = by.shift as i64;
    let centered = (if shift > half { shift - columns as i64 } else { shift }) / stride as i64;
    let width = split.width as i64;
    let giant = (centered + split.start as i64).div_euclid(width) * width;
    let step =
        |k: i64, swap: bool| SlotMove { swap, ..SlotMove::rotation(k * stride as i64, columns) };
    (
        step(centered - giant, by.swap && split.swap_in_babies),
        step(giant, by.swap && !split.swap_in_babies),
    )
}

fn steps(map: &LinearMap, stride: usize, split: Split) -> (BTreeSet<SlotMove>, BTreeSet<SlotMove>) {
    map.diagonals.keys().map(|g| divide(*g, map.columns, stride, split)).unzip()
}
