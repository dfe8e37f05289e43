//! Keys and costs of a server, determined without cryptography.

#[cfg(feature = "unstable")]
use everlevel_circuit::bootstrap::{
    BootstrapCosts, DryRun, Objective, PlanReport, Planner, TimeModel,
};
use everlevel_circuit::bootstrap::{BootstrapPlan, Bootstrapper, StageReport};
#[cfg(feature = "unstable")]
use everlevel_circuit::rotation_elements;
#[cfg(feature = "unstable")]
use everlevel_ring::GaloisElement;
#[cfg(feature = "unstable")]
use everlevel_scheme::ParamsSpec;
use everlevel_scheme::noise::Meta;
use everlevel_scheme::noop::NoOpCiphertext;
use everlevel_scheme::{Cost, KeyPlan, Level, NextUse, NoOp, Params, Plaintext, SchemeError};

use crate::error::Error;

/// Runs one bootstrapping on the no-op scheme and records the keys that it uses, its cost, and the
/// capacity that it leaves. Requires no secret key.
pub struct KeyPlanner {
    pub(crate) params: Params,
    bootstrap: BootstrapPlan,
    pub(crate) keys: KeyPlan,
    #[cfg(feature = "unstable")]
    costs: BootstrapCosts,
    pub(crate) cost: Cost,
    pub(crate) after: Meta,
    minimum_capacity: f64,
    #[cfg(feature = "unstable")]
    stages: Vec<StageReport>,
}

impl KeyPlanner {
    /// Keys for products at every level and for bootstrapping by the plan of the parameter set
    /// ([`bootstrap_plan`]).
    ///
    /// # Errors
    /// A set that cannot bootstrap.
    pub fn new(params: &Params) -> Result<Self, Error> {
        Self::with_plan(params, bootstrap_plan(params)?)
    }

    /// Keys for products at every level and for bootstrapping by the plan `bootstrap`.
    ///
    /// # Errors
    /// A set that cannot bootstrap, or a plan that does not fit it.
    pub fn with_plan(params: &Params, bootstrap: BootstrapPlan) -> Result<Self, Error> {
        let scheme = NoOp::blank(params);
        let bootstrapper = Bootstrapper::new(&scheme, bootstrap.clone())?;
        let mut stages: Vec<StageReport> = Vec::new();
        let counted = scheme.cost();
        let fresh = bootstrapper.bootstrap_observed(
            &scheme,
            &exhausted(&scheme, bootstrapper.minimum_capacity(&scheme))?,
            &mut stages,
        )?;
        let keys = scheme.key_plan().merge(&KeyPlan::relinearization(params));
        Ok(KeyPlanner {
            params: params.clone(),
            bootstrap,
            keys,
            #[cfg(feature = "unstable")]
            costs: bootstrapper.costs(),
            cost: scheme.cost() - counted,
            after: *fresh.meta(),
            minimum_capacity: bootstrapper.minimum_capacity(&scheme),
            #[cfg(feature = "unstable")]
            stages,
        })
    }

    /// The bootstrapping plan.
    pub fn bootstrap_plan(&self) -> &BootstrapPlan {
        &self.bootstrap
    }

    /// The cost of a bootstrapping by the plan: key switches, products, depth.
    #[cfg(feature = "unstable")]
    pub fn bootstrap_costs(&self) -> BootstrapCosts {
        self.costs
    }

    /// The cost of a bootstrapping as counted by the dry run.
    #[cfg(feature = "unstable")]
    pub fn cost(&self) -> Cost {
        self.cost
    }

    /// The level and the noise bound of a bootstrapped ciphertext.
    #[cfg(feature = "unstable")]
    pub fn after_bootstrap(&self) -> &Meta {
        &self.after
    }

    /// The capacity, in bits, that a ciphertext needs to be bootstrapped.
    pub fn minimum_capacity(&self) -> f64 {
        self.minimum_capacity
    }

    /// The number of consecutive squarings of a bootstrapped ciphertext after which the result can
    /// still be bootstrapped.
    pub fn multiplications_after(&self) -> usize {
        multiplications_left(&self.params, &self.after, self.minimum_capacity)
    }

    /// The stages of the dry run, from which `Bootstrapper::prepare` computes its tables.
    #[cfg(feature = "unstable")]
    pub fn stages(&self) -> &[StageReport] {
        &self.stages
    }

    /// The keys found so far.
    pub fn keys(&self) -> KeyPlan {
        self.keys.clone()
    }

    /// Adds keys for rotations of the columns by each of `steps` (to the left), at every level.
    #[must_use]
    pub fn rotations(mut self, steps: impl IntoIterator<Item = i64>) -> Self {
        self.keys = self.keys.merge(&KeyPlan::column_rotations(&self.params, steps));
        self
    }

    /// Adds keys for rotations along a dimension of the slots by each of `steps`, at every level:
    /// one key for each step, or two if the dimension is a bad one.
    ///
    /// # Errors
    /// An unknown dimension.
    #[cfg(feature = "unstable")]
    pub fn rotations_along(
        self,
        dimension: usize,
        steps: impl IntoIterator<Item = i64>,
    ) -> Result<Self, Error> {
        let mut elements = Vec::new();
        for k in steps {
            elements.extend(rotation_elements(self.params.slot_shape(), dimension, k)?);
        }
        Ok(self.automorphisms(elements))
    }

