//! What the service refuses, and how it says so.

use serde::{Deserialize, Serialize};

use everlevel::Error;
use everlevel::lab::EvaluationError;
use everlevel_tables::TablesError;
use everlevel_wire::WireError;

/// What can go wrong between a client and the service.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum ServiceError {
    /// No token, or one that the service does not know any more.
    #[error(
        "expected the header Authorization: Bearer with a token of this service, found none that \
         is valid: ask whoever runs it for one"
    )]
    Unauthorized,
    /// A token without the scope that a request takes.
    #[error("expected a token with the scope {scope}, found one without it: ask for another")]
    Forbidden {
        /// The scope.
        scope: &'static str,
    },
    /// Nothing of this name belongs to the tenant.
    #[error("there is no {what} of this name: list those that are there")]
    NotFound {
        /// What was looked for.
        what: &'static str,
    },
    /// A request that does not go together with what is there.
    #[error("{problem}")]
    Conflict {
        /// What does not go together, and what to do.
        problem: String,
    },
    /// A part of an upload that does not continue it.
    #[error("expected the part of the upload from byte {expected}, found one from {found}")]
    Offset {
        /// How many bytes are there.
        expected: u64,
        /// Where the part begins.
        found: u64,
    },
    /// A request above a limit.
    #[error("{what}: at most {limit} are accepted")]
    TooLarge {
        /// What there is too much of.
        what: &'static str,
        /// The limit.
        limit: u64,
    },
    /// More than a tenant may have.
    #[error(
        "the tenant's quota of {what} is {limit}, of which {used} are used: delete what is not \
         needed"
    )]
    Quota {
        /// Of what.
        what: &'static str,
        /// How much is in use.
        used: u64,
        /// How much may be.
        limit: u64,
    },
    /// A request that cannot be understood.
    #[error("{what}: {problem}")]
    Malformed {
        /// The part of the request.
        what: &'static str,
        /// What was expected and found.
        problem: String,
    },
    /// Bytes that are not those of their name.
    #[error(
        "expected bytes with the BLAKE3 hash {expected}, found {found}: transfer them again from \
         the beginning"
    )]
    Checksum {
        /// The hash that was stated.
        expected: String,
        /// The hash of the bytes.
        found: String,
    },
    /// A stored object that is not what it was.
    #[error(
        "the stored object {object} is damaged: delete it and what was made of it, and send it \
         again"
    )]
    Damaged {
        /// Its id.
        object: String,
    },
    /// Server keys that do not fit into memory.
    #[error(
        "the server keys take {needed} bytes of memory, and the service has {budget} for keys: \
         send keys of fewer operations, or ask for a larger budget"
    )]
    Memory {
        /// What they take.
        needed: u64,
        /// What there is for the keys of all tenants.
        budget: u64,
    },
    /// A job or a request that took longer than is allowed.
    #[error("it took more than {seconds} seconds, the most that is allowed: ask for less")]
    Timeout {
        /// The limit.
        seconds: u64,
    },
    /// The service ended twice while it ran a job.
    #[error("the service ended twice while this job ran, and does not try it a third time")]
    Interrupted,
    /// A job that was to be cancelled.
    #[error("the job was cancelled")]
    Cancelled,
    /// The service's own fault.
    #[error("the service failed at {what}: {problem}")]
    Internal {
        /// What it did.
        what: &'static str,
        /// What the system said.
        problem: String,
    },
    /// The records of the service cannot be opened.
    #[error("{path}: {problem}")]
    State {
        /// Their file.
        path: String,
        /// What is wrong with it, and what to do.
        problem: String,
    },
    /// The service cannot be reached.
    #[error("cannot reach the service: {problem}")]
    Unreachable {
        /// Why.
        problem: String,
    },
    /// What a job needs that has not ended.
    #[error("job {job} needs the {what}, and has not ended: wait for it, or cancel it first")]
    InUse {
        /// What was to be deleted.
        what: &'static str,
        /// The job.
        job: String,
    },
    /// This machine has no cryptography for TLS.
    #[error(
        "expected a processor with the cryptography of TLS, found one without it: x86-64 with the \
         instructions AES, PCLMULQDQ, ADX, AVX2 and BMI1 has it, and aarch64 with AES, PMULL and \
         SHA-2; let a proxy or a tunnel protect the way instead"
    )]
    NoTls,
    /// Certificates, or the key of one, that TLS cannot use.
    #[error("{place}: {problem}")]
    Tls {
        /// Their file, or what else they come from.
        place: String,
        /// What is wrong with it, and what to do.
        problem: String,
    },
    /// A service that does not prove who it is, or to which the client does not.
    #[error("{problem}")]
    Certificate {
        /// What is not proved, and what to do.
        problem: String,
    },
    /// The database or the object store of a service of several processes does not answer.
    #[error("the service does not reach its database or its object store: try again later")]
    Unavailable,
    /// Encrypted computations refused something: a stable code, and what was said.
    #[error("{message}")]
    Computation {
        /// The code of the error below.
        code: String,
        /// Its message.
        message: String,
    },
}

