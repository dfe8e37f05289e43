//! `everlevel bench bootstrap`: fresh keys and random values in every run, everything checked.

use std::collections::BTreeMap;
use std::time::Instant;

use everlevel::scheme::params::SecurityReport;
use everlevel::{
    Bootstrapper, Ciphertext, Evaluator, KeyPlanner, Level, NextUse, Params, Plaintext, Raise, Scheme, SecretKey, ServerKeys,
    StageReport, failure_log2,
};
use rand_core::CryptoRng;
use serde::Serialize;

use super::machine;
use crate::args::{BootstrapArgs, Common, Mode};
use crate::common::{emit, emit_json, find_params, find_planner, median, progress, table, threads};
use crate::error::CliError;

#[derive(Serialize)]
struct Report {
    params: String,
    slots: usize,
    threads: usize,
    backend: &'static str,
    security_bits: f64,
    security_model: &'static str,
    failure_log2: f64,
    seconds_median: f64,
    seconds_min: f64,
    stages: BTreeMap<&'static str, f64>,
    key_switches: u64,
    non_scalar_products: u64,
    capacity_bits_before: f64,
    capacity_bits_after: f64,
    multiplications_after: usize,
    server_key_bytes: u64,
    peak_memory_bytes: u64,
    ntt_count: u64,
    ntt_us: f64,
    bytes_moved: u64,
    bandwidth_gb_s: f64,
    floor_seconds: f64,
    noise_bound_bits: f64,
    noise_measured_bits: f64,
    verified_slots: usize,
    wrong_slots: usize,
}

/// One run.
struct Outcome {
    seconds: f64,
    stages: BTreeMap<&'static str, f64>,
    cost: everlevel::Cost,
    before: f64,
    after: f64,
    multiplications: usize,
    bound: f64,
    measured: f64,
    wrong: usize,
    key_seconds: f64,
    table_seconds: f64,
}

/// Runs the measurement.
pub fn run(args: &BootstrapArgs, common: &Common) -> Result<(), CliError> {
    let params = find_params(&args.set.params, common)?;
    let degree = params.slot_shape().degree_of_slot();
    if args.mode == Mode::General && degree > 1 {
        return Err(CliError::usage(format!(
            "--mode general: {} has slots of degree {degree}, and only slots of degree 1 are bootstrapped in general mode yet: take --mode thin",
            params.name()
        )));
    }
    let planner = find_planner(&params)?;
    let bar = progress(common, "bootstrapping", u64::from(args.runs) * 4);
    let mut bootstrapper = None;
    let mut outcomes = Vec::new();
    for _ in 0..args.runs {
        outcomes.push(one_run(&params, &planner, &mut bootstrapper, &bar)?);
    }
    bar.finish_and_clear();

    // Before the buffers of the bandwidth measurement.
    let peak_memory_bytes = machine::peak_memory_bytes();
    let ntt_us = machine::transform_us(&params);
    let bandwidth_gb_s = machine::bandwidth_gb_s();
    let Some(first) = outcomes.first() else {
        return Err(CliError::usage("--runs: expected at least 1"));
    };
    let cost = first.cost;
    let seconds: Vec<f64> = outcomes.iter().map(|o| o.seconds).collect();
    let names = first.stages.keys().copied();
    let stage = |name| median(&outcomes.iter().filter_map(|o| o.stages.get(name).copied()).collect::<Vec<_>>());
    let most = |f: fn(&Outcome) -> f64| outcomes.iter().map(f).fold(f64::NEG_INFINITY, f64::max);
    let least = |f: fn(&Outcome) -> f64| outcomes.iter().map(f).fold(f64::INFINITY, f64::min);
    let report = Report {
        params: params.name().into(),
        slots: params.slots(),
        threads: threads(),
        backend: everlevel::Backend::active().name(),
        security_bits: params.security().bits(),
        security_model: SecurityReport::MODEL,
        failure_log2: failure_log2(&params, &cost),
        seconds_median: median(&seconds),
        seconds_min: seconds.iter().copied().fold(f64::INFINITY, f64::min),
        stages: names.map(|n| (n, stage(n))).collect(),
        key_switches: cost.key_switches,
        non_scalar_products: cost.products,
        capacity_bits_before: least(|o| o.before),
        capacity_bits_after: least(|o| o.after),
        multiplications_after: outcomes.iter().map(|o| o.multiplications).min().unwrap_or(0),
        server_key_bytes: planner.keys().seeded_bytes(&params),
        peak_memory_bytes,
        ntt_count: cost.transforms,
        ntt_us,
        bytes_moved: cost.bytes,
        bandwidth_gb_s,
        floor_seconds: cost.transforms as f64 * ntt_us / 1e6 + cost.bytes as f64 / (bandwidth_gb_s * 1e9),
        noise_bound_bits: least(|o| o.bound),
        noise_measured_bits: most(|o| o.measured),
        verified_slots: params.slots() * outcomes.len(),
        wrong_slots: outcomes.iter().map(|o| o.wrong).sum(),
    };
    if common.json {
        emit_json(&report)?;
    } else {
        emit(&text(&report, &outcomes)?)?;
    }
    if report.wrong_slots > 0 || outcomes.iter().any(|o| o.measured > o.bound) {
        return Err(CliError::failure(format!(
            "{} of {} slots are wrong, measured noise 2^{:.2}, bound 2^{:.2}: please report this",
            report.wrong_slots, report.verified_slots, report.noise_measured_bits, report.noise_bound_bits
        )));
    }
    Ok(())
}

