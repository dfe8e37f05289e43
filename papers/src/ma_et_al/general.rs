//! Ma–Huang–Wang–Wang's table 6 (general bootstrapping), and thin bootstrapping of the same sets.

use everlevel::{Cost, OptIn, Params, failure_log2};
use everlevel_cli::commands::bench::measure::Bench;
use everlevel_cli::console::args::{Common, value_name};
use everlevel_cli::console::circumstances::Circumstances;
use everlevel_cli::console::errors::CliError;
use everlevel_cli::console::machine::{self, Floor};
use everlevel_cli::console::output::{emit, emit_json, median, progress};
use everlevel_cli::console::params::find_planner;
use everlevel_scheme::ParamsSpec;
use everlevel_scheme::spec::BootstrapMode;
use rand_chacha::ChaCha20Rng;
use rand_core::{Rng, SeedableRng};

use super::choice::{chosen, usual};
use super::keys::Keys;
use super::results::{Run, text};
use super::sets::{PaperSet, Variant, paper_sets};
use super::tables::{HELIB_THIN, TABLE_6};
use crate::args::{MaEtAlTable, TableArgs};
use crate::record;
use crate::rows;

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
        // The factors of the index and the degree d of the slots, in order: 3, 5, 29 and 4; 7, 43
        // and 7; 3, 331 and 22; 5, 43 and 7; 3, 331 and 2.
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

/// Runs table 6, or the same sets with thin bootstrapping.
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

/// Runs one set, and measures it.
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

/// Estimates general bootstrapping of a set from thin bootstrapping of the same set, which removes
/// the digits once instead of d times, and from general bootstrapping with local null polynomials,
/// which has the same linear maps.
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
