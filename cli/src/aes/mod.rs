//! `everlevel aes bench`: AES-128 on encrypted blocks, over BGV or over LTV, everything checked.

mod party;
mod run;

use std::time::Instant;

use everlevel::circuit::CircuitError;
use everlevel::circuit::aes::{Aes, AesError, BitSliced, ByteSliced, KeySize};
use everlevel::scheme::params::Family;
use everlevel::{Form, KeyPlan, Level, NoOp, Params, Plaintext, SchemeError};
use serde::Serialize;

use crate::args::{AesBenchArgs, AesScheme, Common, Slicing};
use crate::bench::machine;
use crate::common::{emit, emit_json, find_params, progress, table};
use crate::error::CliError;
use crate::reproduce::record::Circumstances;
use party::{Party, Rns};
use run::Outcome;

#[derive(Serialize)]
struct Report {
    scheme: &'static str,
    params: String,
    chain: &'static str,
    method: &'static str,
    security_bits: f64,
    blocks: usize,
    rounds: usize,
    products: u64,
    relinearizations: u64,
    key_switches: u64,
    depth: u32,
    seconds_total: f64,
    seconds_per_block: f64,
    seconds_keygen: f64,
    seconds_round_keys: f64,
    key_bytes: u64,
    peak_memory_bytes: u64,
    noise_after_each_round: Vec<f64>,
    bound_after_each_round: Vec<f64>,
    modulus_bits_after_each_round: Vec<f64>,
    wrong_blocks: usize,
    #[serde(flatten)]
    circumstances: Circumstances,
}

/// Runs the measurement.
pub fn run(args: &AesBenchArgs, common: &Common) -> Result<(), CliError> {
    let params = find_params(&args.params, common)?;
    let (rounds, method) = (usize::from(args.rounds), args.method);
    check(&params, args)?;
    let plan = rehearse(&params, method, rounds).map_err(|e| match e {
        CircuitError::Scheme(SchemeError::NoiseOverflow { .. }) => CliError::usage(format!(
            "parameter set {}: too little room for {rounds} rounds of AES: lower --rounds, or raise words ({e})",
            params.name()
        )),
        CircuitError::Aes(AesError::NoBytes { .. }) => CliError::usage(e),
        e => e.into(),
    })?;

    let mut rng = everlevel::system_rng().map_err(CliError::failure)?;
    let bar = progress(common, "rounds", args.rounds.into());
    let started = Instant::now();
    let party = Rns::new(&params, &plan, &mut rng)?;
    let seconds_keygen = started.elapsed().as_secs_f64();
    let shape = params.slot_shape();
    let tick = || bar.inc(1);
    let outcome = match method {
        Slicing::BitSliced => run::run(&party, &BitSliced::new(shape.degree_of_slot()), shape.slots(), rounds, &mut rng, &tick)?,
        Slicing::ByteSliced => {
            let aes = ByteSliced::new(party.scheme(), party.top())?;
            run::run(&party, &aes, shape.slots(), rounds, &mut rng, &tick)?
        }
    };
    bar.finish_and_clear();
    let each = |f: fn(&run::RoundReport) -> f64| outcome.rounds.iter().map(f).collect();
    let report = Report {
        scheme: args.scheme.name(),
        params: params.name().into(),
        chain: "rns",
        method: method.name(),
        security_bits: params.security().bits(),
        blocks: outcome.blocks,
        rounds,
        products: outcome.cost.products,
        relinearizations: outcome.cost.relinearizations,
        key_switches: outcome.cost.key_switches,
        depth: outcome.depth,
        seconds_total: outcome.seconds,
        seconds_per_block: outcome.seconds / outcome.blocks as f64,
        seconds_keygen,
        seconds_round_keys: outcome.key_seconds,
        key_bytes: party.key_bytes(),
        peak_memory_bytes: machine::peak_memory_bytes(),
        noise_after_each_round: each(|r| r.noise),
        bound_after_each_round: each(|r| r.bound),
        modulus_bits_after_each_round: each(|r| r.modulus),
        wrong_blocks: outcome.wrong,
        circumstances: Circumstances::now(),
    };
    if common.json {
        emit_json(&report)?
    } else {
        emit(&text(&report))?
    }
    verdict(&outcome)
}