fn one_run(
    params: &Params,
    planner: &KeyPlanner,
    bootstrapper: &mut Option<Bootstrapper<Evaluator>>,
    bar: &indicatif::ProgressBar,
) -> Result<Outcome, CliError> {
    let mut rng = everlevel::system_rng().map_err(CliError::failure)?;
    let started = Instant::now();
    let secret = SecretKey::generate(params, &mut rng);
    let bgv = Evaluator::new(ServerKeys::generate(&secret, &planner.keys(), &mut rng, |_, _| ())?);
    let key_seconds = started.elapsed().as_secs_f64();
    bar.inc(1);

    let (worn, values) = worn_out(&bgv, &secret, &mut rng)?;
    bar.inc(1);
    // Tables do not depend on keys: they are made by a first, untimed bootstrapping, and kept for the other runs.
    let mut table_seconds = 0.0;
    if bootstrapper.is_none() {
        let started = Instant::now();
        let made = Bootstrapper::new(&bgv, planner.bootstrap_plan().clone())?;
        made.bootstrap(&bgv, &worn)?;
        table_seconds = started.elapsed().as_secs_f64();
        *bootstrapper = Some(made);
    }
    let Some(boot) = bootstrapper else {
        return Err(CliError::failure("no bootstrapping was prepared"));
    };
    bar.inc(1);

    let counted = bgv.cost();
    let mut reports: Vec<StageReport> = Vec::new();
    let started = Instant::now();
    let fresh = boot.bootstrap_observed(&bgv, &worn, &mut reports)?;
    let seconds = started.elapsed().as_secs_f64();
    let cost = bgv.cost() - counted;

    let mut stages = BTreeMap::new();
    for r in &reports {
        *stages.entry(r.stage.name()).or_insert(0.0) += r.elapsed.as_secs_f64();
    }
    let measured = secret.measure_noise(&fresh)?;
    let wrong = wrong_slots(params, &secret, &fresh, &values)?;
    let multiplications = multiply_on(&bgv, &secret, fresh.clone(), values)?;
    bar.inc(1);
    Ok(Outcome {
        seconds,
        stages,
        cost,
        before: bgv.capacity_bits(&worn),
        after: bgv.capacity_bits(&fresh),
        multiplications,
        bound: fresh.noise_bound_bits(),
        measured,
        wrong,
        key_seconds,
        table_seconds,
    })
}

fn random_values(params: &Params, rng: &mut impl CryptoRng) -> Vec<u64> {
    let q = params.plain().modulus(params.plain_exponent());
    (0..params.slots()).map(|_| q.reduce_u128(u128::from(rng.next_u64()) << 64 | u128::from(rng.next_u64()))).collect()
}

fn wrong_slots(params: &Params, secret: &SecretKey, x: &Ciphertext, values: &[u64]) -> Result<usize, CliError> {
    let decrypted = secret.decrypt(x)?.decode(params)?;
    Ok(decrypted.iter().zip(values).filter(|(a, b)| a != b).count())
}

