//! Workloads on typed integers.

use std::collections::BTreeMap;

use everlevel::lab::NoOp;
use everlevel::{Integers, IntegersError, Interval, OptIn, Params, Program, Type, general_keys};
use everlevel_integers::{Column, Encoded, Rehearsal, TablePlans, ciphertext_bytes};
use everlevel_scheme::noop::NoOpCiphertext;

use super::error::WorkloadError;
use super::lines;
use super::operations::{Asked, Operation};
use super::recommendation::{OperationCost, Recommendation, Way};
use super::request::Workload;
use crate::error::TablesError;

/// The sets that typed integers are planned for, in the order in which they are tried: the first
/// one is the fastest, and the others take longer columns.
const SETS: [&str; 3] = ["bgv-65537-n15", "bgv-65537-n16", "bgv-786433-n16"];
/// The set that is tried before them if sets below 128 bits are allowed.
const TOY: &str = "insecure_bgv-65537-n11";
/// The largest number of entries of a table.
const TABLE: u128 = 1 << 16;

/// The sets that are allowed.
pub(super) fn sets(opt_in: OptIn) -> impl Iterator<Item = Params> {
    [TOY].into_iter().chain(SETS).filter_map(move |name| Params::named(name, opt_in).ok())
}

/// The refusal of one operation on one set.
pub(super) struct Refused {
    operation: Operation,
    error: IntegersError,
    /// The longest column that can be sorted and ranked.
    longest: usize,
}

/// Plans the workload on the first set that supports all of it.
pub(super) fn plan(
    workload: &Workload,
    plans: &TablePlans,
    opt_in: OptIn,
) -> Result<Recommendation, WorkloadError> {
    if let Some(operation) = workload.operations.iter().find(|o| o.program(1).is_none()) {
        return Err(only_asked(workload, *operation));
    }
    let mut last = None;
    for params in sets(opt_in) {
        match on(workload, plans, &params)? {
            Ok(found) => return Ok(found),
            Err(refused) => {
                // What another set does not change.
                let anywhere = matches!(
                    refused.error,
                    IntegersError::Range { .. }
                        | IntegersError::Type { .. }
                        | IntegersError::Table { .. }
                        | IntegersError::Width { .. }
                );
                last = Some(refused);
                if anywhere {
                    break;
                }
            }
        }
    }
    Err(match last {
        Some(refused) => unsupported(workload, refused),
        None => only_asked(workload, workload.operations[0]),
    })
}

/// The error for an operation that only queries support, together with others that they do not
/// support.
fn only_asked(workload: &Workload, operation: Operation) -> WorkloadError {
    WorkloadError::Unsupported {
        operation: operation.name(),
        values: workload.values(),
        problem: "groups exist in tables only, with compare, equal, select, sum, mean, count and \
                  dot, on values of up to 63 bits"
            .into(),
        remedy: "plan the other operations separately".into(),
    }
}

fn unsupported(workload: &Workload, refused: Refused) -> WorkloadError {
    let Refused { operation, error, longest } = refused;
    let (_, high) = workload.bounds();
    let remedy = match operation.name() {
        "sort" => format!(
            "at most {longest} rows are sorted; tables list the rows that meet a condition, and \
             sort them after decryption"
        ),
        "median" | "argmax" => format!("at most {longest} rows have an order; use groups of rows"),
        "cumsum" => {
            "state fewer rows, and add the totals of groups of rows after decryption".into()
        }
        "table" => {
            "state values of at most 65535, or 32767 if they are signed: shift or divide larger \
                    ones first"
                .into()
        }
        "mul" | "dot" => {
            let rows = if operation.name() == "dot" { workload.rows } else { 1 };
            let most = (((1u128 << 126) / u128::from(rows)).isqrt() as i128).min(high - 1);
            format!("state a largest value of at most {most}, or multiply modulo 2^64")
        }
        _ => "state a smaller largest value, or fewer rows".into(),
    };
    let problem = match error {
        // The rehearsed one is no longer than it has to be.
        IntegersError::Table { interval, .. } => {
            format!(
                "a table has at most {TABLE} entries, and there are {} values",
                interval.points()
            )
        }
        error => error.to_string(),
    };
    let (operation, values) = (operation.name(), workload.values());
    WorkloadError::Unsupported { operation, values, problem, remedy }
}

/// The type of the workload's values: exactly their range.
pub(super) fn kind(workload: &Workload) -> Result<(Interval, Type), TablesError> {
    let (low, high) = workload.bounds();
    let interval = Interval::new(low, high)?;
    let named = Type::smallest(interval).filter(|named| named.interval() == interval);
    Ok((interval, named.unwrap_or(Type::Ranged(interval))))
}

/// The number of ciphertexts of a column of the workload's values on a set, and their size in
/// bytes.
pub(super) fn size(workload: &Workload, params: &Params) -> Result<(u64, u64), TablesError> {
    let (_, kind) = kind(workload)?;
    let low = kind.interval().low();
    let encoded = Encoded::new(&[low], kind, params.slots())?;
    let digits = encoded.encrypt(|_| Ok::<_, IntegersError>(()))?.ciphertexts() as u64;
    let ciphertexts = digits * workload.rows.div_ceil(params.slots() as u64);
    Ok((ciphertexts, ciphertexts.saturating_mul(ciphertext_bytes(params, params.chain().top()))))
}

