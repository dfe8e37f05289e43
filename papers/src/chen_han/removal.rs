//! Chen–Han's table 3: the removal of digits alone, by every method, in BGV.

use std::time::Instant;

use everlevel::lab::{Arithmetic, Evaluator, PlainModulus, Scheme};
use everlevel::{Ciphertext, KeyPlan, NextUse, OptIn, Params, Plaintext, SecretKey, ServerKeys};
use everlevel_circuit::digits::{DigitMethod, DigitProblem, DigitRemoval};
use everlevel_cli::console::args::Common;
use everlevel_cli::console::circumstances::Circumstances;
use everlevel_cli::console::errors::CliError;
use everlevel_cli::console::machine::Floor;
use everlevel_cli::console::output::{emit, emit_json, median, progress, table};
use rand_chacha::ChaCha20Rng;
use rand_core::{Rng, SeedableRng};
use serde::Serialize;

use super::sets::{REMOVAL_LOG_Q, removal_spec};
use super::tables::{LEVEL_BITS, RemovalRow, TABLE_3};
use crate::args::TableArgs;
use crate::record;
use crate::rows::{self, marked};

#[derive(Serialize)]
struct Record {
    table: &'static str,
    row: usize,
    quick: bool,
    paper: RemovalRow,
    n: usize,
    log_q: f64,
    log_p: f64,
    slots: usize,
    methods: Vec<Measured>,
    circumstances: Circumstances,
}

#[derive(Serialize)]
struct Measured {
    method: String,
    depth: u32,
    products: usize,
    relinearizations: usize,
    seconds: f64,
    #[serde(flatten)]
    floor: Floor,
    table_seconds: f64,
    capacity_bits: [f64; 2],
    /// log2 of the least moduli before and after, as [`base_bits`]: at the paper's own modulus.
    #[serde(skip_serializing_if = "Option::is_none")]
    base_bits: Option<[f64; 2]>,
    level_before: usize,
    level_after: usize,
    wrong_slots: usize,
}

/// Runs the rows.
pub fn run(args: &TableArgs, common: &Common) -> Result<(), CliError> {
    let mut records = Vec::new();
    let method = args
        .digit_removal
        .as_deref()
        .map(str::parse::<DigitMethod>)
        .transpose()
        .map_err(CliError::usage)?;
    for i in rows::rows(args, TABLE_3.len())? {
        let record = one(i, method, args, common)?;
        if let Some(directory) = &args.out {
            record::write(
                directory,
                &format!("chen-han-table-3-row-{}{}", i + 1, rows::suffix(args)),
                &record,
            )?;
        }
        records.push(record);
    }
    if common.json {
        emit_json(&records)?
    } else {
        emit(&text(&records))?
    }
    match records.iter().flat_map(|r| &r.methods).find(|m| m.wrong_slots > 0) {
        Some(m) => Err(CliError::failure(format!(
            "{}: {} slots are wrong: please report this",
            m.method, m.wrong_slots
        ))),
        None => Ok(()),
    }
}

