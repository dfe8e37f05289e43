//! Arguments of `aes`.

use std::path::PathBuf;

use clap::{Args, Subcommand, ValueEnum};
use everlevel::{AesKeyId, ModeKind};

use crate::commands::roles::args::{OutArg, ServerArgs, SetOfFile};

/// Arguments of `aes keygen`.
#[derive(Args)]
pub struct AesKeygenArgs {
    /// A parameter set with bytes in its slots, by name or as a JSON file: aes-bgv-leveled, or
    /// aes-bgv-refreshed, which bootstraps
    #[arg(long, value_name = "NAME|FILE.json", default_value = "aes-bgv-leveled")]
    pub params: String,
    /// The directory for params.json, secret.key, public.key and server.keys
    #[arg(long, value_name = "DIR")]
    pub out: PathBuf,
    /// Also generate the keys for CBC and ECB, which need AES decryption
    #[arg(long)]
    pub decryption: bool,
    /// Overwrite existing keys: data encrypted under them becomes unrecoverable unless you keep a
    /// copy
    #[arg(long)]
    pub force: bool,
}

/// Arguments of `aes encrypt-key`.
#[derive(Args)]
pub struct AesEncryptKeyArgs {
    /// The public key, or the secret key for a result of half the size
    #[arg(long, value_name = "FILE")]
    pub key: PathBuf,
    /// A file with the AES key in 32, 48 or 64 hexadecimal digits; - for standard input
    #[arg(long, value_name = "FILE")]
    pub aes_key_file: PathBuf,
    /// The encrypted round keys.
    #[command(flatten)]
    pub out: OutArg,
    /// The parameter set.
    #[command(flatten)]
    pub set: SetOfFile,
}

/// Arguments of `aes upload`.
#[derive(Args)]
pub struct AesUploadArgs {
    /// The public key or the secret key with which the AES key is encrypted
    #[arg(long, value_name = "FILE")]
    pub key: PathBuf,
    /// A file with the AES key in 32, 48 or 64 hexadecimal digits; - for standard input
    #[arg(long, value_name = "FILE", required_unless_present = "aes_key_id")]
    pub aes_key_file: Option<PathBuf>,
    /// With --data: the public id of the AES key, which `encrypt-key` prints, instead of the key
    #[arg(
        long,
        value_name = "HEX",
        conflicts_with_all = ["aes_key_file", "input"],
        value_parser = parse_aes_key_id
    )]
    pub aes_key_id: Option<AesKeyId>,
    /// The data, to be encrypted by AES in counter mode from a random counter block
    #[arg(
        long = "in",
        value_name = "FILE",
        required_unless_present = "data",
        conflicts_with_all = ["data", "mode", "iv"]
    )]
    pub input: Option<PathBuf>,
    /// Instead of --in: data that are already encrypted, for example by openssl
    #[arg(long, value_name = "FILE")]
    pub data: Option<PathBuf>,
    /// The mode of --data (default: ctr)
    #[arg(long, value_enum)]
    pub mode: Option<ModeArg>,
    /// The initialization vector or first counter block of --data, in hexadecimal digits
    #[arg(long, value_name = "HEX")]
    pub iv: Option<String>,
    /// The upload.
    #[command(flatten)]
    pub out: OutArg,
    /// The parameter set.
    #[command(flatten)]
    pub set: SetOfFile,
}

fn parse_aes_key_id(digits: &str) -> Result<AesKeyId, String> {
    AesKeyId::from_hex(digits).ok_or_else(|| "expected 32 hexadecimal digits".into())
}

/// Modes of operation of AES.
#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum ModeArg {
    /// Counter mode: --iv is the first counter block, as for openssl enc -aes-128-ctr
    Ctr,
    /// The counters of GCM: --iv has 24 digits; the tag is not part of the data: the holder of the
    /// AES key must check it and cut it off, as it would be decrypted to bytes without meaning
    Gcm,
    /// CBC; padding stays in the data
    Cbc,
    /// ECB, block by block, without --iv; padding stays in the data
    Ecb,
}

impl ModeArg {
    /// As the library has it.
    pub fn kind(self) -> ModeKind {
        match self {
            ModeArg::Ctr => ModeKind::Ctr,
            ModeArg::Gcm => ModeKind::Gcm,
            ModeArg::Cbc => ModeKind::Cbc,
            ModeArg::Ecb => ModeKind::Ecb,
        }
    }
}

/// How states lie in ciphertexts.
#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum MethodArg {
    /// The bytes of a block in adjacent slots of one ciphertext: fastest for small inputs
    Packed,
    /// A ciphertext for each byte of a block: fastest for large inputs
    ByteSliced,
}

/// Arguments of `aes transcipher`.
#[derive(Args)]
pub struct AesTranscipherArgs {
    /// The server.
    #[command(flatten)]
    pub server: ServerArgs,
    /// The encrypted AES key, as written by `encrypt-key`
    #[arg(long, value_name = "FILE")]
    pub aes_key: PathBuf,
    /// The output of `upload`, or with --raw an AES ciphertext
    #[arg(long = "in", value_name = "FILE")]
    pub input: PathBuf,
    /// The input is a bare AES ciphertext, described by --mode and --iv alone. Nothing is checked:
    /// a wrong key, a wrong vector or truncated data give meaningless bytes
    #[arg(long)]
    pub raw: bool,
    /// The mode (default with --raw: ctr); an upload that states another one is refused
    #[arg(long, value_enum)]
    pub mode: Option<ModeArg>,
    /// The initialization vector or first counter block, in hexadecimal digits; an upload that
    /// states another one is refused
    #[arg(long, value_name = "HEX")]
    pub iv: Option<String>,
    /// The ciphertexts of its bytes.
    #[command(flatten)]
    pub out: OutArg,
    /// The method (default: the faster one for the amount of data)
    #[arg(long, value_enum)]
    pub method: Option<MethodArg>,
    /// Bootstrap the results, if the parameter set supports it
    #[arg(long)]
    pub refresh: bool,
}

/// Arguments of `aes decrypt`.
#[derive(Args)]
pub struct AesDecryptArgs {
    /// The secret key
    #[arg(long, value_name = "FILE")]
    pub key: PathBuf,
    /// The output of `transcipher`
    #[arg(long = "in", value_name = "FILE")]
    pub input: PathBuf,
    /// The data.
    #[command(flatten)]
    pub out: OutArg,
    /// The parameter set.
    #[command(flatten)]
    pub set: SetOfFile,
}

/// Commands below `aes`.
#[derive(Subcommand)]
pub enum AesCommand {
    /// Generate keys for transciphering: as `keygen`, with the server keys for AES
    Keygen(AesKeygenArgs),
    /// Encrypt an AES key for the server
    EncryptKey(AesEncryptKeyArgs),
    /// Encrypt data under AES for the server, or read data that are already encrypted; label them
    /// with the mode, the initialization vector and the ids of both keys, which `transcipher`
    /// checks
    Upload(AesUploadArgs),
    /// Turn AES-encrypted data into homomorphic ciphertexts of its bytes, without the AES key and
    /// without the secret key
    Transcipher(AesTranscipherArgs),
    /// Decrypt the output of `transcipher`
    Decrypt(AesDecryptArgs),
}
