//! Slot-to-coefficient and coefficient-to-slot of power-of-two rings: the transform of the slots,
//! as sparse linear maps.
//!
//! The coefficients are those of a polynomial a(Y), Y = X^d, of degree below k, one for each slot.
//! Its values lie in the base ring: with i = Y^(k/2), column j of the slots holds Σ_{c < k/2}
//! (a_c + i a_(c + k/2)) ζ^(5^j c), a Gaussian integer modulo p^e, ζ a root of unity of order 2k.
//! This repeats with period k/2, which is the number of columns of two rows and half of that of one
//! row. With coefficients in *butterfly order* (coefficient c in half c / (k/2) of the slots, at
//! the bit reversal of c mod k/2) the evaluation factors into log2 k stages that are sparse in the
//! slot coordinates:
//!
//! * the first stage forms a_c + i a_(c + k/2). With two rows, the halves are the rows: (a0, a1) of
//!   one column becomes a0 + i a1 and a0 - i a1; two diagonals (identity, row exchange). With one
//!   row, the halves are the halves of the row: both become a0 + i a1; two diagonals (identity,
//!   rotation by k/2). The inverse takes z to its real part and its imaginary part; with one row by
//!   conjugation ((z + z')/2, (z - z')/2i), so that the result is in Z/p^e in every slot;
//! * for D = 1, 2, .., k/4: in each block of 2D columns \[E | O\], new\[j\] = E\[j\] + w O\[j\] and
//!   new\[j+D\] = E\[j\] - w O\[j\], w = ζ_{8D}^(5^j); three diagonals (rotations 0, +D, -D) of
//!   period 2D, two for D = k/4.
//!
//! Sources: Ma–Huang–Wang–Wang 2024 (ia.cr/2024/164), Geelen 2024 (ia.cr/2024/153), section 4; the
//! order of the coefficients is chosen so that no permutation is left over. The inverse stages undo
//! them in reverse order.

use everlevel_ring::{GaussianRing, RingError, SlotShape};
use everlevel_scheme::PeriodicSlots;

use crate::error::CircuitError;
use crate::linear::LinearMap;
use crate::modular::PrimePower;
use crate::slots::{SlotMove, periodic};

/// The transform between thin slots and the coefficients of polynomials in X^d modulo p^e.
#[derive(Clone, Debug)]
pub struct SlotTransform {
    ring: GaussianRing,
    columns: usize,
    /// k/2.
    half: usize,
    /// The value ζ of Y in column 0, of order 2k.
    root: [u64; 2],
}

impl SlotTransform {
    /// The transform for the slots of `shape` modulo p^exponent.
    ///
    /// # Errors
    /// [`CircuitError::Ring`] if the shape does not know p^exponent.
    pub fn new(shape: &SlotShape, exponent: u32) -> Result<Self, CircuitError> {
        if exponent == 0 || exponent > shape.max_exponent() {
            return Err(
                RingError::UnknownExponent { exponent, highest: shape.max_exponent() }.into()
            );
        }
        let ring = GaussianRing::new(PrimePower::new(shape.plain_prime(), exponent)?)?;
        // Y is a power of the base ring's W.
        let root = ring.pow(shape.root(exponent), shape.base_degree() as u128);
        Ok(SlotTransform { ring, columns: shape.columns(), half: shape.slots() / 2, root })
    }

    /// The plaintext modulus.
    pub fn modulus(&self) -> PrimePower {
        self.ring.modulus()
    }

    /// The number of stages: log2 of the number of slots.
    pub fn stages(&self) -> usize {
        self.half.trailing_zeros() as usize + 1
    }

    /// The slot that holds coefficient `c` of Y^c in butterfly order; `None` if there is no such
    /// coefficient.
    pub fn slot_of_coefficient(&self, c: usize) -> Option<usize> {
        let bits = self.half.trailing_zeros();
        let place =
            if bits == 0 { 0 } else { (c % self.half).reverse_bits() >> (usize::BITS - bits) };
        (c < 2 * self.half).then(|| c / self.half * self.half + place)
    }

