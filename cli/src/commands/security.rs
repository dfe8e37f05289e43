//! `everlevel security`: security estimates of keys, by the library's own estimators.

use clap::{Args, Subcommand, ValueEnum};
use everlevel_estimator::lwe::{self, Lwe, Secret};
use everlevel_estimator::{Attack, CostModel, ntru};
use serde::Serialize;

use crate::console::args::{Common, value_name};
use crate::console::errors::CliError;
use crate::console::output::{emit, emit_json, table};

/// Commands below `security`.
#[derive(Subcommand)]
pub enum SecurityCommand {
    /// Estimate the security of a key: the cost of every attack
    Estimate(EstimateArgs),
}

/// The standard deviation of the errors unless one is given.
const SIGMA: f64 = 3.2;

/// Arguments of `security estimate`.
#[derive(Args)]
pub struct EstimateArgs {
    /// The degree of the ring, or the dimension of LWE
    #[arg(long, value_name = "N")]
    pub n: usize,
    /// log2 of the largest modulus used with the secret (QP if there are key-switching keys)
    #[arg(long, value_name = "BITS")]
    pub log_qp: f64,
    /// The distribution of the secret
    #[arg(
        long,
        value_name = "ternary|sparse:H|gaussian:S",
        value_parser = crate::commands::security::parse_secret,
        default_value = "ternary"
    )]
    pub secret: Secret,
    /// The kind of ring; rotations of the secret are not counted for `general`
    #[arg(long, value_enum, default_value = "power-of-two")]
    pub ring: RingKind,
    /// The standard deviation of the errors (for NTRU, that of f and g is given by --secret)
    #[arg(long, value_name = "S", default_value_t = SIGMA)]
    pub sigma: f64,
    /// Ignore the attacker's gain from rotations of the secret, as estimates before 2026 did
    #[arg(long)]
    pub no_rotation_gain: bool,
    /// Cost lattice reduction as one sieve of 2^(0.292 beta), a lower bound, instead of the gate
    /// counts of MATZOV
    #[arg(long)]
    pub core_svp: bool,
}

/// A kind of ring.
#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum RingKind {
    /// Polynomials modulo X^n + 1, n a power of two
    PowerOfTwo,
    /// Any other ring, or LWE without a ring
    General,
    /// A key g/f in any cyclotomic ring
    Ntru,
}

/// Runs a command below `security`.
pub fn run(command: &SecurityCommand, common: &Common) -> Result<(), CliError> {
    match command {
        SecurityCommand::Estimate(args) => estimate(args, common),
    }
}

/// `ternary`, `sparse:24`, `gaussian:3.2`.
pub fn parse_secret(text: &str) -> Result<Secret, String> {
    let expected = || format!("{text}: expected ternary, sparse:WEIGHT or gaussian:DEVIATION");
    match text.split_once(':') {
        None if text == "ternary" => Ok(Secret::Ternary),
        Some(("sparse", weight)) => weight.parse().map(Secret::Sparse).map_err(|_| expected()),
        // Over NTRU it is squared, so that a negative one would not be noticed.
        Some(("gaussian", deviation)) => {
            let deviation = deviation.parse().ok().filter(|d: &f64| *d > 0.0 && d.is_finite());
            deviation.map(Secret::Gaussian).ok_or_else(expected)
        }
        _ => Err(expected()),
    }
}

#[derive(Serialize)]
struct Estimated {
    n: usize,
    log_qp: f64,
    secret: Secret,
    ring: String,
    sigma: f64,
    cost_model: CostModel,
    /// Whether the rotations of a secret in Z\[X\]/(X^n + 1) are counted.
    rotation_gain: bool,
    /// log2 of the cost of the cheapest attack.
    security_bits: f64,
    attacks: Vec<Attack>,
}

