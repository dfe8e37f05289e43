//! Arguments of `bench`.

use std::path::PathBuf;

use clap::{Args, Subcommand, ValueEnum};

use crate::console::args::SetArg;

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

/// Which slots are bootstrapped.
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
    /// What the slots hold
    #[arg(long = "bootstrapping", alias = "mode", value_enum, default_value = "thin")]
    pub mode: Mode,
    /// The number of runs, each with new keys and values
    #[arg(long, default_value_t = 3, value_parser = clap::value_parser!(u32).range(1..=1000))]
    pub runs: u32,
    /// Record the time in this JSON file, which `params datasheet` reads
    #[arg(long, value_name = "FILE.json")]
    pub record: Option<PathBuf>,
}

/// An operation on typed integers.
#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum IntegerOperation {
    /// The sum, with carries
    Add,
    /// Whether the first is less than the second
    Lt,
    /// Whether the two are equal
    Eq,
    /// All entries of short columns in order, one column after the other
    Sort,
    /// The position of the largest entry of short columns
    Argmax,
    /// The median of short columns
    Median,
    /// The smaller of the two
    Min,
    /// One of the two, chosen by an encrypted truth value
    Select,
    /// The product
    Mul,
    /// The product modulo 2^bits
    MulWrapped,
    /// The square
    Square,
    /// The quotient, rounded down, by an encrypted divisor
    Div,
    /// The remainder by an encrypted divisor
    Rem,
    /// The quotient by 10, rounded down
    DivPublic,
    /// The remainder by 10
    RemPublic,
    /// An entry of a public table, of values of up to 8 bits
    Table,
    /// The number of bits that are 1
    Popcount,
    /// A shift to the right by 0 to 7 bits, encrypted
    ShiftRight,
}

/// Arguments of `bench integers`.
#[derive(Args)]
pub struct IntegersArgs {
    /// The parameter set.
    #[command(flatten)]
    pub set: SetArg,
    /// The operation
    #[arg(long, value_enum)]
    pub op: IntegerOperation,
    /// bool, u8 to u64, i8 to i64, or LOW..HIGH
    #[arg(long = "type", value_name = "TYPE")]
    pub kind: String,
    /// Use exhausted operands, which have to be bootstrapped first
    #[arg(long)]
    pub exhausted: bool,
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
