//! Products of columns as sums of products of pieces of their digits.

use std::collections::BTreeMap;

use super::shape::{Shape, far};
use crate::column::BASE;
use crate::error::IntegersError;
use crate::interval::Interval;

/// The largest number of columns in a term.
const FACTORS: usize = 6;

/// Some neighboring digits of a column: Σ 16^i (d_(first + i) - their middle).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) struct Piece {
    pub(crate) column: usize,
    pub(crate) first: usize,
    pub(crate) count: usize,
}

/// The middle of a digit, which is subtracted from it in a piece.
pub(crate) fn middle((low, high): (i64, i64)) -> i64 {
    (low + high).div_euclid(2)
}

/// A sum of products of pieces.
pub(super) struct Expansion {
    /// Products of pieces, in order, with their factors and the largest absolute values of the
    /// products.
    terms: BTreeMap<Vec<Piece>, (i128, u64)>,
}

impl Expansion {
    /// The expansion of Σ k Π x into products of at most `budget` in absolute value.
    pub(super) fn new(
        shapes: &[Shape],
        terms: &[(i128, Vec<usize>)],
        budget: u64,
    ) -> Result<Self, IntegersError> {
        let mut out = Expansion { terms: BTreeMap::new() };
        for (k, columns) in terms {
            if columns.len() > FACTORS {
                return Err(refused(columns.len(), budget));
            }
            if let Some(place) = columns.iter().find(|place| **place >= shapes.len()) {
                let problem = format!("a term of column {place} of {} columns", shapes.len());
                return Err(IntegersError::Parts { problem });
            }
            // Each factor is a constant and what varies: a term for each choice.
            let varies: Vec<bool> = columns.iter().map(|c| digits(&shapes[*c]) > 0).collect();
            for chosen in 0u32..1 << columns.len() {
                let (mut weight, mut factors) = (*k, Vec::new());
                let mut void = false;
                for (i, column) in columns.iter().enumerate() {
                    if chosen >> i & 1 == 0 {
                        weight = far(weight.checked_mul(far(constant(&shapes[*column]))?))?;
                    } else {
                        void |= !varies[i];
                        factors.push(*column);
                    }
                }
                if weight != 0 && !void {
                    out.product(shapes, weight, &factors, budget)?;
                }
            }
        }
        out.terms.retain(|_, (weight, _)| *weight != 0);
        Ok(out)
    }

    pub(super) fn terms(self) -> impl Iterator<Item = (Vec<Piece>, i128, u64)> {
        self.terms.into_iter().map(|(pieces, (weight, bound))| (pieces, weight, bound))
    }

    /// `weight` times the product of the varying parts of some columns, in the widest pieces that
    /// fit.
    fn product(
        &mut self,
        shapes: &[Shape],
        weight: i128,
        columns: &[usize],
        budget: u64,
    ) -> Result<(), IntegersError> {
        let mut ways = vec![(Vec::new(), 1u128, 1usize)];
        // The fewest products: all widths of all columns, those left out that are too wide already.
        for column in columns {
            let shape = &shapes[*column];
            let mut next: Vec<(Vec<usize>, u128, usize)> = Vec::new();
            for (widths, bound, count) in &ways {
                for width in 1..=shape.windows.len() {
                    let bound = bound.saturating_mul(largest(shape, width));
                    if bound <= u128::from(budget) {
                        let count = count.saturating_mul(pieces(*column, shape, width).count());
                        next.push(([&widths[..], &[width]].concat(), bound, count));
                    }
                }
            }
            ways = next;
        }
        let best = ways.into_iter().min_by_key(|(_, bound, count)| (*count, *bound));
        let (widths, bound, _) = best.ok_or_else(|| refused(columns.len(), budget))?;
        let mut products: Vec<(Vec<Piece>, i128)> = vec![(Vec::new(), weight)];
        for (column, width) in columns.iter().zip(widths) {
            let mut next = Vec::new();
            for (known, weight) in &products {
                for piece in pieces(*column, &shapes[*column], width) {
                    let power = far(1i128.checked_shl(4 * piece.first as u32))?;
                    let weight = far(weight.checked_mul(power))?;
                    next.push(([&known[..], &[piece]].concat(), weight));
                }
            }
            products = next;
        }
        for (mut pieces, weight) in products {
            pieces.sort_unstable();
            let (sum, _) = self.terms.entry(pieces).or_insert((0, bound as u64));
            *sum = far(sum.checked_add(weight))?;
        }
        Ok(())
    }
}

/// The number of digits of a column that are not constant.
fn digits(shape: &Shape) -> usize {
    shape.windows.iter().filter(|(low, high)| low < high).count()
}

/// The value of a column with every digit in the middle of its window.
fn constant(shape: &Shape) -> Option<i128> {
    let middles = shape.windows.iter().rev().map(|w| i128::from(middle(*w)));
    let value = middles.fold(0i128, |v, m| v * i128::from(BASE) + m);
    shape.anchor.checked_add(value)
}

/// The pieces of a column, `width` digits each, without those that are constant.
fn pieces(column: usize, shape: &Shape, width: usize) -> impl Iterator<Item = Piece> {
    let count = shape.windows.len();
    (0..count).step_by(width).filter_map(move |first| {
        let count = width.min(count - first);
        let varies = shape.windows[first..first + count].iter().any(|(low, high)| low < high);
        varies.then_some(Piece { column, first, count })
    })
}

/// The largest absolute value of a piece of `width` digits.
fn largest(shape: &Shape, width: usize) -> u128 {
    let above = |(low, high): &(i64, i64)| (high - middle((*low, *high))) as u128;
    let piece = |windows: &[(i64, i64)]| {
        windows.iter().rev().fold(0u128, |v, w| v.saturating_mul(16).saturating_add(above(w)))
    };
    shape.windows.chunks(width).map(piece).max().unwrap_or(0)
}

/// The error for a product too large to be added up over all rows modulo p^2.
pub(super) fn refused(columns: usize, budget: u64) -> IntegersError {
    let allowed = Interval { low: -i128::from(budget), high: i128::from(budget) };
    IntegersError::Range {
        operation: "a sum over all rows",
        operands: match columns {
            0 => "truth values".into(),
            columns => format!("single digits of products of {columns} columns"),
        },
        allowed,
    }
}
