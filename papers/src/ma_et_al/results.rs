//! The result of a run, as it is recorded, and results as text beside the paper's figures.

use everlevel_cli::console::circumstances::Circumstances;
use everlevel_cli::console::machine::Floor;
use everlevel_cli::console::output::table;
use everlevel_scheme::spec::BootstrapMode;
use serde::Serialize;

use super::keys::Keys;
use super::tables::Measured;
use crate::rows::marked;

/// The result of bootstrapping one set a number of times.
#[derive(Serialize)]
pub struct Run {
    pub table: String,
    pub set: String,
    pub quick: bool,
    pub params: String,
    pub p: u64,
    pub r: u32,
    pub n: usize,
    pub slots: usize,
    pub slot_degree: usize,
    pub log_q: f64,
    pub log_p: f64,
    pub mode: BootstrapMode,
    pub digit_removal: String,
    /// Those of the ring that was run.
    pub keys: Keys,
    pub paper: Option<Measured>,
    /// Seconds of processor time of HElib for thin bootstrapping of the same plaintexts, measured
    /// on a machine of this kind.
    pub helib_thin_seconds: Option<f64>,
    pub capacity_initial: f64,
    pub capacity_linear: f64,
    pub capacity_digits: f64,
    pub capacity_remaining: f64,
    pub seconds_linear: f64,
    pub seconds_digits: f64,
    pub seconds_total: f64,
    /// The floor of the time of one run; absent where the time is extrapolated.
    #[serde(flatten)]
    pub floor: Option<Floor>,
    pub throughput: f64,
    /// How the figures were computed from those of other runs, if they were.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub extrapolated: Option<&'static str>,
    /// The throughput over that of the baseline in this library, if that was run, too.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub speedup: Option<f64>,
    pub runs: u32,
    pub key_seconds: f64,
    pub table_seconds: f64,
    pub peak_memory_bytes: u64,
    pub server_key_bytes: u64,
    pub galois_keys: usize,
    pub key_switches: u64,
    pub products: u64,
    pub depth: u32,
    pub failure_log2: f64,
    pub verified_slots: usize,
    pub wrong_slots: usize,
    pub seed: String,
    pub circumstances: Circumstances,
}

/// Keys and Δ of the runs beside those of the paper, which belong to its own rings.
fn keys_text(runs: &[Run]) -> String {
    let head = [
        "set",
        "removal",
        "log QP: paper",
        "here",
        "Δ: paper",
        "here",
        "log q0 R: paper",
        "here",
        "λ', main key: paper",
        "here",
        "λ, sparse key: paper",
        "here",
    ];
    let mut lines = vec![head.map(String::from).to_vec()];
    lines.extend(runs.iter().map(|r| {
        let (keys, paper) = (&r.keys, &r.keys.paper);
        let of_paper = |figure: f64, digits: usize| match r.quick {
            true => String::new(),
            false => format!("{figure:.digits$}"),
        };
        let (log_qp, log_q0_r) = match r.quick {
            true => (format!("{:.0}", keys.log_qp), format!("{:.1}", keys.log_q0_r)),
            false => (keys.log_qp_text(), keys.log_q0_r_text()),
        };
        vec![
            r.set.clone(),
            marked(r.digit_removal.clone(), is_the_papers(&r.digit_removal)),
            of_paper(paper.log_q, 0),
            log_qp,
            paper.delta.to_string(),
            keys.delta_text(),
            of_paper(paper.log_q0_r, 1),
            log_q0_r,
            of_paper(paper.main_security, 1),
            format!("{:.1}", keys.main_security),
            of_paper(paper.sparse_security, 1),
            format!("{:.1}", keys.sparse_security),
        ]
    }));
    table(&lines)
}

/// Whether a digit removal is one of the paper's: HElib's, local null polynomials, or the grid.
pub fn is_the_papers(digit_removal: &str) -> bool {
    ["halevi_shoup", "chen_han", "local", "global"].contains(&digit_removal)
}

/// The runs of a table as text, beside the paper's figures.
pub fn text(runs: &[Run]) -> String {
    let head = [
        "set",
        "removal",
        "bits: initial",
        "paper",
        "linear",
        "paper",
        "digits",
        "paper",
        "remaining",
        "paper",
        "s: linear",
        "paper",
        "digits",
        "paper",
        "total",
        "paper",
        "ratio",
        "floor",
        "bit/s",
        "paper",
        "speed-up",
        "paper",
        "peak GB",
        "wrong",
    ];
    let mut lines = vec![head.map(String::from).to_vec()];
    lines.extend(runs.iter().map(|r| {
        // The paper's seconds are those of its own ring.
        let paper = |f: &dyn Fn(&Measured) -> String| {
            r.paper.as_ref().filter(|_| !r.quick).map_or_else(String::new, f)
        };
        let reference = match r.helib_thin_seconds.filter(|_| !r.quick) {
            Some(seconds) => {
                [format!("{seconds} (HElib thin)"), format!("{:.1}", seconds / r.seconds_total)]
            }
            None => [
                paper(&|m| m.seconds[2].to_string()),
                paper(&|m| format!("{:.1}", m.seconds[2] / r.seconds_total)),
            ],
        };
        vec![
            format!("{}{}", r.set, if r.extrapolated.is_some() { " *" } else { "" }),
            r.digit_removal.clone(),
            format!("{:.0}", r.capacity_initial),
            paper(&|m| m.capacity[0].to_string()),
            format!("{:.0}", r.capacity_linear),
            paper(&|m| m.capacity[1].to_string()),
            format!("{:.0}", r.capacity_digits),
            paper(&|m| m.capacity[2].to_string()),
            format!("{:.0}", r.capacity_remaining),
            paper(&|m| m.capacity[3].to_string()),
            format!("{:.1}", r.seconds_linear),
            paper(&|m| m.seconds[0].to_string()),
            format!("{:.1}", r.seconds_digits),
            paper(&|m| m.seconds[1].to_string()),
            format!("{:.1}", r.seconds_total),
            reference[0].clone(),
            reference[1].clone(),
            r.floor.map_or_else(String::new, |floor| format!("{:.1}", floor.seconds)),
            format!("{:.2}", r.throughput),
            paper(&|m| m.throughput.to_string()),
            r.speedup.map_or_else(String::new, |x| format!("{x:.1}")),
            paper(&|m| m.speedup.to_string()),
            format!("{:.1}", r.peak_memory_bytes as f64 / 1e9),
            format!("{}/{}", r.wrong_slots, r.verified_slots),
        ]
    }));
    let mut out = format!("{}\n\n{}", table(&lines), keys_text(runs));
    for how in runs.iter().filter_map(|r| r.extrapolated) {
        out.push_str(&format!("\n* extrapolated: {how}"));
    }
    if let Some(r) = runs.first() {
        out.push_str(&format!("\nseconds here: wall time on {}", r.circumstances.machine()));
        if r.quick {
            out.push_str("; quick: small rings, with which the paper's do not compare");
        }
    }
    out
}
