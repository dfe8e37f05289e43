//! The command line.

use std::path::PathBuf;

use clap::{Args, Parser, Subcommand, ValueEnum};
use everlevel::Depth;
use everlevel::security::lwe::Secret;

use crate::aes::args::{AesDecryptArgs, AesEncryptKeyArgs, AesKeygenArgs, AesTranscipherArgs};
use crate::explain::ExplainArgs;
use crate::report::args::AllArgs;
use crate::roles::args::{
    ChangeKeyArgs, CompactArgs, DecryptArgs, EncryptArgs, EvalArgs, InspectArgs, KeygenArgs, KeysCommand, RefreshArgs,
};

/// Exact homomorphic encryption that never runs out of levels.
#[derive(Parser)]
#[command(name = "everlevel", version, about, max_term_width = 110)]
pub struct Cli {
    /// What to do.
    #[command(subcommand)]
    pub command: Command,
    /// Options that every command has.
    #[command(flatten)]
    pub common: Common,
}

/// Options that every command has.
#[derive(Args, Clone)]
pub struct Common {
    /// How many threads to compute with (absent: one for each core)
    #[arg(long, global = true, value_name = "K", value_parser = clap::value_parser!(u16).range(1..=1024))]
    pub threads: Option<u16>,
    /// Print one JSON object instead of text
    #[arg(long, global = true)]
    pub json: bool,
    /// Allow parameter sets below 128 bits: names that begin with insecure_, and the chapters of papers (chen-han-, ma-, ltv-), which `reproduce`
    /// runs without this
    #[arg(long, global = true)]
    pub insecure_research: bool,
}

/// The parameter set of a command.
#[derive(Args, Clone)]
pub struct SetArg {
    /// A parameter set by name (see `params list`), or a JSON file such as `params show NAME --json` prints
    #[arg(long, value_name = "NAME|FILE.json", default_value = "bgv-65537-n15")]
    pub params: String,
}

/// The commands.
#[derive(Subcommand)]
pub enum Command {
    /// Encrypt a column of integers, apply x <- 3x(1-x) a hundred times with automatic bootstrapping, decrypt, compare
    Demo(DemoArgs),
    /// Parameter sets: list them, show one as a JSON file, derive its facts
    #[command(subcommand)]
    Params(ParamsCommand),
    /// Make keys: a secret one, a public one to encrypt with, those of a server
    Keygen(KeygenArgs),
    /// Encrypt a column of integers
    Encrypt(EncryptArgs),
    /// Compute on encrypted columns, as a server: without the secret key, bootstrapping when it must
    Eval(EvalArgs),
    /// Make a worn-out ciphertext fresh again
    Bootstrap(RefreshArgs),
    /// What each operation of a program does to level and noise, and with what probability it fails
    Explain(ExplainArgs),
    /// Cut ciphertexts to what decryption needs; never needs a key
    Compact(CompactArgs),
    /// Decrypt a column
    Decrypt(DecryptArgs),
    /// Say what a file is; never needs a key
    Inspect(InspectArgs),
    /// Move ciphertexts from an old secret key to a new one, without either
    ChangeKey(ChangeKeyArgs),
    /// Server keys
    #[command(subcommand)]
    Keys(KeysCommand),
    /// What keys are worth against lattice attacks
    #[command(subcommand)]
    Security(SecurityCommand),
    /// Measure
    #[command(subcommand)]
    Bench(BenchCommand),
    /// AES on encrypted blocks
    #[command(subcommand)]
    Aes(AesCommand),
    /// Run the tables of a paper (Chen, Han 2018; Ma et al. 2024; Doröz, Hu, Sunar 2014) at its parameters, and print them beside the paper's figures
    Reproduce(ReproduceArgs),
    /// Check this build on this machine: known answers, round trips, all instruction sets, a bootstrapping
    Selftest(SelftestArgs),
    /// Print what makes a shell complete commands and options
    Completions {
        /// The shell
        #[arg(value_enum)]
        shell: clap_complete::Shell,
    },
    /// Write manual pages, one for each command
    Man {
        /// Their directory
        #[arg(long, value_name = "DIR")]
        out: PathBuf,
    },
    /// The version; with --verbose also the instruction set in use
    Version {
        /// Also print processor features, backends and threads
        #[arg(long, short)]
        verbose: bool,
    },
}

