//! Tools for those who choose parameters and plans, on the no-op scheme: no key is generated.
//!
//! `cargo run --release --example dry_runs -- COMMAND ..`, where each module describes a command.
//! They are one program because the no-op scheme would be compiled once for each of several.

mod bootstrap;
mod compare_digits;
mod cores;
mod rank_plans;
mod weigh;

use std::error::Error;

fn main() -> Result<(), Box<dyn Error>> {
    let mut args = std::env::args().skip(1);
    match args.next().as_deref() {
        Some("bootstrap") => bootstrap::run(args),
        Some("compare-digits") => compare_digits::run(args),
        Some("cores") => cores::run(args),
        Some("rank-plans") => rank_plans::run(args),
        Some("weigh") => weigh::run(args),
        _ => Err("expected bootstrap, compare-digits, cores, rank-plans or weigh".into()),
    }
}
