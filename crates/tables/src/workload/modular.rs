//! Workloads modulo p^r, if no result can wrap.

use std::collections::BTreeMap;
use std::sync::{Mutex, PoisonError};

use everlevel::{Error, OptIn, Params, ParamsSpec, Plaintext, Program, ValueRange, general_keys};
use everlevel_integers::{Rehearsal, ciphertext_bytes};
use everlevel_ring::{Ring, SlotShape};
use everlevel_scheme::params;
use everlevel_scheme::spec::ModulusChain;

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
    let mut sets: Vec<(u64, ParamsSpec)> = params::names()
        .filter_map(|name| params::spec(name).ok())
        .filter(|spec| opt_in.insecure() || !spec.is_insecure_by_name())
        .filter(|spec| holds(workload, spec))
        .filter_map(|spec| Some((size(&spec)?.of_rows(workload.rows).1, spec)))
        .collect();
    // Of equal ones the first in the list, and BGV before BFV.
    sets.sort_by_key(|(bytes, spec)| (*bytes, spec.form.name() != "bgv"));
    let limit = typed::sets(opt_in)
        .filter_map(|set| typed::size(workload, &set).ok())
        .map(|(_, bytes)| bytes)
        .next()
        .unwrap_or(u64::MAX);
    for (bytes, spec) in sets {
        let Ok(set) = Params::new(spec, opt_in) else { continue };
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

/// The slots and the bytes of a ciphertext as it is encrypted.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Size {
    slots: u64,
    bytes: u64,
}

impl Size {
    /// From the specification, without the tables of the set, which take most of the time of
    /// [`Params::new`].
    fn of(spec: &ParamsSpec) -> Option<Self> {
        let dimensions = SlotShape::dimensions_of(spec.index, spec.plain_prime).ok()?;
        let slots = dimensions.iter().map(|dimension| dimension.size as u64).product();
        let degree = Ring::degree_of(spec.index).ok()? as u64;
        let (chain, _) = ModulusChain::build(spec).ok()?;
        let bits = chain.bits(chain.top()).ceil() as u64;
        Some(Size { slots, bytes: spec.assumption.components() as u64 * degree * bits / 8 })
    }

    /// The number of ciphertexts of a column, and their size in bytes.
    fn of_rows(self, rows: u64) -> (u64, u64) {
        let ciphertexts = rows.div_ceil(self.slots);
        (ciphertexts, ciphertexts.saturating_mul(self.bytes))
    }
}

/// The size of a set that has a name; none if there is no such set. It is found once.
fn size(spec: &ParamsSpec) -> Option<Size> {
    static KNOWN: Mutex<BTreeMap<String, Option<Size>>> = Mutex::new(BTreeMap::new());
    let known = || KNOWN.lock().unwrap_or_else(PoisonError::into_inner);
    let before = known().get(&spec.name).copied();
    before.unwrap_or_else(|| {
        let found = Size::of(spec);
        known().insert(spec.name.clone(), found);
        found
    })
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
    let top = params.chain().top();
    let one = Size { slots: params.slots() as u64, bytes: ciphertext_bytes(params, top) };
    let (ciphertexts, ciphertext_bytes) = one.of_rows(workload.rows);
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

#[cfg(test)]
mod tests {
    use super::*;

    /// Powers of two and another index, one prime and two below the words, both forms.
    #[test]
    fn sizes_are_those_of_the_sets() {
        for name in [
            "insecure_bgv-65537-n11",
            "insecure_bfv-65537-n11",
            "insecure_bgv-786433-n11",
            "insecure_bfv-127e2-n8",
            "insecure_bgv-2-m15709",
        ] {
            let set = Params::named(name, OptIn::InsecureResearch).unwrap();
            let bytes = ciphertext_bytes(&set, set.chain().top());
            let expected = Size { slots: set.slots() as u64, bytes };
            assert_eq!([Size::of(set.spec()), size(set.spec())], [Some(expected); 2], "{name}");
        }
    }
}
