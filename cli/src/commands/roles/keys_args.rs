//! Arguments of the commands below `keys`.

use std::path::PathBuf;

use clap::{Args, Subcommand};

use super::args::{OutArg, SetOfFile};
use super::purpose::PurposeArgs;

/// Commands below `keys`.
#[derive(Subcommand)]
pub enum KeysCommand {
    /// Print the sizes of server keys by kind
    SizeReport(SizeReportArgs),
    /// Generate server keys for an existing secret key, for example those of another query
    Server(ServerKeysArgs),
    /// Generate the keys for `change-key`, which moves ciphertexts from an old secret key to a new
    /// one
    Change(ChangeArgs),
    /// Generate a manifest key, to be shared by the parties that trust each other's noise bounds
    ManifestKey(OutArg),
}

/// Arguments of `keys change`.
#[derive(Args)]
pub struct ChangeArgs {
    /// The old secret key
    #[arg(long = "old-key", value_name = "FILE")]
    pub from: PathBuf,
    /// The new secret key, of the same parameters
    #[arg(long = "new-key", value_name = "FILE")]
    pub to: PathBuf,
    /// The keys. With them and the new secret key one can read what the old one encrypted.
    #[command(flatten)]
    pub out: OutArg,
    /// The parameter set.
    #[command(flatten)]
    pub set: SetOfFile,
}

/// Arguments of `keys server`.
#[derive(Args)]
pub struct ServerKeysArgs {
    /// The secret key
    #[arg(long, value_name = "FILE")]
    pub key: PathBuf,
    /// What the server keys are for.
    #[command(flatten)]
    pub purpose: PurposeArgs,
    /// The server keys.
    #[command(flatten)]
    pub out: OutArg,
    /// The parameter set.
    #[command(flatten)]
    pub set: SetOfFile,
}

/// Arguments of `keys size-report`.
#[derive(Args)]
pub struct SizeReportArgs {
    /// The server keys (default: those that `keygen` would generate for --params)
    #[arg(long, value_name = "FILE")]
    pub server_keys: Option<PathBuf>,
    /// The parameter set (default: that of --server-keys, else bgv-65537-n15)
    #[arg(long, value_name = "NAME|FILE.json")]
    pub params: Option<String>,
    /// What the server keys are for.
    #[command(flatten)]
    pub purpose: PurposeArgs,
}