fn one(
    i: usize,
    method: Option<DigitMethod>,
    args: &TableArgs,
    common: &Common,
) -> Result<Record, CliError> {
    let row = &TABLE_3[i];
    let log_q = if args.own_modulus { row.own_log_q() } else { REMOVAL_LOG_Q };
    let params = Params::new(removal_spec(row, log_q, args.quick), OptIn::InsecureResearch)
        .map_err(CliError::failure)?;
    let mut rng = ChaCha20Rng::from_rng(&mut everlevel::system_rng().map_err(CliError::failure)?);
    let secret = SecretKey::generate(&params, &mut rng);
    let evaluator = Evaluator::new(ServerKeys::generate(
        &secret,
        &KeyPlan::relinearization(&params),
        &mut rng,
        |_, _| (),
    )?);
    let problem = DigitProblem::all_digits(row.p, row.e, row.v);
    let t = params.plain_modulus();
    let values: Vec<u64> = (0..params.slots()).map(|_| rng.next_u64() % t).collect();
    let x = secret.encrypt(&Plaintext::encode(&params, &values)?, &mut rng)?;
    let removed = high_digits(&params, &values, row.v);
    let before = depth(&evaluator, &evaluator.reduce_plain_modulus(&x, row.e - row.v)?);

    let methods =
        method.map_or_else(|| DigitMethod::candidates(&problem), |method| Ok(vec![method]))?;
    let bar = progress(common, "table-3", methods.len() as u64);
    let mut measured = Vec::new();
    for method in methods {
        let started = Instant::now();
        let removal = DigitRemoval::for_problem(problem, method).map_err(CliError::usage)?;
        let table_seconds = started.elapsed().as_secs_f64();
        let mut seconds = Vec::new();
        let counted = evaluator.cost();
        let mut result = removal.remove(&evaluator, &x, NextUse::Keep)?;
        let cost = evaluator.cost() - counted;
        for _ in 0..args.runs {
            let started = Instant::now();
            result = removal.remove(&evaluator, &x, NextUse::Keep)?;
            seconds.push(started.elapsed().as_secs_f64());
        }
        let found = secret.decrypt(&result)?.decode(&params)?;
        let costs = removal.costs();
        measured.push(Measured {
            method: method.to_string(),
            depth: costs.depth,
            products: costs.products,
            relinearizations: costs.relinearizations,
            seconds: median(&seconds),
            floor: Floor::of(params.cpu(), &cost),
            table_seconds,
            capacity_bits: [evaluator.capacity_bits(&x), evaluator.capacity_bits(&result)],
            base_bits: args
                .own_modulus
                .then(|| [&x, &result].map(|x| base_bits(&params, &evaluator, x))),
            level_before: before,
            level_after: depth(&evaluator, &result),
            wrong_slots: found.iter().zip(&removed).filter(|(a, b)| a != b).count(),
        });
        bar.inc(1);
    }
    bar.finish_and_clear();
    Ok(Record {
        table: "table-3",
        row: i + 1,
        quick: args.quick,
        paper: *row,
        n: params.degree(),
        log_q: params.modulus_bits(params.chain().top()),
        log_p: params.ring().log2(params.chain().special()),
        slots: params.slots(),
        methods: measured,
        circumstances: Circumstances::now(),
    })
}

/// (x - y) / p^v modulo p^(e-v), where y is the balanced remainder of x modulo p^v.
fn high_digits(params: &Params, values: &[u64], v: u32) -> Vec<u64> {
    let t = params.plaintext_ring().modulus(params.plain_exponent());
    let low = t.prime().pow(v);
    let high = t.value() / low;
    values
        .iter()
        .map(|&x| {
            let balanced = (x + low / 2) % low;
            t.sub(t.add(x, low / 2), balanced) / low % high
        })
        .collect()
}

/// log2 of the least modulus at which the noise of `x` is no more than what rounding adds. HElib
/// counts the levels of a ciphertext there, a level for [`LEVEL_BITS`] bits: switching it to a
/// smaller modulus would cost more than it gains.
fn base_bits<S: Scheme>(params: &Params, scheme: &S, x: &S::Ciphertext) -> f64 {
    let t = params.plaintext_ring().modulus(scheme.plain_exponent(x)).wide();
    let above = scheme.noise_bound_bits(x) - params.noise().bound().floor(t);
    params.modulus_bits(scheme.level(x)) - above.max(0.0)
}

/// How many squarings in a row until one is refused.
fn depth(evaluator: &Evaluator, x: &Ciphertext) -> usize {
    std::iter::successors(Some(x.clone()), |x| evaluator.mul(x, x, NextUse::Product).ok()).count()
        - 1
}