/// Wrong blocks and noise above its bound are failures.
fn verdict(outcome: &Outcome) -> Result<(), CliError> {
    match outcome.rounds.iter().find(|r| r.noise > r.bound) {
        _ if outcome.wrong > 0 => {
            Err(CliError::failure(format!("{} of {} blocks are wrong: please report this", outcome.wrong, outcome.blocks)))
        }
        Some(r) => Err(CliError::failure(format!(
            "measured noise 2^{:.2} above its bound 2^{:.2}: please report this",
            r.noise, r.bound
        ))),
        None => Ok(()),
    }
}

/// Refuses sets that are not of the scheme asked for, or whose slots hold no bits.
fn check(params: &Params, args: &AesBenchArgs) -> Result<(), CliError> {
    let wrong = |expected: &str| Err(CliError::usage(format!("--params {}: expected {expected}", params.name())));
    let family = params.spec().family;
    match args.scheme {
        AesScheme::Bgv if family != Family::Rlwe => wrong("a set of BGV, as --scheme says; or take --scheme ltv"),
        AesScheme::Ltv if family != Family::Ntru => wrong("a set of LTV, as --scheme says; or take --scheme bgv"),
        _ if params.spec().form != Form::Bgv => wrong("a set whose ciphertexts are in BGV form"),
        _ if params.plain_modulus() != 2 => wrong("a set with plaintext modulus 2"),
        _ => Ok(()),
    }
}

/// The server keys for so many rounds.
fn rehearse(params: &Params, method: Slicing, rounds: usize) -> Result<KeyPlan, CircuitError> {
    let scheme = NoOp::blank(params);
    let (top, zero) = (params.chain().top(), Plaintext::encode(params, &[])?);
    let blank = |level: Level| Ok(scheme.encrypt_at(&zero, level)?);
    let (start, size) = (blank(top)?, KeySize::Aes128);
    match method {
        Slicing::BitSliced => {
            BitSliced::new(params.slot_shape().degree_of_slot()).round_key_levels(&scheme, start, size, rounds, blank)?
        }
        Slicing::ByteSliced => ByteSliced::new(&scheme, top)?.round_key_levels(&scheme, start, size, rounds, blank)?,
    };
    Ok(scheme.key_plan())
}

fn text(r: &Report) -> String {
    let columns = r.noise_after_each_round.iter().zip(&r.bound_after_each_round).zip(&r.modulus_bits_after_each_round);
    let mut rows: Vec<Vec<String>> = vec![["round", "log2 noise", "bound", "modulus"].map(String::from).to_vec()];
    rows.extend(columns.enumerate().map(|(i, ((noise, bound), modulus))| {
        vec![i.to_string(), format!("{noise:.1}"), format!("{bound:.1}"), format!("{modulus:.1}")]
    }));
    let mib = |b: u64| b as f64 / 1048576.0;
    [
        format!(
            "{}, {}, {} chain, {}: {} blocks, {} rounds, {:.1} bits of security",
            r.scheme, r.params, r.chain, r.method, r.blocks, r.rounds, r.security_bits
        ),
        format!(
            "{:.2} s, {:.2} ms a block; {} (keys made in {:.1} s, round keys encrypted in {:.1} s)",
            r.seconds_total,
            1e3 * r.seconds_per_block,
            r.circumstances.machine(),
            r.seconds_keygen,
            r.seconds_round_keys
        ),
        format!(
            "{} products, {} relinearizations, {} key switches in all, depth {}",
            r.products, r.relinearizations, r.key_switches, r.depth
        ),
        table(&rows),
        format!("keys {:.0} MiB, peak memory {:.0} MiB", mib(r.key_bytes), mib(r.peak_memory_bytes)),
        format!("{} blocks checked, {} wrong", r.blocks, r.wrong_blocks),
    ]
    .join("\n")
}