/// Arguments of `demo`.
#[derive(Args)]
pub struct DemoArgs {
    /// The parameter set.
    #[command(flatten)]
    pub set: SetArg,
    /// A CSV file with one integer column and an optional header (absent: the meter readings that come with the program)
    #[arg(long = "in", value_name = "FILE.csv")]
    pub input: Option<PathBuf>,
    /// How many times to apply the map
    #[arg(long, default_value_t = 100, value_parser = clap::value_parser!(u32).range(1..=1_000_000))]
    pub steps: u32,
    /// Values are signed: -v stands for p - v
    #[arg(long, conflicts_with = "reduce")]
    pub signed: bool,
    /// Reduce values modulo p instead of refusing those out of range
    #[arg(long)]
    pub reduce: bool,
}

/// Commands below `params`.
#[derive(Subcommand)]
pub enum ParamsCommand {
    /// List the parameter sets
    List {
        /// Print the table of docs/parameters.md
        #[arg(long, conflicts_with = "json")]
        markdown: bool,
    },
    /// Print a set; with --json exactly a file that --params takes
    Show {
        /// A name, or a JSON file
        name: String,
    },
    /// Print what follows from a set: slots, security of every key, levels, capacities, key sizes
    Card {
        /// A name, or a JSON file
        name: String,
    },
    /// Find parameter sets for a computation by --plain-modulus, --slots and --depth; or, of a set that is named, a good bootstrapping plan: with
    /// --json the set with that plan filled in, a file that --params takes
    Plan(PlanArgs),
    /// Search for rings by their slots: degree, dimensions, and the modulus that their security allows
    Rings(RingsArgs),
}

/// Arguments of `params rings`.
#[derive(Args)]
pub struct RingsArgs {
    /// The prime of the plaintext modulus
    #[arg(long, value_name = "P")]
    pub p: u64,
    /// Only rings with so many slots
    #[arg(long, value_name = "K", default_value_t = 1)]
    pub slots_at_least: usize,
    /// Only slots whose degree is a multiple of this
    #[arg(long, value_name = "D", default_value_t = 1, value_parser = clap::value_parser!(u32).range(1..))]
    pub degree_of: u32,
    /// The security in bits that the modulus is for
    #[arg(long, value_name = "BITS", default_value_t = 128.0)]
    pub security: f64,
    /// Only indices below this
    #[arg(long, value_name = "M", default_value_t = (1 << 16) + 1, value_parser = clap::value_parser!(u64).range(..=(1 << 18) + 1))]
    pub index_below: u64,
    /// Print no more rings than this
    #[arg(long, value_name = "K", default_value_t = 20)]
    pub max_rows: usize,
}

/// Arguments of `params plan`.
#[derive(Args)]
pub struct PlanArgs {
    /// A name, or a JSON file: the set to find a bootstrapping plan for
    #[arg(conflicts_with_all = ["plain_modulus", "slots", "depth", "minimise", "measure", "save"])]
    pub name: Option<String>,
    /// What to choose a bootstrapping plan by
    #[arg(long, value_enum, default_value = "throughput", requires = "name")]
    pub by: By,
    /// The plaintext modulus, a power of a prime
    #[arg(long, value_name = "P^R", required_unless_present = "name")]
    pub plain_modulus: Option<u64>,
    /// At least so many slots
    #[arg(long, value_name = "K", default_value_t = 1)]
    pub slots: usize,
    /// How many multiplications in a row, or `unlimited`: the set bootstraps
    #[arg(long, value_name = "D|unlimited", value_parser = parse_depth, required_unless_present = "name")]
    pub depth: Option<Depth>,
    /// What to choose by
    #[arg(long, value_enum, default_value = "latency")]
    pub minimise: Goal,
    /// Run the best so many candidates with real keys, on one thread, and print what they take
    #[arg(long, value_name = "K", default_value_t = 0)]
    pub measure: usize,
    /// Print no more candidates than this
    #[arg(long, value_name = "K", default_value_t = 8)]
    pub max_rows: usize,
    /// Write the best candidate as a file that --params takes
    #[arg(long, value_name = "FILE.json")]
    pub save: Option<PathBuf>,
}

