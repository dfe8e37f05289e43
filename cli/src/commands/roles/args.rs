//! Arguments of the commands of the three roles.

use std::path::PathBuf;

use clap::{Args, ValueEnum};
use everlevel::ValueRange;

use super::purpose::PurposeArgs;
use crate::columns::{Format, Header};
#[cfg(feature = "service")]
use crate::commands::remote::access::{RemoteArg, RemoteJobArgs};
use crate::console::args::{SetArg, amount};
use crate::console::device::DeviceArg;

/// The memory for keys that are read from a file, in MiB, unless it is stated.
pub const CACHE_MIB: u64 = 4096;

/// Arguments of `keygen`.
#[derive(Args)]
pub struct KeygenArgs {
    /// The parameter set.
    #[command(flatten)]
    pub set: SetArg,
    /// The directory for params.json, secret.key, public.key and server.keys
    #[arg(long, value_name = "DIR")]
    pub out: PathBuf,
    /// What the server keys are for.
    #[command(flatten)]
    pub purpose: PurposeArgs,
    /// Overwrite existing keys: data encrypted under them becomes unrecoverable unless you keep a
    /// copy
    #[arg(long)]
    pub force: bool,
}

/// Where results go.
#[derive(Args, Clone)]
pub struct OutArg {
    /// The file to write
    #[arg(long, value_name = "FILE")]
    pub out: PathBuf,
    /// Overwrite an existing file
    #[arg(long)]
    pub force: bool,
}

/// What files do not say: a set that has no name and no params.json beside its keys, an owner.
#[derive(Args, Clone)]
pub struct SetOfFile {
    /// The parameter set, if the files do not name it and there is no params.json next to the key
    #[arg(long, value_name = "NAME|FILE.json")]
    pub params: Option<String>,
    /// Also read keys, ciphertexts and results that do not identify their secret key (format
    /// version 1): mix-ups are then detected only at decryption
    #[arg(long)]
    pub allow_unknown_owner: bool,
}

/// Arguments of `encrypt`.
#[derive(Args)]
pub struct EncryptArgs {
    /// The public key, or the secret key for ciphertexts of half the size
    #[arg(long, value_name = "FILE")]
    pub key: PathBuf,
    /// A column of integers, of any length: .csv, .json or .npy, or - for standard input
    #[arg(long = "in", value_name = "FILE")]
    pub input: PathBuf,
    /// The format of --in, if its name does not say it (default: csv for standard input)
    #[arg(long, value_enum)]
    pub format: Option<Format>,
    /// Encrypt the column of this name of a CSV file with a header; can be repeated: --out is then
    /// a directory, with a file NAME.ct for each column
    #[arg(long = "column", value_name = "NAME", conflicts_with = "types")]
    pub columns: Vec<String>,
    /// Encrypt the named columns as typed integers, which do not wrap: TYPE is bool, u8 to u64, i8
    /// to i64 or LOW..HIGH; for example age=u8,income=u32:0..5000000,delta=-20..20
    #[arg(long, value_name = "NAME=TYPE,..", conflicts_with_all = ["signed", "reduce", "range"])]
    pub types: Option<String>,
    /// Give the column of this name an index, so that comparisons with public integers and tables
    /// take few products; can be repeated
    #[arg(long = "index", value_name = "COLUMN", requires = "types")]
    pub indexes: Vec<String>,
    /// Encrypt columns at these levels, as `plan` prints them, and others at the top: fewer bytes,
    /// and less capacity
    #[arg(long, value_name = "NAME=LEVEL,..", requires = "types")]
    pub levels: Option<String>,
    /// The ciphertexts.
    #[command(flatten)]
    pub out: OutArg,
    /// Values are signed: -v stands for p^r - v
    #[arg(long, conflicts_with_all = ["reduce", "range"])]
    pub signed: bool,
    /// Reduce values modulo p^r instead of rejecting those out of range; results then wrap, and are
    /// decrypted with --wrapping
    #[arg(long, conflicts_with = "range")]
    pub reduce: bool,
    /// The range of the values, which is public: results whose range has more than p^r integers may
    /// have wrapped, and decryption refuses them (default: 0 to p^r - 1)
    #[arg(long, value_name = "LOW..HIGH", allow_hyphen_values = true)]
    pub range: Option<ValueRange>,
    /// Read the first line of a CSV file as the name of the column
    #[arg(long, value_enum, default_value = "auto")]
    pub header: Header,
    /// The manifest.
    #[command(flatten)]
    pub manifest: WriteManifestArg,
    /// Its key.
    #[command(flatten)]
    pub manifest_key: ManifestKeyArg,
    /// The parameter set.
    #[command(flatten)]
    pub set: SetOfFile,
    /// The service.
    #[cfg(feature = "service")]
    #[command(flatten)]
    pub place: RemoteArg,
}

