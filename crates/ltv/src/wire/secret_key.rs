//! Secret keys: u and g, three bits a coefficient.

use everlevel_wire::container::{Planned, encode, read_small, small_len, write_small};
use everlevel_wire::{Metadata, ObjectKind, ReadOptions, WireError};
use zeroize::Zeroizing;

use super::layout;
use crate::keys::LtvSecretKey;
use crate::spec::LtvParams;

/// The secret key as bytes, unencrypted: **readers of it decrypt everything**. They are wiped
/// when dropped.
///
/// # Errors
/// Metadata of 4 GiB or more.
pub fn expose_to_bytes(
    secret: &LtvSecretKey,
    metadata: &Metadata,
) -> Result<Zeroizing<Vec<u8>>, WireError> {
    let exposed = secret.expose_secret_coefficients();
    let records = [0u8, 1].map(|role| Planned {
        descriptor: vec![role],
        length: small_len(secret.params().degree()),
    });
    let fill = |i: usize, out: &mut [u8]| write_small(&exposed[i], out);
    Ok(Zeroizing::new(encode(
        ObjectKind::LTV_SECRET_KEY,
        secret.params().id(),
        metadata,
        &records,
        fill,
    )?))
}

/// The secret key from bytes, with every check that key generation makes. Computes 1/f and h again.
///
/// # Errors
/// Whatever is not as the format says, a key of other parameters or one that key generation would
/// not have drawn.
pub fn from_bytes(
    params: &LtvParams,
    bytes: &[u8],
    options: &ReadOptions,
) -> Result<(LtvSecretKey, Metadata), WireError> {
    let layout = layout(bytes, ObjectKind::LTV_SECRET_KEY, params, options)?;
    if !layout.entries.iter().map(|(entry, _)| &entry.descriptor[..]).eq([&[0][..], &[1]]) {
        return Err(WireError::malformed("records of a secret key", "u and g", "others"));
    }
    let part = |i: usize| read_small(layout.record(bytes, i)?, params.degree());
    let (u, g) = (part(0)?, part(1)?);
    Ok((LtvSecretKey::from_secret_coefficients(params, [&u, &g])?, layout.metadata))
}
