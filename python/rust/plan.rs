//! Parameter sets for a computation, and what keys are worth.

use everlevel::security::lwe::{self, Lwe, Secret};
use everlevel::security::{CostModel, ntru};
use everlevel::{Depth, Minimise, Requirements, TimeModel};
use pyo3::prelude::*;

use crate::errors::{Result, refusal};
use crate::params::Params;
use crate::runtime::detached;

/// A set, multiplications in a row, modelled seconds in all and for a multiplication in a slot, bytes of keys, log2 of the failure probability.
type Candidate = (Params, usize, f64, f64, u64, f64);

/// The sets that meet the requirements, the best first, by the model of a typical machine.
#[pyfunction]
#[pyo3(signature = (plain_modulus, slots, depth, minimise))]
pub fn candidates(
    py: Python<'_>,
    plain_modulus: u64,
    slots: usize,
    depth: Option<u32>,
    minimise: &str,
) -> Result<Vec<Candidate>> {
    let minimise = match minimise {
        "latency" => Minimise::Latency,
        "throughput" => Minimise::Throughput,
        "memory" => Minimise::Memory,
        _ => {
            let problem = format!("minimise = {minimise:?}: expected \"latency\", \"throughput\" or \"memory\"");
            return Err(refusal("RangeError", "python.minimise", &problem));
        }
    };
    let depth = depth.map_or(Depth::Unlimited, Depth::Levels);
    let requirements = Requirements { plain_modulus, slots, depth, minimise };
    let found = detached(py, || Ok(requirements.candidates(|params| TimeModel::typical(params.degree()))?))?;
    let row = |c: everlevel::Candidate| (Params(c.params), c.multiplications, c.latency, c.per_slot, c.bytes, c.failure_log2);
    Ok(found.into_iter().map(row).collect())
}

/// The attacks on a key, the cheapest first, as JSON. A weight above 0 is that of a sparse secret, a deviation above 0 that of a Gaussian one, neither: ternary.
#[pyfunction]
#[pyo3(signature = (n, log_qp, weight, deviation, error_deviation, rotations, core_svp, over_ntru))]
#[expect(clippy::too_many_arguments, reason = "a key and a model, from Python")]
pub fn estimate_security(
    py: Python<'_>,
    n: usize,
    log_qp: f64,
    weight: usize,
    deviation: f64,
    error_deviation: f64,
    rotations: bool,
    core_svp: bool,
    over_ntru: bool,
) -> Result<String> {
    let refused = |e: String| refusal("RangeError", "security", &e);
    let secret = match (weight, deviation) {
        (0, 0.0) => Secret::Ternary,
        (0, deviation) => Secret::Gaussian(deviation),
        (weight, _) => Secret::Sparse(weight),
    };
    let attacks = detached(py, || {
        if over_ntru {
            let variance = if deviation > 0.0 { deviation * deviation } else { 2.0 / 3.0 };
            let mut attacks = ntru::estimate(n, log_qp, variance).map_err(|e| refused(e.to_string()))?.attacks().to_vec();
            if core_svp {
                attacks.iter_mut().for_each(|attack| attack.bits = attack.core_svp_bits);
                attacks.sort_by(|a, b| a.bits.total_cmp(&b.bits));
            }
            return Ok(attacks);
        }
        let rotations = if rotations { n } else { 1 };
        let key = Lwe { error_deviation, rotations, ..Lwe::ring(n, log_qp, secret) };
        let model = if core_svp { CostModel::CoreSvp } else { CostModel::Matzov };
        Ok(lwe::estimate(&key, model).map_err(|e| refused(e.to_string()))?.attacks().to_vec())
    })?;
    serde_json::to_string(&attacks).map_err(|e| refused(e.to_string()))
}