fn parse_depth(text: &str) -> Result<Depth, String> {
    match text {
        "unlimited" => Ok(Depth::Unlimited),
        _ => text.parse().map(Depth::Levels).map_err(|_| format!("{text}: expected a number of multiplications, or unlimited")),
    }
}

/// What a parameter set is chosen by.
#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Goal {
    /// The time until a result is there: all multiplications in a row, or one bootstrapping
    Latency,
    /// The time of a multiplication divided by the slots
    Throughput,
    /// The bytes of keys and ciphertexts
    Memory,
}

/// Commands below `security`.
#[derive(Subcommand)]
pub enum SecurityCommand {
    /// Estimate a key: every attack with its cost
    Estimate(EstimateArgs),
    /// The keys of the three papers: what they say, and what they are worth now
    Papers {
        /// Print the table of docs/security.md
        #[arg(long, conflicts_with = "json")]
        markdown: bool,
    },
}

/// Arguments of `security estimate`.
#[derive(Args)]
pub struct EstimateArgs {
    /// The degree of the ring, or the dimension of LWE
    #[arg(long, value_name = "N")]
    pub n: usize,
    /// log2 of the largest modulus that anything under the secret is published with: QP where keys are switched
    #[arg(long, value_name = "BITS")]
    pub log_qp: f64,
    /// What the secret is drawn from
    #[arg(long, value_name = "ternary|sparse:H|gaussian:S", value_parser = crate::security::parse_secret, default_value = "ternary")]
    pub secret: Secret,
    /// The ring: in general ones, and in LWE without a ring, rotations of the secret are not counted; ntru estimates a key g/f
    #[arg(long, value_enum, default_value = "power-of-two")]
    pub ring: RingKind,
    /// The standard deviation of errors (of f and g, NTRU takes --secret)
    #[arg(long, value_name = "S", default_value_t = 3.2)]
    pub sigma: f64,
    /// Leave out the gain by rotations of the secret, as estimates before 2026 did
    #[arg(long)]
    pub no_rotation_gain: bool,
    /// Count lattice reduction as one sieve of 2^(0.292 beta), a lower bound, instead of gates by MATZOV
    #[arg(long)]
    pub core_svp: bool,
}

/// A kind of ring.
#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum RingKind {
    /// Modulo X^n + 1, n a power of two
    PowerOfTwo,
    /// Any other, or none
    General,
    /// A key g/f in any cyclotomic ring
    Ntru,
}

impl RingKind {
    /// As on the command line.
    pub fn name(self) -> &'static str {
        match self {
            RingKind::PowerOfTwo => "power-of-two",
            RingKind::General => "general",
            RingKind::Ntru => "ntru",
        }
    }
}

/// What a bootstrapping plan is chosen by.
#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum By {
    /// Least time for each multiplication that a bootstrapping makes possible
    Throughput,
    /// Least time of one bootstrapping
    Latency,
    /// Most capacity left
    Capacity,
}

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
    /// Enter the time into this file of measurements, which `params card` shows
    #[arg(long, value_name = "FILE.json")]
    pub record: Option<PathBuf>,
}

/// Commands below `aes`.
#[derive(Subcommand)]
pub enum AesCommand {
    /// Make keys for transciphering: as `keygen`, with the server keys that AES takes
    Keygen(AesKeygenArgs),
    /// Encrypt an AES key for the server
    EncryptKey(AesEncryptKeyArgs),
    /// Turn AES data into ciphertexts whose slots are its bytes, as a server: without the AES key and without the secret key
    Transcipher(AesTranscipherArgs),
    /// Decrypt what `transcipher` wrote
    Decrypt(AesDecryptArgs),
    /// Encrypt random blocks under AES-128, homomorphically, with a random key that is encrypted itself; check every block
    Bench(AesBenchArgs),
}

