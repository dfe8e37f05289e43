//! `everlevel selftest`: does this build compute correctly on this machine?

use std::time::Instant;

use everlevel::lab::{Arithmetic, Automorphisms, Scheme};
use everlevel::{
    Backend, Client, KeyPlanner, NextUse, OptIn, Params, Plaintext, PublicKey, Server,
};
use everlevel_arith::{NttTable, primes};
use everlevel_scheme::params::spec;
use rand_chacha::ChaCha20Rng;
use rand_core::{Rng, SeedableRng};
use serde::Serialize;

use crate::commands::args::SelftestArgs;
use crate::console::args::Common;
use crate::console::errors::CliError;
use crate::console::output::{emit, emit_json, progress};
use crate::mistakes::{self, Outcome, cases};

#[derive(Serialize)]
struct Check {
    name: String,
    passed: bool,
    seconds: f64,
    detail: String,
}

#[derive(Serialize)]
struct Report {
    passed: bool,
    backend: &'static str,
    checks: Vec<Check>,
}

const SETS: [&str; 3] =
    ["insecure_bgv-257-n8", "insecure_bgv-65537-n11", "insecure_bgv-786433-n11"];

/// Runs the command.
pub fn run(args: &SelftestArgs, common: &Common) -> Result<(), CliError> {
    if args.mistakes { make_mistakes(common) } else { check_all(common) }
}

#[derive(Serialize)]
struct Mistakes {
    mistakes: Vec<Outcome>,
    /// How many were answered without an error.
    silent: usize,
}

/// Makes the mistakes, and fails if one is not refused as it should be.
fn make_mistakes(common: &Common) -> Result<(), CliError> {
    let program = std::env::current_exe().map_err(CliError::failure)?;
    let bar = progress(common, "mistakes", cases().count() as u64);
    let mistakes = mistakes::run(&program, |outcome| {
        bar.inc(1);
        if common.json {
            return Ok(());
        }
        let verdict = match outcome.as_expected() {
            true => "refused",
            false if outcome.refused => "OTHER CODE",
            false => "SILENT",
        };
        let line =
            format!("{verdict:10}  {:24}  {}", outcome.code.as_deref().unwrap_or(""), outcome.name);
        bar.suspend(|| emit(&line))
    })?;
    bar.finish_and_clear();
    let silent = mistakes.iter().filter(|outcome| !outcome.refused).count();
    let unexpected = mistakes.iter().filter(|outcome| !outcome.as_expected()).count();
    let report = Mistakes { mistakes, silent };
    if common.json {
        emit_json(&report)?;
    } else {
        emit(&format!("{} mistakes, {silent} answered without an error", report.mistakes.len()))?;
    }
    if unexpected > 0 {
        return Err(CliError::failure(format!(
            "{unexpected} of {} mistakes were not refused as they should be: please report this",
            report.mistakes.len()
        )));
    }
    Ok(())
}

fn check_all(common: &Common) -> Result<(), CliError> {
    let mut checks = Vec::new();
    let backends = Backend::available().len();
    let bar = progress(common, "checks", (1 + 2 * backends + SETS.len()) as u64);
    let mut check =
        |name: String, f: &dyn Fn() -> Result<String, CliError>| -> Result<(), CliError> {
            let started = Instant::now();
            let (passed, detail) = match f() {
                Ok(detail) => (true, detail),
                Err(CliError::Usage(m) | CliError::Failure(m)) => (false, m.text),
                Err(CliError::OutputClosed) => return Err(CliError::OutputClosed),
            };
            let seconds = started.elapsed().as_secs_f64();
            bar.inc(1);
            if !common.json {
                let verdict = if passed { "pass" } else { "FAIL" };
                let line = format!("{verdict}  {name} ({seconds:.2} s): {detail}");
                bar.suspend(|| emit(&line))?;
            }
            checks.push(Check { name, passed, seconds, detail });
            Ok(())
        };
    check("known slots".into(), &known_slots)?;
    for backend in Backend::available() {
        check(format!("transforms, {backend}"), &|| transforms(backend))?;
    }
    for set in SETS {
        check(format!("round trip, {set}"), &|| round_trip(set))?;
    }
    for backend in Backend::available() {
        check(format!("same bits, {backend}"), &|| same_bits(backend))?;
    }
    bar.finish_and_clear();
    let report = Report {
        passed: checks.iter().all(|c| c.passed),
        backend: Backend::detect().name(),
        checks,
    };
    if common.json {
        emit_json(&report)?;
    }
    let failed = report.checks.iter().filter(|c| !c.passed).count();
    if failed > 0 {
        return Err(CliError::failure(format!(
            "{failed} of {} checks failed: do not use this build, and please report this",
            report.checks.len()
        )));
    }
    if common.json { Ok(()) } else { emit(&format!("all {} checks passed", report.checks.len())) }
}