    /// Adds the key for the exchange of the rows, at every level; none if there is one row.
    #[must_use]
    pub fn row_swap(mut self) -> Self {
        self.keys = self.keys.merge(&KeyPlan::row_swap(&self.params));
        self
    }

    /// Adds keys for any automorphisms, at every level: conjugation, Frobenius on whole slots (see
    /// [`everlevel_ring::SlotShape`]).
    #[must_use]
    #[cfg(feature = "unstable")]
    pub fn automorphisms(mut self, elements: impl IntoIterator<Item = GaloisElement>) -> Self {
        let top = self.params.chain().top();
        self.keys = self.keys.merge(&KeyPlan::automorphisms_up_to(&self.params, elements, top));
        self
    }
}

/// The bootstrapping plan of a parameter set: the choices that its specification states, and the
/// recommended plan for the others.
///
/// # Errors
/// A set that cannot bootstrap, or a digit removal of an unknown name.
pub fn bootstrap_plan(params: &Params) -> Result<BootstrapPlan, Error> {
    if params.spec().bootstrap.is_none() {
        return Err(Error::from(SchemeError::BadParams {
            name: params.name().into(),
            problem: "the set has no bootstrapping section: add one, or use a set such as \
                      bgv-65537-n15"
                .into(),
        }));
    }
    Ok(BootstrapPlan::for_set(params)?)
}

/// Tries bootstrapping plans on the no-op scheme and returns the best one found, with its cost and
/// the capacity that it leaves.
///
/// # Errors
/// None of the plans fits the modulus.
#[cfg(feature = "unstable")]
pub fn search_plan(
    params: &Params,
    model: TimeModel,
    objective: Objective,
) -> Result<PlanReport, Error> {
    let dry = Dry(params);
    Ok(Planner::new(&dry, model, objective).search(&BootstrapPlan::candidates_for(params, 6)?)?)
}

/// The specification with this bootstrapping plan, if it has a bootstrapping section.
#[cfg(feature = "unstable")]
pub fn spec_with_plan(spec: &ParamsSpec, plan: &BootstrapPlan) -> ParamsSpec {
    let mut spec = spec.clone();
    if let Some(bootstrap) = &mut spec.bootstrap {
        bootstrap.coeff_to_slot = Some(plan.coeff_to_slot.clone());
        bootstrap.slot_to_coeff = Some(plan.slot_to_coeff.clone());
        bootstrap.digit_removal = Some(plan.digits.to_string());
        bootstrap.digit_form = plan.digit_form;
    }
    spec
}

/// The no-op scheme, for the planner.
#[cfg(feature = "unstable")]
struct Dry<'a>(&'a Params);

#[cfg(feature = "unstable")]
impl DryRun for Dry<'_> {
    type Scheme = NoOp;
    fn scheme(&self) -> Result<NoOp, SchemeError> {
        Ok(NoOp::blank(self.0))
    }

    fn exhausted(&self, scheme: &NoOp, capacity: f64) -> Result<NoOpCiphertext, SchemeError> {
        exhausted(scheme, capacity)
    }

    fn cost(&self, scheme: &NoOp) -> Cost {
        scheme.cost()
    }

    fn key_bytes(&self, scheme: &NoOp) -> u64 {
        scheme.key_plan().seeded_bytes(self.0)
    }
}

/// A no-op ciphertext that needs bootstrapping, at the lowest level at which a ciphertext that was
/// switched down has this capacity; the result of bootstrapping does not depend on it.
fn exhausted(scheme: &NoOp, capacity: f64) -> Result<NoOpCiphertext, SchemeError> {
    let params = scheme.params();
    let zero = zero(params)?;
    let fresh = |level: usize| scheme.encrypt_at(&zero, Level(level));
    let top = params.chain().top().0;
    let floor = params.noise().bound().floor(params.wide_modulus());
    let enough = |x: &NoOpCiphertext| {
        params.modulus_bits(x.meta().level) - 1.0 - x.meta().noise.max(floor) >= capacity
    };
    (1..top).filter_map(|level| fresh(level).ok()).find(enough).map_or_else(|| fresh(top), Ok)
}

/// The plaintext of zeros modulo p^r, without the n φ(N) word products and more that encoding them
/// takes over an index with axes.
///
/// # Errors
/// None: zeros are coefficients of every set.
pub(crate) fn zero(params: &Params) -> Result<Plaintext, SchemeError> {
    Plaintext::from_coefficients(params, vec![0; params.degree()], params.plain_exponent())
}

/// The number of consecutive squarings of a ciphertext with these public data after which the
/// result has at least `needed` bits of capacity: 0 for decryption,
/// [`KeyPlanner::minimum_capacity`] for bootstrapping.
pub fn multiplications_left(params: &Params, meta: &Meta, needed: f64) -> usize {
    let noise = params.noise();
    let square = |m: &Meta| {
        let at = noise.mod_switch(m, noise.product_level(m, m));
        let raw = noise.product(&at, &at).ok()?;
        let product = noise.reduce(&noise.key_switch(&raw), NextUse::Product);
        (noise.capacity(&product) >= needed).then_some(product)
    };
    std::iter::successors(square(meta), square).count()
}

/// log2 of the probability that some noise bound fails in a computation of this cost:
/// [`NoiseTracker::failure_log2`](everlevel_scheme::noise::NoiseTracker::failure_log2).
pub fn failure_log2(params: &Params, cost: &Cost) -> f64 {
    params.noise().failure_log2(cost)
}
