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
    /// Powers of one prime, as in Doröz, Hu and Sunar; LTV only
    PrimePower,
}

/// What a ciphertext holds of a block.
#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Slicing {
    /// A bit: S-boxes in a tower field (Doröz, Hu, Sunar 2014)
    BitSliced,
    /// A byte: S-boxes as x^254, in slots whose degree is a multiple of 8
    ByteSliced,
    /// A whole block, along a dimension of 16 slots: the least latency, a sixteenth of the blocks
    Packed,
}

/// How the evaluation keys of LTV over prime powers are kept.
#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Keys {
    /// Transformed, as in the paper's timed run
    Transformed,
    /// As polynomials, transformed for each use: less memory, more time
    Polynomials,
}

/// Arguments of `papers aes`.
#[derive(Args)]
pub struct AesArgs {
    /// The scheme
    #[arg(long, value_enum, default_value = "bgv")]
    pub scheme: AesScheme,
    /// A parameter set with plaintext modulus 2, by name (see `everlevel params list` and `papers
    /// sets`) or as a JSON file (default: for BGV aes-bgv-bits for bits and aes-bgv-leveled for
    /// bytes, with 128 bits of security; for LTV ltv-32768, which like ltv-27000 is from Doröz, Hu
    /// and Sunar and insecure)
    #[arg(long, value_name = "NAME|FILE.json")]
    pub params: Option<String>,
    /// The kind of moduli
    #[arg(long, value_enum, default_value = "rns")]
    pub chain: Chain,
    /// How a state is split into ciphertexts (default: byte-sliced for BGV, bit-sliced, as in the
    /// paper, for LTV)
    #[arg(long, value_enum)]
    pub method: Option<Slicing>,
    /// How evaluation keys are kept; polynomials for --chain prime-power only
    #[arg(long, value_enum, default_value = "transformed")]
    pub keys: Keys,
    /// The number of AES rounds
    #[arg(
        long,
        value_name = "K",
        default_value_t = 10,
        value_parser = clap::value_parser!(u8).range(1..=10)
    )]
    pub rounds: u8,
    /// Begin at the lowest level from which that much capacity is left after AES, in bits; --chain
    /// rns only (default: at the top level)
    #[arg(long, value_name = "BITS")]
    pub left: Option<u32>,
}

impl AesArgs {
    /// The parameter set.
    pub fn set(&self) -> &str {
        match (&self.params, self.scheme, self.slicing()) {
            (Some(name), ..) => name,
            (None, AesScheme::Ltv, _) => "ltv-32768",
            (None, AesScheme::Bgv, Slicing::BitSliced) => "aes-bgv-bits",
            (None, AesScheme::Bgv, Slicing::ByteSliced | Slicing::Packed) => "aes-bgv-leveled",
        }
    }

    /// How a state is cut.
    pub fn slicing(&self) -> Slicing {
        self.method.unwrap_or(match self.scheme {
            AesScheme::Bgv => Slicing::ByteSliced,
            AesScheme::Ltv => Slicing::BitSliced,
        })
    }
}

#[cfg(test)]
impl AesArgs {
    /// From the words of a command line.
    pub(super) fn of_line(line: &str) -> Self {
        #[derive(clap::Parser)]
        struct Line {
            #[command(flatten)]
            args: AesArgs,
        }
        let words = std::iter::once("papers").chain(line.split_whitespace());
        <Line as clap::Parser>::parse_from(words).args
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_scheme_and_method_has_a_set() {
        for (line, set) in [
            ("", "aes-bgv-leveled"),
            ("--method packed", "aes-bgv-leveled"),
            ("--scheme bgv --method bit-sliced", "aes-bgv-bits"),
            ("--scheme ltv", "ltv-32768"),
            ("--scheme ltv --method byte-sliced", "ltv-32768"),
            ("--method bit-sliced --params mine.json", "mine.json"),
        ] {
            assert_eq!(AesArgs::of_line(line).set(), set, "{line}");
        }
    }
}
