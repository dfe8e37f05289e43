//! Errors of typed integers.

use everlevel_circuit::CircuitError;
use everlevel_ring::RingError;
use everlevel_scheme::SchemeError;

use crate::interval::Interval;

/// An error of typed integers or of their use.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum IntegersError {
    /// The scheme refused an operation.
    #[error(transparent)]
    Scheme(#[from] SchemeError),
    /// The ring refused a modulus or an inverse.
    #[error(transparent)]
    Ring(#[from] RingError),
    /// A circuit or a bootstrapping was refused for a reason that is none of the others.
    #[error(transparent)]
    Circuit(CircuitError),
    /// A result could exceed the range that a value can have.
    #[error(
        "{operation} of {operands} could leave {allowed}: state narrower bounds when the values \
         are encrypted, or clip them first"
    )]
    Range {
        /// The operation.
        operation: &'static str,
        /// The intervals of its operands.
        operands: String,
        /// The interval that the result has to stay in.
        allowed: Interval,
    },
    /// A value is outside of what its type or its bounds allow.
    #[error("value {value} at position {position}: expected {expected}")]
    Value {
        /// The value, or the residue where it was decrypted.
        value: i128,
        /// Its place in the column.
        position: usize,
        /// What was expected.
        expected: String,
    },
    /// More digits than carries are computed for.
    #[error(
        "{interval} needs {digits} hexadecimal digits: at most {highest} can be carried, so keep \
         values that are compared or looked up below 124 bits"
    )]
    Width {
        /// The interval of the value.
        interval: Interval,
        /// The number of digits that it needs.
        digits: usize,
        /// The largest number of digits.
        highest: usize,
    },
    /// Columns of different lengths, or one that does not fit the slots.
    #[error("a column of {found} values: expected {expected}")]
    Length {
        /// The number of values.
        found: usize,
        /// What was expected.
        expected: String,
    },
    /// An operand of a type for which the operation does not exist.
    #[error("{operation} of {found}: expected {expected}")]
    Type {
        /// The operation.
        operation: &'static str,
        /// The interval found.
        found: Interval,
        /// What was expected, and how to get there.
        expected: &'static str,
    },
    /// No type has this name.
    #[error(
        "no type is named {name:?}: expected bool, u8 to u64, i8 to i64 or LOW..HIGH, in integers; \
         state decimals in their smallest unit, cents say, or encrypt a table"
    )]
    Name {
        /// The name found.
        name: String,
    },
    /// A table does not fit the values that are looked up.
    #[error("a table of {entries} entries for values of {interval}: expected {expected}")]
    Table {
        /// Entries of the table.
        entries: usize,
        /// The interval of the values.
        interval: Interval,
        /// What was expected.
        expected: String,
    },
    /// Parts that do not make up a column or a total.
    #[error("the parts of an encrypted column: {problem}")]
    Parts {
        /// What is wrong with them.
        problem: String,
    },
    /// Too few levels, either without bootstrapping or even after it.
    #[error(
        "a step of depth {depth} does not fit: {left:.1} bits of capacity are left and \
         {needed:.1} bits have to remain; {}",
        way_out(.bootstraps)
    )]
    Depth {
        /// The depth of the step, which is a table, a product or a sum.
        depth: u32,
        /// The capacity of its inputs, in bits.
        left: f64,
        /// The capacity that its results must have, in bits.
        needed: f64,
        /// Whether the server bootstraps, so that this is what a bootstrapping leaves.
        bootstraps: bool,
    },
    /// A planned program would take more memory than allowed.
    #[error(
        "{name}: keys and ciphertexts of {needed} MiB: expected at most {limit} MiB; plan for \
         fewer entries and run the plan on one part after the other, or allow more"
    )]
    Memory {
        /// The parameter set.
        name: String,
        /// The memory that it takes, in MiB.
        needed: u64,
        /// The memory that is allowed, in MiB.
        limit: u64,
    },
    /// More sums of products over all rows than the limit.
    #[error(
        "more than {most} sums of products of digits over all rows: ask for fewer groups and sums \
         at a time, or state narrower bounds when the values are encrypted"
    )]
    Sums {
        /// The limit.
        most: usize,
    },
    /// A parameter set that does not support typed integers, or some operations on them.
    #[error("parameter set {name}: {problem}")]
    Set {
        /// Its name.
        name: String,
        /// What is wrong with it.
        problem: &'static str,
    },
}

everlevel_ring::error_codes!(IntegersError {
    Range => "integers.range",
    Value => "integers.value",
    Width => "integers.width",
    Length => "integers.length",
    Type => "integers.type",
    Name => "integers.name",
    Table => "integers.table",
    Parts => "integers.parts",
    Depth => "integers.depth",
    Memory => "integers.memory",
    Sums => "integers.sums",
    Set => "integers.set",
} inner { Scheme, Ring, Circuit });

impl IntegersError {
    /// Whether the refused operation might be possible with another parameter set, or with
    /// bootstrapping.
    pub fn depends_on_set(&self) -> bool {
        matches!(
            self,
            IntegersError::Depth { .. }
                | IntegersError::Set { .. }
                | IntegersError::Length { .. }
                | IntegersError::Memory { .. }
                | IntegersError::Circuit(CircuitError::NotEnoughCapacity { .. })
                | IntegersError::Scheme(SchemeError::NoiseOverflow { .. })
        )
    }
}

/// What to do where a step is too deep.
fn way_out(bootstraps: &bool) -> &'static str {
    match bootstraps {
        true => {
            "after bootstrapping, this parameter set has too few levels for it: use one on which \
             every operation fits, such as bgv-65537-n15"
        }
        false => {
            "the server does not bootstrap: if its keys were made for another program or plan, \
             make those of this one; else use a server that bootstraps, under a parameter set on \
             which every operation fits, such as bgv-65537-n15"
        }
    }
}

/// What a circuit only passed on keeps the variant that it has here.
impl From<CircuitError> for IntegersError {
    fn from(e: CircuitError) -> Self {
        match e {
            CircuitError::Scheme(e) => IntegersError::Scheme(e),
            CircuitError::Ring(e) => IntegersError::Ring(e),
            e => IntegersError::Circuit(e),
        }
    }
}
