//! The errors of the service, with their HTTP responses.

use everlevel::Error;
use everlevel::lab::EvaluationError;
use everlevel_remote::{RemoteError, Told};
use everlevel_tables::TablesError;
use everlevel_wire::WireError;

/// The errors of a service.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum ServiceError {
    /// A missing token, or one that is not valid or was revoked.
    #[error(
        "expected the header Authorization: Bearer with a token of this service, found none that \
         is valid: ask the operator of the service for one"
    )]
    Unauthorized,
    /// A token without the scope that a request requires.
    #[error("expected a token with the scope {scope}, found one without it: ask for another")]
    Forbidden {
        /// The scope.
        scope: &'static str,
    },
    /// The tenant has nothing with this name.
    #[error("there is no {what} of this name: list those that are there")]
    NotFound {
        /// The kind of the missing thing.
        what: &'static str,
    },
    /// A request that conflicts with the current state.
    #[error("{problem}")]
    Conflict {
        /// The conflict, and what to do.
        problem: String,
    },
    /// A part of an upload that does not continue it.
    #[error("expected the part of the upload from byte {expected}, found one from {found}")]
    Offset {
        /// The number of bytes that have arrived.
        expected: u64,
        /// The offset of the part.
        found: u64,
    },
    /// A quota is exceeded.
    #[error(
        "the tenant's quota of {what} is {limit}, of which {used} are used: delete what is not \
         needed"
    )]
    Quota {
        /// The quantity that the quota limits.
        what: &'static str,
        /// The amount in use.
        used: u64,
        /// The limit of the quota.
        limit: u64,
    },
    /// A stored object that was damaged.
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
        "the server keys need {needed} bytes of memory, and the service has {budget} for keys: \
         send keys for fewer operations, or ask for a larger budget"
    )]
    Memory {
        /// The memory that they need.
        needed: u64,
        /// The memory for the keys of all tenants.
        budget: u64,
    },
    /// Server keys whose copies do not fit into the memory of a device.
    #[error(
        "the server keys need {needed} bytes in the memory of the device, and the service has \
         {budget} there for keys: send keys for fewer operations, or ask for a larger budget"
    )]
    DeviceMemory {
        /// The memory that they need.
        needed: u64,
        /// The memory for the copies of the keys of all tenants.
        budget: u64,
    },
    /// A job or a request that took longer than allowed.
    #[error(
        "the job or request took more than {seconds} seconds, the limit of this service: split it \
         into smaller ones"
    )]
    Timeout {
        /// The limit.
        seconds: u64,
    },
    /// The service ended twice while it ran a job.
    #[error("the service ended twice while this job ran, and does not try it a third time")]
    Interrupted,
    /// A job that was cancelled.
    #[error("the job was cancelled")]
    Cancelled,
    /// An internal error of the service.
    #[error("the service failed at {what}: {problem}")]
    Internal {
        /// The operation that failed.
        what: &'static str,
        /// The error of the system.
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
    /// An object or a table that an unfinished job needs.
    #[error("job {job} needs the {what}, and has not ended: wait for it, or cancel it first")]
    InUse {
        /// The kind of the thing that was to be deleted.
        what: &'static str,
        /// The job.
        job: String,
    },
    /// The database or the object store of a service of several processes does not answer.
    #[error("the service cannot reach its database or its object store: try again later")]
    Unavailable,
    /// Errors that occur in clients as well: requests, bytes, TLS, and errors of encrypted
    /// computation.
    #[error(transparent)]
    Remote(#[from] RemoteError),
}

impl ServiceError {
    /// The codes of the service and of its clients, as docs/errors.md lists them.
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
        "service.device-memory",
    ];

    /// The code and the status of a response.
    fn place(&self) -> (&str, u16) {
        match self {
            ServiceError::Unauthorized => ("service.unauthorized", 401),
            ServiceError::Forbidden { .. } => ("service.forbidden", 403),
            ServiceError::NotFound { .. } => ("service.not-found", 404),
            ServiceError::Conflict { .. } => ("service.conflict", 409),
            ServiceError::Offset { .. } => ("service.offset", 409),
            ServiceError::Quota { .. } => ("service.quota", 429),
            ServiceError::Damaged { .. } => ("service.damaged", 500),
            ServiceError::Memory { .. } => ("service.memory", 422),
            ServiceError::DeviceMemory { .. } => ("service.device-memory", 422),
            ServiceError::Timeout { .. } => ("service.timeout", 408),
            ServiceError::Interrupted => ("service.interrupted", 500),
            ServiceError::Cancelled => ("service.cancelled", 409),
            ServiceError::Internal { .. } => ("service.internal", 500),
            ServiceError::State { .. } => ("service.state", 500),
            ServiceError::InUse { .. } => ("service.in-use", 409),
            ServiceError::Unavailable => ("service.unavailable", 503),
            ServiceError::Remote(e) => {
                let status = match e {
                    RemoteError::Malformed { .. } => 400,
                    RemoteError::TooLarge { .. } => 413,
                    RemoteError::Refused(_) | RemoteError::Checksum { .. } => 422,
                    RemoteError::Unreachable { .. } | RemoteError::Certificate { .. } => 502,
                    _ => 500,
                };
                (e.code(), status)
            }
        }
    }

    /// A stable code for programs, which does not change when messages do. Refusals of encrypted
    /// computations have the code of the library.
    pub fn code(&self) -> &str {
        self.place().0
    }

    /// The HTTP status of a response with this error.
    pub fn status(&self) -> u16 {
        self.place().1
    }

    /// A part of a request that cannot be understood.
    pub(crate) fn malformed(what: &'static str, problem: impl ToString) -> Self {
        RemoteError::malformed(what, problem).into()
    }

    /// An internal error of the service.
    pub(crate) fn internal(what: &'static str) -> impl Fn(&dyn std::fmt::Display) -> Self {
        move |e| ServiceError::Internal { what, problem: e.to_string() }
    }

    /// The error in the form in which clients receive it.
    pub fn told(&self) -> Told {
        Told { code: self.code().into(), message: self.to_string() }
    }
}

impl From<Told> for ServiceError {
    fn from(told: Told) -> Self {
        RemoteError::from(told).into()
    }
}

macro_rules! computations {
    ($($error:ty),*) => {$(
        impl From<$error> for ServiceError {
            fn from(e: $error) -> Self {
                Told { code: e.code().into(), message: e.to_string() }.into()
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
        Told { code: e.code().into(), message: format!("the program, {e}") }.into()
    }
}

/// With the place in the text.
impl From<everlevel_integers::ProgramError> for ServiceError {
    fn from(e: everlevel_integers::ProgramError) -> Self {
        let message = format!("the program, column {}: {}", e.column, e.error);
        Told { code: e.code().into(), message }.into()
    }
}
