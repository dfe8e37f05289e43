//! Public keys: h modulo the modulus of keys.

use everlevel_wire::container::{Planned, encode};
use everlevel_wire::{Metadata, ObjectKind, ReadOptions, WireError};

use super::layout;
use super::rows::{read_rows, rows_len, write_rows};
use crate::keys::LtvPublicKey;
use crate::spec::LtvParams;

/// A public key as bytes.
///
/// # Errors
/// Metadata of 4 GiB or more.
pub fn to_bytes(key: &LtvPublicKey, metadata: &Metadata) -> Result<Vec<u8>, WireError> {
    let (params, h) = (key.params(), key.digits());
    let record = Planned { descriptor: Vec::new(), length: rows_len(params, h.rows()) };
    encode(ObjectKind::LTV_PUBLIC_KEY, params.id(), metadata, &[record], |_, out| {
        write_rows(params, &h, out)
    })
}

/// A public key from bytes.
///
/// # Errors
/// Whatever is not as the format says, a key of other parameters.
pub fn from_bytes(
    params: &LtvParams,
    bytes: &[u8],
    options: &ReadOptions,
) -> Result<(LtvPublicKey, Metadata), WireError> {
    let layout = layout(bytes, ObjectKind::LTV_PUBLIC_KEY, params, options)?;
    if layout.entries.len() != 1 || !layout.entries[0].0.descriptor.is_empty() {
        return Err(WireError::malformed(
            "records of a public key",
            "one without descriptor",
            layout.entries.len(),
        ));
    }
    let h = read_rows(params, params.key_rows(), layout.record(bytes, 0)?)?;
    Ok((LtvPublicKey::from_parts(params, &h)?, layout.metadata))
}