/// Rehearses every operation on fresh columns.
pub(super) fn on(
    workload: &Workload,
    plans: &TablePlans,
    params: &Params,
) -> Result<Result<Recommendation, Refused>, TablesError> {
    let rehearsal = Rehearsal::new(params, params.spec().bootstrap.is_some())?;
    let rehearsal = rehearsal.with_plans(plans.clone());
    let ints = rehearsal.integers()?;
    let longest = ints.longest_ordered();
    let (interval, kind) = kind(workload)?;
    let fresh = |length| rehearsal.column(kind, length, |s, zero| s.encrypt_publicly(zero));
    let mut operations = Vec::new();
    for &operation in &workload.operations {
        match rehearsed(workload, (&rehearsal, &ints), operation, kind, fresh) {
            Ok(cost) => operations.push(cost),
            Err(error) => return Ok(Err(Refused { operation, error, longest })),
        }
    }
    let (ciphertexts, ciphertext_bytes) = size(workload, params)?;
    let keys = general_keys(params)?;
    let mut found = Recommendation {
        way: Way::Integers,
        params: params.clone(),
        security_bits: params.security().bits(),
        slots: params.slots(),
        kind: Some(kind),
        low: interval.low().to_string(),
        high: interval.high().to_string(),
        ciphertexts,
        ciphertext_bytes,
        key_bytes: keys.seeded_bytes(params),
        keys,
        refreshes_automatically: rehearsal.session().can_bootstrap(),
        seconds: operations.iter().map(|cost| cost.seconds).sum(),
        operations,
        compared: Vec::new(),
        commands: Vec::new(),
        python: Vec::new(),
        notes: Vec::new(),
    };
    lines::typed(workload, &mut found);
    Ok(Ok(found))
}

/// The seconds for all operations, once each, on columns with no more capacity than bootstrapping
/// needs; `None` if one of them does not fit what bootstrapping leaves.
pub(super) fn exhausted(workload: &Workload, plans: &TablePlans, params: &Params) -> Option<f64> {
    let rehearsal = Rehearsal::new(params, true).ok()?.with_plans(plans.clone());
    let ints = rehearsal.integers().ok()?;
    let (_, kind) = kind(workload).ok()?;
    let column = |length| rehearsal.exhausted(kind, length);
    let seconds = |&operation: &Operation| {
        let cost = rehearsed(workload, (&rehearsal, &ints), operation, kind, column).ok()?;
        Some(cost.seconds)
    };
    workload.operations.iter().map(seconds).sum()
}

/// The cost of an operation on columns of all rows, each of whose blocks is like a `column`.
fn rehearsed(
    workload: &Workload,
    (rehearsal, ints): (&Rehearsal, &Integers<'_, NoOp>),
    operation: Operation,
    kind: Type,
    column: impl Fn(usize) -> Result<Column<NoOpCiphertext>, IntegersError>,
) -> Result<OperationCost, IntegersError> {
    let (rows, slots) = (workload.rows, rehearsal.params().slots());
    let blocks = rows.div_ceil(slots as u64);
    let name = operation.result();
    let text = operation.program(workload.bounds().1).unwrap_or_default();
    let program = Program::parse(&format!("{name} = {text}"));
    let program = program.map_err(|e| IntegersError::Name { name: e.to_string() })?;
    if operation.entry().along && blocks > 1 {
        let expected = format!("at most {slots}, which share a ciphertext");
        return Err(IntegersError::Length { found: rows as usize, expected });
    }
    let mut inputs = BTreeMap::new();
    for input in program.inputs() {
        let length = rows.min(slots as u64) as usize;
        inputs.insert(input.to_string(), column(length)?);
    }
    // One entry for each value, where a table can have that many.
    let points = kind.interval().points().min(TABLE + 1) as i128;
    let tables = BTreeMap::from([("t".to_string(), (0..points).collect())]);
    let run = || ints.run(&program, &inputs, &tables, &mut |_| ()).map_err(|e| e.error);
    let (found, counted) = rehearsal.counted(run)?;
    let interval = found.get(&name).map_or(kind.interval(), |x| x.interval());
    let bounds = match (operation.entry().asked, operation.name()) {
        (_, "mean") => (kind.interval().low(), kind.interval().high()),
        // The ends of a block's sum are as many times those of an entry as it has rows.
        (Asked::Sum(_), _) => {
            let length = rows.min(slots as u64);
            let of_all = |end: i128| {
                let entry = end / i128::from(length);
                entry.checked_mul(i128::from(rows)).unwrap_or(i128::MAX)
            };
            let all = Interval::new(of_all(interval.low()), of_all(interval.high()))?;
            (all.low(), all.high())
        }
        _ => (interval.low(), interval.high()),
    };
    let rehearsed = format!("{name} = {text}");
    Ok(OperationCost::new(counted * blocks, operation.name(), rehearsed, bounds))
}
