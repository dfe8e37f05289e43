//! Ma–Huang–Wang–Wang's table 6 (general bootstrapping), and thin bootstrapping of the same sets.

use everlevel::{Cost, OptIn, Params, failure_log2};
use everlevel_cli::commands::bench::measure::Bench;
use everlevel_cli::console::args::{Common, value_name};
use everlevel_cli::console::circumstances::Circumstances;
use everlevel_cli::console::errors::CliError;
use everlevel_cli::console::machine::{self, Floor};
use everlevel_cli::console::output::{emit, emit_json, median, progress, table};
use everlevel_cli::console::params::find_planner;
use everlevel_scheme::ParamsSpec;
use everlevel_scheme::spec::BootstrapMode;
use rand_chacha::ChaCha20Rng;
use rand_core::{Rng, SeedableRng};
use serde::Serialize;

use super::choice::{chosen, usual};
use super::keys::Keys;
use super::sets::{PaperSet, Variant, paper_sets};
use super::tables::{HELIB_THIN, Measured, TABLE_6};
use crate::args::{MaEtAlTable, TableArgs};
use crate::record;
use crate::rows::{self, marked};

/// Whether general bootstrapping of the set takes too long to be run: the baseline of ring V
/// evaluates a polynomial of degree 65537 for each of 18 digits, half a day in the paper.
fn endless(set: &PaperSet) -> bool {
    set.ring == "V" && set.variant == Variant::Baseline
}

/// A set at the paper's parameters or, if `quick`, with the same p, r and removal over a small ring
/// whose last axis carries Frobenius. The overflow is bounded by its worst case there, where p has
/// room for it.
fn sized(set: &PaperSet, quick: bool) -> ParamsSpec {
    let mut spec = set.spec();
    if quick {
        // 3 5 29 with d = 4; 7 43 with d = 7; 3 331 with d = 22; 5 43 with d = 7; 3 331 with d = 2.
        spec.index = match set.ring {
            "I" => 435,
            "II" => 301,
            "III" => 993,
            "IV" => 215,
            _ => 993,
        };
        spec.name = format!("insecure_{}", spec.name);
        spec.words = 16 + usize::from(set.variant == Variant::Baseline) * 14;
        spec.secret = everlevel_scheme::spec::SecretKind::UniformTernary;
        if let Some(bootstrap) = &mut spec.bootstrap {
            bootstrap.sparse_weight = 4;
            // Half of one more than the number of terms: 8 or 4 for each monomial.
            bootstrap.overflow_bound = Some(if set.ring == "I" { 16 } else { 8 });
        }
    }
    spec
}

/// A run of one set.
#[derive(Serialize)]
struct Run {
    table: String,
    set: String,
    quick: bool,
    params: String,
    p: u64,
    r: u32,
    n: usize,
    slots: usize,
    slot_degree: usize,
    log_q: f64,
    log_p: f64,
    mode: BootstrapMode,
    digit_removal: String,
    /// At the ring that was run.
    keys: Keys,
    paper: Option<Measured>,
    /// Seconds of processor time of HElib for thin bootstrapping of the same plaintexts, measured
    /// on a machine of this kind.
    helib_thin_seconds: Option<f64>,
    capacity_initial: f64,
    capacity_linear: f64,
    capacity_digits: f64,
    capacity_remaining: f64,
    seconds_linear: f64,
    seconds_digits: f64,
    seconds_total: f64,
    /// Of one run; absent where the time is no measurement.
    #[serde(flatten)]
    floor: Option<Floor>,
    throughput: f64,
    /// What was computed from other measurements, and how.
    #[serde(skip_serializing_if = "Option::is_none")]
    extrapolated: Option<&'static str>,
    /// Over the baseline in this library, if that was run, too.
    #[serde(skip_serializing_if = "Option::is_none")]
    speedup: Option<f64>,
    runs: u32,
    key_seconds: f64,
    table_seconds: f64,
    peak_memory_bytes: u64,
    server_key_bytes: u64,
    galois_keys: usize,
    key_switches: u64,
    products: u64,
    depth: u32,
    failure_log2: f64,
    verified_slots: usize,
    wrong_slots: usize,
    seed: String,
    circumstances: Circumstances,
}

