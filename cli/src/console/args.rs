//! Options that several commands have.

use clap::builder::RangedU64ValueParser;
use clap::{Args, ValueEnum};
use everlevel::OptIn;

/// Options that every command has.
#[derive(Args, Clone)]
pub struct Common {
    /// The number of threads (default: one per core)
    #[arg(
        long,
        global = true,
        value_name = "K",
        value_parser = clap::value_parser!(u16).range(1..=1024)
    )]
    pub threads: Option<u16>,
    /// Print one JSON object instead of text
    #[arg(long, global = true)]
    pub json: bool,
    /// Show progress on standard error even if that is not a terminal
    #[arg(long, global = true)]
    pub progress: bool,
    /// Allow parameter sets below 128 bits: names that begin with insecure_, and the sets of papers
    /// (chen-han-, ma-, ltv-)
    #[arg(long, global = true)]
    pub insecure_research: bool,
    /// Allow parameter sets whose bootstrapping silently gives wrong values with a probability
    /// above 2^-40
    #[arg(long, global = true)]
    pub allow_failures: bool,
}

impl Common {
    /// Which sets are allowed.
    pub fn opt_in(&self) -> OptIn {
        OptIn::new(self.insecure_research, self.allow_failures)
    }
}

/// One of the values of an option, as it is typed.
pub fn value_name(value: &impl ValueEnum) -> String {
    value.to_possible_value().map_or_else(String::new, |value| value.get_name().into())
}

/// Numbers from 1 that stay below 2^64 when multiplied by 2^30.
pub fn amount() -> RangedU64ValueParser {
    clap::value_parser!(u64).range(1..1 << 30)
}

/// The set of commands that are not told another one.
pub const DEFAULT_SET: &str = "bgv-65537-n15";

/// The parameter set of a command.
#[derive(Args, Clone)]
pub struct SetArg {
    /// A parameter set by name (see `params list`; NAME-sK is the set NAME with K used slots), or a
    /// JSON file such as `params show NAME --json` prints
    #[arg(long, value_name = "NAME|FILE.json", default_value = DEFAULT_SET)]
    pub params: String,
}
