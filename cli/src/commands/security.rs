//! `everlevel security`: what keys are worth, by the library's own estimators.

use clap::{Args, Subcommand, ValueEnum};
use everlevel::scheme::params::paper_sets;
use everlevel::security::lwe::{self, Lwe, Secret};
use everlevel::security::{Attack, CostModel, ntru};
use everlevel::{OptIn, Params};
use serde::Serialize;

use crate::console::args::Common;
use crate::console::errors::CliError;
use crate::console::output::{emit, emit_json, table};
use crate::reproduce::chen_han;

/// Commands below `security`.
#[derive(Subcommand)]
pub enum SecurityCommand {
    /// Estimate a key: every attack with its cost
    Estimate(EstimateArgs),
    /// The keys of the three papers: what they say, and what they are worth now
    Papers {
        /// Print the table of docs/security.md
        #[arg(long, conflicts_with = "json")]
        markdown: bool,
    },
}

/// Arguments of `security estimate`.
#[derive(Args)]
pub struct EstimateArgs {
    /// The degree of the ring, or the dimension of LWE
    #[arg(long, value_name = "N")]
    pub n: usize,
    /// log2 of the largest modulus that anything under the secret is published with: QP where keys
    /// are switched
    #[arg(long, value_name = "BITS")]
    pub log_qp: f64,
    /// What the secret is drawn from
    #[arg(long, value_name = "ternary|sparse:H|gaussian:S", value_parser = crate::commands::security::parse_secret, default_value = "ternary")]
    pub secret: Secret,
    /// The ring: in general ones, and in LWE without a ring, rotations of the secret are not
    /// counted; ntru estimates a key g/f
    #[arg(long, value_enum, default_value = "power-of-two")]
    pub ring: RingKind,
    /// The standard deviation of errors (of f and g, NTRU takes --secret)
    #[arg(long, value_name = "S", default_value_t = 3.2)]
    pub sigma: f64,
    /// Leave out the gain by rotations of the secret, as estimates before 2026 did
    #[arg(long)]
    pub no_rotation_gain: bool,
    /// Count lattice reduction as one sieve of 2^(0.292 beta), a lower bound, instead of gates by
    /// MATZOV
    #[arg(long)]
    pub core_svp: bool,
}

/// A kind of ring.
#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum RingKind {
    /// Modulo X^n + 1, n a power of two
    PowerOfTwo,
    /// Any other, or none
    General,
    /// A key g/f in any cyclotomic ring
    Ntru,
}

impl RingKind {
    /// As on the command line.
    pub fn name(self) -> &'static str {
        match self {
            RingKind::PowerOfTwo => "power-of-two",
            RingKind::General => "general",
            RingKind::Ntru => "ntru",
        }
    }
}

/// Runs a command below `security`.
pub fn run(command: &SecurityCommand, common: &Common) -> Result<(), CliError> {
    match command {
        SecurityCommand::Estimate(args) => estimate(args, common),
        SecurityCommand::Papers { markdown } => papers(*markdown, common),
    }
}

/// `ternary`, `sparse:24`, `gaussian:3.2`.
pub fn parse_secret(text: &str) -> Result<Secret, String> {
    let expected = || format!("{text}: expected ternary, sparse:WEIGHT or gaussian:DEVIATION");
    match text.split_once(':') {
        None if text == "ternary" => Ok(Secret::Ternary),
        Some(("sparse", weight)) => weight.parse().map(Secret::Sparse).map_err(|_| expected()),
        Some(("gaussian", deviation)) => {
            deviation.parse().map(Secret::Gaussian).map_err(|_| expected())
        }
        _ => Err(expected()),
    }
}

