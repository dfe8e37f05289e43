//! What a stage refuses.

use std::path::Path;

use everlevel_aes::AesError;
use everlevel_circuit::CircuitError;
use everlevel_ring::RingError;
use everlevel_scheme::SchemeError;
use everlevel_wire::WireError;

/// Why a stage failed. Every variant has a stable code ([`SuiteError::code`]).
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum SuiteError {
    /// Arguments that the stage does not have.
    #[error("expected {expected}, found {found:?}")]
    Usage {
        /// The arguments of the stage.
        expected: &'static str,
        /// The arguments.
        found: Vec<String>,
    },
    /// Files of another instance or workload, or an instance that the workload does not have.
    #[error("expected {expected}, found {found}: run the stages of one instance in their order")]
    Instance {
        /// What would fit.
        expected: String,
        /// What there is.
        found: String,
    },
    /// A file that does not hold the numbers that it should.
    #[error("{path}: expected {expected}, found {found}")]
    Numbers {
        /// The file.
        path: String,
        /// What it should hold.
        expected: String,
        /// What it holds.
        found: String,
    },
    /// A decrypted value that no honest result has.
    #[error("{place}: expected {expected}, found {found}")]
    Result {
        /// Where it is.
        place: String,
        /// What an honest result has.
        expected: String,
        /// The value.
        found: u64,
    },
    /// Encrypted whole numbers that could be too large for their residues.
    #[error(
        "expected a result of at most {limit} bits, found one of {bits}: decrypt the numbers and \
         encrypt them again, modulo 2^64, before this operation"
    )]
    Range {
        /// How many bits the result could have.
        bits: u32,
        /// How many bits residues tell apart.
        limit: u32,
    },
    /// Matches that share their slots of the sums of payloads with each other.
    #[error(
        "{left} of {} matches cannot be told apart: ask for their number with --count_only, or for \
         fewer by another query", *found as u64 + left
    )]
    Collision {
        /// How many were told apart.
        found: usize,
        /// How many were not.
        left: u64,
    },
    /// A model whose results could wrap or drown in noise, or that is none.
    #[error("model: expected {expected}, found {found}: suite/ml-inference/train.py makes models")]
    Model {
        /// What a model has.
        expected: String,
        /// What there is.
        found: String,
    },
    /// No mini workload, or one that is not there.
    #[error(
        "EVERLEVEL_MINI_WORKLOAD: expected 0, the maximum, or 1, the inner product, found {found}: \
         set it for all stages to what the harness is given as --mini_workload"
    )]
    MiniWorkload {
        /// What was asked for.
        found: String,
    },
    /// A server that was started before the stage, and does not answer it.
    #[error("the server: {problem}")]
    Server {
        /// What it says, or why it says nothing.
        problem: String,
    },
    /// What the system refuses.
    #[error("{path}: {problem}")]
    Io {
        /// The file.
        path: String,
        /// What the system says.
        problem: String,
    },
    /// Of AES.
    #[error(transparent)]
    Aes(#[from] AesError),
    /// Of the format.
    #[error(transparent)]
    Wire(#[from] WireError),
    /// Of a circuit.
    #[error(transparent)]
    Circuit(#[from] CircuitError),
    /// Of the scheme.
    #[error(transparent)]
    Scheme(#[from] SchemeError),
    /// Of the ring.
    #[error(transparent)]
    Ring(#[from] RingError),
}

everlevel_ring::error_codes! {
    SuiteError {
        Usage => "suite.usage",
        Instance => "suite.instance",
        Numbers => "suite.numbers",
        Result => "suite.result",
        Range => "suite.range",
        Collision => "suite.collision",
        Model => "suite.model",
        MiniWorkload => "suite.mini-workload",
        Server => "suite.server",
        Io => "suite.io",
    }
    inner { Aes, Wire, Circuit, Scheme, Ring }
}

impl SuiteError {
    /// An error of the system with the file that it is about.
    pub(crate) fn io(path: &Path, error: &std::io::Error) -> Self {
        SuiteError::Io { path: path.display().to_string(), problem: error.to_string() }
    }
}
