//! The gadgets of switching keys, and the form in which keys are stored.

use serde::{Deserialize, Serialize};

/// The digits into which key switching decomposes a ciphertext.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Gadget {
    /// Digits to the base 2^bits; 1 bit in the paper, windows in Öztürk, Doröz, Savaş and Sunar
    /// (2015).
    Windows {
        /// The bits of a digit, 1 to 16.
        bits: u32,
    },
    /// Digits to the base p^rows, and p^rows as a special modulus, by which results are divided.
    Hybrid {
        /// The rows of a digit, 1 to 16.
        rows: usize,
    },
}

/// The form in which keys are stored: the two rows of the paper's Table 6.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum KeyForm {
    /// In the transform domain. As blocks of rows have the same transform primes at every level,
    /// these are the keys of all levels.
    Evaluations,
    /// In digits, less than half the memory; transformed at every use.
    Polynomial,
}
