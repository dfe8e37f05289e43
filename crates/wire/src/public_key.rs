//! Public keys: b and the seed of a, or NTRU's g / f.

use everlevel_bgv::PublicKey;
use everlevel_scheme::Params;

use crate::ciphertexts::SEED_BYTES;
use crate::error::WireError;
use crate::format::{Layout, Owners, Planned, encode_owned};
use crate::id::ParamsId;
use crate::kind::ObjectKind;
use crate::options::ReadOptions;
use crate::poly::{poly_len, read_poly, write_poly};
use crate::reader::Reader;
use crate::summary::Metadata;

/// A public key as bytes.
///
/// # Errors
/// Metadata of 4 GiB or more.
pub fn to_bytes(key: &PublicKey, metadata: &Metadata) -> Result<Vec<u8>, WireError> {
    let ring = key.params().ring();
    let seed = key.seed().map_or(&[][..], |seed| seed);
    let length = seed.len() + poly_len(ring, key.first().basis());
    let record = Planned { descriptor: Vec::new(), length };
    let (id, owners) = (ParamsId::of(key.params()), Owners::one(key.owner()));
    encode_owned(ObjectKind::PUBLIC_KEY, id, &owners, metadata, &[record], |_, out| {
        let (head, rest) = out.split_at_mut(seed.len());
        head.copy_from_slice(seed);
        write_poly(ring, key.first(), rest);
    })
}

/// A public key from bytes.
///
/// # Errors
/// Bytes that violate the format, a key of other parameters, or of an unknown owner unless
/// `options` allow it.
pub fn from_bytes(
    params: &Params,
    bytes: &[u8],
    options: &ReadOptions,
) -> Result<(PublicKey, Metadata), WireError> {
    let layout = Layout::of(bytes, ObjectKind::PUBLIC_KEY, params, options)?;
    if layout.entries.len() != 1 || !layout.entries[0].0.descriptor.is_empty() {
        return Err(WireError::malformed(
            "records of a public key",
            "one without descriptor",
            layout.entries.len(),
        ));
    }
    let mut body = Reader::new(layout.record(bytes, 0)?);
    let seed = if params.components() > 1 { Some(body.array::<SEED_BYTES>()?) } else { None };
    let first = read_poly(params.cpu(), params.chain().basis(params.chain().top()), body.rest())?;
    let key = PublicKey::from_parts(params, first, seed)?.owned_by(layout.owners.owner);
    Ok((key, layout.metadata))
}
