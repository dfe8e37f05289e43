//! Chen–Han's tables 4 (full mode) and 5 (slim mode): bootstrapping at the paper's parameters.

use everlevel::{Cost, OptIn, Params, failure_log2};
use everlevel_cli::commands::bench::measure::Bench;
use everlevel_cli::console::args::{Common, value_name};
use everlevel_cli::console::circumstances::Circumstances;
use everlevel_cli::console::errors::CliError;
use everlevel_cli::console::machine::{self, Floor};
use everlevel_cli::console::output::{emit, emit_json, median, progress, table};
use everlevel_cli::console::params::find_planner;
use everlevel_scheme::spec::BootstrapMode;
use rand_chacha::ChaCha20Rng;
use rand_core::{Rng, SeedableRng};
use serde::Serialize;

use super::sets::recrypt_spec;
use super::tables::{Reported, Row, TABLE_4, TABLE_5};
use crate::args::{ChenHanTable, TableArgs, Variant};
use crate::record;
use crate::rows::{self, marked};

/// A run of one row.
#[derive(Serialize)]
struct Record {
    table: String,
    row: usize,
    quick: bool,
    variant: String,
    arithmetic: String,
    params: String,
    paper: Reported,
    paper_security: f64,
    n: usize,
    log_q: f64,
    log_p: f64,
    /// Of the main key at QP.
    security_bits: f64,
    p: u64,
    r: u32,
    slots: usize,
    slot_degree: usize,
    /// e = r + v digits, of which v are removed; the paper's estimate is r + log_p of the weight.
    e: u32,
    e_of_section_4_3: f64,
    overflow_bound: u64,
    failure_log2: f64,
    digit_removal: String,
    fresh_level: usize,
    after_level: usize,
    seconds_median: f64,
    seconds_min: f64,
    /// Of one run.
    #[serde(flatten)]
    floor: Floor,
    runs: u32,
    table_seconds: f64,
    key_seconds: f64,
    peak_memory_bytes: u64,
    galois_keys: usize,
    galois_keys_of_appendix_b: f64,
    plaintext_diagonals: usize,
    plaintexts_of_appendix_b: f64,
    server_key_bytes: u64,
    key_switches: u64,
    products: u64,
    depth: u32,
    verified_slots: usize,
    wrong_slots: usize,
    seed: String,
    circumstances: Circumstances,
}

/// Runs the rows.
pub fn run(which: ChenHanTable, args: &TableArgs, common: &Common) -> Result<(), CliError> {
    let (rows, mode): (&[Row], _) = match which {
        ChenHanTable::Table4 => (&TABLE_4, BootstrapMode::Full),
        _ => (&TABLE_5, BootstrapMode::Thin),
    };
    let mut records = Vec::new();
    for i in rows::rows(args, rows.len())? {
        for &variant in args.variants() {
            let record = one(which, i, &rows[i], variant, mode, args, common)?;
            if let Some(directory) = &args.out {
                let (variant, arithmetic, suffix) =
                    (&record.variant, &record.arithmetic, rows::suffix(args));
                let name = format!(
                    "chen-han-{}-row-{}-{variant}-{arithmetic}{suffix}",
                    value_name(&which),
                    i + 1
                );
                record::write(directory, &name, &record)?;
            }
            records.push(record);
        }
    }
    if common.json {
        emit_json(&records)?
    } else {
        emit(&text(which, &records))?
    }
    match records.iter().find(|r| r.wrong_slots > 0) {
        Some(r) => Err(CliError::failure(format!(
            "{}: {} slots are wrong: please report this",
            r.params, r.wrong_slots
        ))),
        None => Ok(()),
    }
}

