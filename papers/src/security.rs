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
#[derive(Clone, Serialize)]
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

/// A key by its name, n, log2 q, the weight of its secret and the bits that the paper claims.
/// Several sets of a ring have the same main key: what is known is not estimated again.
fn lwe_key(
    known: &[PaperKey],
    (paper, key): (&'static str, String),
    (n, log_q, weight): (usize, f64, usize),
    claimed_bits: f64,
) -> Result<PaperKey, CliError> {
    let secret = format!("weight {weight}");
    let same = |k: &&PaperKey| k.n == n && k.log_q == log_q && k.secret == secret;
    if let Some(same) = known.iter().find(same) {
        return Ok(PaperKey { paper, key, claimed_bits, ..same.clone() });
    }
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
        secret,
        claimed_bits,
        bits: best.bits,
        attack: best.name.as_str(),
        block_size: best.block_size,
        bits_without_rotations: Some(without.bits()),
    })
}

fn paper_keys() -> Result<Vec<PaperKey>, CliError> {
    let mut keys: Vec<PaperKey> = Vec::new();
    for (log_n, log_q, claimed) in tables::KEYS {
        let name = ("Chen–Han 2018", "main".into());
        keys.push(lwe_key(&keys, name, (1 << log_n, log_q, CHEN_HAN_WEIGHT), claimed)?);
    }
    for set in paper_sets() {
        let n = everlevel_ring::Ring::degree_of(set.index).map_err(CliError::failure)?;
        let name = |which: &str| ("Ma et al. 2024", format!("{}, {which}", set.name()));
        if !set.braced {
            let key = (n, set.modulus_bits, MA_WEIGHT);
            keys.push(lwe_key(&keys, name("main"), key, set.main_security)?);
        }
        let key = (n, set.encapsulation_bits, set.weight);
        keys.push(lwe_key(&keys, name("encapsulated"), key, set.sparse_security)?);
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
    if markdown {
        return emit(&in_markdown(&keys));
    }
    emit(&table(&lines(&keys)))
}

/// The table, its head first.
fn lines(keys: &[PaperKey]) -> Vec<Vec<String>> {
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
    std::iter::once(head.map(String::from).to_vec()).chain(keys.iter().map(row)).collect()
}

/// The table of docs/security.md.
fn in_markdown(keys: &[PaperKey]) -> String {
    let rows = lines(keys);
    let rule = format!("|{}", "---|".repeat(rows[0].len()));
    let mut lines: Vec<String> =
        rows.iter().map(|cells| format!("| {} |", cells.join(" | "))).collect();
    lines.insert(1, rule);
    lines.join("\n")
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;

    fn number(value: &Value, key: &str) -> f64 {
        value[key].as_f64().unwrap_or_else(|| panic!("{key} is a finite number in {value}"))
    }

    /// As JSON and as the table of the documentation, of one estimate of all keys.
    #[test]
    fn the_papers_keys_are_shown_beside_their_claims() {
        let keys = paper_keys().unwrap();
        let shown = json!(keys);
        let shown = shown.as_array().unwrap();
        let find =
            |part: &str| shown.iter().find(|k| k["key"].as_str().unwrap().contains(part)).unwrap();
        let main = find("main");
        assert_eq!((number(main, "claimed_bits"), number(main, "n")), (92.9, 16384.0));
        for key in shown {
            assert!(number(key, "bits") < number(key, "claimed_bits") + 12.0, "{key}");
        }
        assert_eq!(find("ltv-32768")["block_size"], 2);
        // What sets have in common was estimated once.
        let bits = |key: &str| number(find(key), "bits");
        assert_eq!(bits("ma-V, main"), bits("ma-V-A, main"));
        assert_ne!(bits("ma-V, main"), bits("ma-V-B, main"));
        assert_eq!(number(find("ma-V-A, main"), "claimed_bits"), 82.3);
        let stored = include_str!("../../docs/security.md");
        assert!(
            stored.contains(&in_markdown(&keys)),
            "docs/security.md is out of date: paste what `papers security --markdown` prints"
        );
    }
}
