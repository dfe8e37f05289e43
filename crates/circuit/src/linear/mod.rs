//! Linear maps on slots: sparse sums of diagonals, their composition, and their evaluation by baby
//! and giant steps.
//!
//! A map is `out = sum over moves g of diag_g * g(v)` (slotwise products). Where the index is a
//! power of two it acts on vectors over the base ring, a Gaussian integer modulo p^e for each
//! column of slots ([`GaussianRing`]): two residues, or one element of GR(p^e, 2); that is a
//! [`LinearMap`]. Where the index has axes it acts on whole slots, and its diagonals vary along the
//! last dimensions only: an [`AxisMap`]. These are the mathematics; [`LinearMapPlan`] fixes the
//! split into baby and giant steps, [`PreparedLinearMap`] holds the diagonals as one scheme wants
//! them.

mod axis_map;
mod columns;
mod last_dimensions;
mod plan;
mod prepared;
mod spans;

use std::collections::BTreeMap;

use everlevel_ring::GaussianRing;
use everlevel_scheme::PeriodicSlots;

use crate::error::CircuitError;
use crate::modular::PrimePower;
use crate::slots::{SlotMove, moved, product, shrunk, sum};

pub use axis_map::{AxisMap, Direction, Span};
pub(crate) use last_dimensions::LastDimensions;
pub use plan::{GiantSteps, LinearMapPlan, StepCosts};
pub use prepared::PreparedLinearMap;

/// A Z-linear map on vectors of slots of the base ring modulo p^e, as its non-zero diagonals.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LinearMap {
    ring: GaussianRing,
    columns: usize,
    diagonals: BTreeMap<SlotMove, PeriodicSlots>,
}

impl LinearMap {
    /// The map with the given diagonals on `columns` columns of slots; diagonals of one move are
    /// added.
    ///
    /// # Errors
    /// [`CircuitError::BadDiagonal`] if a period does not divide the columns or has not two values
    /// for each column; [`CircuitError::UnsupportedShape`] unless `columns` is a power of two;
    /// [`CircuitError::Ring`] if p is 2.
    pub fn new(
        modulus: PrimePower,
        columns: usize,
        diagonals: impl IntoIterator<Item = (SlotMove, PeriodicSlots)>,
    ) -> Result<Self, CircuitError> {
        if !columns.is_power_of_two() {
            return Err(CircuitError::UnsupportedShape { columns });
        }
        let mut map =
            LinearMap { ring: GaussianRing::new(modulus)?, columns, diagonals: BTreeMap::new() };
        for (by, mut diagonal) in diagonals {
            let PeriodicSlots { period, ref values } = diagonal;
            if period == 0 || !columns.is_multiple_of(period) || values.len() != 2 * period {
                return Err(CircuitError::BadDiagonal { period, values: values.len(), columns });
            }
            diagonal.values.iter_mut().for_each(|x| *x = modulus.reduce_u64(*x));
            map.accumulate(SlotMove { shift: by.shift % columns, swap: by.swap }, diagonal);
        }
        map.clean();
        Ok(map)
    }

    fn accumulate(&mut self, by: SlotMove, diagonal: PeriodicSlots) {
        let ring = self.ring;
        self.diagonals
            .entry(by)
            .and_modify(|old| *old = sum(old, &diagonal, &ring))
            .or_insert(diagonal);
    }

    fn clean(&mut self) {
        self.diagonals.retain(|_, d| d.values.iter().any(|&x| x != 0));
        for d in self.diagonals.values_mut() {
            *d = shrunk(std::mem::replace(d, PeriodicSlots { period: 1, values: vec![0; 2] }));
        }
    }

    /// The plaintext modulus.
    pub fn modulus(&self) -> PrimePower {
        self.ring.modulus()
    }

    /// The arithmetic of a column.
    pub fn ring(&self) -> GaussianRing {
        self.ring
    }

    /// The number of columns of the slots.
    pub fn columns(&self) -> usize {
        self.columns
    }

