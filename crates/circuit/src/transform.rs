//! Slot-to-coefficient and coefficient-to-slot of power-of-two rings: the transform of the slots, as sparse linear maps.
//!
//! The slots of a polynomial a(Y) of degree below N' (thin plaintexts: Y = X^d) are its values at ζ^(±5^i). With
//! coefficients in *butterfly order* (coefficient c < N' = 2^k in row c >> (k-1), column bitreverse of c mod N'/2)
//! evaluation factors into k stages that are sparse in the slot coordinates:
//!
//! * the row stage: (a0, a1) of one column becomes a0 + ζ4 a1 and a0 - ζ4 a1; two diagonals (identity, row exchange);
//! * for D = 1, 2, .., N'/4: in each block of 2D columns \[E | O\] of a row, new\[j\] = E\[j\] + w O\[j\] and
//!   new\[j+D\] = E\[j\] - w O\[j\], w = ζ_{8D}^{±5^j}; three diagonals (rotations 0, +D, -D) of period 2D.
//!
//! Sources: Ma–Huang–Wang–Wang 2024 (ia.cr/2024/164), Geelen 2024 (ia.cr/2024/153), section 4; the order of the
//! coefficients is chosen so that no permutation is left over. The inverse stages undo them in reverse order.

use everlevel_ring::{RingError, SlotShape};
use everlevel_scheme::PeriodicSlots;

use crate::error::CircuitError;
use crate::linear::LinearMap;
use crate::modular::PrimePower;
use crate::slots::{SlotMove, check_columns, periodic};

/// The transform between the slots and the coefficients of thin plaintexts modulo p^e.
#[derive(Clone, Debug)]
pub struct SlotTransform {
    modulus: PrimePower,
    columns: usize,
    /// ζ, a primitive 2N'-th root of unity modulo p^e.
    root: u64,
}

