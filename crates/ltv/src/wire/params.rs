//! Parameter sets: their JSON.

use everlevel_scheme::OptIn;
use everlevel_wire::container::{Layout, Planned, encode};
use everlevel_wire::{Metadata, ObjectKind, ReadOptions, WireError};

use crate::spec::{LtvParams, LtvSpec};

/// A parameter set as bytes.
///
/// # Errors
/// Metadata of 4 GiB or more.
pub fn to_bytes(params: &LtvParams, metadata: &Metadata) -> Result<Vec<u8>, WireError> {
    let json = params.spec().canonical_json();
    let record = Planned { descriptor: Vec::new(), length: json.len() };
    encode(ObjectKind::LTV_PARAMS, params.id(), metadata, &[record], |_, out| {
        out.copy_from_slice(json.as_bytes())
    })
}

/// The specification in bytes, not validated yet.
///
/// # Errors
/// What the container or the JSON breaks.
pub fn spec_from_bytes(
    bytes: &[u8],
    options: &ReadOptions,
) -> Result<(LtvSpec, Metadata), WireError> {
    let layout = Layout::of_kind(bytes, ObjectKind::LTV_PARAMS, options)?;
    if layout.entries.len() != 1 || !layout.entries[0].0.descriptor.is_empty() {
        return Err(WireError::malformed("records of parameters", "one", layout.entries.len()));
    }
    let json = layout.record(bytes, 0)?;
    let spec: LtvSpec = serde_json::from_slice(json)
        .map_err(|e| WireError::malformed("parameters", "the JSON of a specification", e))?;
    if spec.canonical_json().as_bytes() != json || spec.id() != layout.id {
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
/// As [`spec_from_bytes`] and [`LtvParams::new`].
pub fn from_bytes(
    bytes: &[u8],
    opt_in: OptIn,
    options: &ReadOptions,
) -> Result<(LtvParams, Metadata), WireError> {
    let (spec, metadata) = spec_from_bytes(bytes, options)?;
    Ok((LtvParams::new(spec, opt_in)?, metadata))
}