/// The scheme that AES is evaluated over.
#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum AesScheme {
    /// BGV
    Bgv,
    /// LTV over NTRU, for study: its parameters are insecure
    Ltv,
}

impl AesScheme {
    /// As on the command line.
    pub fn name(self) -> &'static str {
        match self {
            AesScheme::Bgv => "bgv",
            AesScheme::Ltv => "ltv",
        }
    }
}

/// What moduli are made of.
#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Chain {
    /// Distinct primes
    Rns,
    /// Powers of one prime, as Doröz, Hu and Sunar have them; LTV only
    PrimePower,
}

impl Chain {
    /// As on the command line.
    pub fn name(self) -> &'static str {
        match self {
            Chain::Rns => "rns",
            Chain::PrimePower => "prime-power",
        }
    }
}

/// What a ciphertext holds of a block.
#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Slicing {
    /// A bit: S-boxes in a tower field (Doröz, Hu, Sunar 2014)
    BitSliced,
    /// A byte: S-boxes as x^254, in slots whose degree is a multiple of 8
    ByteSliced,
    /// All of it, along a dimension of 16 slots: the least latency, a sixteenth of the blocks
    Packed,
}

impl Slicing {
    /// As on the command line.
    pub fn name(self) -> &'static str {
        match self {
            Slicing::BitSliced => "bit-sliced",
            Slicing::ByteSliced => "byte-sliced",
            Slicing::Packed => "packed",
        }
    }
}

/// Arguments of `aes bench`.
#[derive(Args)]
pub struct AesBenchArgs {
    /// The scheme
    #[arg(long, value_enum, default_value = "bgv")]
    pub scheme: AesScheme,
    /// A parameter set with plaintext modulus 2, by name (see `params list`) or as a JSON file; aes-bgv-leveled holds 128 bits, ltv-32768 and ltv-27000 are
    /// those of Doröz, Hu and Sunar and hold none
    #[arg(long, value_name = "NAME|FILE.json", default_value = "aes-bgv-leveled")]
    pub params: String,
    /// What moduli are made of
    #[arg(long, value_enum, default_value = "rns")]
    pub chain: Chain,
    /// How a state is cut into ciphertexts (absent: byte-sliced for BGV, bit-sliced, as in the paper, for LTV)
    #[arg(long, value_enum)]
    pub method: Option<Slicing>,
    /// Only the first rounds
    #[arg(long, value_name = "K", default_value_t = 10, value_parser = clap::value_parser!(u8).range(1..=10))]
    pub rounds: u8,
}

