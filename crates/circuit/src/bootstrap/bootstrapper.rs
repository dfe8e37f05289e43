//! A bootstrapping that is planned for a scheme: its linear maps, its digit removal, its cost.

use std::collections::BTreeSet;

use everlevel_ring::{GaloisElement, SlotShape};
use everlevel_scheme::spec::BootstrapMode;
use everlevel_scheme::{Bootstrappable, SchemeError};

use super::groups::{Setting, Shelf};
use super::observe::{StageReport, Watch};
use super::path::plans::plans;
use super::path::slot_path;
use super::path::slot_path::{PathCosts, SlotPath};
use super::plan::{BootstrapCosts, BootstrapPlan};
use crate::digits::{DigitProblem, DigitRemoval};
use crate::error::CircuitError;
use crate::straight_line::CircuitCosts;

/// Bootstraps ciphertexts of one scheme by one plan: thin ciphertexts (integers modulo p^r in every
/// slot), or arbitrary ones in full mode and, over indices with axes, with the bypass.
///
/// The diagonals of the linear maps are prepared when they are first used (or by
/// [`Bootstrapper::prepare`]), for the levels at which they are used, which are the same in every
/// bootstrapping, as levels follow from noise bounds. It can be shared between threads.
pub struct Bootstrapper<S: Bootstrappable> {
    pub(super) plan: BootstrapPlan,
    pub(super) shape: SlotShape,
    pub(super) path: Box<dyn SlotPath<S>>,
    pub(super) digits: DigitRemoval,
    /// Whether the digit removal is for values on a grid, which do not include the message.
    pub(super) on_grid: bool,
    /// r and v, the exponent of the message and the number of digits that are removed.
    pub(super) exponents: (u32, u32),
    /// Capacity above the floor at which the thin mode begins.
    pub(super) entry: f64,
    costs: BootstrapCosts,
    galois_elements: Vec<GaloisElement>,
}

impl<S: Bootstrappable> Bootstrapper<S> {
    /// Plans all maps and the digit removal for the scheme's slots, prime and overflow bound.
    ///
    /// # Errors
    /// [`CircuitError::BadSplits`] if the group sizes do not add up to the number of stages,
    /// [`CircuitError::PlanMismatch`] if the mode does not fit the slots,
    /// [`CircuitError::TooManyKeys`], [`CircuitError::OverflowBound`].
    pub fn new(scheme: &S, plan: BootstrapPlan) -> Result<Self, CircuitError> {
        Self::with_shelf(scheme, plan, &mut Shelf::default())
    }

    /// The same, with the linear maps from a cache that serves several plans for schemes of equal
    /// parameters.
    pub(super) fn with_shelf(
        scheme: &S,
        plan: BootstrapPlan,
        shelf: &mut Shelf<S>,
    ) -> Result<Self, CircuitError> {
        let shape = scheme.slot_shape();
        let bound = scheme.overflow_bound();
        let (r, v) = (scheme.message_exponent(), scheme.overflow_digits());
        plans(shape).check(shape, plan.mode, r, v)?;
        let digits = if plan.on_grid(r) {
            DigitRemoval::new(scheme.plain_prime(), bound, plan.digits)?
        } else {
            let problem = DigitProblem { p: scheme.plain_prime(), e: r + v, v, bound };
            DigitRemoval::for_problem(problem, plan.digits)?
        };
        let mut out = Self::without_entry(scheme, plan, digits, shelf)?;
        if out.plan.mode == BootstrapMode::Thin {
            out.entry = out.rehearse_entry(scheme)?;
        }
        Ok(out)
    }

    /// The bootstrapping of a rehearsal, for another scheme of the same parameters: with its plans,
    /// and with the capacity at which the thin mode begins, which [`Bootstrapper::new`] finds by
    /// several dry runs of slot-to-coefficient. They take no keys and little time on the no-op
    /// scheme, and as bounds are the same on every scheme, so is what they find.
    ///
    /// # Errors
    /// [`CircuitError::PlanMismatch`] if the scheme has other slots, another p^r or v, or a larger
    /// overflow than the one of the rehearsal. Where only the moduli are others, bootstrapping
    /// refuses what it cannot raise.
    pub fn rehearsed<R: Bootstrappable>(
        scheme: &S,
        rehearsal: &Bootstrapper<R>,
    ) -> Result<Self, CircuitError> {
        rehearsal.check(scheme)?;
        let mut shelf = Shelf::of_plans(rehearsal.path.maps());
        let (plan, digits) = (rehearsal.plan.clone(), rehearsal.digits.clone());
        let out = Self::without_entry(scheme, plan, digits, &mut shelf)?;
        Ok(Bootstrapper { entry: rehearsal.entry, ..out })
    }

