//! Linear maps on slots: sparse sums of diagonals, their composition, and their evaluation by baby and giant steps.
//!
//! A map is `out = sum over moves g of diag_g * g(v)` (slotwise products). [`LinearMap`] is the mathematics,
//! [`LinearMapPlan`] fixes the split into baby and giant steps, [`PreparedLinearMap`] holds the diagonals as one scheme
//! wants them.

mod plan;
mod prepared;

use std::collections::BTreeMap;

use everlevel_scheme::PeriodicSlots;

use crate::error::CircuitError;
use crate::modular::PrimePower;
use crate::slots::{SlotMove, moved, product, shrunk, sum, value_at};

pub use plan::{LinearMapPlan, StepCosts};
pub use prepared::PreparedLinearMap;

/// A Z-linear map on vectors of slots modulo p^e, as its non-zero diagonals.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LinearMap {
    modulus: PrimePower,
    columns: usize,
    diagonals: BTreeMap<SlotMove, PeriodicSlots>,
}

impl LinearMap {
    /// The map with the given diagonals on two rows of `columns` slots; diagonals of one move are added.
    ///
    /// # Errors
    /// [`CircuitError::BadDiagonal`] if a period does not divide the columns or has not two rows of values;
    /// [`CircuitError::UnsupportedShape`] unless `columns` is a power of two.
    pub fn new(
        modulus: PrimePower,
        columns: usize,
        diagonals: impl IntoIterator<Item = (SlotMove, PeriodicSlots)>,
    ) -> Result<Self, CircuitError> {
        if !columns.is_power_of_two() {
            return Err(CircuitError::UnsupportedShape { rows: 2, columns });
        }
        let mut map = LinearMap { modulus, columns, diagonals: BTreeMap::new() };
        for (by, mut diagonal) in diagonals {
            let PeriodicSlots { period, ref values } = diagonal;
            if period == 0 || !columns.is_multiple_of(period) || values.len() != 2 * period {
                return Err(CircuitError::BadDiagonal { period, values: values.len(), rows: 2, columns });
            }
            diagonal.values.iter_mut().for_each(|x| *x %= modulus.value());
            map.accumulate(SlotMove { shift: by.shift % columns, swap: by.swap }, diagonal);
        }
        map.clean();
        Ok(map)
    }
    fn accumulate(&mut self, by: SlotMove, diagonal: PeriodicSlots) {
        let t = self.modulus;
        self.diagonals.entry(by).and_modify(|old| *old = sum(old, &diagonal, &t)).or_insert(diagonal);
    }
    fn clean(&mut self) {
        self.diagonals.retain(|_, d| d.values.iter().any(|&x| x != 0));
        for d in self.diagonals.values_mut() {
            *d = shrunk(std::mem::replace(d, PeriodicSlots { period: 1, values: vec![0; 2] }));
        }
    }
    /// The plaintext modulus.
    pub fn modulus(&self) -> PrimePower {
        self.modulus
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
    /// The composition "first this map, then `next`": a product of sparse matrices, at most (diagonals of one) times
    /// (diagonals of the other) diagonals, with the larger period.
    ///
    /// # Errors
    /// [`CircuitError::ShapeMismatch`] or [`CircuitError::ModulusMismatch`] if the maps act on different vectors.
    pub fn then(&self, next: &LinearMap) -> Result<LinearMap, CircuitError> {
        if self.columns != next.columns {
            return Err(CircuitError::ShapeMismatch { left: self.columns, right: next.columns });
        }
        if self.modulus != next.modulus {
            return Err(CircuitError::ModulusMismatch { expected: self.modulus.value(), found: next.modulus.value() });
        }
        let mut out = LinearMap { modulus: self.modulus, columns: self.columns, diagonals: BTreeMap::new() };
        for (a, outer) in &next.diagonals {
            for (b, inner) in &self.diagonals {
                // outer * a(inner * b(v)) = (outer * a(inner)) * (ab)(v)
                out.accumulate(a.then(*b, self.columns), product(outer, &moved(inner, *a), &self.modulus));
            }
        }
        out.clean();
        Ok(out)
    }
    /// The map followed by the multiplication of every slot by `factor`.
    pub fn scaled(&self, factor: u64) -> LinearMap {
        let mut out = self.clone();
        let t = self.modulus;
        out.diagonals.values_mut().flat_map(|d| d.values.iter_mut()).for_each(|x| *x = t.mul(*x, factor));
        out.clean();
        out
    }
    /// The map on plain values, slot (r, i) at position r * columns + i: the oracle of the encrypted evaluation.
    ///
    /// # Errors
    /// [`CircuitError::SlotCount`] if `v` has not 2 * columns values.
    pub fn apply_plain(&self, v: &[u64]) -> Result<Vec<u64>, CircuitError> {
        let columns = self.columns;
        if v.len() != 2 * columns {
            return Err(CircuitError::SlotCount { expected: 2 * columns, found: v.len() });
        }
        let mut out = vec![0; v.len()];
        for (g, d) in &self.diagonals {
            for r in 0..2 {
                for i in 0..columns {
                    let from = v[(r ^ usize::from(g.swap)) * columns + (i + g.shift) % columns];
                    let to = &mut out[r * columns + i];
                    *to = self.modulus.add(*to, self.modulus.mul(value_at(d, r, i), from));
                }
            }
        }
        Ok(out)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::clear::Rng;

    fn random_map(rng: &mut Rng, t: PrimePower, columns: usize, shifts: &[i64]) -> LinearMap {
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
        let t = PrimePower::new(257, 2).unwrap();
        let mut rng = Rng(5);
        let a = random_map(&mut rng, t, 16, &[0, 0, 3, -2, 5]);
        let b = random_map(&mut rng, t, 16, &[1, 7, -7, 4]);
        let v: Vec<u64> = (0..32).map(|_| rng.below(t.value())).collect();
        let twice = b.apply_plain(&a.apply_plain(&v).unwrap()).unwrap();
        assert_eq!(a.then(&b).unwrap().apply_plain(&v).unwrap(), twice);
        let scaled = a.scaled(7).apply_plain(&v).unwrap();
        assert!(scaled.iter().zip(a.apply_plain(&v).unwrap()).all(|(s, x)| *s == t.mul(7, x)));
    }

    #[test]
    fn bad_diagonals_are_refused() {
        let t = PrimePower::new(257, 1).unwrap();
        for (period, len) in [(0, 0), (3, 6), (32, 64), (4, 7)] {
            let d = PeriodicSlots { period, values: vec![1; len] };
            assert!(matches!(LinearMap::new(t, 16, [(SlotMove::IDENTITY, d)]), Err(CircuitError::BadDiagonal { .. })));
        }
        assert!(LinearMap::new(t, 12, []).is_err());
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