impl SlotTransform {
    /// The transform for the slots of `shape` modulo p^exponent.
    ///
    /// # Errors
    /// [`CircuitError::UnsupportedShape`] unless there are 2 rows and a power of two of columns;
    /// [`CircuitError::Ring`] if the shape does not know p^exponent.
    pub fn new(shape: &SlotShape, exponent: u32) -> Result<Self, CircuitError> {
        let columns = check_columns(shape)?;
        if exponent == 0 || exponent > shape.max_exponent() {
            return Err(RingError::PlainModulus { p: shape.plain_prime(), exponent }.into());
        }
        let modulus = PrimePower::new(shape.plain_prime(), exponent)?;
        Ok(SlotTransform { modulus, columns, root: shape.root(exponent)[0] })
    }
    /// The plaintext modulus.
    pub fn modulus(&self) -> PrimePower {
        self.modulus
    }
    /// The number of stages: log2 of the number of slots.
    pub fn stages(&self) -> usize {
        stage_count(self.columns)
    }
    /// The slot that holds coefficient `c` of Y^c in butterfly order; `None` if there is no such coefficient.
    pub fn slot_of_coefficient(&self, c: usize) -> Option<usize> {
        let bits = self.columns.trailing_zeros();
        let column = if bits == 0 { 0 } else { (c % self.columns).reverse_bits() >> (usize::BITS - bits) };
        (c < 2 * self.columns).then(|| c / self.columns * self.columns + column)
    }
    /// The maps that take a ciphertext with coefficients in its slots (in butterfly order) to the ciphertext of the
    /// polynomial with these coefficients, in the order of application. `splits` are the numbers of stages after which
    /// a new map begins; each map costs one level. s merged stages have at most 2^(s+1) - 1 diagonals (2 (2^s - 1)
    /// with the row stage, 2^s for the last group).
    ///
    /// # Errors
    /// [`CircuitError::BadSplits`] unless the split points are strictly increasing and inside of 1..stages.
    pub fn slot_to_coeff(&self, splits: &[usize]) -> Result<Vec<LinearMap>, CircuitError> {
        let stages: Result<Vec<_>, _> = (0..self.stages()).map(|s| self.stage(s)).collect();
        merge(stages?, splits)
    }
    /// The inverse of [`SlotTransform::slot_to_coeff`], times `factor`: takes a ciphertext to the one with its coefficients
    /// in the slots. `splits` count stages from the side of slot-to-coeff, so equal splits give groups that are inverses
    /// of each other, with the same automorphism keys. A trace over d conjugates multiplies everything by d: pass 1/d.
    ///
    /// # Errors
    /// [`CircuitError::BadSplits`] as above; [`CircuitError::Ring`] if the root of unity is none.
    pub fn coeff_to_slot(&self, splits: &[usize], factor: u64) -> Result<Vec<LinearMap>, CircuitError> {
        let stages: Result<Vec<_>, _> = (0..self.stages()).rev().map(|s| self.inverse_stage(s)).collect();
        let total = self.stages();
        // A split point outside of the range stays outside of it when mirrored.
        let mirrored: Vec<usize> = splits.iter().rev().map(|s| total.saturating_sub(*s)).collect();
        let bad = |_| CircuitError::BadSplits { splits: splits.to_vec(), stages: total };
        let mut groups = merge(stages?, &mirrored).map_err(bad)?;
        // One factor in one map: the last one, whose diagonals are full anyway.
        if let Some(last) = groups.last_mut() {
            *last = last.scaled(factor);
        }
        Ok(groups)
    }
    /// The stage at distance D; `entry(row, j, low)` gives the coefficients of a slot itself and of its partner.
    fn butterfly(&self, distance: usize, entry: impl Fn(usize, usize, bool) -> [u64; 2]) -> Result<LinearMap, CircuitError> {
        // The partner is at +D in the first half of a block, at -D in the second.
        let period = 2 * distance;
        let mut own = PeriodicSlots { period, values: vec![0; 2 * period] };
        let (mut up, mut down) = (own.clone(), own.clone());
        for r in 0..2 {
            for j in 0..distance {
                let low = entry(r, j, true);
                own.values[r * period + j] = low[0];
                up.values[r * period + j] = low[1];
                let high = entry(r, j, false);
                own.values[r * period + j + distance] = high[0];
                down.values[r * period + j + distance] = high[1];
            }
        }
        let shift = |k: i64| SlotMove::rotation(k, self.columns);
        let d = distance as i64;
        LinearMap::new(self.modulus, self.columns, [(shift(0), own), (shift(d), up), (shift(-d), down)])
    }
    fn stage(&self, s: usize) -> Result<LinearMap, CircuitError> {
        let t = self.modulus;
        if s == 0 {
            let z4 = t.pow(self.root, self.columns as u64);
            let own = periodic(1, |r, _| if r == 0 { 1 } else { t.sub(0, z4) });
            let other = periodic(1, |r, _| if r == 0 { z4 } else { 1 });
            return LinearMap::new(t, self.columns, [(SlotMove::IDENTITY, own), (SWAP, other)]);
        }
        let distance = 1 << (s - 1);
        let table = self.twiddles(distance);
        self.butterfly(distance, |r, j, low| {
            let w = table[r * distance + j];
            if low { [1, w] } else { [t.sub(0, w), 1] }
        })
    }
    fn inverse_stage(&self, s: usize) -> Result<LinearMap, CircuitError> {
        let t = self.modulus;
        let half = t.inv(2)?;
        if s == 0 {
            let w = t.mul(half, t.inv(t.pow(self.root, self.columns as u64))?);
            let own = periodic(1, |r, _| if r == 0 { half } else { t.sub(0, w) });
            let other = periodic(1, |r, _| if r == 0 { half } else { w });
            return LinearMap::new(t, self.columns, [(SlotMove::IDENTITY, own), (SWAP, other)]);
        }
        let distance = 1 << (s - 1);
        let table = self.twiddles(distance);
        self.butterfly(distance, |r, j, low| {
            // The inverse of a root of unity is its conjugate, which stands in the other row.
            let w = t.mul(half, table[(1 - r) * distance + j]);
            if low { [half, half] } else { [t.sub(0, w), w] }
        })
    }
    /// w of all pairs at distance D, row by row: a primitive 8D-th root of unity to the ±5^j.
    fn twiddles(&self, distance: usize) -> Vec<u64> {
        let t = self.modulus;
        let order = 8 * distance as u64;
        let base = t.pow(self.root, 4 * self.columns as u64 / order);
        let mut powers = vec![1u64; order as usize];
        for i in 1..powers.len() {
            powers[i] = t.mul(powers[i - 1], base);
        }
        let mut table = vec![0; 2 * distance];
        let mut e = 1u64;
        for j in 0..distance {
            table[j] = powers[e as usize];
            table[distance + j] = powers[(order - e) as usize];
            e = e * 5 % order;
        }
        table
    }
}

const SWAP: SlotMove = SlotMove { shift: 0, swap: true };

/// The number of stages of a transform on two rows of `columns` slots.
pub(crate) fn stage_count(columns: usize) -> usize {
    columns.trailing_zeros() as usize + 1
}

/// Whether `splits` divide `stages` stages into non-empty groups.
pub(crate) fn check_splits(splits: &[usize], stages: usize) -> Result<(), CircuitError> {
    let increasing = splits.windows(2).all(|w| w[0] < w[1]);
    if increasing && splits.iter().all(|s| (1..stages).contains(s)) {
        Ok(())
    } else {
        Err(CircuitError::BadSplits { splits: splits.to_vec(), stages })
    }
}

