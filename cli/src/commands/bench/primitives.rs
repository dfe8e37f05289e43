//! `everlevel bench primitives`: the operations that libraries are compared by.

use std::time::Instant;

use everlevel::lab::{Arithmetic, Automorphisms, Evaluator};
use everlevel::{
    Backend, Form, GaloisElement, KeyPlan, Level, NextUse, OptIn, Params, ParamsSpec, Plaintext,
    PublicKey, SecretKey, ServerKeys,
};
use everlevel_arith::{NttTable, primes};
use rand_core::Rng;
use serde::Serialize;

use crate::commands::bench::args::PrimitivesArgs;
use crate::console::args::Common;
use crate::console::errors::CliError;
use crate::console::output::{emit, emit_json, median, progress, table, threads};
use crate::console::params::find_params;

#[derive(Serialize)]
struct Entry {
    name: &'static str,
    set: String,
    n: usize,
    log_q: f64,
    log_p: f64,
    digits: usize,
    ms: f64,
    threads: usize,
    backend: &'static str,
}

#[derive(Serialize)]
struct Report {
    threads: usize,
    backend: &'static str,
    cpu_flags: String,
    runs: u32,
    results: Vec<Entry>,
}

/// How many rotations share one decomposition.
const HOISTED: i64 = 8;

/// The splits that other libraries take at the same degree: 12 limbs and 5 special ones, 26 and 9,
/// three digits.
fn peer_specs() -> [ParamsSpec; 3] {
    let spec =
        |name: &str, form, log_degree: u32, plain_prime, word_bits, words, special, digit_size| {
            ParamsSpec {
                base_bits: word_bits,
                word_bits,
                words,
                special,
                digit_size,
                form,
                ..ParamsSpec::new(name, 2 << log_degree, plain_prime)
            }
        };
    [
        spec("three-digits-65537-n15", Form::Bgv, 15, 65537, 50, 11, 5, 4),
        spec("three-digits-65537-n15-bfv", Form::Bfv, 15, 65537, 50, 11, 5, 4),
        spec("three-digits-786433-n16", Form::Bgv, 16, 786433, 49, 25, 9, 9),
    ]
}

/// Runs the measurements.
pub fn run(args: &PrimitivesArgs, common: &Common) -> Result<(), CliError> {
    let mut sets = Vec::new();
    match &args.params {
        Some(name) => sets.push(find_params(name, common)?),
        None => {
            for name in ["bgv-65537-n15", "bgv-65537-n16"] {
                sets.push(find_params(name, common)?);
            }
            for spec in peer_specs() {
                sets.push(Params::new(spec, OptIn::SecureOnly)?);
            }
        }
    }
    let bar = progress(common, "measuring", sets.len() as u64 + 1);
    let mut results = transforms(args.runs)?;
    bar.inc(1);
    for params in &sets {
        results.extend(operations(params, args.runs)?);
        bar.inc(1);
    }
    bar.finish_and_clear();
    let report = Report {
        threads: threads(),
        backend: Backend::detect().name(),
        cpu_flags: Backend::cpu_flags(),
        runs: args.runs,
        results,
    };
    if common.json {
        return emit_json(&report);
    }
    let head = ["operation", "set", "log Q + log P", "digits", "ms"].map(String::from).to_vec();
    let row = |e: &Entry| {
        let split =
            if e.digits == 0 { String::new() } else { format!("{:.0} + {:.0}", e.log_q, e.log_p) };
        let digits = if e.digits == 0 { String::new() } else { e.digits.to_string() };
        vec![e.name.to_string(), e.set.clone(), split, digits, format!("{:.3}", e.ms)]
    };
    let rows: Vec<Vec<String>> =
        std::iter::once(head).chain(report.results.iter().map(row)).collect();
    emit(&format!(
        "{}\n{} threads, {} backend ({}), median of {}",
        table(&rows),
        report.threads,
        report.backend,
        report.cpu_flags,
        report.runs
    ))
}

/// The median time of `f` in milliseconds, after one call that does not count.
fn time<T>(runs: u32, mut f: impl FnMut() -> Result<T, CliError>) -> Result<f64, CliError> {
    std::hint::black_box(f()?);
    let mut times = Vec::new();
    for _ in 0..runs {
        let started = Instant::now();
        let result = f()?;
        times.push(started.elapsed().as_secs_f64() * 1e3);
        std::hint::black_box(result);
    }
    Ok(median(&times))
}

