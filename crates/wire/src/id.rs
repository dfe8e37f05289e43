//! Identifiers of parameter sets in bytes.

use std::fmt;

use everlevel_scheme::params::specs;
use everlevel_scheme::{Params, ParamsSpec};

/// The identity of a parameter set: the first 16 bytes of BLAKE3 of its canonical JSON
/// ([`canonical_json`]).
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct ParamsId(pub [u8; 16]);

impl ParamsId {
    /// The id of parameters.
    pub fn of(params: &Params) -> Self {
        Self::of_spec(params.spec())
    }

    /// The id of a specification.
    pub fn of_spec(spec: &ParamsSpec) -> Self {
        Self::of_json(&canonical_json(spec))
    }

    /// The id of a specification of whatever kind, by its JSON.
    pub fn of_json(json: &str) -> Self {
        ParamsId(digest(&[json.as_bytes()]))
    }
}

impl fmt::Display for ParamsId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.iter().try_for_each(|byte| write!(f, "{byte:02x}"))
    }
}

impl fmt::Debug for ParamsId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "ParamsId({self})")
    }
}

/// The specification of the named set with this id, if it is one of [`specs`].
pub fn named_spec(id: ParamsId) -> Option<ParamsSpec> {
    specs().find(|spec| ParamsId::of_spec(spec) == id)
}

/// A specification as JSON without white space, its fields in the order of [`ParamsSpec`] and those
/// left out that have their default.
pub fn canonical_json(spec: &ParamsSpec) -> String {
    serde_json::to_string(spec).expect("a specification has string keys and finite numbers only")
}

/// The first 16 bytes of BLAKE3 of the parts, one after the other.
pub(crate) fn digest(parts: &[&[u8]]) -> [u8; 16] {
    let mut hasher = blake3::Hasher::new();
    for part in parts {
        hasher.update(part);
    }
    first_bytes(&hasher)
}

/// The first 16 bytes of the hash so far.
pub(crate) fn first_bytes(hasher: &blake3::Hasher) -> [u8; 16] {
    let mut out = [0; 16];
    out.copy_from_slice(&hasher.finalize().as_bytes()[..16]);
    out
}