impl AesBenchArgs {
    /// How a state is cut.
    pub fn slicing(&self) -> Slicing {
        self.method.unwrap_or(match self.scheme {
            AesScheme::Bgv => Slicing::ByteSliced,
            AesScheme::Ltv => Slicing::BitSliced,
        })
    }
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

/// Arguments of `reproduce`.
#[derive(Args)]
pub struct ReproduceArgs {
    /// Which paper.
    #[command(subcommand)]
    pub paper: Paper,
    /// Only this row of the table, from 1
    #[arg(long, global = true, value_name = "K")]
    pub row: Option<usize>,
    /// Only this set of Ma et al.: I, I-A, .. V-B, or I-80 and so on for those in braces
    #[arg(long, global = true, value_name = "SET")]
    pub set: Option<String>,
    /// A small ring instead of the paper's: minutes become seconds
    #[arg(long, global = true)]
    pub quick: bool,
    /// How many runs, each with keys and values of its own
    #[arg(long, global = true, default_value_t = 1, value_parser = clap::value_parser!(u32).range(1..=1000))]
    pub runs: u32,
    /// Only with this secret (absent: the paper's weight 128, and encapsulation)
    #[arg(long, global = true, value_enum)]
    pub secret: Option<Variant>,
    /// How products are computed
    #[arg(long, global = true, value_enum, default_value = "mixed")]
    pub arithmetic: Arithmetic,
    /// Only this digit removal, by name (absent: the recommended one, or all in table 3)
    #[arg(long, global = true, value_name = "METHOD")]
    pub digit_removal: Option<String>,
    /// Also write one JSON file for each row to this directory
    #[arg(long, global = true, value_name = "DIR")]
    pub out: Option<PathBuf>,
}

impl ReproduceArgs {
    /// The secrets to run with.
    pub fn variants(&self) -> &[Variant] {
        self.secret.as_ref().map_or(&[Variant::Main128, Variant::Encapsulated], std::slice::from_ref)
    }
}

/// The papers.
#[derive(Subcommand)]
pub enum Paper {
    /// Chen, Han: Homomorphic lower digits removal and improved FHE bootstrapping (2018)
    ChenHan {
        /// Which table
        #[arg(value_enum)]
        table: ChenHanTable,
    },
    /// Ma, Huang, Wang, Wang: Accelerating BGV bootstrapping for large p using null polynomials over Z/p^e (2024)
    MaEtAl {
        /// Which table
        #[arg(value_enum)]
        table: MaEtAlTable,
    },
    /// Doröz, Hu, Sunar: Homomorphic AES evaluation using the modified LTV scheme (2014), by formula; its sets give no security
    Ltv {
        /// Which table
        #[arg(value_enum)]
        table: LtvTable,
    },
    /// All of them, with what is measured beside them, and a page that shows everything
    All(AllArgs),
}

/// The tables of Doröz–Hu–Sunar.
#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum LtvTable {
    /// Hermite factors by degree and modulus
    #[value(name = "table-1")]
    Table1,
    /// Security by extrapolated experiments, and today
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
    /// Relinearization beside YASHE
    #[value(name = "table-7")]
    Table7,
}

impl LtvTable {
    /// As on the command line.
    pub fn name(self) -> &'static str {
        match self {
            LtvTable::Table1 => "table-1",
            LtvTable::Table2 => "table-2",
            LtvTable::Table3 => "table-3",
            LtvTable::Table4 => "table-4",
            LtvTable::Table5 => "table-5",
            LtvTable::Table6 => "table-6",
            LtvTable::Table7 => "table-7",
        }
    }
}

/// The tables of Chen–Han.
#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum ChenHanTable {
    /// Complexity of the removal of digits
    #[value(name = "table-1")]
    Table1,
    /// Complexity of the removal of digits in bootstrapping
    #[value(name = "table-2")]
    Table2,
    /// The removal of digits, timed
    #[value(name = "table-3")]
    Table3,
    /// Full bootstrapping
    #[value(name = "table-4")]
    Table4,
    /// Slim bootstrapping
    #[value(name = "table-5")]
    Table5,
}

impl ChenHanTable {
    /// As on the command line.
    pub fn name(self) -> &'static str {
        match self {
            ChenHanTable::Table1 => "table-1",
            ChenHanTable::Table2 => "table-2",
            ChenHanTable::Table3 => "table-3",
            ChenHanTable::Table4 => "table-4",
            ChenHanTable::Table5 => "table-5",
        }
    }
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

impl MaEtAlTable {
    /// As on the command line.
    pub fn name(self) -> &'static str {
        match self {
            MaEtAlTable::Degrees => "degrees",
            MaEtAlTable::Table4 => "table-4",
            MaEtAlTable::Table6 => "table-6",
            MaEtAlTable::Thin => "thin",
        }
    }
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

impl Variant {
    /// As on the command line.
    pub fn name(self) -> &'static str {
        match self {
            Variant::Main64 => "main-64",
            Variant::Main128 => "main-128",
            Variant::Encapsulated => "encapsulated",
        }
    }
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

impl Arithmetic {
    /// As on the command line.
    pub fn name(self) -> &'static str {
        match self {
            Arithmetic::Bfv => "bfv",
            Arithmetic::Mixed => "mixed",
            Arithmetic::ThroughBgv => "through-bgv",
            Arithmetic::Bgv => "bgv",
        }
    }
}

/// Arguments of `selftest`.
#[derive(Args)]
pub struct SelftestArgs {
    /// Print only the digest of a fixed computation on the active backend
    #[arg(long, hide = true)]
    pub digest: bool,
}