/// One limb modulo a prime just below 2^50; each timing is a mean over 16 calls.
fn transforms(runs: u32) -> Result<Vec<Entry>, CliError> {
    const CALLS: u32 = 16;
    let mut out = Vec::new();
    for log_n in 13..=16u32 {
        let q = primes::primes_congruent_one(2 << log_n, 1 << 50)
            .next()
            .ok_or_else(|| CliError::failure("no prime below 2^50"))?;
        let ntt = NttTable::for_prime(q, log_n, Backend::detect()).map_err(CliError::failure)?;
        let mut limb: Vec<u64> = (0..1u64 << log_n)
            .map(|i| ntt.modulus().reduce_u64(i.wrapping_mul(0x9e37_79b9_7f4a_7c15)))
            .collect();
        for (name, transform) in [
            ("ntt_forward", NttTable::forward as fn(&NttTable, &mut [u64])),
            ("ntt_inverse", NttTable::inverse),
        ] {
            let ms = time(runs, || {
                (0..CALLS).for_each(|_| transform(&ntt, &mut limb));
                Ok(())
            })?;
            let set = format!("2^{log_n}, 50-bit prime");
            let (threads, backend) = (1, Backend::detect().name());
            out.push(Entry {
                name,
                set,
                n: 1 << log_n,
                log_q: 50.0,
                log_p: 0.0,
                digits: 0,
                ms: ms / f64::from(CALLS),
                threads,
                backend,
            });
        }
    }
    Ok(out)
}

fn operations(params: &Params, runs: u32) -> Result<Vec<Entry>, CliError> {
    let mut rng = everlevel::system_rng().map_err(CliError::failure)?;
    let chain = params.chain();
    let secret = SecretKey::generate(params, &mut rng);
    let public = PublicKey::generate(&secret, &mut rng);
    let (top, shape) = (chain.top(), params.slot_shape());
    let rotations: Vec<GaloisElement> = (1..=HOISTED).map(|k| shape.rotation(k)).collect();
    let mut plan = KeyPlan::default();
    plan.add_relin(params, top);
    rotations.iter().for_each(|&g| plan.add_galois(params, g, top));
    let bgv = Evaluator::new(ServerKeys::generate(&secret, &plan, &mut rng, |_, _| ())?);
    let q = params.plaintext_ring().modulus(params.plain_exponent());
    let values: Vec<u64> = (0..params.slots()).map(|_| q.reduce_u64(rng.next_u64())).collect();
    let plain = Plaintext::encode(params, &values)?;
    let (a, b) = (secret.encrypt(&plain, &mut rng)?, secret.encrypt(&plain, &mut rng)?);
    // One word less, wherever the modulus chain has such a level.
    let below: Level =
        chain.at_least(chain.bits(chain.top()) - f64::from(params.spec().word_bits) - 0.5);

    let hoisted = || -> Result<_, CliError> { Ok(bgv.apply_galois_many(&a, &rotations)?) };
    let factor = bgv.prepare_plaintext(&plain, chain.top())?;
    let checked = secret.decrypt(&bgv.mul(&a, &b, NextUse::Product)?)?.decode(params)?;
    if checked.iter().zip(&values).any(|(x, v)| *x != q.mul(*v, *v)) {
        return Err(CliError::failure(format!(
            "{}: a product decrypts to wrong values: please report this",
            params.name()
        )));
    }
    let timings: Vec<(&'static str, f64)> = vec![
        ("encode", time(runs, || Ok(Plaintext::encode(params, &values)?))?),
        ("encrypt_public", time(runs, || Ok(public.encrypt(&plain, &mut rng)?))?),
        (
            "encode_encrypt_public",
            time(runs, || Ok(public.encrypt(&Plaintext::encode(params, &values)?, &mut rng)?))?,
        ),
        ("encrypt_secret", time(runs, || Ok(secret.encrypt(&plain, &mut rng)?))?),
        ("decrypt_decode", time(runs, || Ok(secret.decrypt(&a)?.decode(params)?))?),
        ("add", time(runs, || Ok(bgv.add(&a, &b)?))?),
        ("multiply_plain", time(runs, || Ok(bgv.mul_plain(&a, &plain)?))?),
        ("multiply_factor", time(runs, || Ok(bgv.mul_prepared_plain(&a, &factor)?))?),
        ("multiply_relinearize", time(runs, || Ok(bgv.mul(&a, &b, NextUse::Keep)?))?),
        ("multiply_relinearize_switch", time(runs, || Ok(bgv.mul(&a, &b, NextUse::Product)?))?),
        // As an automorphism, which it is in every ring: where the last dimension is bad, some
        // slots go elsewhere.
        ("rotate", time(runs, || Ok(bgv.apply_galois(&a, rotations[0])?))?),
        ("hoisted_rotate", time(runs, hoisted)? / HOISTED as f64),
        ("modulus_switch", time(runs, || Ok(bgv.mod_switch_to(&a, below)?))?),
    ];
    let entry = |(name, ms)| Entry {
        name,
        set: params.name().into(),
        n: params.degree(),
        log_q: chain.bits(chain.top()),
        log_p: params.ring().log2(chain.special()),
        digits: chain.gadget(chain.top()).digits(chain.basis(chain.top())).count(),
        ms,
        threads: threads(),
        backend: Backend::detect().name(),
    };
    Ok(timings.into_iter().map(entry).collect())
}
