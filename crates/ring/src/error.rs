//! Errors of the ring layer.

/// What can be wrong with a ring, a basis or a plaintext.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum RingError {
    /// The index of the cyclotomic ring is not supported.
    #[error(
        "ring index m = {index} is not supported: expected, up to 262144, a power of two from 32, \
         an odd number from 3, or 4 to 4096 times one (2 modulo 4 has the ring of m / 2), whose \
         odd prime powers with exponents above 1 are at most 4096 and whose other odd primes l \
         have no prime factor above 4096 in l - 1"
    )]
    UnsupportedIndex {
        /// The index found.
        index: u64,
    },
    /// A prime does not fit the ring.
    #[error(
        "modulus {value} does not fit the ring of index {index}: expected a prime below 2^50 that \
         is 1 modulo {index}"
    )]
    BadPrime {
        /// The prime found.
        value: u64,
        /// The index of the ring.
        index: u64,
    },
    /// A base of digits does not fit.
    #[error(
        "digits to the base {prime} in blocks of {block} are not usable: expected a prime from 17 \
         to 2^31, blocks of 1 to 16 digits and few enough transform primes"
    )]
    BadDigits {
        /// The base found.
        prime: u32,
        /// The size of the blocks found.
        block: usize,
    },
    /// Two primes of the ring are equal.
    #[error("prime {value} occurs twice: the primes of a ring must differ")]
    RepeatedPrime {
        /// The prime found twice.
        value: u64,
    },
    /// Too many primes.
    #[error("{count} primes: a ring holds at most {max}", max = crate::basis::MAX_PRIMES)]
    TooManyPrimes {
        /// How many were given.
        count: usize,
    },
    /// p^e is no plaintext modulus.
    #[error(
        "plaintext modulus {p}^{exponent} is not usable: expected p = 2 or an odd p, an exponent \
         of at least 1, and p^e of at most 2^64"
    )]
    PlainModulus {
        /// The prime.
        p: u64,
        /// The exponent.
        exponent: u32,
    },
    /// A number has no inverse modulo the plaintext modulus.
    #[error("{value} has no inverse modulo {modulus}: the two numbers have a common factor")]
    NotInvertible {
        /// The number.
        value: u64,
        /// The plaintext modulus.
        modulus: u128,
    },
    /// The plaintext modulus does not fit the ring.
    #[error("plaintext modulus {p}^{exponent} does not fit the ring of index {index}: {reason}")]
    BadPlainModulus {
        /// The prime.
        p: u64,
        /// The exponent.
        exponent: u32,
        /// The index of the ring.
        index: u64,
        /// What is wrong with it.
        reason: &'static str,
    },
    /// The ring's index has no such axis.
    #[error(
        "index {index} has no axis {axis}: an index has an axis for each of its prime factors, \
         counted from 0, and a power of two has none"
    )]
    NoAxis {
        /// The axis, counted from 0.
        axis: usize,
        /// The index of the ring.
        index: u64,
    },
    /// An operation of the other kind of rings.
    #[error("{operation} needs a ring whose index is {expected}, found index {index}")]
    WrongIndexKind {
        /// What was asked for.
        operation: &'static str,
        /// The kind of index that has it.
        expected: &'static str,
        /// The index of the ring.
        index: u64,
    },
    /// A polynomial that defines no Galois ring.
    #[error(
        "the modulus polynomial has degree {degree}: expected a monic polynomial of degree at \
         least 1, with coefficients below the modulus"
    )]
    ModulusPolynomial {
        /// Its degree.
        degree: usize,
    },
    /// More values than slots.
    #[error(
        "{found} values for {slots} slots: give at most {slots} values, or use a set with more \
         slots, such as bgv-786433-n16, which has 65536"
    )]
    TooManyValues {
        /// Number of values given.
        found: usize,
        /// Number of slots.
        slots: usize,
    },
    /// A value is outside of the plaintext space.
    #[error(
        "value {value} at position {position} is outside of 0..{modulus}: reduce it first, encode \
         signed values as such, or use typed integers, on a set such as bgv-65537-n15"
    )]
    ValueOutOfRange {
        /// The value.
        value: u64,
        /// Its position.
        position: usize,
        /// The plaintext modulus.
        modulus: u128,
    },
    /// A number of residues that fits neither the slots nor the degree.
    #[error("the number of residues is {found}: expected {expected}")]
    ResidueCount {
        /// Number of residues given.
        found: usize,
        /// Number of residues needed.
        expected: usize,
    },
    /// A period that does not divide the columns of the slots.
    #[error(
        "period {period} does not divide the {columns} columns of slots: choose a period that does"
    )]
    BadPeriod {
        /// The period.
        period: usize,
        /// The number of columns.
        columns: usize,
    },
    /// A power of p that the plaintext ring was not built for.
    #[error(
        "plaintext exponent {exponent} is not available: expected 1 to {highest}, for which the \
         plaintext ring was built"
    )]
    UnknownExponent {
        /// The exponent.
        exponent: u32,
        /// The highest one there is.
        highest: u32,
    },
    /// A plaintext has slots outside of Z/p^e, or of the base ring.
    #[error(
        "the plaintext is not thin: its coefficient of X^{coefficient} shows that slots hold \
         values outside of the requested subring; read the slots as whole ring elements"
    )]
    NotThin {
        /// The first coefficient that does not fit.
        coefficient: usize,
    },
    /// An automorphism that the ring does not have.
    #[error(
        "X -> X^{element} is not an automorphism of the ring of index {index}: the exponent must \
         be a unit modulo the index"
    )]
    NotAnAutomorphism {
        /// The exponent.
        element: u64,
        /// The index of the ring.
        index: u64,
    },
    /// The arithmetic layer refused a modulus.
    #[error(transparent)]
    Arith(#[from] everlevel_arith::ArithError),
    /// An engine failed; results of it are lost.
    #[error("the engine {engine} failed, and its results are lost: {problem}")]
    Engine {
        /// The name of the engine.
        engine: String,
        /// What happened.
        problem: String,
    },
    /// The system's random source failed.
    #[error("the random source of the system failed: {0}")]
    Random(String),
}

everlevel_arith::error_codes!(RingError {
    UnsupportedIndex => "ring.unsupported-index",
    BadPrime => "ring.bad-prime",
    BadDigits => "ring.bad-digits",
    RepeatedPrime => "ring.repeated-prime",
    TooManyPrimes => "ring.too-many-primes",
    PlainModulus => "ring.plain-modulus",
    NotInvertible => "ring.not-invertible",
    BadPlainModulus => "ring.bad-plain-modulus",
    NoAxis => "ring.no-axis",
    WrongIndexKind => "ring.wrong-family",
    ModulusPolynomial => "ring.modulus-polynomial",
    TooManyValues => "ring.too-many-values",
    ValueOutOfRange => "ring.value-out-of-range",
    ResidueCount => "ring.residue-count",
    BadPeriod => "ring.bad-period",
    UnknownExponent => "ring.unknown-exponent",
    NotThin => "ring.not-thin",
    NotAnAutomorphism => "ring.not-an-automorphism",
    Engine => "ring.engine",
    Random => "ring.random",
} inner { Arith });
