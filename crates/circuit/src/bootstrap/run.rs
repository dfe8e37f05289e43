//! Running a bootstrapping.

use std::collections::BTreeSet;

use everlevel_ring::{GaloisElement, SlotShape};
use everlevel_scheme::{NextUse, Raise};

use super::groups::{Groups, MapKey, Shelf, apply_groups};
use super::observe::{Stage, StageObserver, StageReport, Watch};
use super::plan::{BootstrapCosts, BootstrapPlan};
use crate::digits::DigitRemoval;
use crate::error::CircuitError;
use crate::modular::PrimePower;

/// Bootstraps thin ciphertexts (values modulo p in every slot) of one scheme, by one plan.
///
/// The diagonals of the linear maps are prepared when they are first used (or by [`Bootstrapper::prepare`]), for the levels
/// that are then met: these are the same in every bootstrapping, as levels follow from noise bounds. Shareable between threads.
pub struct Bootstrapper<S: Raise> {
    plan: BootstrapPlan,
    shape: SlotShape,
    coeff_to_slot: Groups<S>,
    slot_to_coeff: Groups<S>,
    digits: DigitRemoval,
    /// Frobenius to the 1, 2, 4, ..: the steps of the trace.
    trace: Vec<GaloisElement>,
    /// 1/d modulo p, centered.
    inverse_degree: i64,
    costs: BootstrapCosts,
    galois_elements: Vec<GaloisElement>,
}