/// Table 6, or the same sets with thin bootstrapping.
pub fn bootstrappings(
    which: MaEtAlTable,
    args: &TableArgs,
    common: &Common,
) -> Result<(), CliError> {
    let mut runs: Vec<Run> = Vec::new();
    for set in chosen(args, usual())? {
        let estimate = which == MaEtAlTable::Table6 && endless(&set);
        let mut run = if estimate {
            extrapolated(&set, args, common)?
        } else {
            one(which, &set, args, common)?
        };
        let baseline = runs
            .iter()
            .find(|r| r.set == format!("ma-{}", set.ring) && set.variant != Variant::Baseline);
        run.speedup = baseline.map(|b| run.throughput / b.throughput);
        if let Some(directory) = &args.out {
            record::write(
                directory,
                &format!("ma-et-al-{}-{}{}", value_name(&which), run.set, rows::suffix(args)),
                &run,
            )?;
        }
        runs.push(run);
    }
    if common.json {
        emit_json(&runs)?;
    } else {
        emit(&text(&runs))?;
    }
    match runs.iter().find(|r| r.wrong_slots > 0) {
        Some(r) => Err(CliError::failure(format!(
            "{}: {} slots are wrong: please report this",
            r.params, r.wrong_slots
        ))),
        None => Ok(()),
    }
}

fn one(
    which: MaEtAlTable,
    set: &PaperSet,
    args: &TableArgs,
    common: &Common,
) -> Result<Run, CliError> {
    let mut spec = sized(set, args.quick);
    if let Some(bootstrap) = &mut spec.bootstrap {
        if which == MaEtAlTable::Thin {
            bootstrap.mode = Some(BootstrapMode::Thin);
        }
        if let Some(method) = &args.digit_removal {
            bootstrap.digit_removal = Some(method.clone());
        }
    }
    machine::restart_peak_memory();
    // Running the chapter of a paper is asking for its parameters.
    let params = Params::new(spec, OptIn::InsecureAllowFailures).map_err(CliError::failure)?;
    let planner = find_planner(&params, None)?;
    let (costs, keys, plan) =
        (planner.bootstrap_costs(), planner.keys(), planner.bootstrap_plan().clone());
    let bar = progress(common, value_name(&which), u64::from(args.runs) * 4);
    let mut seed = [0u8; 32];
    everlevel::system_rng().map_err(CliError::failure)?.fill_bytes(&mut seed);
    let mut rng = ChaCha20Rng::from_seed(seed);
    let mut bench = Bench::new(&params, planner);
    let outcomes = (0..args.runs)
        .map(|_| bench.run(&mut rng, &|| bar.inc(1)))
        .collect::<Result<Vec<_>, _>>()?;
    bar.finish_and_clear();

    let least = |f: &dyn Fn(&everlevel_cli::commands::bench::measure::Outcome) -> f64| {
        outcomes.iter().map(f).fold(f64::INFINITY, f64::min)
    };
    let stage = |name: &str| {
        median(
            &outcomes
                .iter()
                .map(|o| o.stages.get(name).copied().unwrap_or(0.0))
                .collect::<Vec<_>>(),
        )
    };
    let seconds_total = median(&outcomes.iter().map(|o| o.seconds).collect::<Vec<_>>());
    let [raised, before, after] = [0, 1, 2].map(|i| least(&|o| o.capacities[i]));
    let remaining = least(&|o| o.after);
    let peak_memory_bytes = machine::peak_memory_bytes();
    let cost = outcomes.first().map_or_else(Cost::default, |o| o.cost);
    Ok(Run {
        table: value_name(&which),
        set: set.name(),
        quick: args.quick,
        params: params.name().into(),
        p: set.p,
        r: set.r,
        n: params.degree(),
        slots: params.slots(),
        slot_degree: params.slot_shape().degree_of_slot(),
        log_q: params.modulus_bits(params.chain().top()),
        log_p: params.ring().log2(params.chain().special()),
        mode: plan.mode,
        digit_removal: plan.digits.to_string(),
        keys: Keys::of(set, &params, &plan)?,
        paper: TABLE_6
            .iter()
            .find(|row| which == MaEtAlTable::Table6 && format!("ma-{}", row.set) == set.name())
            .copied(),
        helib_thin_seconds: HELIB_THIN
            .iter()
            .find(|row| which == MaEtAlTable::Thin && row.0 == set.ring)
            .map(|row| row.1),
        capacity_initial: raised,
        capacity_linear: raised - remaining - (before - after),
        capacity_digits: before - after,
        capacity_remaining: remaining,
        seconds_linear: stage("coeff_to_slot") + stage("trace") + stage("slot_to_coeff"),
        seconds_digits: stage("digit_removal"),
        seconds_total,
        floor: Some(Floor::of(params.cpu(), &cost)),
        throughput: remaining / seconds_total,
        extrapolated: None,
        speedup: None,
        runs: args.runs,
        key_seconds: median(&outcomes.iter().map(|o| o.key_seconds).collect::<Vec<_>>()),
        table_seconds: outcomes.iter().map(|o| o.table_seconds).fold(0.0, f64::max),
        peak_memory_bytes,
        server_key_bytes: keys.seeded_bytes(&params),
        galois_keys: costs.galois_keys,
        key_switches: cost.key_switches,
        products: cost.products,
        depth: costs.depth,
        failure_log2: outcomes
            .iter()
            .map(|o| failure_log2(&params, &o.cost))
            .fold(f64::NEG_INFINITY, f64::max),
        verified_slots: params.slots() * outcomes.len(),
        wrong_slots: outcomes.iter().map(|o| o.wrong).sum(),
        seed: seed.iter().map(|b| format!("{b:02x}")).collect(),
        circumstances: Circumstances::now(),
    })
}