fn one(
    which: ChenHanTable,
    i: usize,
    row: &Row,
    variant: Variant,
    mode: BootstrapMode,
    args: &TableArgs,
    common: &Common,
) -> Result<Record, CliError> {
    let mut spec = recrypt_spec(row, variant, args.arithmetic, mode, args.quick);
    if let (Some(bootstrap), Some(method)) = (&mut spec.bootstrap, &args.digit_removal) {
        bootstrap.digit_removal = Some(method.clone());
    }
    // Rows are measured one after the other.
    machine::restart_peak_memory();
    // Running the chapter of a paper is asking for its parameters.
    let params = Params::new(spec, OptIn::InsecureResearch).map_err(CliError::failure)?;
    let planner = find_planner(&params, None)?;
    let (costs, keys) = (planner.bootstrap_costs(), planner.keys());
    let bar = progress(common, value_name(&which), u64::from(args.runs) * 4);
    let mut seed = [0u8; 32];
    everlevel::system_rng().map_err(CliError::failure)?.fill_bytes(&mut seed);
    let mut rng = ChaCha20Rng::from_seed(seed);
    let method = planner.bootstrap_plan().digits.to_string();
    let mut bench = Bench::new(&params, planner);
    let outcomes = (0..args.runs)
        .map(|_| bench.run(&mut rng, &|| bar.inc(1)))
        .collect::<Result<Vec<_>, _>>()?;
    bar.finish_and_clear();

    let (n, k) = (params.degree() as f64, params.slots() as f64);
    let d = params.slot_shape().degree_of_slot();
    // Appendix B: full mode, and twice the map of the slim mode with the coefficient selection.
    let (paper_keys, paper_plaintexts) = match mode {
        BootstrapMode::Full => (2.0 * n.sqrt(), 2.0 * n.sqrt() + d as f64 + k),
        _ => (4.0 * k.sqrt() + (d as f64).log2(), 2.0 * k),
    };
    let seconds: Vec<f64> = outcomes.iter().map(|o| o.seconds).collect();
    let times = if mode == BootstrapMode::Full { d } else { 1 };
    let peak_memory_bytes = machine::peak_memory_bytes();
    let cost = outcomes.first().map_or_else(Cost::default, |o| o.cost);
    let weight = params.spec().bootstrap.as_ref().map_or(0, |b| b.sparse_weight) as f64;
    let top = params.chain().top();
    Ok(Record {
        table: value_name(&which),
        row: i + 1,
        quick: args.quick,
        variant: value_name(&variant),
        arithmetic: value_name(&args.arithmetic),
        params: params.name().into(),
        paper: row.reported,
        paper_security: row.security,
        n: params.degree(),
        log_q: params.modulus_bits(top),
        log_p: params.ring().log2(params.chain().special()),
        security_bits: params.security().keys()[0].bits,
        p: row.p,
        r: row.r,
        slots: params.slots(),
        slot_degree: d,
        e: params.raised_exponent(),
        e_of_section_4_3: f64::from(row.r) + weight.ln() / (row.p as f64).ln(),
        overflow_bound: params.spec().overflow_bound(),
        failure_log2: outcomes
            .iter()
            .map(|o| failure_log2(&params, &o.cost))
            .fold(f64::NEG_INFINITY, f64::max),
        digit_removal: method,
        fresh_level: outcomes.iter().map(|o| o.depth[0]).min().unwrap_or(0),
        after_level: outcomes.iter().map(|o| o.depth[1]).min().unwrap_or(0),
        seconds_median: median(&seconds),
        seconds_min: seconds.iter().copied().fold(f64::INFINITY, f64::min),
        floor: Floor::of(params.cpu(), &cost),
        runs: args.runs,
        table_seconds: outcomes.iter().map(|o| o.table_seconds).fold(0.0, f64::max),
        key_seconds: median(&outcomes.iter().map(|o| o.key_seconds).collect::<Vec<_>>()),
        peak_memory_bytes,
        galois_keys: costs.galois_keys,
        galois_keys_of_appendix_b: paper_keys,
        plaintext_diagonals: costs.plain_products / times,
        plaintexts_of_appendix_b: paper_plaintexts,
        server_key_bytes: keys.seeded_bytes(&params),
        key_switches: cost.key_switches,
        products: cost.products,
        depth: costs.depth,
        verified_slots: params.slots() * outcomes.len(),
        wrong_slots: outcomes.iter().map(|o| o.wrong).sum(),
        seed: seed.iter().map(|b| format!("{b:02x}")).collect(),
        circumstances: Circumstances::now(),
    })
}

