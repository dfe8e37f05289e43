//! The two places in the modulus where an exact ring-LWE scheme keeps its message.

use serde::{Deserialize, Serialize};

/// Where a ciphertext keeps its message. BGV and BFV are one scheme in two forms
/// (Geelen–Vercauteren 2022, section 3).
///
/// A BGV ciphertext has phase w = κ m + t ε, a BFV ciphertext the phase w / t modulo q. As 1/t =
/// (1 - q [1/q]_t) / t modulo q, that is (q/t) m' + ε' with m' = -κ m / q modulo t: the textbook's
/// ⌊q/t m'⌉ + ε'. Multiplication by t or 1/t converts one into the other, for free; modulus
/// switching, key switching, automorphisms and linear maps do the same to both, so that bounds,
/// levels and keys are shared. Only products differ: BGV multiplies phases, BFV scales the product
/// over the integers by t/q and rounds.
///
/// [`crate::Meta`] describes w in either form; a fresh BFV ciphertext has κ = -q modulo t, which
/// every operation keeps.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Form {
    /// The message in the low digits: phase κ m + t ε.
    #[default]
    Bgv,
    /// The message in the high digits: phase (κ m + t ε) / t modulo q.
    Bfv,
}

impl Form {
    /// What the polynomials of a ciphertext with plaintext modulus t have to be divided by, modulo
    /// q, so that their rounding errors and key-switching errors become multiples of t in w: t for
    /// BGV, nothing (1) for BFV.
    pub fn divisor(self, t: u64) -> u64 {
        match self {
            Form::Bgv => t,
            Form::Bfv => 1,
        }
    }

    /// What w has to be divided by, modulo q, to give the phase: 1 for BGV, t for BFV.
    pub fn scale(self, t: u64) -> u64 {
        match self {
            Form::Bgv => 1,
            Form::Bfv => t,
        }
    }

    /// The name: `bgv` or `bfv`.
    pub fn name(self) -> &'static str {
        match self {
            Form::Bgv => "bgv",
            Form::Bfv => "bfv",
        }
    }
}
