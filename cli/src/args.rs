//! The command line.

use std::path::PathBuf;

use clap::{Args, Parser, Subcommand};

use crate::aes::args::AesCommand;
use crate::bench::args::BenchCommand;
use crate::explain::ExplainArgs;
use crate::params::ParamsCommand;
use crate::reproduce::args::ReproduceArgs;
use crate::roles::args::{
    ChangeKeyArgs, CompactArgs, DecryptArgs, EncryptArgs, EvalArgs, InspectArgs, KeygenArgs,
    KeysCommand, RefreshArgs,
};
use crate::security::SecurityCommand;

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
    /// Allow parameter sets below 128 bits: names that begin with insecure_, and the chapters of
    /// papers (chen-han-, ma-, ltv-), which `reproduce` runs without this
    #[arg(long, global = true)]
    pub insecure_research: bool,
}

/// The parameter set of a command.
#[derive(Args, Clone)]
pub struct SetArg {
    /// A parameter set by name (see `params list`), or a JSON file such as `params show NAME
    /// --json` prints
    #[arg(long, value_name = "NAME|FILE.json", default_value = "bgv-65537-n15")]
    pub params: String,
}

/// The commands.
#[derive(Subcommand)]
pub enum Command {
    /// Encrypt a column of integers, apply x <- 3x(1-x) a hundred times with automatic
    /// bootstrapping, decrypt, compare
    Demo(DemoArgs),
    /// Parameter sets: list them, show one as a JSON file, derive its facts
    #[command(subcommand)]
    Params(ParamsCommand),
    /// Make keys: a secret one, a public one to encrypt with, those of a server
    Keygen(KeygenArgs),
    /// Encrypt a column of integers
    Encrypt(EncryptArgs),
    /// Compute on encrypted columns, as a server: without the secret key, bootstrapping when it
    /// must
    Eval(EvalArgs),
    /// Make an exhausted ciphertext fresh again
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
    /// Run the tables of a paper (Chen, Han 2018; Ma et al. 2024; Doröz, Hu, Sunar 2014) at its
    /// parameters, and print them beside the paper's figures
    Reproduce(ReproduceArgs),
    /// Check this build on this machine: known answers, round trips, all instruction sets, a
    /// bootstrapping
    Selftest,
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
    /// A CSV file with one integer column and an optional header (absent: the meter readings that
    /// come with the program)
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