fn text(records: &[Record]) -> String {
    let head = [
        "row",
        "(p, e, v)",
        "method",
        "depth",
        "products",
        "seconds: here",
        "paper",
        "HElib",
        "floor",
        "before/after level: here",
        "paper",
        "bits used",
        "wrong",
    ];
    let own_modulus = records.iter().flat_map(|r| &r.methods).any(|m| m.base_bits.is_some());
    let mut head = head.map(String::from).to_vec();
    head.extend(own_modulus.then(|| format!("levels of {LEVEL_BITS} bits: here")));
    let mut lines = vec![head];
    for r in records {
        for m in &r.methods {
            let (paper, helib) = match m.method.as_str() {
                "halevi_shoup" => (Some(r.paper.halevi_shoup), r.paper.helib.map(|h| h.0)),
                "chen_han" => (Some(r.paper.chen_han), r.paper.helib.map(|h| h.1)),
                _ => (None, None),
            };
            // Their seconds are those of larger rings.
            let seconds = |figure: Option<f64>| {
                figure.filter(|_| !r.quick).map_or_else(String::new, |s| s.to_string())
            };
            let mut line = vec![
                r.row.to_string(),
                format!("({}, {}, {})", r.paper.p, r.paper.e, r.paper.v),
                marked(m.method.as_str(), paper.is_some()),
                m.depth.to_string(),
                m.products.to_string(),
                format!("{:.3}", m.seconds),
                seconds(paper.map(|p| p.0)),
                seconds(helib),
                format!("{:.3}", m.floor.seconds),
                format!("{}/{}", m.level_before, m.level_after),
                paper.map_or_else(String::new, |p| format!("{}/{}", p.1, p.2)),
                format!("{:.0}", m.capacity_bits[0] - m.capacity_bits[1]),
                m.wrong_slots.to_string(),
            ];
            let levels = m.base_bits.map(|bits| bits.map(|bits| bits / f64::from(LEVEL_BITS)));
            line.extend(levels.map(|[before, after]| format!("{before:.1}/{after:.1}")));
            lines.push(line);
        }
    }
    let mut out = table(&lines);
    if let Some(r) = records.first() {
        let log_q = match own_modulus {
            true => format!("the paper's, {LEVEL_BITS} bits for each of its levels before"),
            false => format!("{:.0}", r.log_q),
        };
        out.push_str(&format!(
            "\nn = {}, log Q = {log_q}; levels here: squarings in a row modulo p^(e-v), in the \
             paper: {LEVEL_BITS} bits of HElib's modulus",
            r.n
        ));
        if own_modulus {
            out.push_str(
                ", of the least at which the noise is no more than what rounding adds; the last \
                 column counts so, too",
            );
        }
        out.push_str(&format!("\nseconds here: wall time on {}", r.circumstances.machine()));
        out.push_str(match r.quick {
            true => "; quick: a smaller ring, with which the others do not compare",
            false => {
                "; in the paper: a laptop at 2.6 GHz; HElib: CPU seconds of an AMD EPYC (Zen 4), n \
                 = 2^14, log Q = 910"
            }
        });
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;
    use everlevel::lab::NoOp;
    use everlevel_circuit::digits::DigitKind;

    /// By the bounds alone, without encryption: of the paper's own modulus, either of its methods
    /// leaves at least its levels, counted as HElib counts them.
    #[test]
    fn of_the_papers_own_modulus_at_least_its_levels_are_left() {
        for row in &TABLE_3 {
            let spec = removal_spec(row, row.own_log_q(), false);
            let params = Params::new(spec, OptIn::InsecureResearch).unwrap();
            let dry = NoOp::blank(&params);
            let levels = |x: &<NoOp as Scheme>::Ciphertext| {
                base_bits(&params, &dry, x) / f64::from(LEVEL_BITS)
            };
            let zeros = vec![0; params.slots()];
            let x = dry.encrypt(&Plaintext::encode(&params, &zeros).unwrap()).unwrap();
            assert!((levels(&x) - f64::from(row.halevi_shoup.1)).abs() < 0.1, "{}", levels(&x));
            let problem = DigitProblem::all_digits(row.p, row.e, row.v);
            for (kind, (_, before, after)) in
                [(DigitKind::HaleviShoup, row.halevi_shoup), (DigitKind::ChenHan, row.chen_han)]
            {
                assert_eq!(before * LEVEL_BITS, row.own_log_q());
                let method = DigitMethod::new(kind);
                let removal = DigitRemoval::for_problem(problem, method).unwrap();
                let left = levels(&removal.remove(&dry, &x, NextUse::Keep).unwrap());
                let of = (row.p, row.e, row.v);
                assert!(left >= f64::from(after), "{of:?}, {method}: {left} levels");
                // A level of the paper is no product: it takes more of them than the depth is.
                assert!(before - after > removal.costs().depth, "{of:?}, {method}");
            }
        }
    }
}
