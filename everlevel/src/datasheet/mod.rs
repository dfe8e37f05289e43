//! Everything that follows from a parameter set.

mod text;

use std::collections::BTreeMap;

use everlevel_arith::primes;
use everlevel_ring::Ring;
use everlevel_scheme::noise::{Events, NEVER};
use everlevel_scheme::params::KeySecurity;
use everlevel_scheme::spec::{Assumption, BootstrapMode, SecretKind};
use everlevel_scheme::{Form, KeyPlan, Params};
use serde::{Deserialize, Serialize};

use crate::error::Error;
use crate::planner::{KeyPlanner, failure_log2, multiplications_left};

/// The derived properties of a set, as `everlevel params datasheet` prints them; serde writes them
/// as JSON. Capacities and key sizes come from one bootstrapping on the no-op scheme.
#[derive(Serialize)]
pub struct Datasheet {
    name: String,
    #[serde(rename = "family")]
    assumption: Assumption,
    form: Form,
    through_bgv: bool,
    n: usize,
    m: u64,
    p: u64,
    r: u32,
    slots: usize,
    d: usize,
    log_q: f64,
    log_p: f64,
    log_qp: f64,
    digits: usize,
    levels: usize,
    secret: String,
    sparse_weight: Option<usize>,
    under_main_key: bool,
    security_bits: f64,
    security_model: &'static str,
    security_by_key: Vec<KeySecurity>,
    fresh_capacity_bits: f64,
    fresh_multiplications: usize,
    relinearization_key_bytes: u64,
    transform_primes: Vec<PrimeSupply>,
    bootstrap: Option<BootstrapSheet>,
}

/// A recorded measurement: the time of one bootstrapping of a set.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Measured {
    /// The median over the runs, in seconds.
    pub seconds: f64,
    /// The number of runs.
    pub runs: usize,
    /// The number of threads.
    pub threads: usize,
    /// The processor.
    pub cpu: String,
    /// The instruction set that was used.
    pub backend: String,
    /// The date.
    pub date: String,
    /// The commit.
    pub commit: String,
}

impl Measured {
    /// The measurements that come with the library, by set: `everlevel bench bootstrap --record
    /// everlevel/measured.json`. [`Datasheet::with_measured`] takes others.
    ///
    /// # Errors
    /// None: the file is part of the source, and a test reads it.
    pub fn recorded() -> Result<BTreeMap<String, Measured>, serde_json::Error> {
        serde_json::from_str(include_str!("../../measured.json"))
    }
}

/// The number of primes of a given size that the transforms of a ring can use.
#[derive(Serialize)]
struct PrimeSupply {
    bits: u32,
    count: u64,
    /// Whether the number was counted; otherwise it is an estimate by the prime number theorem for
    /// arithmetic progressions.
    exact: bool,
}

impl PrimeSupply {
    /// The largest number of candidates that are tried.
    const CANDIDATES: u64 = 1 << 16;

    /// Primes 1 modulo `step` between 2^(bits-1) and 2^bits.
    fn new(step: u64, bits: u32) -> Self {
        let (low, high) = (1u64 << (bits - 1), 1u64 << bits);
        if (high - low) / step <= Self::CANDIDATES {
            let count =
                primes::primes_congruent_one(step, high).take_while(|&q| q > low).count() as u64;
            return PrimeSupply { bits, count, exact: true };
        }
        let units: f64 =
            primes::factor(step).iter().map(|&(l, k)| (l.pow(k - 1) * (l - 1)) as f64).product();
        let middle = (low + low / 2) as f64;
        PrimeSupply { bits, count: (low as f64 / (units * middle.ln())) as u64, exact: false }
    }

    fn text(&self) -> String {
        format!("{}{} of {} bits", if self.exact { "" } else { "about " }, self.count, self.bits)
    }
}

#[derive(Serialize)]
struct BootstrapSheet {
    mode: BootstrapMode,
    removed_digits: u32,
    overflow_bound: u64,
    /// log2 of the probability that a coefficient exceeds the bound; none if it never does.
    overflow_log2: Option<f64>,
    coeff_to_slot: Vec<usize>,
    slot_to_coeff: Vec<usize>,
    digit_removal: String,
    depth: u32,
    key_switches: u64,
    non_scalar_products: u64,
    minimum_capacity_bits: f64,
    capacity_bits_after: f64,
    multiplications_after: usize,
    server_keys: usize,
    server_key_bytes: u64,
    /// log2 of the probability that one bootstrapping fails: the sum of the next two.
    failure_log2: f64,
    /// log2 of the probability that the random polynomial of a rounding or a key switch exceeds its
    /// bound.
    failure_of_events_log2: f64,
    /// log2 of the probability that some coefficient of the overflow exceeds its bound; none if
    /// this is impossible.
    failure_of_overflow_log2: Option<f64>,
    /// The measured time, if there is a record.
    #[serde(skip_serializing_if = "Option::is_none")]
    measured: Option<Measured>,
}

