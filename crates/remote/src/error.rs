//! What a client is refused, by the service or before it asks.

use everlevel_ring::RingError;
use everlevel_wire::WireError;
use serde::{Deserialize, Serialize};

/// What can go wrong for a client. The service has these errors as well, of requests and of TLS.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum RemoteError {
    /// What the service has refused, why a job has failed, or what a file here is not.
    #[error("{}", .0.message)]
    Refused(Told),
    /// A request above a limit.
    #[error("{what}: at most {limit} are accepted")]
    TooLarge {
        /// What there is too much of.
        what: &'static str,
        /// The limit.
        limit: u64,
    },
    /// A request, or an answer, that cannot be understood.
    #[error("{what}: {problem}")]
    Malformed {
        /// The part of it.
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
    /// The service cannot be reached.
    #[error("cannot reach the service: {problem}")]
    Unreachable {
        /// Why.
        problem: String,
    },
    /// This machine has no cryptography for TLS.
    #[error(
        "expected a processor with the cryptography of TLS, found one without it: x86-64 with the \
         instructions AES, PCLMULQDQ, ADX, AVX2 and BMI1 has it, and aarch64 with AES, PMULL and \
         SHA-2; let a proxy or a tunnel encrypt the connection instead"
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
}

impl RemoteError {
    /// A name for programs, which does not change when messages do: `service.quota`, for example.
    /// What encrypted computations refused has their code. docs/errors.md has them all.
    pub fn code(&self) -> &str {
        match self {
            RemoteError::Refused(told) => &told.code,
            RemoteError::TooLarge { .. } => "service.too-large",
            RemoteError::Malformed { .. } => "service.malformed",
            RemoteError::Checksum { .. } => "service.checksum",
            RemoteError::Unreachable { .. } => "service.unreachable",
            RemoteError::NoTls => "service.no-tls",
            RemoteError::Tls { .. } => "service.tls",
            RemoteError::Certificate { .. } => "service.certificate",
        }
    }

    /// A part of a request or of an answer that cannot be understood.
    pub fn malformed(what: &'static str, problem: impl ToString) -> Self {
        RemoteError::Malformed { what, problem: problem.to_string() }
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

impl From<Told> for RemoteError {
    fn from(told: Told) -> Self {
        RemoteError::Refused(told)
    }
}

impl From<WireError> for RemoteError {
    fn from(e: WireError) -> Self {
        RemoteError::Refused(Told { code: e.code().into(), message: e.to_string() })
    }
}

impl From<RingError> for RemoteError {
    fn from(e: RingError) -> Self {
        RemoteError::Refused(Told { code: e.code().into(), message: e.to_string() })
    }
}