/// General bootstrapping from thin bootstrapping of the same set, whose digit removal is one of d,
/// and from that with local null polynomials, whose linear maps it shares.
fn extrapolated(set: &PaperSet, args: &TableArgs, common: &Common) -> Result<Run, CliError> {
    let sibling = PaperSet { variant: Variant::A, ..*set };
    let sibling = paper_sets().find(|s| s.name() == sibling.name()).unwrap_or(sibling);
    let maps = one(MaEtAlTable::Table6, &sibling, args, common)?;
    let thin = one(MaEtAlTable::Thin, set, args, common)?;
    let seconds_digits = thin.seconds_digits * thin.slot_degree as f64;
    let seconds_total = maps.seconds_total - maps.seconds_digits + seconds_digits;
    let capacity_remaining = thin.capacity_initial - maps.capacity_linear - thin.capacity_digits;
    Ok(Run {
        table: value_name(&MaEtAlTable::Table6),
        mode: BootstrapMode::Full,
        paper: TABLE_6.iter().find(|row| format!("ma-{}", row.set) == set.name()).copied(),
        helib_thin_seconds: None,
        capacity_linear: maps.capacity_linear,
        capacity_remaining,
        seconds_linear: maps.seconds_linear,
        seconds_digits,
        seconds_total,
        floor: None,
        throughput: capacity_remaining / seconds_total,
        extrapolated: Some(
            "the digit removal of a thin bootstrapping times the slots' degree, with the linear \
             maps of variant A",
        ),
        table_seconds: thin.table_seconds + maps.table_seconds,
        peak_memory_bytes: thin.peak_memory_bytes.max(maps.peak_memory_bytes),
        wrong_slots: thin.wrong_slots + maps.wrong_slots,
        verified_slots: thin.verified_slots + maps.verified_slots,
        ..thin
    })
}

