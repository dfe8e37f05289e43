//! The record of papers/ltv/attack.py: small LTV keys reduced by LLL and BKZ.

use std::path::Path;

use everlevel_cli::console::errors::CliError;
use serde::Deserialize;

use super::chapter::Figure;
use crate::record::{self, COMMITTED};

/// The name of the record.
pub const NAME: &str = "ltv-table-2-experiment";

/// The degree at which the paper expects block size 2 to fail, log q = 1024.
pub const LAST_DEGREE_OF_LLL: &str = "26777";

/// What is shown of the record.
#[derive(Deserialize)]
pub struct Experiment {
    lengths: Lengths,
    limits: Vec<Limit>,
}

#[derive(Deserialize)]
struct Lengths {
    log2_q: f64,
    runs: Vec<Run>,
    fits: Vec<Fit>,
}

#[derive(Deserialize)]
struct Run {
    in_the_ideal_of_f: bool,
}

#[derive(Deserialize)]
struct Fit {
    block_size: u32,
    bits_per_degree: f64,
    degree_at_q_over_4_for_1024_bits: f64,
}

#[derive(Deserialize)]
struct Limit {
    log2_q: f64,
    paper_model_degree: f64,
    dense_sublattice_degree: f64,
    found: Vec<Found>,
}

#[derive(Deserialize)]
struct Found {
    block_size: u32,
    largest_degree: f64,
}

/// The record, if the program runs in a source tree that has it.
pub fn read() -> Result<Option<Experiment>, CliError> {
    record::read(Path::new(COMMITTED), NAME)
}

fn reduction(block_size: u32) -> String {
    if block_size == 2 { "LLL".into() } else { format!("BKZ-{block_size}") }
}

impl Experiment {
    /// Rows from `row` on: the extrapolation as the paper makes it, and for each small modulus the
    /// degrees.
    pub fn figures(&self, row: usize) -> Vec<Figure> {
        let fits = self.lengths.fits.iter().map(|fit| {
            let what = format!(
                "miniature, degree at q/4 for log q = 1024 by {}",
                reduction(fit.block_size)
            );
            let figure =
                Figure::new(row, what).recorded(Some(fit.degree_at_q_over_4_for_1024_bits));
            let figure =
                if fit.block_size == 2 { figure.paper(LAST_DEGREE_OF_LLL) } else { figure };
            figure.note(format!("{:.4} bits a degree", fit.bits_per_degree))
        });
        let limits = self.limits.iter().enumerate().flat_map(|(i, limit)| {
            limit.found.iter().map(move |found| {
                let what = format!(
                    "miniature, log q = {}: largest degree broken by {}",
                    limit.log2_q,
                    reduction(found.block_size)
                );
                let figure = Figure::new(row + 1 + i, what).recorded(Some(found.largest_degree));
                if found.block_size == 2 {
                    figure.formula(limit.paper_model_degree).today(limit.dense_sublattice_degree)
                } else {
                    figure
                }
            })
        });
        fits.chain(limits).collect()
    }

    /// What was found.
    pub fn remarks(&self) -> Vec<String> {
        let (all, dense) = (
            self.lengths.runs.len(),
            self.lengths.runs.iter().filter(|r| r.in_the_ideal_of_f).count(),
        );
        vec![
            format!(
                "miniature, log q = {}: {dense} of {all} first vectors are multiples of the key \
                 (f, 2g)",
                self.lengths.log2_q
            ),
            "miniature, small moduli: formula is the degree at which the paper's model stops, \
             δ^(2n) √q = q/4 with LLL's δ; today the closed form for the dense sublattice, which \
             is high at so small degrees"
                .into(),
        ]
    }
}
