//! A linear map prepared for one scheme, and its evaluation.

use everlevel_ring::GaloisElement;
use everlevel_scheme::{DiagonalValues, ExactScheme, Level, NextUse, SchemeError};
use rayon::prelude::*;

use super::plan::{GiantSteps, LinearMapPlan};
use crate::error::CircuitError;

/// The diagonals of a [`LinearMapPlan`], prepared for ciphertexts at one level.
pub struct PreparedLinearMap<S: ExactScheme> {
    exponent: u32,
    level: Level,
    inputs: usize,
    babies: Vec<GaloisElement>,
    giants: GiantSteps,
    rows: Vec<Vec<Option<S::Diagonal>>>,
}

/// How many rows of a chain are computed at a time, from one reading of the babies.
const ROWS_AT_ONCE: usize = 8;

impl<S: ExactScheme> PreparedLinearMap<S> {
    /// Prepares the diagonals, in parallel: one plaintext a diagonal. `level` is that of the
    /// ciphertexts to come.
    ///
    /// # Errors
    /// [`CircuitError::PlanMismatch`] if the plan is for other slots or another prime; errors of
    /// the scheme.
    pub fn new(scheme: &S, plan: &LinearMapPlan, level: Level) -> Result<Self, CircuitError> {
        if scheme.slot_shape() != plan.shape() {
            return Err(CircuitError::PlanMismatch {
                reason: "a linear map was planned for other slots",
            });
        }
        let exponent = plan.modulus().exponent();
        let diagonal = |d: &Option<DiagonalValues>| {
            d.as_ref().map(|d| scheme.diagonal(d, exponent, level)).transpose()
        };
        let row = |row: &Vec<Option<DiagonalValues>>| {
            row.par_iter().map(diagonal).collect::<Result<Vec<_>, SchemeError>>()
        };
        let rows = plan.rows().par_iter().map(row).collect::<Result<Vec<_>, SchemeError>>()?;
        let (babies, giants) = (plan.babies().to_vec(), plan.giants().clone());
        Ok(PreparedLinearMap { exponent, level, inputs: plan.inputs(), babies, giants, rows })
    }

    /// The same map for ciphertexts at another level, where the scheme need not prepare diagonals
    /// anew ([`LinearMaps::diagonal_at`](everlevel_scheme::LinearMaps::diagonal_at)).
    pub(crate) fn at_level(&self, scheme: &S, level: Level) -> Option<Self> {
        let moved = |d: &Option<S::Diagonal>| match d {
            Some(d) => scheme.diagonal_at(d, level).map(Some),
            None => Some(None),
        };
        let row =
            |row: &Vec<Option<S::Diagonal>>| row.iter().map(moved).collect::<Option<Vec<_>>>();
        let rows = self.rows.iter().map(row).collect::<Option<Vec<_>>>()?;
        let (babies, giants) = (self.babies.clone(), self.giants.clone());
        Some(PreparedLinearMap { level, babies, giants, rows, ..*self })
    }

    /// The level for which the diagonals are prepared.
    pub fn level(&self) -> Level {
        self.level
    }

    /// The map of `x`: one level, one key switch a step, from one decomposition for all baby steps.
    ///
    /// # Errors
    /// [`CircuitError::ExponentMismatch`] if `x` has another plaintext exponent; errors of the
    /// scheme.
    pub fn apply(
        &self,
        scheme: &S,
        x: &S::Ciphertext,
        next: NextUse,
    ) -> Result<S::Ciphertext, CircuitError> {
        self.apply_all(scheme, std::slice::from_ref(x), next)
    }

    /// The map of several inputs at one level.
    ///
    /// # Errors
    /// [`CircuitError::InputCount`]; else as [`PreparedLinearMap::apply`].
    pub fn apply_all(
        &self,
        scheme: &S,
        inputs: &[S::Ciphertext],
        next: NextUse,
    ) -> Result<S::Ciphertext, CircuitError> {
        let results = self.apply_each(scheme, &[inputs], next)?;
        results.into_iter().next().ok_or(CircuitError::Empty { what: "the list of results" })
    }