    /// The maps that take a ciphertext with coefficients in its thin slots (in butterfly order) to
    /// the ciphertext of the polynomial with these coefficients, in the order of application.
    /// `splits` are the numbers of stages after which a new map begins; each map costs one level. s
    /// merged stages have at most 2^(s+1) - 1 diagonals (2 (2^s - 1) with the first stage, 2^s for
    /// the last group), all of them k.
    ///
    /// # Errors
    /// [`CircuitError::BadSplits`] unless the split points are strictly increasing and inside of
    /// 1..stages.
    pub fn slot_to_coeff(&self, splits: &[usize]) -> Result<Vec<LinearMap>, CircuitError> {
        let stages: Result<Vec<_>, _> = (0..self.stages()).map(|s| self.stage(s)).collect();
        self.merge(stages?, splits, true)
    }

    /// The inverse of [`SlotTransform::slot_to_coeff`], times `factor`: takes a ciphertext of a
    /// polynomial in Y to the one with its coefficients in the thin slots. `splits` count stages
    /// from the side of slot-to-coeff, so equal splits give groups that are inverses of each other;
    /// with two rows they have the same automorphism keys. A projection to Z\[X^d\] multiplies
    /// everything by d: pass 1/d.
    ///
    /// # Errors
    /// [`CircuitError::BadSplits`] as above.
    pub fn coeff_to_slot(
        &self,
        splits: &[usize],
        factor: u64,
    ) -> Result<Vec<LinearMap>, CircuitError> {
        let stages: Result<Vec<_>, _> =
            (0..self.stages()).rev().map(|s| self.inverse_stage(s)).collect();
        let total = self.stages();
        // A split point outside of the range stays outside of it when mirrored.
        let mirrored: Vec<usize> = splits.iter().rev().map(|s| total.saturating_sub(*s)).collect();
        let bad = |_| CircuitError::BadSplits { splits: splits.to_vec(), stages: total };
        let mut groups = self.merge(stages?, &mirrored, false).map_err(bad)?;
        // One factor in one map: the last one, whose diagonals are full anyway.
        if let Some(last) = groups.last_mut() {
            *last = last.scaled(factor);
        }
        Ok(groups)
    }

    /// Groups of stages. All stages but a first one on thin slots meet vectors of period k/2, where
    /// rotations by k/2 are the identity.
    fn merge(
        &self,
        stages: Vec<LinearMap>,
        splits: &[usize],
        from_thin: bool,
    ) -> Result<Vec<LinearMap>, CircuitError> {
        check_splits(splits, stages.len())?;
        let mut groups: Vec<LinearMap> = Vec::with_capacity(splits.len() + 1);
        for (i, stage) in stages.into_iter().enumerate().rev() {
            let joined = !splits.contains(&(i + 1));
            let group = match groups.pop_if(|_| joined) {
                Some(rest) => stage.then(&rest)?,
                None => stage,
            };
            groups.push(if from_thin && i == 0 { group } else { group.on_period(self.half) });
        }
        groups.reverse();
        Ok(groups)
    }

    fn map(
        &self,
        diagonals: impl IntoIterator<Item = (SlotMove, PeriodicSlots)>,
    ) -> Result<LinearMap, CircuitError> {
        LinearMap::new(self.modulus(), self.columns, diagonals)
    }

    /// The stage at distance D; `entry(j, low)` gives the coefficients of a column itself and of
    /// its partner.
    fn butterfly(
        &self,
        distance: usize,
        entry: impl Fn(usize, bool) -> [[u64; 2]; 2],
    ) -> Result<LinearMap, CircuitError> {
        // The partner is at +D in the first half of a block, at -D in the second.
        let at = |j: usize| entry(j % distance, j < distance);
        let own = periodic(2 * distance, |j| at(j)[0]);
        let up = periodic(2 * distance, |j| if j < distance { at(j)[1] } else { [0, 0] });
        let down = periodic(2 * distance, |j| if j < distance { [0, 0] } else { at(j)[1] });
        let shift = |k: i64| SlotMove::rotation(k, self.columns);
        let d = distance as i64;
        self.map([(shift(0), own), (shift(d), up), (shift(-d), down)])
    }

    /// i = Y^(k/2).
    fn quarter(&self) -> [u64; 2] {
        self.ring.pow(self.root, self.half as u128)
    }

