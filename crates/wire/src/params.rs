//! Parameter sets: their canonical JSON.

use everlevel_scheme::{OptIn, Params, ParamsSpec};

use crate::error::WireError;
use crate::format::{Layout, Planned, encode};
use crate::id::{ParamsId, canonical_json};
use crate::kind::ObjectKind;
use crate::options::ReadOptions;
use crate::summary::Metadata;

pub use crate::id::named_spec;

/// A parameter set as bytes.
///
/// # Errors
/// Metadata of 4 GiB or more.
pub fn to_bytes(params: &Params, metadata: &Metadata) -> Result<Vec<u8>, WireError> {
    let json = canonical_json(params.spec());
    let record = Planned { descriptor: Vec::new(), length: json.len() };
    encode(ObjectKind::PARAMS, ParamsId::of(params), metadata, &[record], |_, out| {
        out.copy_from_slice(json.as_bytes())
    })
}

/// The specification in bytes. It is not validated yet; [`Params::new`] does that, which takes time
/// and, once something is computed, memory.
///
/// # Errors
/// Bytes that violate the format of the container or of the JSON.
pub fn spec_from_bytes(
    bytes: &[u8],
    options: &ReadOptions,
) -> Result<(ParamsSpec, Metadata), WireError> {
    let layout = Layout::of_kind(bytes, ObjectKind::PARAMS, options)?;
    if layout.entries.len() != 1 || !layout.entries[0].0.descriptor.is_empty() {
        return Err(WireError::malformed("records of parameters", "one", layout.entries.len()));
    }
    let json = layout.record(bytes, 0)?;
    let spec: ParamsSpec = serde_json::from_slice(json)
        .map_err(|e| WireError::malformed("parameters", "the JSON of a specification", e))?;
    if canonical_json(&spec).as_bytes() != json || ParamsId::of_spec(&spec) != layout.id {
        return Err(WireError::malformed(
            "parameters",
            "canonical JSON with the id of the header",
            "something else",
        ));
    }
    Ok((spec, layout.metadata))
}

/// The parameter set in bytes, validated.
///
/// # Errors
/// As [`spec_from_bytes`] and [`Params::new`].
pub fn from_bytes(
    bytes: &[u8],
    opt_in: OptIn,
    options: &ReadOptions,
) -> Result<(Params, Metadata), WireError> {
    let (spec, metadata) = spec_from_bytes(bytes, options)?;
    Ok((Params::new(spec, opt_in)?, metadata))
}
