//! `papers aes`: AES-128 on encrypted blocks, over BGV or over LTV, everything checked.

pub mod args;
mod party;
mod prime_power;
mod run;

use std::time::Instant;

use everlevel::lab::{NoOp, Scheme, SchemeError};
use everlevel::{Form, KeyPlan, Level, Params, Plaintext};
use everlevel_aes::bit_sliced::BitSliced;
use everlevel_aes::{Aes, AesError, ByteSliced, Cipher, Direction, KeySize, Packed, lowest_start};
use everlevel_cli::console::args::{Common, value_name};
use everlevel_cli::console::circumstances::Circumstances;
use everlevel_cli::console::errors::CliError;
use everlevel_cli::console::machine::{self, Floor};
use everlevel_cli::console::output::{emit, emit_json, progress, table};
use everlevel_cli::console::params::refused_set;
use everlevel_ltv::{KeyForm, LtvEvaluator, LtvParams};
use everlevel_scheme::params::KeySecurity;
use everlevel_scheme::spec::Assumption;
use rand_core::CryptoRng;
use serde::Serialize;

use crate::aes::args::{AesArgs, AesScheme, Chain, Keys, Slicing};
use crate::sets::find_params;
use party::{Party, Rns};
use prime_power::PrimePower;
use run::Outcome;

#[derive(Serialize)]
struct Report {
    scheme: String,
    params: String,
    chain: String,
    method: String,
    /// Absent if transformed.
    #[serde(skip_serializing_if = "Option::is_none")]
    keys: Option<String>,
    blocks: usize,
    rounds: usize,
    products: u64,
    relinearizations: u64,
    key_switches: u64,
    depth: u32,
    seconds_total: f64,
    seconds_per_block: f64,
    /// From the encrypted blocks of one state to its encrypted result.
    latency_seconds: f64,
    #[serde(flatten)]
    floor: Floor,
    seconds_keygen: f64,
    seconds_round_keys: f64,
    key_bytes: u64,
    peak_memory_bytes: u64,
    noise_after_each_round: Vec<f64>,
    bound_after_each_round: Vec<f64>,
    modulus_bits_after_each_round: Vec<f64>,
    capacity_bits_after: f64,
    wrong_blocks: usize,
    /// Absent where the bounds on noise are averages.
    failure_log2: Option<f64>,
    security_bits: f64,
    /// The weakest key.
    security: KeySecurity,
    #[serde(flatten)]
    circumstances: Circumstances,
}

/// Runs the measurement.
pub fn run(args: &AesArgs, common: &Common) -> Result<(), CliError> {
    let mut rng = everlevel::system_rng().map_err(CliError::failure)?;
    match args.chain {
        Chain::Rns if args.keys == Keys::Polynomials => Err(CliError::usage(
            "--keys polynomials: expected --chain prime-power; keys over distinct primes are kept \
             transformed",
        )),
        Chain::Rns => {
            let params = find_params(args.set(), common)?;
            check(&params, args)?;
            let start = start(&params, args)?;
            let (plan, _) =
                rehearse(&params, args, start).map_err(|e| refused(params.name(), args, e))?;
            let started = Instant::now();
            let party = Rns::new(&params, (start, &plan), &mut rng)?;
            measure(&party, started.elapsed().as_secs_f64(), args, common, &mut rng)
        }
        Chain::PrimePower if args.left.is_some() => Err(CliError::usage(
            "--left: expected --chain rns; over powers of one prime AES begins at the top level",
        )),
        Chain::PrimePower if args.scheme == AesScheme::Bgv => Err(CliError::usage(
            "--chain prime-power: expected --scheme ltv; BGV has moduli of distinct primes",
        )),
        Chain::PrimePower => {
            let params = LtvParams::named(args.set(), common.opt_in()).map_err(refused_set)?;
            let shape = params.plain().map_err(CliError::usage)?.shape();
            let powers = match args.slicing() {
                Slicing::BitSliced => Vec::new(),
                Slicing::ByteSliced => ByteSliced::<LtvEvaluator>::automorphisms(shape),
                Slicing::Packed => Packed::<LtvEvaluator>::automorphisms(shape, Direction::Encrypt)
                    .map_err(|e| refused(params.name(), args, e))?,
            };
            let started = Instant::now();
            let form = match args.keys {
                Keys::Transformed => KeyForm::Evaluations,
                Keys::Polynomials => KeyForm::Polynomial,
            };
            let party = PrimePower::new(&params, &powers, form, &mut rng)?;
            measure(&party, started.elapsed().as_secs_f64(), args, common, &mut rng)
        }
    }
}

