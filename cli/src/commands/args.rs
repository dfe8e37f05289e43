//! The command line of `everlevel`.

use std::path::PathBuf;

use clap::{Args, Parser, Subcommand};

use crate::commands::aes::args::AesCommand;
use crate::commands::bench::args::BenchCommand;
use crate::commands::demo::DemoArgs;
use crate::commands::explain::ExplainArgs;
use crate::commands::params::ParamsCommand;
use crate::commands::roles::args::{
    ChangeKeyArgs, CompactArgs, DecryptArgs, EncryptArgs, EvalArgs, InspectArgs, KeygenArgs,
    KeysCommand, RefreshArgs,
};
use crate::commands::security::SecurityCommand;
use crate::commands::table::TableCommand;
use crate::console::args::Common;

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
    /// AES data in, ciphertexts of its bytes out
    #[command(subcommand)]
    Aes(AesCommand),
    /// SQL over encrypted tables
    #[command(subcommand)]
    Table(TableCommand),
    /// Check this build on this machine: known answers, round trips, all instruction sets, a
    /// bootstrapping
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

/// Arguments of `selftest`.
#[derive(Args)]
pub struct SelftestArgs {
    /// Instead: make mistakes with keys, files, ranges and options on a small set, all of which
    /// have to be refused
    #[arg(long)]
    pub mistakes: bool,
}
