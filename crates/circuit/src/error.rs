//! Errors of the circuit layer.

use everlevel_ring::RingError;
use everlevel_scheme::SchemeError;

use crate::digits::kind::expected_names;

/// The errors of circuits and their use.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum CircuitError {
    /// The scheme refused an operation.
    #[error(transparent)]
    Scheme(#[from] SchemeError),
    /// The ring refused a modulus or an inverse.
    #[error(transparent)]
    Ring(#[from] RingError),
    /// Two objects are for different plaintext moduli.
    #[error("plaintext moduli differ: expected {expected}, found {found}")]
    ModulusMismatch {
        /// The modulus that was needed.
        expected: u128,
        /// The modulus that was given.
        found: u128,
    },
    /// A vector of slot values has the wrong length.
    #[error("the number of slot values is {found}: expected {expected}")]
    SlotCount {
        /// The length that was needed.
        expected: usize,
        /// The length that was given.
        found: usize,
    },
    /// A periodic vector does not fit the shape of the slots.
    #[error(
        "a diagonal of period {period} with {values} values does not fit {columns} columns of \
         slots: expected a period that divides the number of columns, and 2 * period values"
    )]
    BadDiagonal {
        /// Its period.
        period: usize,
        /// How many values it has.
        values: usize,
        /// Columns of the shape.
        columns: usize,
    },
    /// The layout of the slots does not fit this circuit.
    #[error(
        "the slots have {columns} columns: this circuit needs a power of two; use a set such as \
         bgv-65537-n15"
    )]
    UnsupportedShape {
        /// Columns found.
        columns: usize,
    },
    /// A linear map is along axes, and the index has none.
    #[error(
        "index {index} does not have the axes that this map is along, as a power of two has none: \
         use a set such as bgv-2-m42799"
    )]
    UnsupportedIndex {
        /// The index of the ring.
        index: u64,
    },
    /// The diagonals of a linear map along axes would take too much memory.
    #[error(
        "the diagonals of a linear map have {words} words in all, above the limit of {most}: split \
         the map into more groups, or use an index of which a short axis carries Frobenius, such \
         as that of bgv-2-m42799"
    )]
    LargeMap {
        /// How many words there would be.
        words: u64,
        /// The limit.
        most: u64,
    },
    /// An operation of typed integers in a program on values modulo p^r.
    #[error(
        "column {column} of the program: there is no {operation} of values modulo p^r, only of \
         typed integers: encrypt typed columns, on a set such as bgv-65537-n15, or multiply by the \
         inverse instead of dividing"
    )]
    TypedOnly {
        /// Where in the text, from 1.
        column: usize,
        /// The operation.
        operation: &'static str,
    },
    /// A dimension that the slots do not have.
    #[error(
        "the slots have no dimension {dimension}: the number of dimensions is {dimensions}, \
         counted from 0"
    )]
    UnknownDimension {
        /// The requested dimension.
        dimension: usize,
        /// How many there are.
        dimensions: usize,
    },
    /// Linear maps of different shapes cannot be composed.
    #[error(
        "linear maps on {left} and on {right} columns cannot be composed: give maps on the same \
         number of columns"
    )]
    ShapeMismatch {
        /// Columns of the first map.
        left: usize,
        /// Columns of the second map.
        right: usize,
    },
    /// The split points of the stages of a transform are invalid.
    #[error(
        "split points {splits:?} do not divide {stages} stages: expected strictly increasing \
         numbers between 1 and {stages} exclusive"
    )]
    BadSplits {
        /// The split points given.
        splits: Vec<usize>,
        /// The number of stages.
        stages: usize,
    },
    /// The group sizes of the stages of a transform are invalid.
    #[error("groups of {sizes:?} stages: expected positive numbers that add up to {stages}")]
    BadSizes {
        /// The sizes given.
        sizes: Vec<usize>,
        /// The number of stages.
        stages: usize,
    },
    /// A linear map needs more keys than the limit allows.
    #[error(
        "a linear map of {diagonals} diagonals has no baby-step giant-step plan with {max_keys} \
         keys or fewer: raise the limit or split the map"
    )]
    TooManyKeys {
        /// Number of diagonals of the map.
        diagonals: usize,
        /// The limit.
        max_keys: usize,
    },
    /// A prepared linear map or program is applied to a ciphertext with another plaintext exponent.
    #[error(
        "the linear map or program was prepared for plaintext exponent {expected}, but the \
         ciphertext has exponent {found}: prepare it for that exponent"
    )]
    ExponentMismatch {
        /// Exponent of the prepared map or program.
        expected: u32,
        /// Exponent of the ciphertext.
        found: u32,
    },
    /// A program is run with the wrong number of inputs.
    #[error("the number of inputs is {found}: the program has {expected}")]
    InputCount {
        /// Inputs of the program.
        expected: usize,
        /// Inputs given.
        found: usize,
    },
    /// Arrays of different numbers of ciphertexts.
    #[error("arrays of {expected} and of {found} ciphertexts: give arrays of one size")]
    BlockCount {
        /// Ciphertexts of the first array.
        expected: usize,
        /// Ciphertexts of another one.
        found: usize,
    },
    /// A program refers to a node that it does not have.
    #[error("node {node} does not exist yet: the program has {nodes} nodes")]
    UnknownNode {
        /// The node asked for.
        node: usize,
        /// How many nodes there are.
        nodes: usize,
    },
    /// The plaintext exponents inside of a program do not fit together.
    #[error("plaintext exponents do not fit: expected {expected}, found {found}")]
    ProgramExponent {
        /// What the operation needs.
        expected: u32,
        /// What it met.
        found: u32,
    },
    /// Nothing to evaluate.
    #[error("{what} is empty: give at least one")]
    Empty {
        /// What was empty.
        what: &'static str,
    },
    /// No method of evaluation is within the allowed depth.
    #[error(
        "no evaluation within depth {allowed}: at least {needed} levels are needed; allow that \
         depth"
    )]
    TooDeep {
        /// The depth allowed.
        allowed: u32,
        /// The least depth possible.
        needed: u32,
    },
    /// The bound on the overflow does not fit the plaintext modulus.
    #[error("overflow bound B = {bound} does not fit p = {p}: {reason}")]
    OverflowBound {
        /// B.
        bound: u64,
        /// The prime.
        p: u64,
        /// The condition that fails.
        reason: &'static str,
    },
    /// A digit removal whose table cannot be computed.
    #[error("removing {v} digits of {e} to the base {p} with |i| <= {bound}: {reason}")]
    DigitProblem {
        /// The prime.
        p: u64,
        /// Digits of the input.
        e: u32,
        /// Digits to be removed.
        v: u32,
        /// The bound on their value.
        bound: u64,
        /// The condition that fails.
        reason: &'static str,
    },
    /// A digit removal that does not exist.
    #[error("no digit removal is named {name:?}: expected {}, N being a number", expected_names())]
    UnknownMethod {
        /// The name asked for.
        name: String,
    },
    /// A bootstrapping plan does not belong to this scheme.
    #[error("the bootstrapping plan does not fit the scheme: {reason}")]
    PlanMismatch {
        /// What differs.
        reason: &'static str,
    },
    /// No candidate plan passed the dry run.
    #[error(
        "none of the {tried} bootstrapping plans fits the modulus; the last one failed with: \
         {last}"
    )]
    NoPlan {
        /// How many were tried.
        tried: usize,
        /// Why the last one failed.
        last: String,
    },
    /// A program lacks one of its inputs.
    #[error("the program reads {name}, which is not given; given are: {given}")]
    MissingInput {
        /// What it reads.
        name: String,
        /// What there is.
        given: String,
    },
    /// No combination of the available keys gives this rotation.
    #[error(
        "no rotation key covers a rotation by {steps}: add it to the key plan and generate the \
         keys again"
    )]
    NoRoute {
        /// Columns to the left.
        steps: i64,
    },
    /// Bootstrapping without keys for it, or over a set that has none.
    #[error(
        "the server keys or the parameter set do not support bootstrapping: use a set with a \
         bootstrapping section, such as bgv-65537-n15, and server keys for bootstrapping"
    )]
    NoBootstrapping,
    /// An operation leaves too little capacity even on freshly bootstrapped operands.
    #[error(
        "the operation leaves {left:.1} bits of capacity even after bootstrapping its operands; \
         {needed:.1} are needed to bootstrap its result: use a set with more levels, such as \
         bgv-65537-n16"
    )]
    NotEnoughCapacity {
        /// Capacity of the result in bits.
        left: f64,
        /// Capacity needed to be bootstrapped.
        needed: f64,
    },
    /// An operation on integers whose range is unknown or too large, so that residues would not
    /// determine the integers.
    #[error(
        "{operation}: the range of the values is {found}: expected {allowed}, as arithmetic modulo \
         p^r wraps: state the range of what is encrypted, and keep results within, or use typed \
         integers, which do not wrap, on bgv-65537-n15"
    )]
    Range {
        /// The refused operation.
        operation: &'static str,
        /// The range, or that it is unknown.
        found: String,
        /// What the range would have to be.
        allowed: String,
    },
}