    /// The map of each list of inputs, all at one level. A scheme may read each key once for all of
    /// them; the baby steps of all inputs are in memory at the same time.
    ///
    /// # Errors
    /// As [`PreparedLinearMap::apply_all`].
    pub fn apply_each(
        &self,
        scheme: &S,
        lists: &[&[S::Ciphertext]],
        next: NextUse,
    ) -> Result<Vec<S::Ciphertext>, CircuitError> {
        for inputs in lists {
            if inputs.len() != self.inputs {
                return Err(CircuitError::InputCount {
                    expected: self.inputs,
                    found: inputs.len(),
                });
            }
        }
        let inputs: Vec<&S::Ciphertext> = lists.iter().copied().flatten().collect();
        for x in &inputs {
            let found = scheme.plain_exponent(x);
            if found != self.exponent {
                return Err(CircuitError::ExponentMismatch { expected: self.exponent, found });
            }
        }
        let mut babies = scheme.hoist_each(&inputs, &self.babies)?.into_iter();
        let rows: Vec<Vec<Option<&S::Diagonal>>> =
            self.rows.iter().map(|r| r.iter().map(Option::as_ref).collect()).collect();
        let of_a_list = lists.iter().map(|inputs| {
            babies.by_ref().take(inputs.len()).flatten().collect::<Vec<S::Extended>>()
        });
        match &self.giants {
            GiantSteps::Sum(elements) => {
                let parts = of_a_list.map(|babies| {
                    let sums = scheme.combine(&babies, &rows)?;
                    Ok(elements.iter().copied().zip(sums).collect())
                });
                let sums = parts.collect::<Result<Vec<Vec<_>>, SchemeError>>()?;
                Ok(scheme.galois_sum_each(sums, next)?)
            }
            GiantSteps::Chain(elements) => {
                let result = |babies: Vec<S::Extended>| {
                    let blocks = rows.chunks(ROWS_AT_ONCE).zip(elements.chunks(ROWS_AT_ONCE));
                    let parts =
                        blocks.flat_map(|(rows, elements)| match scheme.combine(&babies, rows) {
                            Ok(sums) => elements.iter().copied().zip(sums).map(Ok).collect(),
                            Err(error) => vec![Err::<_, SchemeError>(error)],
                        });
                    Ok(scheme.galois_chain(parts, next)?)
                };
                of_a_list.map(result).collect()
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::linear::{LinearMap, StepCosts};
    use crate::modular::PrimePower;
    use crate::slots::SlotMove;
    use everlevel_scheme::{NoOp, OptIn, Params, PeriodicSlots, Plaintext};
    use everlevel_testing::{SplitMix, toy_spec};

    #[test]
    fn baby_and_giant_steps_are_the_map() {
        // Two rows of 32 columns, one row of 32 with W -> 1/W, one of 64 with W -> -1/W and d = 4.
        for (index, p) in [(128, 257), (128, 127), (512, 127)] {
            let params = Params::new(toy_spec(index, p, 2), OptIn::InsecureResearch).unwrap();
            let (scheme, shape) = (NoOp::new(&params, 1), params.slot_shape());
            let (t, columns) = (PrimePower::new(p, 2).unwrap(), shape.columns());
            let mut rng = SplitMix(p);
            let mut vector =
                |period: usize| (0..2 * period).map(|_| rng.below(t.value())).collect::<Vec<_>>();
            let x = vector(columns);
            let diagonals = (0..40i64).map(|k| {
                let by =
                    SlotMove { swap: k % 3 == 1, ..SlotMove::rotation(5 * k / 3 - 20, columns) };
                let period = columns >> (k % 4);
                (by, PeriodicSlots { period, values: vector(period) })
            });
            let map = LinearMap::new(t, columns, diagonals).unwrap();
            let plan = LinearMapPlan::new(
                &map,
                shape,
                &StepCosts { max_keys: 64, ..StepCosts::default() },
            )
            .unwrap();
            assert!(plan.giants().elements().len() > 1 && plan.babies().len() > 1);
            let top = params.chain().top();
            let prepared = PreparedLinearMap::new(&scheme, &plan, top).unwrap();
            let ring = params.plaintext_ring();
            let coefficients = ring.encode_base(&x, 2).unwrap();
            let plain = Plaintext::from_coefficients(&params, coefficients, 2).unwrap();
            let out =
                prepared.apply(&scheme, &scheme.encrypt(&plain).unwrap(), NextUse::Keep).unwrap();
            let values = ring.decode_base(scheme.decrypt(&out).unwrap().coefficients(), 2);
            assert_eq!(values.unwrap(), map.apply_plain(&x).unwrap());
            assert_eq!(scheme.cost().key_switches as usize, plan.key_switches());
        }
    }

    /// On the no-op scheme, what was prepared for one level is at another what is prepared there.
    #[test]
    fn diagonals_move_to_other_levels() {
        let params = Params::new(toy_spec(128, 257, 2), OptIn::InsecureResearch).unwrap();
        let (shape, top) = (params.slot_shape(), params.chain().top());
        let (t, columns) = (PrimePower::new(257, 2).unwrap(), shape.columns());
        let mut rng = SplitMix(5);
        let mut vector = || (0..2 * columns).map(|_| rng.below(t.value())).collect::<Vec<_>>();
        let x = vector();
        let diagonals = (0..6).map(|k| {
            (SlotMove::rotation(k, columns), PeriodicSlots { period: columns, values: vector() })
        });
        let map = LinearMap::new(t, columns, diagonals).unwrap();
        let plan = LinearMapPlan::new(&map, shape, &StepCosts::default()).unwrap();
        let coefficients = params.plaintext_ring().encode_base(&x, 2).unwrap();
        let plain = Plaintext::from_coefficients(&params, coefficients, 2).unwrap();
        // The diagonals of a level do not have the primes of those above.
        let middle = Level(top.0 / 2);
        for scheme in [NoOp::new(&params, 1), NoOp::blank(&params)] {
            let prepared = PreparedLinearMap::new(&scheme, &plan, middle).unwrap();
            for level in [top, Level(middle.0 + 1), Level(middle.0 - 1)] {
                let x = scheme.encrypt_at(&plain, level).unwrap();
                let moved = prepared.at_level(&scheme, level).unwrap();
                let anew = PreparedLinearMap::new(&scheme, &plan, level).unwrap();
                assert_eq!(moved.level(), level);
                let [moved, anew] =
                    [moved, anew].map(|map| map.apply(&scheme, &x, NextUse::Keep).unwrap());
                assert_eq!(moved.meta(), anew.meta());
                assert_eq!(scheme.decrypt(&moved).unwrap(), scheme.decrypt(&anew).unwrap());
            }
        }
        // Those without values do not serve a scheme that has some, nor another set.
        let blank = PreparedLinearMap::new(&NoOp::blank(&params), &plan, middle).unwrap();
        assert!(blank.at_level(&NoOp::new(&params, 1), top).is_none());
        let other = Params::new(toy_spec(128, 257, 3), OptIn::InsecureResearch).unwrap();
        assert!(blank.at_level(&NoOp::blank(&other), middle).is_none());
    }
}
