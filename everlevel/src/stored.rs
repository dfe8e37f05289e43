//! Names and metadata of the files that the command line writes.

use std::sync::Arc;

use everlevel_aes::AesKeyId;
use everlevel_circuit::ValueRange;
use everlevel_scheme::{OptIn, Params};
#[cfg(feature = "unstable")]
pub use everlevel_wire::arrays::VALUES;
use everlevel_wire::{BoundPolicy, Encryption, Manifest, Metadata, ReadOptions, WireError};

use crate::error::Error;

/// Metadata of ciphertexts: the key that encrypted them, `secret` or `public`; absent for results
/// of a computation.
pub const ENCRYPTION: &str = "encryption";
/// Metadata of ciphertexts and results: for each the range of the integers in its slots
/// ([`ValueRange`]), or `-` where it is not known, with spaces between them.
pub const RANGES: &str = "ranges";
/// Metadata of objects that do not hold numbers: their content.
pub const CONTENT: &str = "content";
/// Metadata of an encrypted AES key: its id ([`AesKeyId`]) in hexadecimal digits. Of bytes that a
/// server took from AES: the id of the key that the data and the encrypted key stated, or
/// [`UNCHECKED`].
pub const AES_KEY: &str = "aes key";
/// In place of an id: the AES key of the data was not compared with the encrypted one.
pub const UNCHECKED: &str = "unchecked";
/// The name of the file of parameters beside keys.
pub const PARAMS_FILE: &str = "params.json";

/// The noise bounds of a file of ciphertexts that are trusted.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Bounds {
    /// Fresh encryptions get the bound of a fresh encryption; results of computations keep the
    /// bound that they state, within the limits of their level.
    Stated,
    /// Everything must be a fresh encryption.
    Fresh,
    /// The largest bound that the level allows: enough to decrypt, not to compute.
    Untrusted,
    /// The bounds that a manifest lists; files that it does not list are refused.
    Manifest(Arc<Manifest>),
}

impl Bounds {
    /// The policy for a file with these metadata.
    #[cfg(feature = "unstable")]
    pub fn policy(&self, metadata: &Metadata) -> BoundPolicy {
        policy_of(self, metadata)
    }
}

/// The policy for a file with these metadata.
pub(crate) fn policy_of(bounds: &Bounds, metadata: &Metadata) -> BoundPolicy {
    let made_with = match metadata.get(ENCRYPTION).map(String::as_str) {
        Some("secret") => Some(Encryption::Secret),
        Some("public") => Some(Encryption::Public),
        _ => None,
    };
    match (bounds, made_with) {
        (Bounds::Untrusted, _) => BoundPolicy::Untrusted,
        (Bounds::Manifest(manifest), _) => BoundPolicy::Manifest(manifest.clone()),
        (Bounds::Stated, None) => BoundPolicy::Stated,
        (Bounds::Stated | Bounds::Fresh, encryption) => {
            BoundPolicy::Fresh(encryption.unwrap_or(Encryption::Public))
        }
    }
}

/// The ranges that metadata state for `count` ciphertexts or results.
///
/// # Errors
/// Malformed ranges, or ranges for another number of ciphertexts.
pub fn ranges_of(metadata: &Metadata, count: usize) -> Result<Vec<Option<ValueRange>>, WireError> {
    let Some(text) = metadata.get(RANGES) else { return Ok(vec![None; count]) };
    let wrong = |found: &str| WireError::Malformed {
        what: "ranges of values",
        expected: format!("{count} of LOW..HIGH or -"),
        found: found.chars().take(40).collect(),
    };
    let range = |text: &str| match text {
        "-" => Ok(None),
        text => text.parse().map(Some).map_err(|_| wrong(text)),
    };
    let ranges = text.split(' ').map(range).collect::<Result<Vec<_>, _>>()?;
    if ranges.len() == count { Ok(ranges) } else { Err(wrong(text)) }
}

/// Writes ranges to metadata, if any is known.
pub fn state_ranges(metadata: &mut Metadata, ranges: &[Option<ValueRange>]) {
    metadata.remove(RANGES);
    if ranges.iter().any(Option::is_some) {
        let told = |range: &Option<ValueRange>| range.map_or_else(|| "-".into(), |r| r.to_string());
        let all: Vec<String> = ranges.iter().map(told).collect();
        metadata.insert(RANGES.into(), all.join(" "));
    }
}

/// The id of the AES key that metadata state; none if they state no id, or that it was not checked.
///
/// # Errors
/// A value that is not an id.
pub fn aes_key_of(metadata: &Metadata) -> Result<Option<AesKeyId>, WireError> {
    let Some(text) = metadata.get(AES_KEY).filter(|text| *text != UNCHECKED) else {
        return Ok(None);
    };
    let wrong = || WireError::malformed("id of an AES key", "32 hexadecimal digits", text.len());
    AesKeyId::from_hex(text).map(Some).ok_or_else(wrong)
}

/// A parameter set as bytes.
///
/// # Errors
/// None for a set that was validated.
pub fn params_to_bytes(params: &Params) -> Result<Vec<u8>, Error> {
    Ok(everlevel_wire::params::to_bytes(params, &Metadata::new())?)
}

/// A parameter set from bytes, validated.
///
/// # Errors
/// Bytes that are damaged or hold something else; an inconsistent set, or one below 128 bits of
/// security without `opt_in`.
pub fn params_from_bytes(bytes: &[u8], opt_in: OptIn) -> Result<Params, Error> {
    Ok(everlevel_wire::params::from_bytes(bytes, opt_in, &ReadOptions::default())?.0)
}

/// A parameter file: JSON of a [`ParamsSpec`](everlevel_scheme::ParamsSpec). The specification is
/// not validated yet.
///
/// # Errors
/// Text that is not a specification; an index outside of 4 to 2^20, above which tables would take
/// more memory than any set needs.
pub fn parse_spec(text: &str) -> Result<everlevel_scheme::ParamsSpec, Error> {
    const LARGEST_INDEX: u64 = 1 << 20;
    let wrong = |what, expected: String, found: String| {
        Error::from(WireError::Malformed { what, expected, found })
    };
    let spec: everlevel_scheme::ParamsSpec = serde_json::from_str(text).map_err(|e| {
        wrong(
            "parameters",
            "JSON of a parameter specification (docs/parameters.md)".into(),
            e.to_string(),
        )
    })?;
    if !(4..=LARGEST_INDEX).contains(&spec.index) {
        return Err(wrong(
            "index of a parameter set",
            format!("4 to {LARGEST_INDEX}"),
            spec.index.to_string(),
        ));
    }
    Ok(spec)
}
