//! Parameter sets for a computation, and security estimates of keys.

use everlevel::{
    Depth, FoundRing, Minimize, Objective, OptIn, Requirements, RingSearch, TimeModel,
    bootstrap_plan, search_plan, spec_with_plan,
};
use everlevel_estimator::lwe::{self, Lwe, Secret};
use everlevel_estimator::{CostModel, ntru};
use everlevel_tables::{Workload, WorkloadError, WorkloadOperation, parse_largest, parse_rows};
use everlevel_wire::canonical_json;
use pyo3::prelude::*;

use crate::errors::{Failure, Result, refusal};
use crate::params::Params;
use crate::runtime::detached;

/// A set, multiplications in a row, modeled seconds in all and for a multiplication in a slot,
/// bytes of keys, log2 of the failure probability.
type Candidate = (Params, usize, f64, f64, u64, f64);

/// The sets that meet the requirements, the best first, by the model of a typical machine.
#[pyfunction]
#[pyo3(signature = (plain_modulus, slots, depth, minimize))]
pub fn candidates(
    py: Python<'_>,
    plain_modulus: u128,
    slots: usize,
    depth: Option<u32>,
    minimize: &str,
) -> Result<Vec<Candidate>> {
    let minimize = match minimize {
        "latency" => Minimize::Latency,
        "throughput" => Minimize::Throughput,
        "memory" => Minimize::Memory,
        _ => {
            let problem = format!(
                "minimize = {minimize:?}: expected \"latency\", \"throughput\" or \"memory\""
            );
            return Err(refusal("RangeError", "python.minimize", &problem));
        }
    };
    let depth = depth.map_or(Depth::Unlimited, Depth::Levels);
    let requirements =
        Requirements::new(plain_modulus).slots(slots).depth(depth).minimize(minimize);
    let found =
        detached(
            py,
            || Ok(requirements.candidates(|params| TimeModel::typical(params.degree()))?),
        )?;
    let row = |c: everlevel::Candidate| {
        (Params(c.params), c.multiplications, c.latency, c.per_slot, c.bytes, c.failure_log2)
    };
    Ok(found.into_iter().map(row).collect())
}

/// What is recommended for values, rows and operations, as JSON. Numbers are texts, since Python's
/// integers have any size.
#[pyfunction]
pub fn workload_plan(
    py: Python<'_>,
    largest: &str,
    signed: bool,
    rows: &str,
    operations: Vec<String>,
    insecure_research: bool,
) -> Result<String> {
    let operations = WorkloadOperation::parse_all(operations.iter().map(String::as_str))?;
    let workload = Workload::new(parse_largest(largest)?, signed, parse_rows(rows)?, operations)?;
    let plan = detached(py, || Ok(workload.plan(OptIn::new(insecure_research, false))?))?;
    serde_json::to_string(&plan).map_err(|e| refusal("Error", "python.json", &e.to_string()))
}

/// The operations that workloads name: each with its other names and what it computes.
#[pyfunction]
pub fn workload_operations() -> Vec<(&'static str, Vec<&'static str>, &'static str)> {
    WorkloadOperation::all().map(|o| (o.name(), o.aliases().to_vec(), o.help())).collect()
}

impl From<WorkloadError> for Failure {
    fn from(error: WorkloadError) -> Self {
        let class = match error {
            WorkloadError::Unsupported { .. } | WorkloadError::Rehearsal(_) => "ParameterError",
            _ => "RangeError",
        };
        refusal(class, error.code(), &error.to_string())
    }
}

/// The first rings that a search finds, by degree, as JSON, each with log2 of the largest modulus
/// at a given number of bits of security.
#[pyfunction]
pub fn rings(
    py: Python<'_>,
    p: u64,
    slots_at_least: usize,
    degree_of: usize,
    security: f64,
    index_below: u64,
    limit: usize,
) -> Result<Vec<(String, Option<f64>)>> {
    if !(security > 0.0 && security.is_finite()) {
        let problem = format!("security = {security}: expected a positive number of bits");
        return Err(refusal("RangeError", "python.security", &problem));
    }
    detached(py, || {
        let search = RingSearch { p, slots_at_least, degree_of, index_below };
        let (found, _) = search.run(limit)?;
        let row = |ring: FoundRing| {
            let json = serde_json::to_string(&ring)
                .map_err(|e| refusal("Error", "python.json", &e.to_string()))?;
            Ok((json, ring.log_qp(security)))
        };
        found.into_iter().map(row).collect()
    })
}

/// A specification with the best bootstrapping plan that is found by the model of a typical
/// machine, as JSON; its modeled seconds, its capacity and multiplications after it, the bytes of
/// its keys.
#[pyfunction]
pub fn tuned(py: Python<'_>, params: &Params, by: &str) -> Result<(String, f64, f64, f64, u64)> {
    let objective = match by {
        "throughput" => Objective::Throughput,
        "latency" => Objective::Latency,
        "capacity" => Objective::Capacity,
        _ => {
            let problem =
                format!("by = {by:?}: expected \"throughput\", \"latency\" or \"capacity\"");
            return Err(refusal("RangeError", "python.by", &problem));
        }
    };
    let params = &params.0;
    detached(py, || {
        // A set that cannot bootstrap has no plan.
        bootstrap_plan(params)?;
        let best = search_plan(params, TimeModel::typical(params.degree()), objective)?;
        let spec = spec_with_plan(params.spec(), &best.plan);
        Ok((
            canonical_json(&spec),
            best.seconds,
            best.capacity_bits,
            best.multiplications,
            best.key_bytes,
        ))
    })
}

/// The attacks on a key, the cheapest first, as JSON. A weight above 0 is that of a sparse secret,
/// a deviation above 0 that of a Gaussian one, neither: ternary.
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
    let refused = |e: String| refusal("RangeError", "security.out-of-range", &e);
    let secret = match (weight, deviation) {
        (0, 0.0) => Secret::Ternary,
        (0, deviation) => Secret::Gaussian(deviation),
        (weight, _) => Secret::Sparse(weight),
    };
    let attacks = detached(py, || {
        if over_ntru {
            let variance = if deviation > 0.0 { deviation * deviation } else { 2.0 / 3.0 };
            let mut attacks = ntru::estimate(n, log_qp, variance)
                .map_err(|e| refused(e.to_string()))?
                .attacks()
                .to_vec();
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