impl<S: Raise> Bootstrapper<S> {
    /// Plans all maps and the digit removal for the scheme's slots, prime and overflow bound.
    ///
    /// # Errors
    /// [`CircuitError::BadSplits`] if the group sizes do not add up to the number of stages,
    /// [`CircuitError::PlanMismatch`] if p is 3 modulo 4, [`CircuitError::TooManyKeys`], [`CircuitError::OverflowBound`].
    pub fn new(scheme: &S, plan: BootstrapPlan) -> Result<Self, CircuitError> {
        Self::with_shelf(scheme, plan, &mut Shelf::default())
    }
    /// The same, with the linear maps from a shelf that serves several plans for schemes of equal parameters.
    pub(super) fn with_shelf(scheme: &S, plan: BootstrapPlan, shelf: &mut Shelf<S>) -> Result<Self, CircuitError> {
        let shape = scheme.slot_shape();
        let degree = shape.degree_of_slot();
        // With one row, thin plaintexts are no polynomials in X^d, so the message would have to be moved into those first.
        if shape.base_degree() > 1 {
            return Err(CircuitError::PlanMismatch { reason: "one row of slots (p = 3 modulo 4) cannot be bootstrapped yet" });
        }
        let digits = DigitRemoval::new(scheme.plain_prime(), scheme.overflow_bound(), plan.digits)?;
        let coeff_to_slot = shelf.groups(shape, &MapKey::coeff_to_slot(&plan, digits.input_exponent()))?;
        let slot_to_coeff = shelf.groups(shape, &MapKey::slot_to_coeff(&plan))?;

        let mut trace = Vec::new();
        let mut frobenius = shape.frobenius();
        for _ in 0..degree.trailing_zeros() {
            trace.push(frobenius);
            frobenius = shape.compose(frobenius, frobenius);
        }
        let mut elements: BTreeSet<GaloisElement> = trace.iter().copied().collect();
        let mut costs = BootstrapCosts {
            // The overflow and the message are traced.
            key_switches: 2 * trace.len() + digits.costs().relinearizations,
            products: digits.costs().products,
            depth: digits.costs().depth + (coeff_to_slot.len() + slot_to_coeff.len()) as u32,
            ..BootstrapCosts::default()
        };
        for group in coeff_to_slot.iter().chain(slot_to_coeff.iter()) {
            elements.extend(group.plan.galois_elements(shape));
            costs.key_switches += group.plan.key_switches();
            costs.plain_products += group.plan.plain_products();
        }
        costs.galois_keys = elements.len();
        let p = PrimePower::new(scheme.plain_prime(), 1)?;
        let inverse_degree = p.centered(p.inv(degree as u64)?);
        let galois_elements = elements.into_iter().collect();
        let shape = shape.clone();
        Ok(Bootstrapper { plan, shape, coeff_to_slot, slot_to_coeff, digits, trace, inverse_degree, costs, galois_elements })
    }
    /// The plan.
    pub fn plan(&self) -> &BootstrapPlan {
        &self.plan
    }
    /// The digit removal.
    pub fn digits(&self) -> &DigitRemoval {
        &self.digits
    }
    /// Key switches, products, plaintext products, keys and levels of one bootstrapping.
    pub fn costs(&self) -> BootstrapCosts {
        self.costs
    }
    /// The automorphisms that need keys, each once.
    pub fn galois_elements(&self) -> &[GaloisElement] {
        &self.galois_elements
    }
    /// Prepares the diagonals of all linear maps for the levels that a dry run met (on the no-op scheme, or an earlier
    /// run), so that the first bootstrapping takes no longer than the others.
    ///
    /// # Errors
    /// Errors of the scheme. Reports of other plans do no harm: what does not fit is prepared again when it is used.
    pub fn prepare(&self, scheme: &S, dry: &[StageReport]) -> Result<(), CircuitError> {
        for report in dry {
            let groups = match report.stage {
                Stage::CoeffToSlot => &self.coeff_to_slot,
                Stage::SlotToCoeff => &self.slot_to_coeff,
                _ => continue,
            };
            if let (Some(group), Some(level)) = (groups.get(report.group), report.level_before) {
                group.prepared(scheme, level)?;
            }
        }
        Ok(())
    }
    /// The capacity, in bits, that a ciphertext needs to be bootstrapped.
    pub fn minimum_capacity(&self, scheme: &S) -> f64 {
        scheme.minimum_capacity()
    }
    /// The same message under fresh noise: exact whenever the scheme's bounds hold.
    ///
    /// # Errors
    /// [`CircuitError::PlanMismatch`] if `scheme` has other slots or a larger overflow than the one that was planned for;
    /// [`CircuitError::ExponentMismatch`] unless `x` has values modulo p; errors of the scheme: above all that `x` is
    /// noisier than bootstrapping can take, or that the chain of moduli is too short for the plan.
    pub fn bootstrap(&self, scheme: &S, x: &S::Ciphertext) -> Result<S::Ciphertext, CircuitError> {
        self.bootstrap_observed(scheme, x, &mut ())
    }
    /// As [`Bootstrapper::bootstrap`], with a report of every stage to `observer`.
    ///
    /// # Errors
    /// As [`Bootstrapper::bootstrap`].
    pub fn bootstrap_observed(
        &self,
        scheme: &S,
        x: &S::Ciphertext,
        observer: &mut dyn StageObserver,
    ) -> Result<S::Ciphertext, CircuitError> {
        if *scheme.slot_shape() != self.shape {
            return Err(CircuitError::PlanMismatch { reason: "its slots are not those it was planned for" });
        }
        if scheme.overflow_bound() > self.digits.bound() {
            return Err(CircuitError::PlanMismatch { reason: "its overflow exceeds the bound it was planned for" });
        }
        let found = scheme.plain_exponent(x);
        if found != 1 {
            return Err(CircuitError::ExponentMismatch { expected: 1, found });
        }
        let mut watch = Watch::new(scheme, observer);
        let raised = scheme.begin_raise(x)?;
        watch.done(Stage::Encapsulate, 0, None, x);

        let u = scheme.prepare(&scheme.raise_overflow(&raised, self.digits.multiplier())?, NextUse::LinearMap)?;
        watch.done(Stage::Raise, 0, None, &u);
        let u = self.traced(scheme, u, &mut watch)?;
        let u = apply_groups(scheme, &self.coeff_to_slot, u, NextUse::Product, Stage::CoeffToSlot, &mut watch)?.0;
        let h = self.digits.remove(scheme, &u, NextUse::LinearMap)?;
        watch.done(Stage::DigitRemoval, 0, Some(&u), &h);
        drop(u);
        let (h, before) = apply_groups(scheme, &self.slot_to_coeff, h, NextUse::Keep, Stage::SlotToCoeff, &mut watch)?;

        // 1/d is a large constant: one group higher there is room for its noise.
        let like = before.as_ref().filter(|_| !self.trace.is_empty()).unwrap_or(&h);
        let message = self.trace(scheme, scheme.raise_message(&raised, like)?)?;
        let q0 = scheme.base_modulus_mod_p(&raised);
        let out = scheme.linear_combination(&[(&message, self.inverse_degree), (&h, q0)], 0)?;
        watch.done(Stage::Assemble, 0, Some(&h), &out);
        Ok(out)
    }
    fn traced(&self, scheme: &S, u: S::Ciphertext, watch: &mut Watch<'_, S>) -> Result<S::Ciphertext, CircuitError> {
        if self.trace.is_empty() {
            return Ok(u);
        }
        let traced = scheme.prepare(&self.trace(scheme, u.clone())?, NextUse::LinearMap)?;
        watch.done(Stage::Trace, 0, Some(&u), &traced);
        Ok(traced)
    }
    /// The sum of the d conjugates of x, in log2 d steps: d times the part of x in the thin plaintexts.
    fn trace(&self, scheme: &S, mut x: S::Ciphertext) -> Result<S::Ciphertext, CircuitError> {
        for g in &self.trace {
            x = scheme.add(&x, &scheme.apply_galois(&x, *g)?)?;
        }
        Ok(x)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::clear::{Clear, Rng};
    use crate::digits::DigitMethod;
    use crate::linear::StepCosts;

    #[test]
    fn the_message_survives_exactly() {
        // d = 1, d = 1, d = 4, d = 1 with 6 groups in all
        let cases = [
            (128, 257, vec![3, 3], vec![2, 4]),
            (256, 65537, vec![7], vec![7]),
            (1024, 257, vec![4, 3], vec![3, 4]),
            (512, 12289, vec![2, 3, 3], vec![3, 3, 2]),
        ];
        for (index, p, c2s, s2c) in cases {
            let scheme = Clear::new(index, p);
            let mut rng = Rng(index);
            for digits in [
                DigitMethod::ProductTree { group: 2 },
                DigitMethod::PatersonStockmeyer { extra_depth: 0 },
                DigitMethod::Global { extra_depth: 0 },
            ] {
                let steps = StepCosts { max_keys: 32, ..StepCosts::default() };
                let plan = BootstrapPlan { coeff_to_slot: c2s.clone(), slot_to_coeff: s2c.clone(), digits, steps };
                let bootstrapper = Bootstrapper::new(&scheme, plan).unwrap();
                let message: Vec<u64> = (0..scheme.shape.slots()).map(|_| rng.below(p)).collect();
                scheme.take_counts();
                let mut reports: Vec<StageReport> = Vec::new();
                let out = bootstrapper.bootstrap_observed(&scheme, &scheme.encrypt(message.clone(), 1), &mut reports).unwrap();
                assert_eq!(out.slots, message);
                let (counts, costs) = (scheme.take_counts(), bootstrapper.costs());
                assert_eq!((counts.products, counts.relinearizations + counts.galois), (costs.products, costs.key_switches));
                let linear = reports.iter().filter(|r| matches!(r.stage, Stage::CoeffToSlot | Stage::SlotToCoeff)).count();
                assert_eq!(linear, c2s.len() + s2c.len());
                assert_eq!(reports.last().unwrap().stage.name(), "assemble");
            }
        }
    }

    #[test]
    fn plans_that_do_not_fit_are_refused() {
        let scheme = Clear::new(128, 257);
        let plan = BootstrapPlan { coeff_to_slot: vec![3, 4], ..BootstrapPlan::balanced(64) };
        assert!(matches!(Bootstrapper::new(&scheme, plan), Err(CircuitError::BadSplits { .. })));
        let bootstrapper = Bootstrapper::new(&scheme, BootstrapPlan::balanced(64)).unwrap();
        let x = scheme.encrypt(vec![0; 64], 2);
        assert_eq!(bootstrapper.bootstrap(&scheme, &x), Err(CircuitError::ExponentMismatch { expected: 1, found: 2 }));
        assert!(matches!(
            Bootstrapper::new(&Clear::new(128, 127), BootstrapPlan::balanced(32)),
            Err(CircuitError::PlanMismatch { .. })
        ));
        let other = Clear::new(128, 65537);
        let x = other.encrypt(vec![0; 64], 1);
        assert!(matches!(bootstrapper.bootstrap(&other, &x), Err(CircuitError::PlanMismatch { .. })));
    }
}
