//! The answers of the planner.

use everlevel::{KeyPlan, Params, Type};
use everlevel_integers::Counted;
use serde::{Serialize, Serializer};

/// The method of computation.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Way {
    /// Integers modulo p^r whose sums and products do not wrap: one ciphertext for a column.
    Modular,
    /// Encrypted tables, asked in SQL.
    Tables,
    /// Typed integers: one ciphertext for each hexadecimal digit; all operations are supported.
    Integers,
}

/// The cost of an operation on all rows.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct OperationCost {
    /// Its name.
    pub operation: &'static str,
    /// The line of a program, or the query, that was rehearsed.
    pub rehearsed: String,
    /// The least possible result; `None` for answers to queries.
    pub low: Option<String>,
    /// The largest possible result; `None` for answers to queries.
    pub high: Option<String>,
    /// Products of ciphertexts, those in bootstrappings included.
    pub products: u64,
    /// Bootstrappings.
    pub refreshes: u64,
    /// Seconds of one core by [`everlevel::TimeModel::typical`].
    pub seconds: f64,
}

impl OperationCost {
    /// The cost of an operation from its counts, and the ends of its results.
    pub(super) fn new(
        counted: Counted,
        operation: &'static str,
        rehearsed: String,
        (low, high): (i128, i128),
    ) -> Self {
        OperationCost {
            operation,
            rehearsed,
            low: Some(low.to_string()),
            high: Some(high.to_string()),
            products: counted.products,
            refreshes: counted.refreshes,
            seconds: counted.seconds,
        }
    }
}

/// A recommendation: everything in it was rehearsed.
#[derive(Clone, Debug, Serialize)]
pub struct Recommendation {
    /// The method.
    pub way: Way,
    /// The parameter set.
    #[serde(rename = "set", serialize_with = "name")]
    pub params: Params,
    /// Its security in bits.
    pub security_bits: f64,
    /// The number of values in a ciphertext.
    pub slots: usize,
    /// The type for the values; `None` if they are stated as a range.
    #[serde(rename = "type", serialize_with = "shown")]
    pub kind: Option<Type>,
    /// The least value.
    pub low: String,
    /// The largest value.
    pub high: String,
    /// The number of ciphertexts of one column of all rows.
    pub ciphertexts: u64,
    /// Their size in bytes if they are encrypted with the public key; it is half of that with the
    /// secret key.
    pub ciphertext_bytes: u64,
    /// The size in bytes of the server keys that the commands below generate.
    pub key_bytes: u64,
    /// These keys.
    #[serde(skip)]
    pub(super) keys: KeyPlan,
    /// Whether ciphertexts are bootstrapped automatically, so that programs may have any length.
    pub refreshes_automatically: bool,
    /// The seconds for all operations, once each, on one core, by a model.
    pub seconds: f64,
    /// The cost of each operation.
    pub operations: Vec<OperationCost>,
    /// What the set takes and what the one that uses all slots of the ring takes, if the set uses
    /// fewer; otherwise empty.
    pub compared: Vec<SetCost>,
    /// The commands to run next.
    pub commands: Vec<String>,
    /// The same in Python.
    pub python: Vec<String>,
    /// Notes that the user has to know.
    pub notes: Vec<String>,
}

/// What a workload takes on one of the sets that are compared. Seconds are those of one core by
/// [`everlevel::TimeModel::typical`].
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct SetCost {
    /// The name of the set.
    pub set: String,
    /// The number of values in a ciphertext.
    pub slots: usize,
    /// The size in bytes of the server keys in a file.
    pub key_bytes: u64,
    /// The bytes of the server keys in memory, with nothing left as a seed, and of one column of
    /// all rows.
    pub memory_bytes: u64,
    /// The seconds of one bootstrapping.
    pub refresh_seconds: f64,
    /// The seconds for all operations, once each, on columns as they are encrypted.
    pub seconds: f64,
    /// The seconds for all operations, once each, on columns that have to be bootstrapped before
    /// anything; `None` unless they are typed integers.
    pub exhausted_seconds: Option<f64>,
}

fn name<S: Serializer>(params: &Params, out: S) -> Result<S::Ok, S::Error> {
    out.serialize_str(params.name())
}

fn shown<S: Serializer>(kind: &Option<Type>, out: S) -> Result<S::Ok, S::Error> {
    match kind {
        Some(kind) => out.collect_str(kind),
        None => out.serialize_none(),
    }
}

/// A method that is not recommended.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Rejected {
    /// The method.
    pub way: Way,
    /// The reason.
    pub reason: String,
}

/// The answer to a workload.
#[derive(Clone, Debug, Serialize)]
pub struct WorkloadPlan {
    /// The recommendation.
    pub recommended: Recommendation,
    /// The other methods, and the reasons why they are not recommended.
    pub others: Vec<Rejected>,
}