    /// A vector that is constant on each half of the slots.
    fn halves(&self, first: [u64; 2], second: [u64; 2]) -> PeriodicSlots {
        if self.ring.is_split() {
            periodic(1, |_| [first[0], second[1]])
        } else {
            periodic(self.columns, |j| if j < self.half { first } else { second })
        }
    }

    fn stage(&self, s: usize) -> Result<LinearMap, CircuitError> {
        let ring = self.ring;
        if s == 0 {
            let (one, i) = (ring.one(), self.quarter());
            // In the second row, i stands for its image there.
            let other = if ring.is_split() {
                SWAP
            } else {
                SlotMove::rotation(self.half as i64, self.columns)
            };
            return self
                .map([(SlotMove::IDENTITY, self.halves(one, i)), (other, self.halves(i, one))]);
        }
        let distance = 1 << (s - 1);
        let table = self.twiddles(distance, self.root);
        self.butterfly(distance, |j, low| {
            if low { [ring.one(), table[j]] } else { [ring.sub([0, 0], table[j]), ring.one()] }
        })
    }

    fn inverse_stage(&self, s: usize) -> Result<LinearMap, CircuitError> {
        let ring = self.ring;
        let half = ring.scalar(self.modulus().inv(2)?);
        if s == 0 {
            // z + z' over 2 and z - z' over 2i; the second row holds z', and sees i with the
            // opposite sign.
            let w = ring.mul(half, ring.inv(self.quarter())?);
            let minus = ring.sub([0, 0], w);
            let (own, other) = if ring.is_split() { (w, ring.conjugate(w)) } else { (w, minus) };
            return self.map([
                (SlotMove::IDENTITY, self.halves(half, own)),
                (SWAP, self.halves(half, other)),
            ]);
        }
        let distance = 1 << (s - 1);
        let table = self.twiddles(distance, ring.inv(self.root)?);
        self.butterfly(distance, |j, low| {
            let w = ring.mul(half, table[j]);
            if low { [half, half] } else { [ring.sub([0, 0], w), w] }
        })
    }

    /// w of all pairs at distance D: a primitive 8D-th root of unity to the 5^j.
    fn twiddles(&self, distance: usize, root: [u64; 2]) -> Vec<[u64; 2]> {
        let base = self.ring.pow(root, (self.half / (2 * distance)) as u128);
        std::iter::successors(Some(base), |w| Some(self.ring.pow(*w, 5))).take(distance).collect()
    }
}

const SWAP: SlotMove = SlotMove { shift: 0, swap: true };