fn estimate(args: &EstimateArgs, common: &Common) -> Result<(), CliError> {
    let cost_model = if args.core_svp { CostModel::CoreSvp } else { CostModel::Matzov };
    let rotation_gain = args.ring == RingKind::PowerOfTwo && !args.no_rotation_gain;
    let attacks = match args.ring {
        RingKind::Ntru if args.sigma != SIGMA || args.no_rotation_gain => {
            return Err(CliError::usage(
                "--ring ntru: expected neither --sigma nor --no-rotation-gain, which say nothing \
                 of a key g/f; --secret gaussian:S states the deviation of f and g",
            ));
        }
        RingKind::Ntru => {
            let variance = match args.secret {
                Secret::Ternary => 2.0 / 3.0,
                Secret::Gaussian(deviation) => deviation * deviation,
                Secret::Sparse(_) => {
                    return Err(CliError::usage(
                        "--secret sparse: sparse NTRU keys are not estimated; expected ternary or \
                         gaussian:DEVIATION",
                    ));
                }
            };
            let mut attacks = ntru::estimate(args.n, args.log_qp, variance)
                .map_err(CliError::usage)?
                .attacks()
                .to_vec();
            if args.core_svp {
                attacks.iter_mut().for_each(|attack| attack.bits = attack.core_svp_bits);
                attacks.sort_by(|a, b| a.bits.total_cmp(&b.bits));
            }
            attacks
        }
        RingKind::PowerOfTwo | RingKind::General => {
            if args.ring == RingKind::PowerOfTwo && !args.n.is_power_of_two() {
                return Err(CliError::usage(format!(
                    "--n {}: expected a power of two; with --ring general any dimension",
                    args.n
                )));
            }
            let key = Lwe {
                error_deviation: args.sigma,
                rotations: if rotation_gain { args.n } else { 1 },
                ..Lwe::ring(args.n, args.log_qp, args.secret)
            };
            lwe::estimate(&key, cost_model).map_err(CliError::usage)?.attacks().to_vec()
        }
    };
    let estimated = Estimated {
        n: args.n,
        log_qp: args.log_qp,
        secret: args.secret,
        ring: value_name(&args.ring),
        sigma: args.sigma,
        cost_model,
        rotation_gain,
        security_bits: attacks[0].bits,
        attacks,
    };
    if common.json { emit_json(&estimated) } else { emit(&text(&estimated)) }
}

fn text(estimated: &Estimated) -> String {
    let head = ["attack", "bits", "block size", "dimension", "guessed", "of weight", "candidates"]
        .map(String::from)
        .to_vec();
    let row = |attack: &Attack| {
        let guess = |f: &dyn Fn(&everlevel_estimator::Guess) -> String| {
            attack.guess.as_ref().map_or_else(String::new, f)
        };
        vec![
            attack.name.as_str().into(),
            format!("{:.2}", attack.bits),
            attack.block_size.to_string(),
            attack.dimension.to_string(),
            guess(&|g| g.coordinates.to_string()),
            guess(&|g| format!("<= {}", g.weight)),
            guess(&|g| format!("2^{:.0}", g.log2_candidates)),
        ]
    };
    let rows: Vec<Vec<String>> =
        std::iter::once(head).chain(estimated.attacks.iter().map(row)).collect();
    let model = match estimated.cost_model {
        CostModel::Matzov => "MATZOV, gates",
        CostModel::CoreSvp => "Core-SVP, 2^(0.292 beta)",
    };
    let rotations = if estimated.rotation_gain { "counted" } else { "not counted" };
    format!(
        "{}\n\n{:.1} bits, classical ({model}; GSA; rotations of the secret {rotations})",
        table(&rows),
        estimated.security_bits
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn secrets_are_parsed() {
        assert_eq!(parse_secret("ternary"), Ok(Secret::Ternary));
        assert_eq!(parse_secret("sparse:24"), Ok(Secret::Sparse(24)));
        assert_eq!(parse_secret("gaussian:3.2"), Ok(Secret::Gaussian(3.2)));
        for bad in [
            "",
            "sparse",
            "sparse:",
            "sparse:x",
            "gaussian:x",
            "gaussian:-3.2",
            "gaussian:0",
            "gaussian:nan",
            "gaussian:inf",
            "binary",
        ] {
            assert!(parse_secret(bad).is_err(), "{bad}");
        }
    }
}