everlevel_ring::error_codes!(CircuitError {
    ModulusMismatch => "circuit.modulus-mismatch",
    SlotCount => "circuit.slot-count",
    BadDiagonal => "circuit.bad-diagonal",
    UnsupportedShape => "circuit.unsupported-shape",
    UnsupportedIndex => "circuit.unsupported-index",
    LargeMap => "circuit.large-map",
    TypedOnly => "circuit.typed-only",
    UnknownDimension => "circuit.unknown-dimension",
    ShapeMismatch => "circuit.shape-mismatch",
    BadSplits => "circuit.bad-splits",
    BadSizes => "circuit.bad-sizes",
    TooManyKeys => "circuit.too-many-keys",
    ExponentMismatch => "circuit.exponent-mismatch",
    BlockCount => "circuit.block-count",
    InputCount => "circuit.input-count",
    UnknownNode => "circuit.unknown-node",
    ProgramExponent => "circuit.program-exponent",
    Empty => "circuit.empty",
    TooDeep => "circuit.too-deep",
    OverflowBound => "circuit.overflow-bound",
    DigitProblem => "circuit.digit-problem",
    UnknownMethod => "circuit.unknown-method",
    PlanMismatch => "circuit.plan-mismatch",
    NoPlan => "circuit.no-plan",
    MissingInput => "circuit.missing-input",
    NoRoute => "circuit.no-route",
    NoBootstrapping => "circuit.no-bootstrapping",
    NotEnoughCapacity => "circuit.not-enough-capacity",
    Range => "circuit.range",
} inner { Scheme, Ring });