/// Evaluates, checks and reports.
fn measure<P: Party>(
    party: &P,
    seconds_keygen: f64,
    args: &AesArgs,
    common: &Common,
    rng: &mut impl CryptoRng,
) -> Result<(), CliError> {
    let (rounds, shape) = (usize::from(args.rounds), party.scheme().slot_shape());
    let bar = progress(common, "rounds", u64::from(args.rounds) + 1);
    let tick = || bar.inc(1);
    let outcome = match args.slicing() {
        Slicing::BitSliced => run::run(party, &BitSliced::new(shape), rounds, rng, &tick),
        Slicing::ByteSliced => ByteSliced::new(party.scheme(), party.top())
            .and_then(|aes| run::run(party, &aes, rounds, rng, &tick)),
        Slicing::Packed => Packed::new(party.scheme(), party.top())
            .and_then(|aes| run::run(party, &aes, rounds, rng, &tick)),
    };
    let outcome = outcome.map_err(|e| refused(party.name(), args, e))?;
    bar.finish_and_clear();
    let peak_memory_bytes = machine::peak_memory_bytes();
    let each = |f: fn(&run::RoundReport) -> f64| outcome.rounds.iter().map(f).collect();
    let report = Report {
        scheme: value_name(&args.scheme),
        params: party.name().into(),
        chain: value_name(&args.chain),
        method: value_name(&args.slicing()),
        keys: Some(args.keys).filter(|keys| *keys != Keys::Transformed).map(|k| value_name(&k)),
        blocks: outcome.blocks,
        rounds,
        products: outcome.cost.products,
        relinearizations: outcome.cost.relinearizations,
        key_switches: outcome.cost.key_switches,
        depth: outcome.depth,
        seconds_total: outcome.seconds,
        seconds_per_block: outcome.seconds / outcome.blocks as f64,
        latency_seconds: outcome.seconds,
        floor: Floor::of(party.cpu(), &outcome.cost),
        seconds_keygen,
        seconds_round_keys: outcome.key_seconds,
        key_bytes: party.key_bytes(),
        peak_memory_bytes,
        noise_after_each_round: each(|r| r.noise),
        bound_after_each_round: each(|r| r.bound),
        modulus_bits_after_each_round: each(|r| r.modulus),
        capacity_bits_after: outcome.capacity,
        wrong_blocks: outcome.wrong,
        failure_log2: party.failure_log2(&outcome.cost),
        security_bits: party.security().bits,
        security: party.security().clone(),
        circumstances: Circumstances::now(),
    };
    if common.json {
        emit_json(&report)?
    } else {
        emit(&text(&report))?
    }
    verdict(&outcome)
}

/// A set that does not suit is the user's to change.
fn refused(name: &str, args: &AesArgs, e: AesError) -> CliError {
    match e {
        AesError::Scheme(SchemeError::NoiseOverflow { .. }) => CliError::usage(format!(
            "parameter set {name}: too little room for {} rounds of AES: lower --rounds, or use a \
             larger modulus ({e})",
            args.rounds
        )),
        AesError::NoBytes { .. } | AesError::NoLine { .. } => {
            CliError::usage(format!("parameter set {name}: {e}"))
        }
        e => e.into(),
    }
}

/// Wrong blocks and noise above its bound are failures.
fn verdict(outcome: &Outcome) -> Result<(), CliError> {
    match outcome.rounds.iter().find(|r| r.noise > r.bound) {
        _ if outcome.wrong > 0 => Err(CliError::failure(format!(
            "{} of {} blocks are wrong: please report this",
            outcome.wrong, outcome.blocks
        ))),
        Some(r) => Err(CliError::failure(format!(
            "measured noise 2^{:.2} above its bound 2^{:.2}: please report this",
            r.noise, r.bound
        ))),
        None => Ok(()),
    }
}

/// Refuses sets that are not of the scheme asked for, or whose slots hold no bits.
fn check(params: &Params, args: &AesArgs) -> Result<(), CliError> {
    let wrong = |expected: &str| {
        Err(CliError::usage(format!("--params {}: expected {expected}", params.name())))
    };
    let assumption = params.spec().assumption;
    match args.scheme {
        AesScheme::Bgv if assumption != Assumption::Rlwe => {
            wrong("a set of BGV, as --scheme says; or use --scheme ltv")
        }
        AesScheme::Ltv if assumption != Assumption::Ntru => {
            wrong("a set of LTV, as --scheme says; or use --scheme bgv")
        }
        _ if params.spec().form != Form::Bgv => wrong("a set whose ciphertexts are in BGV form"),
        _ if params.plain_modulus() != 2 => wrong("a set with plaintext modulus 2"),
        _ => Ok(()),
    }
}