/// Whether `splits` divide `stages` stages into non-empty groups.
pub(crate) fn check_splits(splits: &[usize], stages: usize) -> Result<(), CircuitError> {
    let increasing = splits.windows(2).all(|w| w[0] < w[1]);
    if increasing && splits.iter().all(|s| (1..stages).contains(s)) {
        Ok(())
    } else {
        Err(CircuitError::BadSplits { splits: splits.to_vec(), stages })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::linear::{LinearMapPlan, StepCosts};
    use everlevel_ring::{Backend, PlaintextRing};
    use everlevel_testing::SplitMix;

    fn run(groups: &[LinearMap], v: &[u64]) -> Vec<u64> {
        groups.iter().fold(v.to_vec(), |v, g| g.apply_plain(&v).unwrap())
    }

    #[test]
    fn all_splits_are_the_evaluation_and_its_inverse() {
        let mut rng = SplitMix(11);
        // Two rows, one row; 2, 4, 8 slots and more; Frobenius of order 2, once W -> 1/W.
        let shapes = [
            (128, 257, 2),
            (1024, 12289, 2),
            (128, 65537, 2),
            (2048, 257, 7),
            (128, 5, 3),
            (128, 17, 1),
        ];
        let one_row = [
            (128, 127, 8),
            (256, 127, 2),
            (1024, 127, 2),
            (64, 3, 39),
            (128, 7, 2),
            (128, 23, 2),
            (256, 8191, 2),
        ];
        for (index, p, exponent) in shapes.into_iter().chain(one_row) {
            let shape = SlotShape::new(index, p, exponent).unwrap();
            let plain = PlaintextRing::new(shape.clone(), Backend::detect()).unwrap();
            for e in [1, exponent] {
                let transform = SlotTransform::new(&shape, e).unwrap();
                let (t, stages, k) = (transform.modulus(), transform.stages(), shape.slots());
                assert_eq!(1 << stages, k);
                let mut polynomial = vec![0; plain.degree()];
                let mut input = vec![0; 2 * shape.columns()];
                for c in 0..k {
                    let x = rng.below(t.value());
                    polynomial[c * shape.degree_of_slot()] = x;
                    input[transform.slot_of_coefficient(c).unwrap()] = x;
                }
                let values = plain.decode_base(&polynomial, e).unwrap();
                for splits in [
                    vec![],
                    vec![1],
                    vec![3],
                    vec![2, 4],
                    vec![1, stages - 1],
                    (1..stages).collect(),
                ] {
                    if check_splits(&splits, stages).is_err() {
                        continue;
                    }
                    assert_eq!(
                        run(&transform.slot_to_coeff(&splits).unwrap(), &input),
                        values,
                        "{p}^{e}, splits {splits:?}"
                    );
                    let back = run(&transform.coeff_to_slot(&splits, 3).unwrap(), &values);
                    assert!(
                        back.iter().zip(&input).all(|(b, x)| *b == t.mul(3, *x)),
                        "{p}^{e}, splits {splits:?}"
                    );
                }
                assert_eq!(transform.slot_of_coefficient(k), None);
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
            let keys = |m| LinearMapPlan::new(m, &shape, &costs).unwrap().galois_elements();
            assert_eq!(keys(a), keys(b));
            let identity = a.then(b).unwrap();
            assert_eq!(identity.diagonals().len(), 1);
        }
    }

    #[test]
    fn one_row_has_as_few_diagonals_as_two() {
        let shape = SlotShape::new(1 << 13, 8191, 2).unwrap(); // 2048 slots in one row
        let transform = SlotTransform::new(&shape, 1).unwrap();
        let counts = |groups: Vec<LinearMap>| -> Vec<usize> {
            groups.iter().map(|g| g.diagonals().len()).collect()
        };
        assert_eq!(counts(transform.slot_to_coeff(&[3, 7]).unwrap()), [2 * 7, 31, 16]);
        assert_eq!(counts(transform.coeff_to_slot(&[3, 7], 1).unwrap()), [16, 31, 2 * 7]);
        let shape = SlotShape::new(128, 127, 1).unwrap();
        let small = SlotTransform::new(&shape, 1).unwrap();
        assert_eq!(counts(small.slot_to_coeff(&[]).unwrap()), [32]);
        assert_eq!(counts(small.coeff_to_slot(&[], 1).unwrap()), [32]);
        // The dense map in baby and giant steps: its inverse conjugates half of the time.
        let plan = LinearMapPlan::new(
            &small.coeff_to_slot(&[], 1).unwrap()[0],
            &shape,
            &StepCosts::default(),
        )
        .unwrap();
        assert!(plan.key_switches() <= 12, "{} key switches", plan.key_switches());
        assert_eq!(plan.galois_elements().len(), plan.key_switches());
    }

    #[test]
    fn a_plan_for_63_diagonals_uses_14_keys() {
        let shape = SlotShape::new(1 << 12, 65537, 1).unwrap();
        let transform = SlotTransform::new(&shape, 1).unwrap();
        let group = &transform.slot_to_coeff(&[4, 9]).unwrap()[1];
        assert_eq!(group.diagonals().len(), 63);
        let plan = LinearMapPlan::new(group, &shape, &StepCosts::default()).unwrap();
        assert_eq!(
            (plan.babies().len(), plan.giants().elements().len(), plan.key_switches()),
            (9, 7, 14)
        );
        assert_eq!(plan.plain_products(), 63);
        let tight = StepCosts { max_keys: 3, ..StepCosts::default() };
        assert!(matches!(
            LinearMapPlan::new(group, &shape, &tight),
            Err(CircuitError::TooManyKeys { diagonals: 63, max_keys: 3 })
        ));
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