fn merge(stages: Vec<LinearMap>, splits: &[usize]) -> Result<Vec<LinearMap>, CircuitError> {
    check_splits(splits, stages.len())?;
    let mut groups: Vec<LinearMap> = Vec::with_capacity(splits.len() + 1);
    for (i, stage) in stages.into_iter().enumerate() {
        match groups.last_mut() {
            Some(group) if !splits.contains(&i) => *group = group.then(&stage)?,
            _ => groups.push(stage),
        }
    }
    Ok(groups)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::clear::Rng;
    use crate::linear::{LinearMapPlan, StepCosts};

    /// The values of a polynomial in Y at ζ^(±5^i), by Horner's rule.
    fn evaluate(coefficients: &[u64], shape: &SlotShape, t: &PrimePower) -> Vec<u64> {
        let order = 2 * shape.slots() as u64;
        let mut out = Vec::new();
        for row in 0..2 {
            let mut e = 1;
            for _ in 0..shape.columns() {
                let x = t.pow(shape.root(t.exponent())[0], if row == 0 { e } else { order - e });
                out.push(coefficients.iter().rev().fold(0, |acc, c| t.add(t.mul(acc, x), *c)));
                e = e * 5 % order;
            }
        }
        out
    }

    fn run(groups: &[LinearMap], v: &[u64]) -> Vec<u64> {
        groups.iter().fold(v.to_vec(), |v, g| g.apply_plain(&v).unwrap())
    }

    #[test]
    fn all_splits_are_the_evaluation_and_its_inverse() {
        let mut rng = Rng(11);
        for (index, p) in [(128, 257), (1024, 12289), (128, 65537), (2048, 257)] {
            let shape = SlotShape::new(index, p, 2).unwrap();
            for exponent in [1, 2] {
                let transform = SlotTransform::new(&shape, exponent).unwrap();
                let t = transform.modulus();
                let coefficients: Vec<u64> = (0..shape.slots()).map(|_| rng.below(t.value())).collect();
                let mut input = vec![0; shape.slots()];
                for (c, x) in coefficients.iter().enumerate() {
                    input[transform.slot_of_coefficient(c).unwrap()] = *x;
                }
                let values = evaluate(&coefficients, &shape, &t);
                let stages = transform.stages();
                for splits in [vec![], vec![1], vec![3], vec![2, 4], vec![1, stages - 1], (1..stages).collect()] {
                    assert_eq!(run(&transform.slot_to_coeff(&splits).unwrap(), &input), values, "splits {splits:?}");
                    let back = run(&transform.coeff_to_slot(&splits, 3).unwrap(), &values);
                    assert!(back.iter().zip(&input).all(|(b, x)| *b == t.mul(3, *x)), "splits {splits:?}");
                }
            }
        }
    }

    #[test]
    fn merged_stages_have_few_diagonals_and_shared_keys() {
        let shape = SlotShape::new(1 << 12, 65537, 2).unwrap(); // 2048 slots, 11 stages
        let transform = SlotTransform::new(&shape, 1).unwrap();
        let groups = transform.slot_to_coeff(&[3, 7]).unwrap();
        let counts: Vec<usize> = groups.iter().map(|g| g.diagonals().len()).collect();
        assert_eq!(counts, [2 * 7, 31, 16]);
        assert_eq!(groups.iter().map(LinearMap::period).collect::<Vec<_>>(), [4, 64, 1024]);
        let inverse = transform.coeff_to_slot(&[3, 7], 1).unwrap();
        let costs = StepCosts::default();
        for (a, b) in groups.iter().zip(inverse.iter().rev()) {
            let keys = |m| LinearMapPlan::new(m, &costs).unwrap().galois_elements(&shape);
            assert_eq!(keys(a), keys(b));
            let identity = a.then(b).unwrap();
            assert_eq!(identity.diagonals().len(), 1);
        }
    }

    #[test]
    fn a_plan_for_63_diagonals_uses_14_keys() {
        let shape = SlotShape::new(1 << 12, 65537, 1).unwrap();
        let transform = SlotTransform::new(&shape, 1).unwrap();
        let group = &transform.slot_to_coeff(&[4, 9]).unwrap()[1];
        assert_eq!(group.diagonals().len(), 63);
        let plan = LinearMapPlan::new(group, &StepCosts::default()).unwrap();
        assert_eq!((plan.babies().len(), plan.giants().len(), plan.key_switches()), (9, 7, 14));
        assert_eq!(plan.plain_products(), 63);
        let tight = StepCosts { max_keys: 3, ..StepCosts::default() };
        assert!(matches!(LinearMapPlan::new(group, &tight), Err(CircuitError::TooManyKeys { diagonals: 63, max_keys: 3 })));
    }

    #[test]
    fn wrong_splits_are_refused() {
        let shape = SlotShape::new(128, 257, 1).unwrap();
        let transform = SlotTransform::new(&shape, 1).unwrap();
        for splits in [vec![0], vec![6], vec![3, 3], vec![4, 2], vec![9]] {
            let bad = CircuitError::BadSplits { splits: splits.clone(), stages: 6 };
            assert_eq!(transform.slot_to_coeff(&splits), Err(bad.clone()));
            assert_eq!(transform.coeff_to_slot(&splits, 1), Err(bad));
        }
        assert!(SlotTransform::new(&shape, 2).is_err());
    }
}