/// A ciphertext of random values at the lowest level that bootstrapping accepts, its noise at the bound: worn out by products and sums
/// (x <- x y + z), then switched down, then multiplied by constants until one more bit would be too much.
fn worn_out(bgv: &Evaluator, secret: &SecretKey, rng: &mut impl CryptoRng) -> Result<(Ciphertext, Vec<u64>), CliError> {
    let params = bgv.params();
    let t = params.plain().modulus(params.plain_exponent());
    let mut fresh = || -> Result<(Ciphertext, Vec<u64>), CliError> {
        let values = random_values(params, rng);
        Ok((secret.encrypt(&Plaintext::encode(params, &values)?, rng)?, values))
    };
    let accepted = |x: &Ciphertext| params.check_raise(x.meta()).is_ok();
    let (mut x, mut values) = fresh()?;
    let ((y, ys), (z, zs)) = (fresh()?, fresh()?);
    while let Ok(next) = bgv.mul(&x, &y, NextUse::Product).and_then(|xy| bgv.add(&xy, &z)) {
        if !accepted(&next) {
            break;
        }
        x = next;
        values.iter_mut().zip(ys.iter().zip(&zs)).for_each(|(v, (y, z))| *v = t.add(t.mul(*v, *y), *z));
    }
    let lowest = (0..x.level().0).map(Level).find(|&l| params.check_raise(&params.after_switch(x.meta(), l)).is_ok());
    if let Some(level) = lowest {
        x = bgv.mod_switch_to(&x, level)?;
    }
    // The largest constants that still fit, the last one at least 2.
    loop {
        let spare = bgv.capacity_bits(&x) - bgv.minimum_capacity();
        let most = spare.exp2().min(t.value() as f64 / 2.0).floor() as i64;
        let constant = (2..=most).rev().take(2).find_map(|k| bgv.mul_scalar(&x, k).ok().filter(accepted).map(|y| (k, y)));
        let Some((k, y)) = constant else { break };
        x = y;
        values.iter_mut().for_each(|v| *v = t.mul(*v, k as u64));
    }
    if wrong_slots(params, secret, &x, &values)? > 0 {
        return Err(CliError::failure("the input of the bootstrapping is wrong already: please report this"));
    }
    Ok((x, values))
}

/// Squares until the next square could not be bootstrapped; every result is decrypted and compared.
fn multiply_on(bgv: &Evaluator, secret: &SecretKey, mut x: Ciphertext, mut values: Vec<u64>) -> Result<usize, CliError> {
    let params = bgv.params();
    let t = params.plain().modulus(params.plain_exponent());
    let mut count = 0;
    loop {
        match bgv.mul(&x, &x, NextUse::Product) {
            Ok(next) if params.check_raise(next.meta()).is_ok() => x = next,
            _ => return Ok(count),
        }
        values.iter_mut().for_each(|v| *v = t.mul(*v, *v));
        count += 1;
        if wrong_slots(params, secret, &x, &values)? > 0 {
            return Err(CliError::failure(format!("product {count} after the bootstrapping is wrong: please report this")));
        }
    }
}

fn text(r: &Report, outcomes: &[Outcome]) -> Result<String, CliError> {
    let mut rows: Vec<Vec<String>> = vec![vec!["stage".into(), "seconds".into()]];
    rows.extend(r.stages.iter().map(|(k, v)| vec![(*k).to_string(), format!("{v:.3}")]));
    let keys = median(&outcomes.iter().map(|o| o.key_seconds).collect::<Vec<_>>());
    let tables = outcomes.iter().map(|o| o.table_seconds).fold(0.0, f64::max);
    let mib = |b: u64| b as f64 / 1048576.0;
    Ok([
        format!("{}: {} slots, {} threads, {} backend, {:.1} bits of security", r.params, r.slots, r.threads, r.backend, r.security_bits),
        format!("one bootstrapping: {:.3} s (median of {}), {:.3} s at best", r.seconds_median, outcomes.len(), r.seconds_min),
        table(&rows),
        format!("{} key switches, {} products; failure 2^{:.1}", r.key_switches, r.non_scalar_products, r.failure_log2),
        format!("capacity {:.1} bits before, {:.1} after: {} multiplications", r.capacity_bits_before, r.capacity_bits_after, r.multiplications_after),
        format!("noise bound 2^{:.1}, measured 2^{:.1}", r.noise_bound_bits, r.noise_measured_bits),
        format!("{} slots checked, {} wrong", r.verified_slots, r.wrong_slots),
        format!("floor {:.3} s = {} transforms of {:.1} us + {:.2} GB at {:.1} GB/s", r.floor_seconds, r.ntt_count, r.ntt_us, r.bytes_moved as f64 / 1e9, r.bandwidth_gb_s),
        format!("server keys {:.0} MiB when seeded, made in {keys:.1} s; first bootstrapping with its tables {tables:.1} s; peak memory {:.0} MiB", mib(r.server_key_bytes), mib(r.peak_memory_bytes)),
    ]
    .join("\n"))
}