impl EncryptArgs {
    /// The files that are read, but for keys that no result replaces.
    pub fn files(&self) -> impl Iterator<Item = &PathBuf> {
        std::iter::once(&self.input).chain(&self.manifest_key.manifest_key)
    }
}

/// What becomes of the noise bound that a ciphertext states.
#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Bounds {
    /// Outputs of `encrypt` get the bound of a fresh encryption; other ciphertexts keep the bound
    /// that they state, if their level allows it
    Stated,
    /// All ciphertexts must be fresh encryptions
    Fresh,
    /// The largest bound that the level allows, which permits decryption but no computation
    Untrusted,
    /// The bounds in the manifests of --manifest, checked with --manifest-key; files that are not
    /// listed are rejected
    Manifest,
}

/// The key of manifests.
#[derive(Args, Clone)]
pub struct ManifestKeyArg {
    /// The manifest key, shared by the parties that trust each other's noise bounds (see `keys
    /// manifest-key`)
    #[arg(long, value_name = "KEYFILE")]
    pub manifest_key: Option<PathBuf>,
}

/// Where a manifest goes.
#[derive(Args, Clone)]
pub struct WriteManifestArg {
    /// Also write a manifest of the noise bounds of all files written, authenticated with
    /// --manifest-key
    #[arg(long, value_name = "FILE", requires = "manifest_key")]
    pub write_manifest: Option<PathBuf>,
}

/// Manifests to trust.
#[derive(Args, Clone)]
pub struct ManifestsArg {
    /// With --bounds manifest: a manifest written by --write-manifest; can be repeated
    #[arg(long = "manifest", value_name = "FILE", requires = "manifest_key")]
    pub manifests: Vec<PathBuf>,
    /// Their key.
    #[command(flatten)]
    pub key: ManifestKeyArg,
}

/// Which noise bounds to trust.
#[derive(Args, Clone)]
pub struct BoundsArg {
    /// The noise bounds to trust
    #[arg(long, value_enum, default_value = "stated")]
    pub bounds: Bounds,
    /// Manifests.
    #[command(flatten)]
    pub manifests: ManifestsArg,
}

/// The memory for server keys that stay in their file.
#[derive(Args, Clone, Copy)]
pub struct KeyMemoryArg {
    /// The memory in MiB for keys that are read from the file; keys that do not fit are read again
    /// when needed
    #[arg(long, value_name = "MIB", default_value_t = CACHE_MIB, value_parser = amount())]
    pub cache: u64,
    /// Keep half of each key as a seed in memory and expand it whenever it is used: half of the
    /// memory for the same keys, more time (1.23 s instead of 0.83 s for a bootstrapping of
    /// bgv-65537-n15)
    #[arg(long)]
    pub seeded_keys: bool,
}

/// The keys of a server.
#[derive(Args, Clone)]
pub struct ServerArgs {
    /// The server keys
    #[arg(long, value_name = "FILE")]
    pub server_keys: PathBuf,
    /// The memory for keys.
    #[command(flatten)]
    pub memory: KeyMemoryArg,
    /// Noise bounds.
    #[command(flatten)]
    pub bounds: BoundsArg,
    /// The parameter set.
    #[command(flatten)]
    pub set: SetOfFile,
}

/// Arguments of `eval`.
#[derive(Args)]
pub struct EvalArgs {
    /// The server.
    #[command(flatten)]
    pub server: ServerArgs,
    /// The program: statements such as y = 3*x*(1-x), with + - * ^, rotate(x, k), sum(x) of all
    /// slots, swap_rows(x), refresh(x), separated by semicolons. Arithmetic is modulo p^r and
    /// wraps; decryption refuses results that, judging by the ranges of the inputs, may have
    /// wrapped. On typed columns, which never wrap: + - * / % << >> < <= > >= == != & | !,
    /// if(c, a, b), min, max, abs, clip(x, low, high), xor, sign, popcount, cast(x, TYPE),
    /// wrap(x, TYPE), table(x, NAME), table(x, y, NAME), isin(x, NAME), searchsorted(x, NAME),
    /// dot(x, NAME), sum, count, mean (rounded down), total, cumsum, maximum, minimum, argmax,
    /// argmin, median, quantile(x, a, b), nth(x, k), argnth(x, k), ranks, sort, argsort,
    /// sort(x, k) and argsort(x, k) for the first k entries in order, and without_index(x), the
    /// column without its index
    #[arg(value_name = "PROGRAM", allow_hyphen_values = true)]
    pub program: String,
    /// The ciphertexts that the program reads; omit NAME= for files of typed columns, which contain
    /// the names
    #[arg(value_name = "NAME=FILE")]
    pub inputs: Vec<String>,
    /// For typed columns: a table of integers (.csv, .json or .npy) with one entry for each value
    /// of the column, in ascending order of the values
    #[arg(long = "lookup", value_name = "NAME=FILE")]
    pub tables: Vec<String>,
    /// The directory for the results: NAME.ct for each statement, except names that begin with _
    #[arg(long, value_name = "DIR")]
    pub out: PathBuf,
    /// Overwrite existing results
    #[arg(long)]
    pub force: bool,
    /// Allow columns modulo p^r of different lengths: shorter ones are padded with 0
    #[arg(long)]
    pub pad: bool,
    /// What computes.
    #[command(flatten)]
    pub on: DeviceArg,
    /// The manifest.
    #[command(flatten)]
    pub manifest: WriteManifestArg,
    /// The service.
    #[cfg(feature = "service")]
    #[command(flatten)]
    pub place: RemoteJobArgs,
}