/// Whether the paper has such a secret: a sparse one without encapsulation.
pub fn is_the_papers_secret(variant: &str) -> bool {
    variant.starts_with("main-")
}

/// Whether the paper computes so: scale-invariant products throughout.
pub fn is_the_papers_arithmetic(arithmetic: &str) -> bool {
    arithmetic == "bfv"
}

fn text(which: ChenHanTable, records: &[Record]) -> String {
    let head = [
        "row",
        "plaintext space",
        "n",
        "log q",
        "secret",
        "arithmetic",
        "slots",
        "fresh/after level: paper",
        "here",
        "seconds: paper",
        "here",
        "ratio",
        "floor",
        "init s: paper",
        "here",
        "GB: paper",
        "here",
        "keys: appendix B",
        "here",
        "plaintexts: appendix B",
        "here",
        "wrong",
    ];
    let mut lines = vec![head.map(String::from).to_vec()];
    lines.extend(records.iter().map(|r| {
        let space = match (which, r.r) {
            (ChenHanTable::Table4, 1) => format!("GF({}^{})", r.p, r.slot_degree),
            (ChenHanTable::Table4, _) => format!("R({}^{}, {})", r.p, r.r, r.slot_degree),
            (_, 1) => format!("Z_{}", r.p),
            (_, e) => format!("Z_{}^{e}", r.p),
        };
        // The paper's seconds and gigabytes are those of its own ring.
        let reported = |figure: String| if r.quick { String::new() } else { figure };
        vec![
            r.row.to_string(),
            space,
            r.n.to_string(),
            format!("{:.0}", r.log_q),
            marked(r.variant.as_str(), is_the_papers_secret(&r.variant)),
            marked(r.arithmetic.as_str(), is_the_papers_arithmetic(&r.arithmetic)),
            r.slots.to_string(),
            format!("{}/{}", r.paper.fresh_level, r.paper.after_level),
            format!("{}/{}", r.fresh_level, r.after_level),
            reported(r.paper.seconds.to_string()),
            format!("{:.3}", r.seconds_median),
            reported(format!("{:.0}", r.paper.seconds / r.seconds_median)),
            format!("{:.3}", r.floor.seconds),
            reported(r.paper.init_seconds.to_string()),
            format!("{:.2}", r.table_seconds),
            reported(r.paper.memory_gb.to_string()),
            format!("{:.2}", r.peak_memory_bytes as f64 / 1e9),
            format!("{:.0}", r.galois_keys_of_appendix_b),
            r.galois_keys.to_string(),
            format!("{:.0}", r.plaintexts_of_appendix_b),
            r.plaintext_diagonals.to_string(),
            format!("{}/{}", r.wrong_slots, r.verified_slots),
        ]
    }));
    let mut out = table(&lines);
    for r in records {
        let security = match r.quick {
            true => "not secure".into(),
            false => format!(
                "{:.0} bits of security (paper: {} at q)",
                r.security_bits, r.paper_security
            ),
        };
        out.push_str(&format!(
            "\nrow {}, {}: log QP {:.0}, {security}; e = {} (section 4.3: {:.2}), overflow at \
             most {}, failure 2^{:.0}; {}, {} key switches, {} products",
            r.row,
            r.variant,
            r.log_q + r.log_p,
            r.e,
            r.e_of_section_4_3,
            r.overflow_bound,
            r.failure_log2,
            r.digit_removal,
            r.key_switches,
            r.products
        ));
    }
    if let Some(r) = records.first() {
        out.push_str(&format!("\nseconds here: wall time on {}", r.circumstances.machine()));
        out.push_str(match r.quick {
            true => "; quick: a smaller ring, with which the paper's do not compare",
            false => "; in the paper: an Intel i7-4770 at 3.4 GHz",
        });
    }
    out
}