    /// All but the capacity at which the thin mode begins.
    fn without_entry(
        scheme: &S,
        plan: BootstrapPlan,
        digits: DigitRemoval,
        shelf: &mut Shelf<S>,
    ) -> Result<Self, CircuitError> {
        let shape = scheme.slot_shape();
        let (r, v) = (scheme.message_exponent(), scheme.overflow_digits());
        let on_grid = plan.on_grid(r);
        let setting = Setting {
            shape,
            plan: &plan,
            raised_exponent: digits.input_exponent(),
            message_exponent: r,
        };
        let path = slot_path(&setting, shelf)?;
        let elements: BTreeSet<GaloisElement> =
            path.galois_elements().into_iter().chain(path.maps().galois_elements()).collect();
        let mut costs = total(path.costs(), digits.costs(), plan.mode, on_grid);
        costs.galois_keys = elements.len();
        let galois_elements = elements.into_iter().collect();
        let shape = shape.clone();
        Ok(Bootstrapper {
            plan,
            shape,
            path,
            digits,
            on_grid,
            exponents: (r, v),
            entry: 0.0,
            costs,
            galois_elements,
        })
    }

    /// Refuses a scheme that this was not planned for.
    pub(super) fn check<R: Bootstrappable>(&self, scheme: &R) -> Result<(), CircuitError> {
        if *scheme.slot_shape() != self.shape {
            return Err(CircuitError::PlanMismatch {
                reason: "its slots are not those it was planned for",
            });
        }
        if scheme.overflow_bound() > self.digits.bound() {
            return Err(CircuitError::PlanMismatch {
                reason: "its overflow exceeds the bound it was planned for",
            });
        }
        if (scheme.message_exponent(), scheme.overflow_digits()) != self.exponents {
            return Err(CircuitError::PlanMismatch {
                reason: "its message has another modulus, or other digits are removed, than it was \
                         planned for",
            });
        }
        Ok(())
    }

    /// The plan.
    pub fn plan(&self) -> &BootstrapPlan {
        &self.plan
    }

    /// The digit removal.
    pub fn digits(&self) -> &DigitRemoval {
        &self.digits
    }

    /// The cost of one bootstrapping: key switches, products, plaintext products, keys and levels.
    pub fn costs(&self) -> BootstrapCosts {
        self.costs
    }

    /// The automorphisms that need keys, each once.
    pub fn galois_elements(&self) -> &[GaloisElement] {
        &self.galois_elements
    }

    /// Prepares the diagonals of all linear maps for the levels that a dry run met (on the no-op
    /// scheme, or an earlier run), so that the first bootstrapping takes no longer than the others.
    ///
    /// # Errors
    /// Errors of the scheme. Reports of other plans are harmless: diagonals that do not fit are
    /// prepared again when they are used.
    pub fn prepare(&self, scheme: &S, dry: &[StageReport]) -> Result<(), CircuitError> {
        for report in dry {
            if let Some(level) = report.level_before {
                self.path.prepare(scheme, report.stage, report.group, level)?;
            }
        }
        Ok(())
    }

    /// The capacity, in bits, that a ciphertext needs to be bootstrapped, if its noise bound is not
    /// below the floor of modulus switching (an encryption at a low level of a small ring may be:
    /// the thin mode needs the modulus, too).
    pub fn minimum_capacity(&self, scheme: &S) -> f64 {
        match self.plan.mode {
            BootstrapMode::Thin => self.entry + ENTRY_SLACK,
            BootstrapMode::Bypass | BootstrapMode::Full => scheme.minimum_capacity(),
        }
    }

    /// The least capacity above the floor, in steps of 2 bits, from which slot-to-coefficient
    /// leaves enough to raise, found by dry runs.
    fn rehearse_entry(&self, scheme: &S) -> Result<f64, CircuitError> {
        let needed = scheme.minimum_capacity();
        let mut entry = needed;
        loop {
            let blank = scheme.encrypt_zero_at(entry)?;
            let mut silent = ();
            let mut watch = Watch::new(scheme, &mut silent);
            let result = self.path.slot_to_coeff(scheme, vec![blank], &mut watch);
            let enough = |y| scheme.capacity_bits(y) >= needed;
            match result {
                Ok(ys) if ys.iter().all(enough) => return Ok(entry),
                Ok(_) | Err(CircuitError::Scheme(SchemeError::NoiseOverflow { .. }))
                    if entry < needed + LONGEST_ENTRY =>
                {
                    entry += 2.0
                }
                Ok(_) => {
                    return Err(CircuitError::PlanMismatch {
                        reason: "slot-to-coefficient takes more than any modulus leaves",
                    });
                }
                Err(error) => return Err(error),
            }
        }
    }
}

