//! What can be wrong with the parameters given to this crate.

use thiserror::Error;

/// Gives an error type a stable code for each variant, and the list of its codes. Variants that
/// hold an error of a layer below have that error's code.
///
/// For the crates of everlevel; docs/errors.md lists all codes, and a test compares.
#[doc(hidden)]
#[macro_export]
macro_rules! error_codes {
    ($error:ident { $($variant:ident => $code:literal,)* } $(inner { $($inner:ident),* })?) => {
        impl $error {
            /// The codes of this type, in the order of its variants; those of errors that it only
            /// passes on are theirs.
            pub const CODES: &'static [&'static str] = &[$($code),*];
            /// A name for programs, which does not change when messages do.
            pub fn code(&self) -> &'static str {
                match self {
                    $($error::$variant { .. } => $code,)*
                    $($($error::$inner(inner) => inner.code(),)*)?
                }
            }
        }
    };
}

/// A parameter that does not describe a modulus or a transform.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum ArithError {
    /// The modulus is even, smaller than 3 or not below 2^50.
    #[error(
        "modulus {found} is not an odd number between 3 and 2^50; choose an odd modulus in that \
         range"
    )]
    InvalidModulus {
        /// The rejected value.
        found: u64,
    },
    /// The transform length is outside the supported range.
    #[error(
        "transform length 2^{found} is not supported; choose an exponent between {min} and {max}"
    )]
    InvalidLength {
        /// The rejected binary logarithm.
        found: u32,
        /// The smallest supported binary logarithm.
        min: u32,
        /// The largest supported binary logarithm.
        max: u32,
    },
    /// The given root does not satisfy root^n = -1.
    #[error("{root} is not a primitive root of unity of order 2^{log_order} modulo {modulus}")]
    InvalidRoot {
        /// The modulus.
        modulus: u64,
        /// Binary logarithm of the required order, 2n.
        log_order: u32,
        /// The rejected root.
        root: u64,
    },
    /// The modulus is not prime, or has no root of unity of the required order.
    #[error(
        "{modulus} is not a prime that is 1 modulo 2^{log_order}; choose one with \
         primes::primes_congruent_one, or give the root explicitly"
    )]
    NoRoot {
        /// The modulus.
        modulus: u64,
        /// Binary logarithm of the required order, 2n.
        log_order: u32,
    },
    /// The index of a cyclotomic ring is a power of two, 2 modulo 4, or outside of the supported
    /// range.
    #[error(
        "index {found} has no axes; choose one from 3 to 262144 that is odd, or a multiple of 4 \
         and no power of 2, whose prime powers with exponents above 1 are at most 4096 and whose \
         other primes l have no prime factor above 4096 in l - 1 (2 modulo 4 has the ring of half \
         the index)"
    )]
    InvalidIndex {
        /// The rejected index.
        found: u64,
    },
    /// The modulus lacks the roots of unity that the transform of an index with axes needs.
    #[error(
        "{modulus} is not a prime that is 1 modulo {order}; choose one with \
         primes::primes_congruent_one"
    )]
    NoGroupRoot {
        /// The modulus.
        modulus: u64,
        /// What it must be 1 modulo.
        order: u64,
    },
    /// The processor lacks the instructions of a backend.
    #[error("this processor does not have the instructions of the backend {backend}")]
    MissingBackend {
        /// The name of the rejected backend.
        backend: &'static str,
    },
}

error_codes!(ArithError {
    InvalidModulus => "arith.invalid-modulus",
    InvalidLength => "arith.invalid-length",
    InvalidRoot => "arith.invalid-root",
    NoRoot => "arith.no-root",
    InvalidIndex => "arith.invalid-index",
    NoGroupRoot => "arith.no-group-root",
    MissingBackend => "arith.missing-backend",
});