impl ServiceError {
    /// The codes of this type, in the order of its variants.
    pub const CODES: &'static [&'static str] = &[
        "service.unauthorized",
        "service.forbidden",
        "service.not-found",
        "service.conflict",
        "service.offset",
        "service.too-large",
        "service.quota",
        "service.malformed",
        "service.checksum",
        "service.damaged",
        "service.memory",
        "service.timeout",
        "service.interrupted",
        "service.cancelled",
        "service.internal",
        "service.state",
        "service.unreachable",
        "service.in-use",
        "service.no-tls",
        "service.tls",
        "service.certificate",
        "service.unavailable",
    ];

    fn place(&self) -> Option<(usize, u16)> {
        Some(match self {
            ServiceError::Unauthorized => (0, 401),
            ServiceError::Forbidden { .. } => (1, 403),
            ServiceError::NotFound { .. } => (2, 404),
            ServiceError::Conflict { .. } => (3, 409),
            ServiceError::Offset { .. } => (4, 409),
            ServiceError::TooLarge { .. } => (5, 413),
            ServiceError::Quota { .. } => (6, 429),
            ServiceError::Malformed { .. } => (7, 400),
            ServiceError::Checksum { .. } => (8, 422),
            ServiceError::Damaged { .. } => (9, 500),
            ServiceError::Memory { .. } => (10, 422),
            ServiceError::Timeout { .. } => (11, 408),
            ServiceError::Interrupted => (12, 500),
            ServiceError::Cancelled => (13, 409),
            ServiceError::Internal { .. } => (14, 500),
            ServiceError::State { .. } => (15, 500),
            ServiceError::Unreachable { .. } => (16, 502),
            ServiceError::InUse { .. } => (17, 409),
            ServiceError::NoTls => (18, 500),
            ServiceError::Tls { .. } => (19, 500),
            ServiceError::Certificate { .. } => (20, 502),
            ServiceError::Unavailable => (21, 503),
            ServiceError::Computation { .. } => return None,
        })
    }

    /// A name for programs, which does not change when messages do. What encrypted computations
    /// refused has their code.
    pub fn code(&self) -> &str {
        match (self, self.place()) {
            (ServiceError::Computation { code, .. }, _) => code,
            (_, Some((index, _))) => Self::CODES[index],
            (_, None) => "service.internal",
        }
    }

    /// The status of an HTTP response that says this.
    pub fn status(&self) -> u16 {
        self.place().map_or(422, |(_, status)| status)
    }

    /// A part of a request that cannot be understood.
    pub(crate) fn malformed(what: &'static str, problem: impl ToString) -> Self {
        ServiceError::Malformed { what, problem: problem.to_string() }
    }

    /// The service's own fault.
    pub(crate) fn internal(what: &'static str) -> impl Fn(&dyn std::fmt::Display) -> Self {
        move |e| ServiceError::Internal { what, problem: e.to_string() }
    }

    /// As it is told.
    pub fn told(&self) -> Told {
        Told { code: self.code().into(), message: self.to_string() }
    }
}

/// An error in a response or in a job.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Told {
    /// The stable code.
    pub code: String,
    /// What was expected, what was found, and what to do.
    pub message: String,
}

impl From<Told> for ServiceError {
    fn from(Told { code, message }: Told) -> Self {
        ServiceError::Computation { code, message }
    }
}

macro_rules! computations {
    ($($error:ty),*) => {$(
        impl From<$error> for ServiceError {
            fn from(e: $error) -> Self {
                ServiceError::Computation { code: e.code().into(), message: e.to_string() }
            }
        }
    )*};
}

computations!(Error, TablesError, WireError, everlevel_scheme::SchemeError);
computations!(everlevel_integers::IntegersError, everlevel_circuit::CircuitError);

/// With the code of the library, where it has one.
impl From<EvaluationError> for ServiceError {
    fn from(e: EvaluationError) -> Self {
        match e {
            EvaluationError::Library(e) => e.into(),
            EvaluationError::Program(e) => e.into(),
            e => ServiceError::malformed("the inputs of a job", e),
        }
    }
}

/// With the place in the text.
impl From<everlevel_circuit::expression::ExpressionError> for ServiceError {
    fn from(e: everlevel_circuit::expression::ExpressionError) -> Self {
        ServiceError::Computation { code: e.code().into(), message: format!("the program, {e}") }
    }
}

/// With the place in the text.
impl From<everlevel_integers::ProgramError> for ServiceError {
    fn from(e: everlevel_integers::ProgramError) -> Self {
        let message = format!("the program, column {}: {}", e.column, e.error);
        ServiceError::Computation { code: e.code().into(), message }
    }
}
