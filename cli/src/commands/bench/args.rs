//! Arguments of `bench`.

use std::path::PathBuf;

use clap::{Args, Subcommand, ValueEnum};

use crate::console::args::SetArg;

/// Commands below `bench`.
#[derive(Subcommand)]
pub enum BenchCommand {
    /// Bootstrap random values under fresh keys, with everything checked
    Bootstrap(BootstrapArgs),
    /// Transforms, encryption, products, rotations
    Primitives(PrimitivesArgs),
}

/// Which slots are bootstrapped.
#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Mode {
    /// Slots that hold integers modulo p^r
    #[value(alias = "slim")]
    Thin,
    /// Slots that hold whole ring elements; the same as thin where a slot has degree 1
    #[value(alias = "full")]
    General,
}

/// Arguments of `bench bootstrap`.
#[derive(Args)]
pub struct BootstrapArgs {
    /// The parameter set.
    #[command(flatten)]
    pub set: SetArg,
    /// What the slots hold
    #[arg(long, value_enum, default_value = "thin")]
    pub mode: Mode,
    /// How many runs, each with keys and values of its own
    #[arg(long, default_value_t = 3, value_parser = clap::value_parser!(u32).range(1..=1000))]
    pub runs: u32,
    /// Enter the time into this file of measurements, which `params datasheet` shows
    #[arg(long, value_name = "FILE.json")]
    pub record: Option<PathBuf>,
}

/// Arguments of `bench primitives`.
#[derive(Args)]
pub struct PrimitivesArgs {
    /// How many times each operation is timed; the median counts
    #[arg(long, default_value_t = 11, value_parser = clap::value_parser!(u32).range(3..=1000))]
    pub runs: u32,
    /// Only this parameter set instead of those compared in the documentation
    #[arg(long, value_name = "NAME|FILE.json")]
    pub params: Option<String>,
}