    /// The non-zero diagonals by their moves.
    pub fn diagonals(&self) -> impl ExactSizeIterator<Item = (SlotMove, &PeriodicSlots)> {
        self.diagonals.iter().map(|(g, d)| (*g, d))
    }

    /// The largest period of a diagonal: what the diagonals cost to hold.
    pub fn period(&self) -> usize {
        self.diagonals.values().map(|d| d.period).max().unwrap_or(1)
    }

    /// The composition "first this map, then `next`": a product of sparse matrices, at most
    /// (diagonals of one) times (diagonals of the other) diagonals, with the larger period.
    ///
    /// # Errors
    /// [`CircuitError::ShapeMismatch`] or [`CircuitError::ModulusMismatch`] if the maps act on
    /// different vectors.
    pub fn then(&self, next: &LinearMap) -> Result<LinearMap, CircuitError> {
        if self.columns != next.columns {
            return Err(CircuitError::ShapeMismatch { left: self.columns, right: next.columns });
        }
        if self.ring != next.ring {
            return Err(CircuitError::ModulusMismatch {
                expected: self.modulus().wide(),
                found: next.modulus().wide(),
            });
        }
        let mut out = LinearMap { diagonals: BTreeMap::new(), ..*self };
        for (a, outer) in &next.diagonals {
            for (b, inner) in &self.diagonals {
                // outer * a(inner * b(v)) = (outer * a(inner)) * (ab)(v)
                out.accumulate(
                    a.then(*b, self.columns),
                    product(outer, &moved(inner, *a, &self.ring), &self.ring),
                );
            }
        }
        out.clean();
        Ok(out)
    }

    /// The map followed by the multiplication of every slot by `factor`.
    pub fn scaled(&self, factor: u64) -> LinearMap {
        let mut out = self.clone();
        let t = self.modulus();
        out.diagonals
            .values_mut()
            .flat_map(|d| d.values.iter_mut())
            .for_each(|x| *x = t.mul(*x, factor));
        out.clean();
        out
    }

    /// The same map on vectors that repeat with `period` columns, a divisor of the columns:
    /// rotations that are equal on those become one, by the smaller shift.
    pub(crate) fn on_period(self, period: usize) -> LinearMap {
        let mut out = LinearMap { diagonals: BTreeMap::new(), ..self };
        for (by, diagonal) in self.diagonals {
            let shift = (by.shift % period) as i64;
            let shift = if shift > period as i64 / 2 { shift - period as i64 } else { shift };
            out.accumulate(
                SlotMove { swap: by.swap, ..SlotMove::rotation(shift, self.columns) },
                diagonal,
            );
        }
        out.clean();
        out
    }

