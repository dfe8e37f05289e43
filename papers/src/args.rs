//! Arguments of the tables.

use std::path::PathBuf;

use clap::{Args, ValueEnum};

/// Options of every table.
#[derive(Args)]
pub struct TableArgs {
    /// Only this row of the table, from 1
    #[arg(long, value_name = "K")]
    pub row: Option<usize>,
    /// Only this set of Ma et al.: I, I-A, .. V-B, or I-80 and so on for those in braces
    #[arg(long, value_name = "SET")]
    pub set: Option<String>,
    /// A small ring instead of the paper's: minutes become seconds
    #[arg(long)]
    pub quick: bool,
    /// The number of runs, each with its own keys and values
    #[arg(long, default_value_t = 1, value_parser = clap::value_parser!(u32).range(1..=1000))]
    pub runs: u32,
    /// Only with this secret (default: the paper's weight 128, and encapsulation)
    #[arg(long, value_enum)]
    pub secret: Option<Variant>,
    /// How products are computed
    #[arg(long, value_enum, default_value = "mixed")]
    pub arithmetic: Arithmetic,
    /// Only this digit removal, by name (default: the recommended one, or all in table 3)
    #[arg(long, value_name = "METHOD")]
    pub digit_removal: Option<String>,
    /// Table 3 of Chen and Han: use the paper's own moduli, 22 bits for each of its levels before
    /// digit removal, instead of 910 bits
    #[arg(long)]
    pub own_modulus: bool,
    /// Also write one JSON file for each row to this directory
    #[arg(long, value_name = "DIR")]
    pub out: Option<PathBuf>,
}

impl TableArgs {
    /// The secrets to run with.
    pub fn variants(&self) -> &[Variant] {
        self.secret
            .as_ref()
            .map_or(&[Variant::Main128, Variant::Encapsulated], std::slice::from_ref)
    }
}

/// The tables of Doröz–Hu–Sunar.
#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum LtvTable {
    /// Hermite factors by degree and modulus
    #[value(name = "table-1")]
    Table1,
    /// Security: extrapolated in 2014, and estimated today
    #[value(name = "table-2")]
    Table2,
    /// Hermite factors by security
    #[value(name = "table-3")]
    Table3,
    /// Bits to cut, and levels
    #[value(name = "table-4")]
    Table4,
    /// The sets of the AES evaluation
    #[value(name = "table-5")]
    Table5,
    /// Sizes of evaluation keys
    #[value(name = "table-6")]
    Table6,
    /// Relinearization compared with YASHE
    #[value(name = "table-7")]
    Table7,
}

/// The tables of Chen–Han.
#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum ChenHanTable {
    /// Complexity of digit removal
    #[value(name = "table-1")]
    Table1,
    /// Complexity of digit removal in bootstrapping
    #[value(name = "table-2")]
    Table2,
    /// Times of digit removal
    #[value(name = "table-3")]
    Table3,
    /// Full bootstrapping
    #[value(name = "table-4")]
    Table4,
    /// Slim bootstrapping
    #[value(name = "table-5")]
    Table5,
}

/// The tables of Ma et al.
#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum MaEtAlTable {
    /// Degrees of the polynomials that remove digits
    Degrees,
    /// The parameter sets
    #[value(name = "table-4")]
    Table4,
    /// General bootstrapping
    #[value(name = "table-6")]
    Table6,
    /// Thin bootstrapping of the same sets
    Thin,
}

/// The secret key under which messages are raised.
#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Variant {
    /// The main secret, of weight 64
    #[value(name = "main-64")]
    Main64,
    /// The main secret, of weight 128
    #[value(name = "main-128")]
    Main128,
    /// A sparse secret beside a ternary main one
    #[value(name = "encapsulated")]
    Encapsulated,
}

/// How products are computed.
#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Arithmetic {
    /// BFV, scale-invariant
    #[value(name = "bfv")]
    Bfv,
    /// BFV, with the digits removed in BGV by the free conversion
    #[value(name = "mixed")]
    Mixed,
    /// BFV ciphertexts, all products in BGV by the free conversion
    #[value(name = "through-bgv")]
    ThroughBgv,
    /// BGV
    #[value(name = "bgv")]
    Bgv,
}