/// The parameters of the runs beside the paper's, which are those of its own rings.
fn keys_text(runs: &[Run]) -> String {
    let head = [
        "set",
        "removal",
        "Δ: paper",
        "here",
        "log q0 R: paper",
        "here",
        "λ', main key: paper",
        "here",
        "λ, sparse key: paper",
        "here",
    ];
    let mut lines = vec![head.map(String::from).to_vec()];
    lines.extend(runs.iter().map(|r| {
        let (keys, paper) = (&r.keys, &r.keys.paper);
        let of_paper = |figure: f64| if r.quick { String::new() } else { format!("{figure:.1}") };
        vec![
            r.set.clone(),
            marked(r.digit_removal.clone(), is_the_papers(&r.digit_removal)),
            paper.delta.to_string(),
            keys.delta_text(),
            of_paper(paper.log_q0_r),
            format!("{:.1}", keys.log_q0_r),
            of_paper(paper.main_security),
            format!("{:.1}", keys.main_security),
            of_paper(paper.sparse_security),
            format!("{:.1}", keys.sparse_security),
        ]
    }));
    table(&lines)
}

/// Whether the paper has this digit removal: HElib's, local null polynomials, or the grid.
pub fn is_the_papers(digit_removal: &str) -> bool {
    ["halevi_shoup", "chen_han", "local", "global"].contains(&digit_removal)
}

fn text(runs: &[Run]) -> String {
    let head = [
        "set",
        "removal",
        "bits: initial",
        "linear",
        "digits",
        "remaining",
        "paper",
        "s: linear",
        "paper",
        "digits",
        "paper",
        "total",
        "paper",
        "ratio",
        "floor",
        "bit/s",
        "paper",
        "speed-up",
        "paper",
        "peak GB",
        "wrong",
    ];
    let mut lines = vec![head.map(String::from).to_vec()];
    lines.extend(runs.iter().map(|r| {
        // The paper's seconds are those of its own ring.
        let paper = |f: &dyn Fn(&Measured) -> String| {
            r.paper.as_ref().filter(|_| !r.quick).map_or_else(String::new, f)
        };
        let reference = match r.helib_thin_seconds.filter(|_| !r.quick) {
            Some(seconds) => {
                [format!("{seconds} (HElib thin)"), format!("{:.1}", seconds / r.seconds_total)]
            }
            None => [
                paper(&|m| m.seconds[2].to_string()),
                paper(&|m| format!("{:.1}", m.seconds[2] / r.seconds_total)),
            ],
        };
        vec![
            format!("{}{}", r.set, if r.extrapolated.is_some() { " *" } else { "" }),
            r.digit_removal.clone(),
            format!("{:.0}", r.capacity_initial),
            format!("{:.0}", r.capacity_linear),
            format!("{:.0}", r.capacity_digits),
            format!("{:.0}", r.capacity_remaining),
            paper(&|m| m.capacity[3].to_string()),
            format!("{:.1}", r.seconds_linear),
            paper(&|m| m.seconds[0].to_string()),
            format!("{:.1}", r.seconds_digits),
            paper(&|m| m.seconds[1].to_string()),
            format!("{:.1}", r.seconds_total),
            reference[0].clone(),
            reference[1].clone(),
            r.floor.map_or_else(String::new, |floor| format!("{:.1}", floor.seconds)),
            format!("{:.2}", r.throughput),
            paper(&|m| m.throughput.to_string()),
            r.speedup.map_or_else(String::new, |x| format!("{x:.1}")),
            paper(&|m| m.speedup.to_string()),
            format!("{:.1}", r.peak_memory_bytes as f64 / 1e9),
            format!("{}/{}", r.wrong_slots, r.verified_slots),
        ]
    }));
    let mut out = format!("{}\n\n{}", table(&lines), keys_text(runs));
    for how in runs.iter().filter_map(|r| r.extrapolated) {
        out.push_str(&format!("\n* extrapolated: {how}"));
    }
    if let Some(r) = runs.first() {
        out.push_str(&format!("\nseconds here: wall time on {}", r.circumstances.machine()));
        if r.quick {
            out.push_str("; quick: small rings, with which the paper's do not compare");
        }
    }
    out
}
