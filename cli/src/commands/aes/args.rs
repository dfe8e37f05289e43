//! Arguments of `aes`.

use std::path::PathBuf;

use clap::{Args, Subcommand, ValueEnum};

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
    /// Also for CBC and ECB, where AES runs backwards
    #[arg(long)]
    pub decryption: bool,
    /// Replace keys that are there: what they encrypted is lost without a copy of them
    #[arg(long)]
    pub force: bool,
}

/// Arguments of `aes encrypt-key`.
#[derive(Args)]
pub struct AesEncryptKeyArgs {
    /// The public key; with the secret key, the result has half the size
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

/// Modes of operation of AES.
#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum ModeArg {
    /// Counter mode: --iv is the first counter block, as for openssl enc -aes-128-ctr
    Ctr,
    /// GCM's counters: --iv has 24 digits; the tag (which is no part of the data) has to be checked
    /// by whoever has the key
    Gcm,
    /// CBC; padding stays in the data
    Cbc,
    /// ECB, block by block, without --iv; padding stays in the data
    Ecb,
}

impl ModeArg {
    /// As on the command line.
    pub fn name(self) -> &'static str {
        match self {
            ModeArg::Ctr => "ctr",
            ModeArg::Gcm => "gcm",
            ModeArg::Cbc => "cbc",
            ModeArg::Ecb => "ecb",
        }
    }
}

/// How states lie in ciphertexts.
#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum MethodArg {
    /// The bytes of a block side by side in one ciphertext: fastest for little data
    Packed,
    /// A ciphertext for each byte of a block: fastest for much
    ByteSliced,
}

/// Arguments of `aes transcipher`.
#[derive(Args)]
pub struct AesTranscipherArgs {
    /// The server.
    #[command(flatten)]
    pub server: ServerArgs,
    /// The AES key that `encrypt-key` encrypted
    #[arg(long, value_name = "FILE")]
    pub aes_key: PathBuf,
    /// The mode
    #[arg(long, value_enum, default_value = "ctr")]
    pub mode: ModeArg,
    /// The initialization vector or first counter block, in hexadecimal digits
    #[arg(long, value_name = "HEX")]
    pub iv: Option<String>,
    /// The AES ciphertext
    #[arg(long = "in", value_name = "FILE")]
    pub input: PathBuf,
    /// The ciphertexts of its bytes.
    #[command(flatten)]
    pub out: OutArg,
    /// The method (absent: the faster one for so much data)
    #[arg(long, value_enum)]
    pub method: Option<MethodArg>,
    /// Bootstrap the results, where the set can
    #[arg(long)]
    pub refresh: bool,
}

/// Arguments of `aes decrypt`.
#[derive(Args)]
pub struct AesDecryptArgs {
    /// The secret key
    #[arg(long, value_name = "FILE")]
    pub key: PathBuf,
    /// What `transcipher` wrote
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
    /// Make keys for transciphering: as `keygen`, with the server keys that AES takes
    Keygen(AesKeygenArgs),
    /// Encrypt an AES key for the server
    EncryptKey(AesEncryptKeyArgs),
    /// Turn AES data into ciphertexts whose slots are its bytes, as a server: without the AES key
    /// and without the secret key
    Transcipher(AesTranscipherArgs),
    /// Decrypt what `transcipher` wrote
    Decrypt(AesDecryptArgs),
}
