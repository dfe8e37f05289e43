//! A parameter set with its expected performance.

use everlevel_circuit::bootstrap::TimeModel;
use everlevel_scheme::{Arithmetic, Cost, KeyPlan, NextUse, NoOp, Params};

use crate::error::Error;
use crate::planner::{KeyPlanner, failure_log2, multiplications_left, zero};

/// The quantity to minimize.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Minimize {
    /// The latency: the time of all consecutive multiplications, or of one bootstrapping.
    Latency,
    /// The amortized time: that of one multiplication divided by the number of slots, bootstrapping
    /// included.
    Throughput,
    /// The memory for server keys and a few ciphertexts, in bytes.
    Memory,
}

/// A parameter set that meets the requirements, with its expected performance.
#[derive(Clone, Debug)]
#[non_exhaustive]
#[cfg_attr(not(feature = "unstable"), allow(dead_code, reason = "only what is compared is read"))]
pub struct Candidate {
    /// The set: a named one, or one constructed for these requirements; `params.spec()` is its
    /// specification.
    pub params: Params,
    /// The number of consecutive multiplications of a fresh ciphertext or, for sets that bootstrap,
    /// of a bootstrapped one.
    pub multiplications: usize,
    /// Modeled seconds on one thread for all consecutive multiplications, or for one bootstrapping.
    pub latency: f64,
    /// Modeled seconds for one multiplication in one slot, bootstrapping included.
    pub per_slot: f64,
    /// The memory in bytes for server keys (products at every level, bootstrapping) and four fresh
    /// ciphertexts.
    pub bytes: u64,
    /// log2 of the probability that the computation of `latency` fails.
    pub failure_log2: f64,
}

impl Candidate {
    /// The value that is minimized.
    pub(super) fn score(&self, minimize: Minimize) -> f64 {
        match minimize {
            Minimize::Latency => self.latency,
            Minimize::Throughput => self.per_slot,
            Minimize::Memory => self.bytes as f64,
        }
    }
}

pub(super) fn evaluate_leveled(
    params: &Params,
    depth: u32,
    model: &impl Fn(&Params) -> TimeModel,
) -> Result<Candidate, Error> {
    let scheme = NoOp::blank(params);
    let mut x = scheme.encrypt_publicly(&zero(params)?)?;
    let before = scheme.cost();
    let start = *x.meta();
    for _ in 0..depth {
        x = scheme.mul(&x, &x, NextUse::Product)?;
    }
    let cost = scheme.cost() - before;
    let latency = model(params).seconds(&cost);
    Ok(candidate(
        params,
        multiplications_left(params, &start, 0.0),
        latency,
        latency / f64::from(depth),
        &cost,
        &scheme.key_plan(),
    ))
}

/// The set of a dry run of its bootstrapping.
pub(super) fn evaluate_bootstrapped(
    planner: &KeyPlanner,
    model: &impl Fn(&Params) -> TimeModel,
) -> Result<Candidate, Error> {
    let params = &planner.params;
    let model = model(params);
    let latency = model.seconds(&planner.cost);
    let multiplications = planner.multiplications_after();
    let product = {
        let scheme = NoOp::blank(params);
        let x = scheme.encrypt(&zero(params)?)?;
        let before = scheme.cost();
        scheme.mul(&x, &x, NextUse::Product)?;
        model.seconds(&(scheme.cost() - before))
    };
    let per_product = product + latency / (multiplications as f64).max(0.01);
    Ok(candidate(params, multiplications, latency, per_product, &planner.cost, &planner.keys()))
}

fn candidate(
    params: &Params,
    multiplications: usize,
    latency: f64,
    per_product: f64,
    cost: &Cost,
    keys: &KeyPlan,
) -> Candidate {
    let ciphertext = params.components() as f64
        * params.degree() as f64
        * params.modulus_bits(params.chain().top())
        / 8.0;
    Candidate {
        params: params.clone(),
        multiplications,
        latency,
        per_slot: per_product / params.slots() as f64,
        bytes: keys.memory_bytes(params) + (4.0 * ciphertext) as u64,
        failure_log2: failure_log2(params, cost),
    }
}