    /// The map on plain values, those of column j at positions j and columns + j: the oracle of the
    /// encrypted evaluation.
    ///
    /// # Errors
    /// [`CircuitError::SlotCount`] if `v` has not 2 * columns values.
    pub fn apply_plain(&self, v: &[u64]) -> Result<Vec<u64>, CircuitError> {
        let columns = self.columns;
        if v.len() != 2 * columns {
            return Err(CircuitError::SlotCount { expected: 2 * columns, found: v.len() });
        }
        let v = PeriodicSlots { period: columns, values: v.to_vec() };
        let zero = PeriodicSlots { period: columns, values: vec![0; 2 * columns] };
        let add = |out, (g, d): (&SlotMove, &PeriodicSlots)| {
            sum(&out, &product(d, &moved(&v, *g, &self.ring), &self.ring), &self.ring)
        };
        Ok(self.diagonals.iter().fold(zero, add).values)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use everlevel_testing::SplitMix;

    fn random_map(rng: &mut SplitMix, t: PrimePower, columns: usize, shifts: &[i64]) -> LinearMap {
        let mut diagonals = Vec::new();
        for (k, &s) in shifts.iter().enumerate() {
            let period = columns >> (k % 3);
            let values = (0..2 * period).map(|_| rng.below(t.value())).collect();
            let by = SlotMove { swap: k % 2 == 1, ..SlotMove::rotation(s, columns) };
            diagonals.push((by, PeriodicSlots { period, values }));
        }
        LinearMap::new(t, columns, diagonals).unwrap()
    }

    #[test]
    fn composition_is_application_twice() {
        for (p, e) in [(257, 2), (127, 8), (3, 1)] {
            let t = PrimePower::new(p, e).unwrap();
            let mut rng = SplitMix(5);
            let a = random_map(&mut rng, t, 16, &[0, 0, 3, -2, 5]);
            let b = random_map(&mut rng, t, 16, &[1, 7, -7, 4]);
            let v: Vec<u64> = (0..32).map(|_| rng.below(t.value())).collect();
            let twice = b.apply_plain(&a.apply_plain(&v).unwrap()).unwrap();
            assert_eq!(a.then(&b).unwrap().apply_plain(&v).unwrap(), twice);
            let scaled = a.scaled(7).apply_plain(&v).unwrap();
            assert!(scaled.iter().zip(a.apply_plain(&v).unwrap()).all(|(s, x)| *s == t.mul(7, x)));
            // On a vector of period 4 all rotations are among -1..=2.
            let repeated: Vec<u64> = (0..32).map(|i| v[i / 16 * 4 + i % 4]).collect();
            let folded = a.clone().on_period(4);
            assert_eq!(folded.apply_plain(&repeated), a.apply_plain(&repeated));
            assert!(folded.diagonals().all(|(g, _)| [15, 0, 1, 2].contains(&g.shift)));
        }
    }

    #[test]
    fn a_map_is_a_sum_of_moved_and_scaled_vectors() {
        // Columns hold a + b i modulo 7; out[j] = (2 + i) v[j] + conj v[j + 1].
        let t = PrimePower::new(7, 1).unwrap();
        let constant = |re, im| PeriodicSlots { period: 1, values: vec![re, im] };
        let by = SlotMove { shift: 1, swap: true };
        let map =
            LinearMap::new(t, 2, [(SlotMove::IDENTITY, constant(2, 1)), (by, constant(1, 0))])
                .unwrap();
        // (2 + i)(3 + 5i) + (1 - 4i) = 1 + 13i + 1 - 4i, (2 + i)(1 + 4i) + (3 - 5i) = -2 + 9i + 3 -
        // 5i
        assert_eq!(map.apply_plain(&[3, 1, 5, 4]).unwrap(), [2, 1, 2, 4]);
        // Two rows modulo 5: 2 and 1 times, and the other row of the next column.
        let t = PrimePower::new(5, 1).unwrap();
        let map =
            LinearMap::new(t, 2, [(SlotMove::IDENTITY, constant(2, 1)), (by, constant(1, 1))])
                .unwrap();
        assert_eq!(
            map.apply_plain(&[3, 1, 2, 4]).unwrap(),
            [(6 + 4) % 5, 2 + 2, (2 + 1), (4 + 3) % 5]
        );
    }

    #[test]
    fn bad_diagonals_are_refused() {
        let t = PrimePower::new(257, 1).unwrap();
        for (period, len) in [(0, 0), (3, 6), (32, 64), (4, 7)] {
            let d = PeriodicSlots { period, values: vec![1; len] };
            assert!(matches!(
                LinearMap::new(t, 16, [(SlotMove::IDENTITY, d)]),
                Err(CircuitError::BadDiagonal { .. })
            ));
        }
        assert!(LinearMap::new(t, 12, []).is_err());
        assert!(LinearMap::new(PrimePower::new(2, 4).unwrap(), 16, []).is_err());
        let a = LinearMap::new(t, 16, []).unwrap();
        assert!(a.then(&LinearMap::new(t, 8, []).unwrap()).is_err());
        assert!(a.apply_plain(&[0; 31]).is_err());
    }

    #[test]
    fn diagonals_shrink_to_their_period() {
        let t = PrimePower::new(257, 1).unwrap();
        let d = PeriodicSlots { period: 8, values: [1, 2, 1, 2, 1, 2, 1, 2].repeat(2) };
        assert_eq!(LinearMap::new(t, 16, [(SlotMove::IDENTITY, d)]).unwrap().period(), 2);
    }
}
