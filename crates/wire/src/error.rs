//! Errors of reading and writing.

use everlevel_scheme::SchemeError;

use crate::id::{ParamsId, named_spec};
use crate::kind::ObjectKind;

/// The reason why bytes or a file were refused. Every variant has a stable code
/// ([`WireError::code`]).
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum WireError {
    /// Not an everlevel object.
    #[error(
        "not an everlevel object: expected it to begin with the magic bytes of the format; is \
         this the right file?"
    )]
    NotOurs,
    /// Written by a later format.
    #[error(
        "format version {found}, but this program reads up to version {supported}: use a newer \
         version of the program"
    )]
    NewerVersion {
        /// The version of the object.
        found: u16,
        /// The latest version that is supported.
        supported: u16,
    },
    /// Another kind of object.
    #[error("expected {expected}, found {found}: give the file that belongs here")]
    WrongKind {
        /// The requested kind.
        expected: ObjectKind,
        /// What it is.
        found: ObjectKind,
    },
    /// An object of other parameters.
    #[error(
        "belongs to parameter set {}, not to {name} ({expected}): load it with the parameters, \
         and the keys, it was made with; the command inspect names the set of a file",
        named(.found)
    )]
    OtherParams {
        /// The id in the object.
        found: ParamsId,
        /// The id of the parameters in use.
        expected: ParamsId,
        /// Their name.
        name: String,
    },
    /// An object without a known owner.
    #[error(
        "does not say which secret key it belongs to ({found}, format version {version}): make it \
         again from the key, or accept that its owner is unknown (option allow_unknown_owner)"
    )]
    UnknownOwner {
        /// What it is.
        found: ObjectKind,
        /// The version of the format that it is written in.
        version: u16,
    },
    /// Too short.
    #[error("truncated: needs {needed} bytes, found {found}; transfer it again")]
    Truncated {
        /// The number of bytes that its header, or the preceding part, states.
        needed: u64,
        /// The number of bytes present.
        found: u64,
    },
    /// Too long.
    #[error("{extra} trailing bytes after the object, which has to fill its file: remove them")]
    Trailing {
        /// The number of superfluous bytes.
        extra: u64,
    },
    /// Damaged.
    #[error("the checksum of {part} does not match: it was damaged; transfer it again")]
    Checksum {
        /// Which part.
        part: String,
    },
    /// Residues or coefficients that are not canonical.
    #[error("{what}: found {found}, expected values below {bound}; get it again from its author")]
    OutOfRange {
        /// Of what.
        what: &'static str,
        /// The largest value found.
        found: u64,
        /// The bound below which values must be.
        bound: u64,
    },
    /// Larger than the reader allows.
    #[error("{what}: {found} are above the limit of {limit}; raise the limit if this is expected")]
    Limit {
        /// What is limited.
        what: &'static str,
        /// What was found.
        found: u64,
        /// The limit.
        limit: u64,
    },
    /// Breaks a rule of the format.
    #[error("{what}: expected {expected}, found {found}")]
    Malformed {
        /// Which part.
        what: &'static str,
        /// The rule of the format.
        expected: String,
        /// What was found.
        found: String,
    },
    /// Columns whose schema and records do not fit together.
    #[error("column {name}: {problem}; get the file again from its author")]
    Columns {
        /// Its name, or its place if it has none.
        name: String,
        /// What is wrong.
        problem: String,
    },
    /// A manifest that was made with another key, or changed.
    #[error(
        "manifest authentication failed: wrong manifest key, or the manifest was modified; give \
         the key that it was made with, and do not trust its contents if that is this one"
    )]
    NotAuthentic,
    /// Ciphertexts that the manifest does not list.
    #[error(
        "not in the manifest: it lists no object with BLAKE3 digest {digest}; give the manifest \
         that was written with the file, or get both again"
    )]
    NotInManifest {
        /// The digest of the object.
        digest: String,
    },
    /// A ciphertext that was not encrypted for the place where it is.
    #[error(
        "ciphertext {place} was not encrypted for this place of {part:?} in this upload: \
         ciphertexts were exchanged, left out, repeated, or are those of another upload; get the \
         file again from its author"
    )]
    Misplaced {
        /// Its place in the file.
        place: usize,
        /// Which part of an upload the file is read as.
        part: String,
    },
    /// A file that exists already.
    #[error("{path} exists: choose another name, or ask for it to be replaced")]
    Exists {
        /// The file.
        path: String,
    },
    /// A directory has files of two generations, as a run ended while it replaced them.
    #[error(
        "{path}: a run was interrupted while it replaced files here, which may not belong \
         together now, and finishing that failed ({problem}): let somebody who may write there \
         open them once"
    )]
    Interrupted {
        /// The directory.
        path: String,
        /// Why it could not be finished.
        problem: String,
    },
    /// An error of the operating system.
    #[error("{path}: {problem}")]
    Io {
        /// The file.
        path: String,
        /// The message of the system.
        problem: String,
    },
    /// The scheme refused the content of the bytes.
    #[error(transparent)]
    Scheme(#[from] SchemeError),
}

everlevel_ring::error_codes!(WireError {
    NotOurs => "wire.not-ours",
    NewerVersion => "wire.newer-version",
    WrongKind => "wire.wrong-kind",
    OtherParams => "wire.other-params",
    UnknownOwner => "wire.unknown-owner",
    Truncated => "wire.truncated",
    Trailing => "wire.trailing",
    Checksum => "wire.checksum",
    OutOfRange => "wire.out-of-range",
    Limit => "wire.limit",
    Malformed => "wire.malformed",
    Columns => "wire.columns",
    NotAuthentic => "wire.not-authentic",
    NotInManifest => "wire.not-in-manifest",
    Misplaced => "wire.misplaced",
    Exists => "wire.exists",
    Interrupted => "wire.interrupted",
    Io => "wire.io",
} inner { Scheme });

/// The id of a set, after its name if that is known.
fn named(id: &ParamsId) -> String {
    named_spec(*id).map_or_else(|| id.to_string(), |spec| format!("{} ({id})", spec.name))
}

impl WireError {
    /// [`WireError::Malformed`] with these texts.
    pub fn malformed(what: &'static str, expected: impl ToString, found: impl ToString) -> Self {
        WireError::Malformed { what, expected: expected.to_string(), found: found.to_string() }
    }
}