/// The cost of a bootstrapping, except for the number of keys.
fn total(
    path: PathCosts,
    removal: CircuitCosts,
    mode: BootstrapMode,
    on_grid: bool,
) -> BootstrapCosts {
    let removal = BootstrapCosts {
        key_switches: removal.relinearizations,
        products: removal.products,
        depth: removal.depth,
        ..BootstrapCosts::default()
    };
    // Thin and on a grid, the message goes to the slots by itself.
    let to_slots = if on_grid && mode == BootstrapMode::Thin { 2 } else { 1 };
    let projections = usize::from(mode == BootstrapMode::Bypass);
    path.to_slots
        .repeated(to_slots)
        .then(removal.repeated(path.parts))
        .then(path.to_coeff)
        .then(path.project.repeated(projections))
}

/// What a ciphertext must have above [`Bootstrappable::prepare_thin_input`]'s capacity: its own
/// noise may double the floor there.
const ENTRY_SLACK: f64 = 2.0;
/// More capacity than any slot-to-coefficient map needs.
const LONGEST_ENTRY: f64 = 800.0;

#[cfg(test)]
mod tests {
    use super::*;
    use everlevel_scheme::spec::BootstrapSpec;
    use everlevel_scheme::{NoOp, OptIn, Params, ParamsSpec, Plaintext};
    use everlevel_testing::toy_spec;

    /// Overflows of up to 5.
    fn params(index: u64, p: u64) -> Params {
        let bootstrap = Some(BootstrapSpec::encapsulated(10));
        let spec = ParamsSpec { bootstrap, ..toy_spec(index, p, 1) };
        Params::new(spec, OptIn::InsecureResearch).unwrap()
    }

    #[test]
    fn plans_that_do_not_fit_are_refused() {
        let set = params(128, 257);
        let scheme = NoOp::new(&set, 1);
        let plan = BootstrapPlan { coeff_to_slot: vec![3, 4], ..BootstrapPlan::balanced(64) };
        assert!(matches!(Bootstrapper::new(&scheme, plan), Err(CircuitError::BadSplits { .. })));
        let bootstrapper = Bootstrapper::new(&scheme, BootstrapPlan::balanced(64)).unwrap();
        let x = Plaintext::from_coefficients(&set, vec![0; 64], 2).unwrap();
        assert_eq!(
            bootstrapper.bootstrap(&scheme, &scheme.encrypt(&x).unwrap()).err(),
            Some(CircuitError::ExponentMismatch { expected: 1, found: 2 })
        );
        assert!(matches!(
            Bootstrapper::new(&NoOp::new(&params(128, 127), 1), BootstrapPlan::balanced(32)),
            Err(CircuitError::PlanMismatch { .. })
        ));
        let set = params(128, 65537);
        let other = NoOp::new(&set, 1);
        let x = other.encrypt(&Plaintext::encode(&set, &[0; 64]).unwrap()).unwrap();
        assert!(matches!(
            bootstrapper.bootstrap(&other, &x),
            Err(CircuitError::PlanMismatch { .. })
        ));
        // The same slots modulo p^3, of which two digits are removed from a message modulo p, or
        // one from a message modulo p^2.
        let [two, one] = [(1, 2), (2, 1)].map(|(r, digits)| {
            let bootstrap = BootstrapSpec {
                digits: Some(digits),
                mode: Some(BootstrapMode::Thin),
                ..BootstrapSpec::encapsulated(10)
            };
            let spec = ParamsSpec { bootstrap: Some(bootstrap), ..toy_spec(256, 17, r) };
            Params::new(spec, OptIn::InsecureResearch).unwrap()
        });
        assert_eq!(two.slot_shape(), one.slot_shape());
        let (first, other) = (NoOp::new(&two, 1), NoOp::new(&one, 1));
        let plan = BootstrapPlan::for_set(&two).unwrap();
        let bootstrapper = Bootstrapper::new(&first, plan).unwrap();
        assert!(matches!(
            Bootstrapper::rehearsed(&other, &bootstrapper),
            Err(CircuitError::PlanMismatch { .. })
        ));
        let x = other.encrypt(&Plaintext::encode(&one, &[200, 3]).unwrap()).unwrap();
        assert!(matches!(
            bootstrapper.bootstrap(&other, &x),
            Err(CircuitError::PlanMismatch { .. })
        ));
    }
}
