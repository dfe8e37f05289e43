//! Arguments of `papers aes`.

use clap::{Args, ValueEnum};

/// The scheme that AES is evaluated over.
#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum AesScheme {
    /// BGV
    Bgv,
    /// LTV over NTRU, for study: its parameters are insecure
    Ltv,
}

/// What moduli are made of.
#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Chain {
    /// Distinct primes
    Rns,
    /// Powers of one prime, as Doröz, Hu and Sunar have them; LTV only
    PrimePower,
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

/// Arguments of `papers aes`.
#[derive(Args)]
pub struct AesArgs {
    /// The scheme
    #[arg(long, value_enum, default_value = "bgv")]
    pub scheme: AesScheme,
    /// A parameter set with plaintext modulus 2, by name (see `everlevel params list` and `papers
    /// sets`) or as a JSON file; aes-bgv-leveled holds 128 bits, ltv-32768 and ltv-27000 are those
    /// of Doröz, Hu and Sunar and hold none
    #[arg(long, value_name = "NAME|FILE.json", default_value = "aes-bgv-leveled")]
    pub params: String,
    /// What moduli are made of
    #[arg(long, value_enum, default_value = "rns")]
    pub chain: Chain,
    /// How a state is cut into ciphertexts (absent: byte-sliced for BGV, bit-sliced, as in the
    /// paper, for LTV)
    #[arg(long, value_enum)]
    pub method: Option<Slicing>,
    /// Only the first rounds
    #[arg(
        long,
        value_name = "K",
        default_value_t = 10,
        value_parser = clap::value_parser!(u8).range(1..=10)
    )]
    pub rounds: u8,
}

impl AesArgs {
    /// How a state is cut.
    pub fn slicing(&self) -> Slicing {
        self.method.unwrap_or(match self.scheme {
            AesScheme::Bgv => Slicing::ByteSliced,
            AesScheme::Ltv => Slicing::BitSliced,
        })
    }
}
