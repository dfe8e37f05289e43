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

use super::sets::removal_spec;
use super::tables::{RemovalRow, TABLE_3};
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
    let params = Params::new(removal_spec(row, args.quick), OptIn::InsecureResearch)
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
    let mut lines = vec![head.map(String::from).to_vec()];
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
            lines.push(vec![
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
            ]);
        }
    }
    let mut out = table(&lines);
    if let Some(r) = records.first() {
        out.push_str(&format!(
            "\nn = {}, log Q = {:.0}; levels here: squarings in a row modulo p^(e-v), in the \
             paper: primes of 22 bits of HElib's modulus",
            r.n, r.log_q
        ));
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
