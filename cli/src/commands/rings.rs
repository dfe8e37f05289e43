//! `everlevel params rings`: a search for rings by their slots.

use clap::Args;
use everlevel::{FoundRing, RingSearch};
use serde::Serialize;

use crate::console::args::Common;
use crate::console::errors::CliError;
use crate::console::output::{emit, emit_json, table};

/// Arguments of `params rings`.
#[derive(Args)]
pub struct RingsArgs {
    /// The prime of the plaintext modulus
    #[arg(long = "prime", value_name = "P")]
    pub p: u64,
    /// The minimum number of slots
    #[arg(long = "slots", value_name = "K", default_value_t = 1)]
    pub slots_at_least: usize,
    /// Only slots whose degree is a multiple of this
    #[arg(
        long,
        value_name = "D",
        default_value_t = 1,
        value_parser = clap::value_parser!(u32).range(1..)
    )]
    pub degree_of: u32,
    /// The security level in bits at which the modulus is stated
    #[arg(long, value_name = "BITS", default_value_t = 128.0)]
    pub security: f64,
    /// Only indices below this
    #[arg(
        long,
        value_name = "M",
        default_value_t = (1 << 16) + 1,
        value_parser = clap::value_parser!(u64).range(..=(1 << 18) + 1)
    )]
    pub index_below: u64,
    /// The maximum number of rings to print
    #[arg(long, value_name = "K", default_value_t = 20)]
    pub max_rows: usize,
}

#[derive(Serialize)]
struct Row {
    #[serde(flatten)]
    ring: FoundRing,
    /// log2 of the largest QP at the security asked for; none if no modulus has it.
    log_qp: Option<f64>,
}

/// Prints the rings, the smallest first.
pub fn run(args: &RingsArgs, common: &Common) -> Result<(), CliError> {
    if !(args.security > 0.0 && args.security.is_finite()) {
        return Err(CliError::usage(format!(
            "--security {}: expected a positive number of bits",
            args.security
        )));
    }
    let search = RingSearch {
        p: args.p,
        slots_at_least: args.slots_at_least,
        degree_of: args.degree_of as usize,
        index_below: args.index_below,
    };
    let (found, count) = search.run(args.max_rows).map_err(CliError::usage)?;
    let with_modulus = |ring: FoundRing| Row { log_qp: ring.log_qp(args.security), ring };
    let found: Vec<Row> = found.into_iter().map(with_modulus).collect();
    if common.json { emit_json(&found) } else { emit(&text(&found, count, args)) }
}

fn text(found: &[Row], count: usize, args: &RingsArgs) -> String {
    let head = ["m", "factors", "n", "d", "slots", "dimensions", "log2 QP", "radices"]
        .map(String::from)
        .to_vec();
    let join = |parts: Vec<String>, by: &str| parts.join(by);
    let row = |Row { ring, log_qp }: &Row| {
        let dimensions = ring
            .dimensions
            .iter()
            .map(|d| format!("{}{}", d.size, if d.good { "" } else { "!" }))
            .collect();
        vec![
            ring.m.to_string(),
            join(ring.factors.iter().map(u64::to_string).collect(), " · "),
            ring.n.to_string(),
            ring.d.to_string(),
            ring.slots.to_string(),
            join(dimensions, " × "),
            log_qp.map_or_else(|| "-".into(), |bits| format!("{bits:.0}")),
            ring.transform_radices.to_string(),
        ]
    };
    let rows: Vec<Vec<String>> = std::iter::once(head).chain(found.iter().map(row)).collect();
    format!(
        "{}\n\n{} of {count} rings for p = {}, by degree; !: rotations along this dimension need a \
         mask; log2 QP: the largest one at {} bits of security for a ternary secret; radices: the \
         operations for each coefficient in a transform, the primes in the lengths of its parts \
         added up, and for a power of a prime the length",
        table(&rows),
        found.len(),
        args.p,
        args.security
    )
}