fn ensure(condition: bool, what: &str) -> Result<(), CliError> {
    if condition { Ok(()) } else { Err(CliError::failure(what)) }
}

fn set(name: &str) -> Result<Params, CliError> {
    Ok(Params::named(name, OptIn::InsecureResearch)?)
}

/// The constant plaintext has its value in every slot, X its evaluation at the root that the
/// notation promises.
fn known_slots() -> Result<String, CliError> {
    let params = set("insecure_bgv-257-n8")?;
    let t = params.plaintext_ring().modulus(1);
    let shape = params.slot_shape();
    let ones = Plaintext::encode(&params, &vec![7; params.slots()])?;
    ensure(
        ones.coefficients()[0] == 7 && ones.coefficients()[1..].iter().all(|&c| c == 0),
        "the constant 7 is not the polynomial 7",
    )?;
    // Slot (r, i) of X^d is the root to the (-1)^r 5^i.
    let (order, root) = (2 * shape.slots() as u64, shape.root(1)[0]);
    let mut exponent = 1u64;
    let mut values = vec![0; params.slots()];
    for i in 0..shape.columns() {
        values[i] = t.pow(root, exponent);
        values[shape.columns() + i] = t.pow(root, order - exponent);
        exponent = exponent * 5 % order;
    }
    let x = Plaintext::encode(&params, &values)?;
    let d = shape.degree_of_slot();
    ensure(
        x.coefficients().iter().enumerate().all(|(k, &c)| c == u64::from(k == d)),
        "the powers of the root do not encode X",
    )?;
    Ok(format!("{} slots", params.slots()))
}

/// (1 + X)^2 = 1 + 2X + X^2 by transforms, and equality with the portable backend.
fn transforms(backend: Backend) -> Result<String, CliError> {
    for log_n in 4..=15u32 {
        let q = primes::primes_congruent_one(2 << log_n, 1 << 50)
            .next()
            .ok_or_else(|| CliError::failure("no prime below 2^50"))?;
        let ntt = NttTable::for_prime(q, log_n, backend).map_err(CliError::failure)?;
        let portable =
            NttTable::for_prime(q, log_n, Backend::Portable).map_err(CliError::failure)?;
        let m = ntt.modulus();
        let mut a = vec![0u64; ntt.degree()];
        a[ntt.coefficient_position(0)] = 1;
        a[ntt.coefficient_position(1)] = 1;
        ntt.forward(&mut a);
        a.iter_mut().for_each(|x| *x = m.mul(*x, *x));
        ntt.inverse(&mut a);
        let want = |k: usize| [1, 2, 1].get(k).copied().unwrap_or(0);
        ensure(
            (0..ntt.degree()).all(|k| a[ntt.coefficient_position(k)] == want(k)),
            "(1 + X)^2 is wrong",
        )?;
        let mut rng = ChaCha20Rng::seed_from_u64(u64::from(log_n));
        let mut x: Vec<u64> = (0..ntt.degree()).map(|_| rng.next_u64() % q).collect();
        let mut y = x.clone();
        ntt.forward(&mut x);
        portable.forward(&mut y);
        ensure(x == y, "the forward transform differs from the portable one")?;
        ntt.inverse(&mut x);
        portable.inverse(&mut y);
        ensure(x == y, "the inverse transform differs from the portable one")?;
    }
    Ok("n = 2^4 to 2^15".into())
}