/// Arguments of `bootstrap`.
#[derive(Args)]
pub struct RefreshArgs {
    /// The server.
    #[command(flatten)]
    pub server: ServerArgs,
    /// The ciphertext
    #[arg(long = "in", value_name = "FILE")]
    pub input: PathBuf,
    /// The fresh one.
    #[command(flatten)]
    pub out: OutArg,
    /// The manifest.
    #[command(flatten)]
    pub manifest: WriteManifestArg,
}

/// Arguments of `decrypt`.
#[derive(Args)]
pub struct DecryptArgs {
    /// The secret key
    #[arg(long, value_name = "FILE")]
    pub key: PathBuf,
    /// The ciphertexts of a column, or columns of typed integers; - for standard input
    #[arg(long = "in", value_name = "FILE")]
    pub input: PathBuf,
    /// The file for the column: .csv, .json or .npy, or - for standard output (default: CSV to
    /// standard output)
    #[arg(long, value_name = "FILE")]
    pub out: Option<PathBuf>,
    /// The format of --out, if its name does not say it (default: csv for standard output)
    #[arg(long, value_enum)]
    pub format: Option<Format>,
    /// Decrypt the column of this name only; can be repeated
    #[arg(long = "column", value_name = "NAME")]
    pub columns: Vec<String>,
    /// Overwrite an existing file
    #[arg(long)]
    pub force: bool,
    /// Print values from -p^r/2 to p^r/2; refused if the file states a range that exceeds this
    #[arg(long)]
    pub signed: bool,
    /// Print residues modulo p^r, from 0 to p^r - 1 or, with --signed, of least absolute value,
    /// even if the range of a result is unknown or arithmetic may have wrapped
    #[arg(long)]
    pub wrapping: bool,
    /// Flood the noise by the bound that the file states before rounding, so that sharing the
    /// values protects the key even if the bound is wrong; refused if there is not enough capacity
    #[arg(long)]
    pub for_sharing: bool,
    /// With --for-sharing: the statistical distance 2^-S that all values together may reveal about
    /// the noise
    #[arg(
        long,
        value_name = "S",
        default_value_t = 64,
        requires = "for_sharing",
        value_parser = clap::value_parser!(u32).range(1..=256)
    )]
    pub statistical_bits: u32,
    /// Print all slots, not only as many as the encrypted columns had rows
    #[arg(long)]
    pub all: bool,
    /// The noise bounds to trust (default: those that the file states). A ciphertext with more
    /// noise than its bound is rejected, so `untrusted` rejects hardly anything, and decrypts only
    /// files that name their secret key; `manifest` decrypts only files that the manifests list
    #[arg(long, value_enum)]
    pub bounds: Option<Bounds>,
    /// Manifests.
    #[command(flatten)]
    pub manifests: ManifestsArg,
    /// The parameter set.
    #[command(flatten)]
    pub set: SetOfFile,
}

/// Arguments of `compact`.
#[derive(Args)]
pub struct CompactArgs {
    /// The ciphertexts, or columns of typed integers
    #[arg(long = "in", value_name = "FILE")]
    pub input: PathBuf,
    /// What is left of them.
    #[command(flatten)]
    pub out: OutArg,
    /// The parameter set.
    #[command(flatten)]
    pub set: SetOfFile,
}

/// Arguments of `inspect`.
#[derive(Args)]
pub struct InspectArgs {
    /// Any file that this program writes
    #[arg(value_name = "FILE")]
    pub file: PathBuf,
    /// The parameter set.
    #[command(flatten)]
    pub set: SetOfFile,
}

/// Arguments of `change-key`.
#[derive(Args)]
pub struct ChangeKeyArgs {
    /// The keys written by `keys change`
    #[arg(long, value_name = "FILE")]
    pub keys: PathBuf,
    /// Ciphertexts under the old secret key
    #[arg(long = "in", value_name = "FILE")]
    pub input: PathBuf,
    /// The same under the new one.
    #[command(flatten)]
    pub out: OutArg,
    /// Noise bounds.
    #[command(flatten)]
    pub bounds: BoundsArg,
    /// The parameter set.
    #[command(flatten)]
    pub set: SetOfFile,
}
