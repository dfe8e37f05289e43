//! Arguments of `bench`.

use std::path::PathBuf;

use clap::builder::PossibleValuesParser;
use clap::{Args, Subcommand, ValueEnum};
use everlevel_scheme::NoOp;

use super::operations::{ALL, Operations};
use crate::console::args::SetArg;
use crate::console::device::Device;

/// Commands below `bench`.
#[derive(Subcommand)]
pub enum BenchCommand {
    /// Time bootstrapping of random values under fresh keys, and check every slot
    Bootstrap(BootstrapArgs),
    /// Time transforms, encryption, products and rotations
    Primitives(PrimitivesArgs),
    /// Time an operation on columns of typed integers, and check every value
    Integers(IntegersArgs),
}

/// The content of the slots that are bootstrapped.
#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Mode {
    /// Slots that hold integers modulo p^r
    Thin,
    /// Slots that hold whole ring elements; the same as thin where a slot has degree 1
    Full,
}

/// Arguments of `bench bootstrap`.
#[derive(Args)]
pub struct BootstrapArgs {
    /// The parameter set.
    #[command(flatten)]
    pub set: SetArg,
    /// The number of slots that are used, a power of two: values repeat in the others, and
    /// bootstrapping is faster (default: all)
    #[arg(long, value_name = "K")]
    pub slots: Option<usize>,
    /// The content of the slots
    #[arg(long = "bootstrapping", value_enum, default_value = "thin")]
    pub mode: Mode,
    /// The number of runs, each with new keys and values
    #[arg(long, default_value_t = 3, value_parser = clap::value_parser!(u32).range(1..=1000))]
    pub runs: u32,
    /// Record the time in this JSON file, which `params datasheet --measured` reads
    #[arg(long, value_name = "FILE.json")]
    pub record: Option<PathBuf>,
    /// Print which share of the time each stage and kind of work takes
    #[arg(long)]
    pub profile: bool,
    /// Keep the uniform halves of keys as seeds, which are expanded wherever they are used: less
    /// memory, more time
    #[arg(long)]
    pub seeded_keys: bool,
    /// Bootstrap K ciphertexts together in each run, which reads the keys of linear maps once for
    /// several of them; the seconds are those of one ciphertext
    #[arg(long, value_name = "K", default_value_t = 1,
          value_parser = clap::value_parser!(u32).range(1..=64))]
    pub batch: u32,
    /// Compute on the processor or on a CUDA device, by its number (default: the first); there the
    /// bootstrapping is also recorded as a graph, all runs have the same keys and values, and
    /// results are compared with those of the processor
    #[arg(long, value_name = "cpu|cuda[:N]", default_value = "cpu")]
    pub device: Device,
}

/// The names of all operations on typed integers, and `all`.
fn operations() -> PossibleValuesParser {
    let names = Operations::<NoOp>::ALL.iter().map(|operation| operation.name);
    names.chain([ALL]).collect::<Vec<_>>().into()
}

/// Arguments of `bench integers`.
#[derive(Args)]
pub struct IntegersArgs {
    /// The parameter set.
    #[command(flatten)]
    pub set: SetArg,
    /// The operation, or all of them, one after the other
    #[arg(long, value_parser = operations())]
    pub op: String,
    /// The type of the values: bool, u8 to u64, i8 to i64, or LOW..HIGH
    #[arg(long = "type", value_name = "TYPE")]
    pub kind: String,
    /// Use exhausted operands, which have to be bootstrapped first
    #[arg(long, visible_alias = "worn")]
    pub exhausted: bool,
    /// Use operands with an index, that is their digits in unary, where their type may have one;
    /// comparisons with public integers, such as ge-public, and tables read it
    #[arg(long, conflicts_with = "exhausted")]
    pub indexed: bool,
    /// Use keys for the operation, as `keygen --program` makes them for a program, instead of
    /// general ones: rotations then have keys for the levels at which the operation needs them
    #[arg(long, conflicts_with_all = ["exhausted", "indexed"])]
    pub own_keys: bool,
    /// Measure the operation as a plan of it runs: if it fits without bootstrapping, its operands
    /// are encrypted at the lowest levels at which it takes no more than at the top; the server has
    /// the keys for the operation, and bootstraps only if the operation does not fit otherwise
    #[arg(long, conflicts_with_all = ["exhausted", "indexed", "own_keys"])]
    pub planned: bool,
    /// Compare the digits of short columns side by side, in one ciphertext, as plans for few values
    /// do: where the number of values times that of digits, each rounded up to a power of two, is
    /// at most the length of a row of slots
    #[arg(long)]
    pub side_by_side: bool,
    /// The number of values (default: the number of slots)
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=10_000_000))]
    pub values: Option<u32>,
}

/// Arguments of `bench primitives`.
#[derive(Args)]
pub struct PrimitivesArgs {
    /// The number of measurements of each operation, of which the median is printed
    #[arg(long, default_value_t = 11, value_parser = clap::value_parser!(u32).range(3..=1000))]
    pub runs: u32,
    /// Only this parameter set instead of those compared in the documentation
    #[arg(long, value_name = "NAME|FILE.json")]
    pub params: Option<String>,
}
