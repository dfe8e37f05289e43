//! `papers security`: security estimates of the papers' keys, by the library's own estimators.

use everlevel::{OptIn, Params};
use everlevel_cli::console::args::Common;
use everlevel_cli::console::errors::CliError;
use everlevel_cli::console::output::{emit, emit_json, table};
use everlevel_estimator::CostModel;
use everlevel_estimator::lwe::{self, Lwe, Secret};
use serde::Serialize;

use crate::chen_han::tables;
use crate::ltv::sets::ntru_sets;
use crate::ma_et_al::sets::paper_sets;

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
    /// The estimate of today.
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
    for (log_n, log_q, claimed) in tables::KEYS {
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
        let n = everlevel_ring::Ring::degree_of(set.index).map_err(CliError::failure)?;
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
    for (set, claimed_bits) in ntru_sets().into_iter().zip([77.0, 50.0]) {
        let params = Params::new(set, OptIn::InsecureResearch)?;
        let name = params.name();
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

/// Prints the keys.
pub fn run(markdown: bool, common: &Common) -> Result<(), CliError> {
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
