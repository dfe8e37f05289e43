//! The two forms of ciphertexts, BGV and BFV: the message in the low or in the high digits of the
//! modulus.

use serde::{Deserialize, Serialize};

/// The form of a ciphertext: where the message is in the phase. BGV and BFV are one scheme in two
/// forms (Geelen–Vercauteren 2022, section 3).
///
/// A BGV ciphertext has phase w = κ m + t ε, a BFV ciphertext the phase w / t modulo q. As 1/t =
/// (1 - q [1/q]_t) / t modulo q, where \[·\]_t is the residue modulo t, that is (q/t) m' + ε' with
/// m' = -κ m / q modulo t: the usual ⌊q/t m'⌉ + ε'. Multiplication by t or 1/t modulo q converts
/// one form into the other without noise; modulus switching, key switching, automorphisms and
/// linear maps are the same for both, so that bounds, levels and keys are shared. Only products
/// differ: BGV multiplies phases, BFV scales the product over the integers by t/q and rounds.
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
    /// The divisor, modulo q, of the polynomials of a ciphertext with plaintext modulus t before
    /// modulus switching and key switching, so that rounding errors and key-switching errors become
    /// multiples of t in w: t for BGV, 1 for BFV.
    pub fn divisor(self, t: u128) -> u128 {
        match self {
            Form::Bgv => t,
            Form::Bfv => 1,
        }
    }

    /// The divisor, modulo q, that takes w to the phase: 1 for BGV, t for BFV.
    pub fn scale(self, t: u128) -> u128 {
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
