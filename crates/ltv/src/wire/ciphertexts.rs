//! Vectors of ciphertexts.

use everlevel_scheme::Meta;
use everlevel_wire::container::{
    Belief, FULL, HAIR, Planned, decode_meta, digest_of, encode, encode_meta,
};
use everlevel_wire::{Metadata, ObjectKind, ReadOptions, WireError};

use super::layout;
use super::rows::{read_rows, rows_len, write_rows};
use crate::ciphertext::LtvCiphertext;
use crate::spec::LtvParams;

/// Ciphertexts as bytes.
///
/// # Errors
/// A ciphertext of other parameters, metadata of 4 GiB or more.
pub fn to_bytes(
    params: &LtvParams,
    ciphertexts: &[LtvCiphertext],
    metadata: &Metadata,
) -> Result<Vec<u8>, WireError> {
    let plan = |c: &LtvCiphertext| {
        if !c.fits(params) {
            return Err(WireError::from(params.wrong("the ciphertext")));
        }
        // The same checks as for a reader.
        LtvCiphertext::from_parts(params, *c.meta(), c.poly().clone())?;
        Ok(Planned {
            descriptor: encode_meta(c.meta(), FULL)?,
            length: rows_len(params, c.poly().rows()),
        })
    };
    let records = ciphertexts.iter().map(plan).collect::<Result<Vec<_>, WireError>>()?;
    encode(ObjectKind::LTV_CIPHERTEXTS, params.id(), metadata, &records, |i, out| {
        write_rows(params, ciphertexts[i].poly(), out)
    })
}

/// Ciphertexts from bytes. Their noise is what `options` trusts: see
/// [`BoundPolicy`](everlevel_wire::BoundPolicy); fresh encryptions are all public ones.
///
/// # Errors
/// Whatever is not as the format says, ciphertexts of other parameters.
pub fn from_bytes(
    params: &LtvParams,
    bytes: &[u8],
    options: &ReadOptions,
) -> Result<(Vec<LtvCiphertext>, Metadata), WireError> {
    let layout = layout(bytes, ObjectKind::LTV_CIPHERTEXTS, params, options)?;
    let belief = options.belief(layout.entries.len(), None, || Ok(digest_of(bytes)))?;
    let read = |i: usize| {
        let (stated, encoding) = decode_meta(&layout.entries[i].0.descriptor)?;
        if encoding != FULL {
            return Err(WireError::malformed("encoding of a ciphertext", FULL, encoding));
        }
        let meta = believed(params, belief, i, stated)?;
        let poly = read_rows(params, meta.level.0 + 1, layout.record(bytes, i)?)?;
        Ok(LtvCiphertext::from_parts(params, meta, poly)?)
    };
    let ciphertexts = (0..layout.entries.len()).map(read).collect::<Result<_, WireError>>()?;
    Ok((ciphertexts, layout.metadata))
}

/// The public data that ciphertext i gets, from what it states.
fn believed(
    params: &LtvParams,
    belief: Belief<'_>,
    i: usize,
    stated: Meta,
) -> Result<Meta, WireError> {
    if !stated.noise.is_finite() {
        return Err(WireError::malformed("noise", "a finite number", stated.noise));
    }
    // All but the noise has to hold whatever is trusted; the level first, as the largest noise
    // depends on it.
    params.check_meta(&Meta { noise: 0.0, ..stated })?;
    let (largest, fresh) = (params.largest_noise(stated.level), params.noise().fresh());
    let within = |noise: f64| noise.max(params.noise().floor().min(fresh) - HAIR).min(largest);
    let noise = match belief {
        Belief::Largest => largest,
        Belief::Fresh(_) if stated.depth != 0 => {
            return Err(WireError::malformed(
                "ciphertext",
                "a fresh encryption",
                "what operations were done on",
            ));
        }
        Belief::Fresh(_) => fresh,
        Belief::Stated => within(stated.noise),
        Belief::Listed(listed) => within(listed[i]),
    };
    let meta = Meta { noise, ..stated };
    params.check_meta(&meta)?;
    Ok(meta)
}
