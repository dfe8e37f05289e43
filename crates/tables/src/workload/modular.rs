//! Workloads modulo p^r, if no result can wrap.

use std::collections::BTreeMap;

use everlevel::{Error, OptIn, Params, ParamsSpec, Plaintext, Program, ValueRange, general_keys};
use everlevel_integers::{Rehearsal, ciphertext_bytes};
use everlevel_scheme::params;

use super::operations::Asked;
use super::recommendation::{OperationCost, Recommendation, Way};
use super::request::Workload;
use super::{lines, typed};

/// Plans the workload on the set with the smallest ciphertexts among those on which no result can
/// wrap, or returns the reason why this is not recommended.
pub(super) fn plan(workload: &Workload, opt_in: OptIn) -> Result<Recommendation, String> {
    if let Some(operation) = workload.operations.iter().find(|o| !o.entry().modular) {
        return Err(format!("{operation} is more than sums, differences and products"));
    }
    let mut sets: Vec<(u64, Params)> = params::names()
        .filter(|name| params::spec(name).is_ok_and(|spec| holds(workload, &spec)))
        .filter_map(|name| Params::named(name, opt_in).ok())
        .map(|set| (bytes(workload, &set).1, set))
        .collect();
    // Of equal ones the first in the list, and BGV before BFV.
    sets.sort_by_key(|(bytes, set)| (*bytes, set.spec().form.name() != "bgv"));
    let limit = typed::sets(opt_in)
        .filter_map(|set| typed::size(workload, &set).ok())
        .map(|(_, bytes)| bytes)
        .next()
        .unwrap_or(u64::MAX);
    for (bytes, set) in sets {
        if bytes > limit {
            return Err("ciphertexts of values that cannot wrap would be larger than those of \
                        typed integers"
                .into());
        }
        if let Some(found) = on(workload, &set).map_err(|e| e.to_string())? {
            return Ok(found);
        }
    }
    Err("values or results could wrap modulo p^r on every set".into())
}

/// Whether a set bootstraps and holds the values themselves, before anything is computed.
fn holds(workload: &Workload, spec: &ParamsSpec) -> bool {
    let modulus = spec.plain_prime.saturating_pow(spec.plain_exponent);
    spec.bootstrap.is_some() && range(workload).is_some_and(|range| range.fits(modulus))
}

fn range(workload: &Workload) -> Option<ValueRange> {
    let (low, high) = workload.bounds();
    ValueRange::new(low, high)
}

/// The number of ciphertexts of a column of all rows, and their size in bytes.
fn bytes(workload: &Workload, params: &Params) -> (u64, u64) {
    let ciphertexts = workload.rows.div_ceil(params.slots() as u64);
    (ciphertexts, ciphertexts.saturating_mul(ciphertext_bytes(params, params.chain().top())))
}

/// Rehearses every operation on fresh columns; `None` if a result could wrap.
pub(super) fn on(workload: &Workload, params: &Params) -> Result<Option<Recommendation>, Error> {
    let rehearsal = Rehearsal::new(params, params.spec().bootstrap.is_some())?;
    let mut operations = Vec::new();
    for operation in &workload.operations {
        let name = operation.result();
        let text = operation.program(workload.bounds().1).unwrap_or_default();
        let Ok(program) = Program::parse(&format!("{name} = {text}")) else { return Ok(None) };
        let (session, mut inputs) = (rehearsal.session(), BTreeMap::new());
        for input in program.inputs() {
            let zero = Plaintext::encode(params, &[])?;
            let x = session.share(session.scheme().encrypt_publicly(&zero)?);
            inputs.insert(input.to_string(), x.within(range(workload)));
        }
        let (found, counted) = rehearsal.counted(|| program.run(session, &inputs, &mut |_| ()))?;
        let blocks = workload.rows.div_ceil(params.slots() as u64);
        let sums = matches!(operation.entry().asked, Asked::Sum(_));
        let times = ValueRange::new(blocks.into(), blocks.into()).filter(|_| sums);
        let range = found.get(&name).and_then(|x| x.range());
        let all = match (range, times) {
            (Some(range), Some(times)) => range.times(times),
            (range, _) => range.filter(|_| !sums || blocks == 1),
        };
        let Some(all) = all.filter(|all| all.fits(params.wide_modulus())) else {
            return Ok(None);
        };
        let rehearsed = format!("{name} = {text}");
        let bounds = (all.low(), all.high());
        operations.push(OperationCost::new(counted * blocks, operation.name(), rehearsed, bounds));
    }
    let (ciphertexts, ciphertext_bytes) = bytes(workload, params);
    let keys = general_keys(params)?;
    let (low, high) = workload.bounds();
    let mut found = Recommendation {
        way: Way::Modular,
        params: params.clone(),
        security_bits: params.security().bits(),
        slots: params.slots(),
        kind: None,
        low: low.to_string(),
        high: high.to_string(),
        ciphertexts,
        ciphertext_bytes,
        key_bytes: keys.seeded_bytes(params),
        keys,
        refreshes_automatically: rehearsal.session().can_bootstrap(),
        seconds: seconds(&operations),
        operations,
        compared: Vec::new(),
        commands: Vec::new(),
        python: Vec::new(),
        notes: Vec::new(),
    };
    lines::modular(workload, &mut found);
    Ok(Some(found))
}

fn seconds(operations: &[OperationCost]) -> f64 {
    operations.iter().map(|cost| cost.seconds).sum()
}