impl Datasheet {
    /// Derives the properties of a set, by one bootstrapping on the no-op scheme.
    ///
    /// # Errors
    /// A set whose bootstrapping does not fit its modulus.
    pub fn of(params: &Params) -> Result<Self, Error> {
        let (spec, chain, security) = (params.spec(), params.chain(), params.security());
        let log_q = chain.bits(chain.top());
        let log_p = params.ring().log2(chain.special());
        let noise = params.noise();
        let fresh = noise.fresh(
            chain.top(),
            params.plain_exponent(),
            noise.bound().fresh_secret(params.wide_modulus()),
        );
        let step = Ring::prime_step(spec.index)?;
        let mut needed = 0.0;
        let bootstrap = match &spec.bootstrap {
            None => None,
            Some(b) => {
                let planner = KeyPlanner::new(params)?;
                needed = planner.minimum_capacity();
                let (plan, keys, after) =
                    (planner.bootstrap_plan(), planner.keys(), planner.after_bootstrap());
                let random = planner.cost().roundings + planner.cost().key_switches;
                Some(BootstrapSheet {
                    mode: plan.mode,
                    removed_digits: b.removed_digits(),
                    overflow_bound: b.bound(),
                    overflow_log2: Some(noise.bound().overflow_tail(b.bound()))
                        .filter(|x| x.is_finite()),
                    coeff_to_slot: plan.coeff_to_slot.clone(),
                    slot_to_coeff: plan.slot_to_coeff.clone(),
                    digit_removal: plan.digits.to_string(),
                    depth: planner.bootstrap_costs().depth,
                    key_switches: planner.cost().key_switches,
                    non_scalar_products: planner.cost().products,
                    minimum_capacity_bits: planner.minimum_capacity(),
                    capacity_bits_after: noise.capacity(after),
                    multiplications_after: planner.multiplications_after(),
                    server_keys: keys.len() + usize::from(keys.bootstrap),
                    server_key_bytes: keys.seeded_bytes(params),
                    failure_log2: failure_log2(params, &planner.cost()),
                    failure_of_events_log2: noise.failure_of_events(Events::fresh(random)),
                    failure_of_overflow_log2: Some(noise.failure_of_events(Events::overflow(1)))
                        .filter(|x| *x > NEVER),
                    measured: Measured::recorded()
                        .ok()
                        .and_then(|all| all.get(params.name()).cloned()),
                })
            }
        };
        Ok(Datasheet {
            name: params.name().into(),
            assumption: spec.assumption,
            form: spec.form,
            through_bgv: spec.through_bgv,
            n: params.degree(),
            m: spec.index,
            p: spec.plain_prime,
            r: spec.plain_exponent,
            slots: params.slots(),
            d: params.slot_shape().degree_of_slot(),
            log_q,
            log_p,
            log_qp: log_q + log_p,
            digits: chain.gadget(chain.top()).digits(chain.basis(chain.top())).count(),
            levels: chain.top().0 + 1,
            secret: match spec.secret {
                SecretKind::UniformTernary => "uniform ternary".into(),
                SecretKind::TruncatedGaussian => {
                    "truncated discrete Gaussian of deviation 1.55".into()
                }
                SecretKind::Sparse(weight) => format!("ternary of weight {weight}"),
            },
            sparse_weight: spec.bootstrap.as_ref().map(|b| b.sparse_weight),
            under_main_key: spec.bootstrap.as_ref().is_some_and(|b| b.under_main_key),
            security_bits: security.bits(),
            security_model: security.model(),
            security_by_key: security.keys().to_vec(),
            fresh_capacity_bits: noise.capacity(&fresh),
            fresh_multiplications: multiplications_left(params, &fresh, needed),
            relinearization_key_bytes: KeyPlan::relinearization(params).seeded_bytes(params),
            transform_primes: [31, 36, 40, 50].map(|bits| PrimeSupply::new(step, bits)).into(),
            bootstrap,
        })
    }

    /// With the time of this set among `measured`, if it is there, instead of the one that comes
    /// with the library.
    #[must_use]
    pub fn with_measured(mut self, measured: &BTreeMap<String, Measured>) -> Self {
        if let (Some(sheet), Some(found)) = (&mut self.bootstrap, measured.get(&self.name)) {
            sheet.measured = Some(found.clone());
        }
        self
    }
}

/// The text of p^r.
pub fn power(p: u64, r: u32) -> String {
    if r == 1 { p.to_string() } else { format!("{p}^{r}") }
}