/// Public-key encryption, a product, a rotation, thirty products with bootstrapping, all against
/// the plain computation.
fn round_trip(name: &str) -> Result<String, CliError> {
    let params = set(name)?;
    let t = params.plaintext_ring().modulus(1);
    let mut rng = everlevel::system_rng().map_err(CliError::failure)?;
    let client = Client::new(&params, &mut rng);
    let planner = KeyPlanner::new(&params)?.rotations([3]).row_swap();
    let server =
        client.server_for(&planner.keys(), planner.bootstrap_plan(), &mut rng, |_, _| ())?;
    let mut values: Vec<u64> = (0..params.slots()).map(|_| rng.next_u64() % t.value()).collect();
    let public = PublicKey::generate(client.secret(), &mut rng);
    let x = public.encrypt(&Plaintext::encode(&params, &values)?, &mut rng)?;
    ensure(
        client.decrypt_modular(&x)? == values,
        "decryption does not give back what was encrypted",
    )?;
    let mut x = server.swap_rows(&server.rotate_columns(&server.load(x), 3)?)?;
    let columns = params.slot_shape().columns();
    values = (0..values.len())
        .map(|i| values[(1 - i / columns) * columns + (i % columns + 3) % columns])
        .collect();
    ensure(
        client.decrypt_modular(&x.get())? == values,
        "rotation and exchange of the rows are wrong",
    )?;
    for step in 0..30 {
        x = server.add_scalar(&server.mul(&x, &x)?, step)?;
        values.iter_mut().for_each(|v| *v = t.add(t.mul(*v, *v), t.reduce_i64(step)));
    }
    ensure(client.decrypt_modular(&x.get())? == values, "thirty products are wrong")?;
    let x = x.get();
    ensure(
        client.secret().measure_noise(&x)? <= x.noise_bound_bits(),
        "the measured noise exceeds its bound",
    )?;
    Ok(format!("{} slots, 30 products, {} bootstraps", params.slots(), server.bootstraps()))
}

/// A fixed computation on another backend has the digest of the detected one.
fn same_bits(backend: Backend) -> Result<String, CliError> {
    let (here, there) = (digest(Backend::detect())?, digest(backend)?);
    ensure(here == there, &format!("expected {here}, found {there}"))?;
    Ok(here)
}

/// Keys, an encryption, a product, a rotation and a bootstrapping from a fixed seed, hashed.
fn digest(backend: Backend) -> Result<String, CliError> {
    let mut hash = 0xcbf2_9ce4_8422_2325u64;
    let mut absorb = |x: u64| {
        x.to_le_bytes()
            .iter()
            .for_each(|&b| hash = (hash ^ u64::from(b)).wrapping_mul(0x100_0000_01b3))
    };
    let params =
        Params::with_backend(spec("insecure_bgv-257-n8")?, OptIn::InsecureResearch, backend)?;
    let mut rng = ChaCha20Rng::seed_from_u64(1);
    let client = Client::new(&params, &mut rng);
    let planner = KeyPlanner::new(&params)?.rotations([1]);
    let server: Server =
        client.server_for(&planner.keys(), planner.bootstrap_plan(), &mut rng, |_, _| ())?;
    let values: Vec<u64> = (0..params.slots() as u64).map(|i| i * i % 257).collect();
    let x = client.encrypt_modular(&values, &mut rng)?;
    let bgv = server.evaluator();
    let product = bgv.mul(&x, &x, NextUse::Product)?;
    let rotated = bgv.rotate_columns(&product, 1)?;
    let fresh = server.bootstrap(&rotated)?;
    for c in [&x, &product, &rotated, &fresh] {
        absorb(client.secret().measure_noise(c)?.to_bits());
        absorb(c.noise_bound_bits().to_bits());
        absorb(bgv.level(c).0 as u64);
        client.decrypt_modular(c)?.into_iter().for_each(&mut absorb);
    }
    Ok(format!("{hash:016x}"))
}