/// The level at which AES begins.
fn start(params: &Params, args: &AesArgs) -> Result<Level, CliError> {
    let chain = params.chain();
    let Some(left) = args.left else { return Ok(chain.top()) };
    let found = lowest_start(chain, f64::from(left), |level| Ok(rehearse(params, args, level)?.1));
    found.map_err(|e| refused(params.name(), args, e))?.ok_or_else(|| {
        CliError::usage(format!(
            "--left {left}: parameter set {} leaves less after {} rounds of AES from the top \
             level: lower --left, or use a larger modulus",
            params.name(),
            args.rounds
        ))
    })
}

/// The server keys that the evaluation needs from a level, and the capacity that it leaves, or why
/// it is refused.
fn rehearse(params: &Params, args: &AesArgs, start: Level) -> Result<(KeyPlan, f64), AesError> {
    let (scheme, top) = (NoOp::blank(params), params.chain().top());
    let left = match args.slicing() {
        Slicing::BitSliced => {
            capacity_after(&scheme, &BitSliced::new(params.slot_shape()), start, args)?
        }
        Slicing::ByteSliced => {
            capacity_after(&scheme, &ByteSliced::new(&scheme, top)?, start, args)?
        }
        Slicing::Packed => capacity_after(&scheme, &Packed::new(&scheme, top)?, start, args)?,
    };
    Ok((scheme.key_plan(), left))
}

/// The capacity that the evaluation leaves from a level.
fn capacity_after(
    scheme: &NoOp,
    aes: &impl Aes<NoOp>,
    start: Level,
    args: &AesArgs,
) -> Result<f64, AesError> {
    let zero = Plaintext::encode(scheme.params(), &[])?;
    let blank = |level: Level| Ok(scheme.encrypt_at(&zero, level)?);
    let cipher = Cipher::new(KeySize::Aes128, Direction::Encrypt).reduced(usize::from(args.rounds));
    aes.capacity_after(scheme, blank(start)?, cipher, blank)
}

fn text(r: &Report) -> String {
    let columns = r
        .noise_after_each_round
        .iter()
        .zip(&r.bound_after_each_round)
        .zip(&r.modulus_bits_after_each_round);
    let mut rows: Vec<Vec<String>> =
        vec![["round", "log2 noise", "bound", "modulus"].map(String::from).to_vec()];
    rows.extend(columns.enumerate().map(|(i, ((noise, bound), modulus))| {
        vec![i.to_string(), format!("{noise:.1}"), format!("{bound:.1}"), format!("{modulus:.1}")]
    }));
    let mib = |b: u64| b as f64 / 1048576.0;
    [
        format!(
            "{}, {}, {} chain, {}{}: {} blocks, {} rounds",
            r.scheme,
            r.params,
            r.chain,
            r.method,
            r.keys.as_ref().map_or_else(String::new, |keys| format!(", keys as {keys}")),
            r.blocks,
            r.rounds
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
        r.floor.to_string(),
        format!(
            "keys {:.0} MiB, peak memory {:.0} MiB",
            mib(r.key_bytes),
            mib(r.peak_memory_bytes)
        ),
        format!("security: {}", r.security),
        match r.failure_log2 {
            Some(failure) => format!(
                "{:.1} bits of capacity left; failure 2^{failure:.1}",
                r.capacity_bits_after
            ),
            None => format!("{:.1} bits of capacity left", r.capacity_bits_after),
        },
        format!("{} blocks checked, {} wrong", r.blocks, r.wrong_blocks),
    ]
    .join("\n")
}

#[cfg(test)]
mod tests {
    use super::*;
    use everlevel::OptIn;

    #[test]
    fn the_named_sets_have_room_for_all_rounds() {
        for method in ["bit-sliced", "byte-sliced", "packed"] {
            let args = AesArgs::of_line(&format!("--method {method}"));
            let params = Params::named(args.set(), OptIn::SecureOnly).unwrap();
            check(&params, &args).unwrap();
            let start = start(&params, &args).unwrap();
            assert!(rehearse(&params, &args, start).is_ok(), "{method} on {}", args.set());
        }
    }
}