#[derive(Serialize)]
struct Estimated {
    n: usize,
    log_qp: f64,
    secret: Secret,
    ring: &'static str,
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
        ring: args.ring.name(),
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
        let guess = |f: &dyn Fn(&everlevel::security::Guess) -> String| {
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

/// A key of a paper.
#[derive(Serialize)]
struct PaperKey {
    paper: &'static str,
    key: String,
    n: usize,
    log_q: f64,
    secret: String,
    /// What the paper says.
    claimed_bits: f64,
    /// What it is worth now.
    bits: f64,
    attack: &'static str,
    block_size: u32,
    #[serde(skip_serializing_if = "Option::is_none")]
    bits_without_rotations: Option<f64>,
}

/// Keys of Chen–Han have the weight 128 at most, of Ma et al. 120.
const CHEN_HAN_WEIGHT: usize = 128;
const MA_WEIGHT: usize = 120;

fn lwe_key(
    paper: &'static str,
    key: String,
    n: usize,
    log_q: f64,
    weight: usize,
    claimed_bits: f64,
) -> Result<PaperKey, CliError> {
    // The rotations of rings of odd index as well: see docs/adr/0023-security-estimator.md.
    let lwe = Lwe::ring(n, log_q, Secret::Sparse(weight));
    let estimate = lwe::estimate(&lwe, CostModel::Matzov).map_err(CliError::failure)?;
    let without =
        lwe::estimate(&lwe.without_rotations(), CostModel::Matzov).map_err(CliError::failure)?;
    let best = estimate.best();
    Ok(PaperKey {
        paper,
        key,
        n,
        log_q,
        secret: format!("weight {weight}"),
        claimed_bits,
        bits: best.bits,
        attack: best.name.as_str(),
        block_size: best.block_size,
        bits_without_rotations: Some(without.bits()),
    })
}

fn paper_keys() -> Result<Vec<PaperKey>, CliError> {
    let mut keys = Vec::new();
    for (log_n, log_q, claimed) in chen_han::KEYS {
        keys.push(lwe_key(
            "Chen–Han 2018",
            "main".into(),
            1 << log_n,
            log_q,
            CHEN_HAN_WEIGHT,
            claimed,
        )?);
    }
    for set in paper_sets() {
        let n = everlevel::Ring::degree_of(set.index).map_err(CliError::failure)?;
        if !set.braced {
            keys.push(lwe_key(
                "Ma et al. 2024",
                format!("{}, main", set.name()),
                n,
                set.modulus_bits,
                MA_WEIGHT,
                set.main_security,
            )?);
        }
        let name = format!("{}, encapsulated", set.name());
        keys.push(lwe_key(
            "Ma et al. 2024",
            name,
            n,
            set.encapsulation_bits,
            set.weight,
            set.sparse_security,
        )?);
    }
    // The formula of Lindner and Peikert at δ = 1.0067 and 1.0078; QP counts, as keys to switch
    // with are published there.
    for (name, claimed_bits) in [("ltv-32768", 77.0), ("ltv-27000", 50.0)] {
        let params = Params::named(name, OptIn::InsecureResearch)?;
        let key = params.security().weakest();
        let best = key.best().ok_or_else(|| CliError::failure(format!("{name}: not estimated")))?;
        keys.push(PaperKey {
            paper: "Doröz–Hu–Sunar 2014",
            key: format!("{name}, NTRU"),
            n: params.degree(),
            log_q: key.modulus_bits,
            secret: "Gaussian".into(),
            claimed_bits,
            bits: key.bits,
            attack: best.name.as_str(),
            block_size: best.block_size,
            bits_without_rotations: None,
        });
    }
    Ok(keys)
}

fn papers(markdown: bool, common: &Common) -> Result<(), CliError> {
    let keys = paper_keys()?;
    if common.json {
        return emit_json(&keys);
    }
    let head = [
        "paper",
        "key",
        "n",
        "log2 q",
        "secret",
        "bits: paper",
        "here",
        "without rotations",
        "attack",
        "block size",
    ];
    let row = |k: &PaperKey| {
        vec![
            k.paper.into(),
            k.key.clone(),
            k.n.to_string(),
            format!("{:.1}", k.log_q),
            k.secret.clone(),
            format!("{:.1}", k.claimed_bits),
            format!("{:.1}", k.bits),
            k.bits_without_rotations.map_or_else(|| "–".into(), |bits| format!("{bits:.1}")),
            k.attack.into(),
            if k.block_size == 2 { "2 (LLL)".into() } else { k.block_size.to_string() },
        ]
    };
    let rows: Vec<Vec<String>> = keys.iter().map(row).collect();
    if markdown {
        let line = |cells: &[String]| format!("| {} |", cells.join(" | "));
        let head = head.map(String::from);
        let rule = format!("|{}", "---|".repeat(head.len()));
        let lines: Vec<String> =
            [line(&head), rule].into_iter().chain(rows.iter().map(|r| line(r))).collect();
        return emit(&lines.join("\n"));
    }
    let rows: Vec<Vec<String>> =
        std::iter::once(head.map(String::from).to_vec()).chain(rows).collect();
    emit(&table(&rows))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn secrets_are_parsed() {
        assert_eq!(parse_secret("ternary"), Ok(Secret::Ternary));
        assert_eq!(parse_secret("sparse:24"), Ok(Secret::Sparse(24)));
        assert_eq!(parse_secret("gaussian:3.2"), Ok(Secret::Gaussian(3.2)));
        for bad in ["", "sparse", "sparse:", "sparse:x", "gaussian:x", "binary"] {
            assert!(parse_secret(bad).is_err(), "{bad}");
        }
    }
}
