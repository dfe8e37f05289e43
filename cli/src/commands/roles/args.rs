//! Arguments of the commands of the three roles.

use std::path::PathBuf;

use clap::{Args, Subcommand, ValueEnum};
use everlevel::ValueRange;

use crate::columns::Header;
use crate::console::args::SetArg;

/// Arguments of `keygen`.
#[derive(Args)]
pub struct KeygenArgs {
    /// The parameter set.
    #[command(flatten)]
    pub set: SetArg,
    /// The directory for params.json, secret.key, public.key and server.keys
    #[arg(long, value_name = "DIR")]
    pub out: PathBuf,
    /// Server keys for this program only (see `eval`), instead of general ones: products,
    /// bootstrapping, rotations by anything
    #[arg(long, value_name = "PROGRAM")]
    pub program: Option<String>,
    /// Replace keys that are there: what they encrypted is lost without a copy of them
    #[arg(long)]
    pub force: bool,
}

/// Where results go.
#[derive(Args, Clone)]
pub struct OutArg {
    /// The file to write
    #[arg(long, value_name = "FILE")]
    pub out: PathBuf,
    /// Replace the file if there is one
    #[arg(long)]
    pub force: bool,
}

/// What files do not say: a set that has no name and no params.json beside its keys, an owner.
#[derive(Args, Clone)]
pub struct SetOfFile {
    /// The parameter set, where the files do not name it and no params.json lies beside the key
    #[arg(long, value_name = "NAME|FILE.json")]
    pub params: Option<String>,
    /// Also read keys, ciphertexts and results that do not say which secret key they belong to, as
    /// those of format version 1: a mix-up is noticed at decryption only
    #[arg(long)]
    pub allow_unknown_owner: bool,
}

/// Arguments of `encrypt`.
#[derive(Args)]
pub struct EncryptArgs {
    /// The public key; with the secret key, ciphertexts have half the size
    #[arg(long, value_name = "FILE")]
    pub key: PathBuf,
    /// A column of integers, one a slot: .csv, .json or .npy
    #[arg(long = "in", value_name = "FILE")]
    pub input: PathBuf,
    /// Encrypt the columns of these names as typed integers, for programs with comparisons, tables
    /// and sums that do not wrap: age=u8,income=u32:0..5000000,delta=-20..20
    #[arg(long, value_name = "NAME=TYPE,..", conflicts_with_all = ["signed", "reduce"])]
    pub types: Option<String>,
    /// The ciphertext.
    #[command(flatten)]
    pub out: OutArg,
    /// Values are signed: -v stands for p^r - v
    #[arg(long, conflicts_with_all = ["reduce", "range"])]
    pub signed: bool,
    /// Reduce values modulo p^r instead of refusing those out of range: what is computed on them
    /// wraps, and is decrypted with --wrapping
    #[arg(long, conflicts_with = "range")]
    pub reduce: bool,
    /// The range of the values, public: results whose range has more than p^r integers could have
    /// wrapped, and are refused at decryption. Absent: 0 to p^r - 1
    #[arg(long, value_name = "LOW..HIGH", allow_hyphen_values = true)]
    pub range: Option<ValueRange>,
    /// Whether the first line of a CSV file is the name of the column
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
}

/// What becomes of the noise bound that a ciphertext states.
#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Bounds {
    /// What `encrypt` wrote gets the bound of a fresh encryption; what was computed on keeps the
    /// bound it states, within what its level allows
    Stated,
    /// Everything must be a fresh encryption
    Fresh,
    /// The largest bound that the level allows: enough to decrypt, not to compute
    Untrusted,
    /// What the manifests of --manifest list, under the key of --manifest-key; files that they do
    /// not list are refused
    Manifest,
}

/// The key of manifests.
#[derive(Args, Clone)]
pub struct ManifestKeyArg {
    /// The key of manifests, shared by those who believe each other's noise bounds (`keys
    /// manifest-key`)
    #[arg(long, value_name = "KEYFILE")]
    pub manifest_key: Option<PathBuf>,
}

/// Where a manifest goes.
#[derive(Args, Clone)]
pub struct WriteManifestArg {
    /// Also write a manifest of the noise bounds of what is written, under the key of
    /// --manifest-key
    #[arg(long, value_name = "FILE", requires = "manifest_key")]
    pub write_manifest: Option<PathBuf>,
}

/// Manifests to believe.
#[derive(Args, Clone)]
pub struct ManifestsArg {
    /// With --bounds manifest: a manifest that `--write-manifest` wrote; several times for files of
    /// several manifests
    #[arg(long = "manifest", value_name = "FILE", requires = "manifest_key")]
    pub manifests: Vec<PathBuf>,
    /// Their key.
    #[command(flatten)]
    pub key: ManifestKeyArg,
}

/// Which noise bounds to believe.
#[derive(Args, Clone)]
pub struct BoundsArg {
    /// Which noise bounds to believe
    #[arg(long, value_enum, default_value = "stated")]
    pub bounds: Bounds,
    /// Manifests.
    #[command(flatten)]
    pub manifests: ManifestsArg,
}

