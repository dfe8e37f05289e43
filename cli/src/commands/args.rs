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
    RefreshArgs,
};
use crate::commands::roles::keys_args::KeysCommand;
use crate::commands::roles::typed::plan::PlanArgs;
use crate::commands::security::SecurityCommand;
use crate::commands::table::TableCommand;
#[cfg(feature = "service")]
use crate::commands::{remote::RemoteCommand, serve::ServeArgs};
use crate::console::args::Common;

/// Exact homomorphic encryption of integers, for computations of any length.
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
    /// bootstrapping, decrypt, and compare every value
    Demo(DemoArgs),
    /// List, show, plan and describe parameter sets
    #[command(subcommand)]
    Params(ParamsCommand),
    /// Say what a program on typed columns takes before there are keys or data: the parameter set,
    /// bootstrappings, seconds, and the sizes of keys, arguments, results and memory
    Plan(PlanArgs),
    /// Generate the secret key, the public key and the server keys
    Keygen(KeygenArgs),
    /// Encrypt columns of integers
    Encrypt(EncryptArgs),
    /// Compute on encrypted columns without the secret key, bootstrapping automatically
    Eval(EvalArgs),
    /// Bootstrap ciphertexts
    Bootstrap(RefreshArgs),
    /// Show what each operation of a program does to level and noise, and its failure probability
    Explain(ExplainArgs),
    /// Reduce ciphertexts to what decryption needs (no key required)
    Compact(CompactArgs),
    /// Decrypt columns
    Decrypt(DecryptArgs),
    /// Show the header and metadata of a file (no key required)
    Inspect(InspectArgs),
    /// Move ciphertexts from an old secret key to a new one, without using either
    ChangeKey(ChangeKeyArgs),
    /// Generate server keys, key-change keys and manifest keys; print the sizes of server keys
    #[command(subcommand)]
    Keys(KeysCommand),
    /// Estimate security against lattice attacks
    #[command(subcommand)]
    Security(SecurityCommand),
    /// Run benchmarks
    #[command(subcommand)]
    Bench(BenchCommand),
    /// Turn AES-encrypted data into homomorphic ciphertexts
    #[command(subcommand)]
    Aes(AesCommand),
    /// Encrypt tables, and run queries on them in SQL
    #[command(subcommand)]
    Table(TableCommand),
    /// Serve encrypted computations to many tenants over HTTP, with server keys alone
    #[cfg(feature = "service")]
    Serve(ServeArgs),
    /// Send files to a service, run jobs on it and fetch their results
    #[cfg(feature = "service")]
    #[command(subcommand)]
    Remote(RemoteCommand),
    /// Test this build on this machine: known answers, round trips, all instruction sets and a
    /// bootstrapping
    Selftest(SelftestArgs),
    /// Generate a shell completion script
    Completions {
        /// The shell
        #[arg(value_enum)]
        shell: clap_complete::Shell,
    },
    /// Write a manual page for each command
    Man {
        /// The directory for the manual pages
        #[arg(long, value_name = "DIR")]
        out: PathBuf,
    },
    /// Print the version; with --verbose, also the instruction set in use
    Version {
        /// Also print processor features, backends and threads
        #[arg(long, short)]
        verbose: bool,
    },
}

/// Arguments of `selftest`.
#[derive(Args)]
pub struct SelftestArgs {
    /// Instead, make mistakes with keys, files, ranges, options and tables on a small set, and
    /// check that each is refused
    #[arg(long)]
    pub mistakes: bool,
}
