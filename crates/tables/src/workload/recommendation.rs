//! What the planner answers.

use everlevel::{Params, Type};
use everlevel_integers::Counted;
use serde::{Serialize, Serializer};

/// How it is computed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Way {
    /// Integers modulo p^r whose sums and products stay below: one ciphertext for a column.
    Modular,
    /// Encrypted tables, asked in SQL.
    Tables,
    /// Typed integers: a ciphertext for each hexadecimal digit, every operation.
    Integers,
}

/// What an operation costs, on all rows.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct OperationCost {
    /// Its name.
    pub operation: &'static str,
    /// What was rehearsed: a line of a program, or a query.
    pub rehearsed: String,
    /// The least result that there can be; none for answers in SQL.
    pub low: Option<String>,
    /// The largest one.
    pub high: Option<String>,
    /// Products of ciphertexts, those in bootstrappings included.
    pub products: u64,
    /// Bootstrappings.
    pub refreshes: u64,
    /// Seconds of one core by [`everlevel::TimeModel::typical`].
    pub seconds: f64,
}

impl OperationCost {
    /// What was counted of an operation, and the ends of its results.
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
    /// How to compute.
    pub way: Way,
    /// The parameter set.
    #[serde(rename = "set", serialize_with = "name")]
    pub params: Params,
    /// Its security in bits.
    pub security_bits: f64,
    /// Values in a ciphertext.
    pub slots: usize,
    /// The type for the values; none where they are stated as a range.
    #[serde(rename = "type", serialize_with = "shown")]
    pub kind: Option<Type>,
    /// The least value.
    pub low: String,
    /// The largest one.
    pub high: String,
    /// Ciphertexts of one column of all rows.
    pub ciphertexts: u64,
    /// Their bytes, encrypted with the public key; half as many with the secret one.
    pub ciphertext_bytes: u64,
    /// Bytes of the server keys that the commands below make.
    pub key_bytes: u64,
    /// Whether ciphertexts are bootstrapped by themselves, so that programs may go on for as long
    /// as they like.
    pub refreshes_automatically: bool,
    /// All operations once, on one core, by a model.
    pub seconds: f64,
    /// Each of them.
    pub operations: Vec<OperationCost>,
    /// What to run next.
    pub commands: Vec<String>,
    /// The same in Python.
    pub python: Vec<String>,
    /// What has to be known.
    pub notes: Vec<String>,
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

/// A way that was not taken.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Rejected {
    /// The way.
    pub way: Way,
    /// Why not.
    pub reason: String,
}

/// What a workload is answered.
#[derive(Clone, Debug, Serialize)]
pub struct WorkloadPlan {
    /// What is recommended.
    pub recommended: Recommendation,
    /// Why the other ways are not.
    pub others: Vec<Rejected>,
}