/// The keys of a server.
#[derive(Args, Clone)]
pub struct ServerArgs {
    /// The server keys
    #[arg(long, value_name = "FILE")]
    pub server_keys: PathBuf,
    /// Memory for keys that are read from the file, in MiB; those that do not fit are read again
    #[arg(
        long,
        value_name = "MIB",
        default_value_t = 4096,
        value_parser = clap::value_parser!(u64).range(1..1 << 30)
    )]
    pub cache: u64,
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
    /// slots, swap_rows(x), refresh(x), divided by semicolons. Arithmetic modulo p^r, which wraps:
    /// decryption tells by the ranges of the inputs whether it can have. On typed columns, which
    /// never wrap: + - * / % << >> < <= > >= == != & | !, if(c, a, b), min, max, abs,
    /// clip(x, low, high), xor, table(x, NAME), sum, count, mean, median, argmax, argmin, sort,
    /// argsort, cumsum
    #[arg(value_name = "PROGRAM", allow_hyphen_values = true)]
    pub program: String,
    /// The ciphertexts that it reads; files of typed columns without NAME=, as these have names
    #[arg(value_name = "NAME=FILE")]
    pub inputs: Vec<String>,
    /// For typed columns: a table of integers, .csv, .json or .npy, with an entry for each value
    /// that is looked up in it, least first
    #[arg(long = "table", value_name = "NAME=FILE")]
    pub tables: Vec<String>,
    /// The directory for the results, NAME.ct for each statement but those whose names begin with _
    #[arg(long, value_name = "DIR")]
    pub out: PathBuf,
    /// Replace results that are there
    #[arg(long)]
    pub force: bool,
    /// Compute on columns of different lengths: rows that a shorter one does not have are 0 there
    #[arg(long)]
    pub pad: bool,
    /// The manifest.
    #[command(flatten)]
    pub manifest: WriteManifestArg,
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
    /// The ciphertext
    #[arg(long = "in", value_name = "FILE")]
    pub input: PathBuf,
    /// The column: .csv, .json or .npy (absent: CSV to standard output)
    #[arg(long, value_name = "FILE")]
    pub out: Option<PathBuf>,
    /// Replace the file if there is one
    #[arg(long)]
    pub force: bool,
    /// Values from -p^r/2 to p^r/2: refused if the file states a range that is not within
    #[arg(long)]
    pub signed: bool,
    /// Residues modulo p^r, 0 to p^r - 1 or with --signed those of least absolute value, also where
    /// the range of a result is unknown or so large that arithmetic may have wrapped
    #[arg(long)]
    pub wrapping: bool,
    /// The values will be shared with others: flood the noise before it is rounded away, by the
    /// bound that the file states, and refuse if there is no room. Protects the key if that bound
    /// is wrong
    #[arg(long)]
    pub for_sharing: bool,
    /// With --for-sharing: all values together tell no more about the noise than a statistical
    /// distance of 2^-S
    #[arg(
        long,
        value_name = "S",
        default_value_t = 64,
        requires = "for_sharing",
        value_parser = clap::value_parser!(u32).range(1..=256)
    )]
    pub statistical_bits: u32,
    /// All slots, not only as many as the columns had that were encrypted
    #[arg(long)]
    pub all: bool,
    /// Which noise bounds to believe (absent: those that the file states). What decrypts to more
    /// noise is refused, which `untrusted` hardly does. `manifest` decrypts what the manifests list
    /// and nothing else
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
    /// The ciphertexts
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
    /// Any file of this program
    #[arg(value_name = "FILE")]
    pub file: PathBuf,
    /// The parameter set.
    #[command(flatten)]
    pub set: SetOfFile,
}

/// Commands below `keys`.
#[derive(Subcommand)]
pub enum KeysCommand {
    /// What server keys take, by kind
    SizeReport(SizeReportArgs),
    /// Keys that take ciphertexts from an old secret key to a new one, for `change-key`
    Change(ChangeArgs),
    /// A new key of manifests, which those share who believe each other's noise bounds
    ManifestKey(OutArg),
}

/// Arguments of `keys change`.
#[derive(Args)]
pub struct ChangeArgs {
    /// The old secret key
    #[arg(long, value_name = "FILE")]
    pub from: PathBuf,
    /// The new secret key, of the same parameters
    #[arg(long, value_name = "FILE")]
    pub to: PathBuf,
    /// The keys. Whoever has them and the new secret key can read what the old one encrypted.
    #[command(flatten)]
    pub out: OutArg,
    /// The parameter set.
    #[command(flatten)]
    pub set: SetOfFile,
}

/// Arguments of `change-key`.
#[derive(Args)]
pub struct ChangeKeyArgs {
    /// The keys that `keys change` made
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

/// Arguments of `keys size-report`.
#[derive(Args)]
pub struct SizeReportArgs {
    /// The server keys (absent: what `keygen` would make for --params)
    #[arg(long, value_name = "FILE")]
    pub server_keys: Option<PathBuf>,
    /// The parameter set
    #[arg(long, value_name = "NAME|FILE.json", required_unless_present = "server_keys")]
    pub params: Option<String>,
    /// Only what this program needs
    #[arg(long, value_name = "PROGRAM", conflicts_with = "server_keys")]
    pub program: Option<String>,
}
