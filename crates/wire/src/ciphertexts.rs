//! Vectors of ciphertexts. One is a vector of length 1.

use std::borrow::Borrow;

use std::ops::Range;
use std::sync::Arc;

use everlevel_bgv::{Ciphertext, SeededCiphertext, StoredCiphertext};
use everlevel_ring::cpu::SharedBytes;
use everlevel_ring::sample::Seed;
use everlevel_ring::{Basis, Eval, Poly};
use everlevel_scheme::{Form, KeyId, Level, Meta, Params};

use crate::error::WireError;
use crate::format::{Layout, Planned};
use crate::kind::ObjectKind;
use crate::options::{Belief, ReadOptions};
use crate::poly::{check_poly, poly_len, read_poly, write_poly};
use crate::reader::Reader;
use crate::record::{Record, all_of};
use crate::summary::Metadata;
use crate::vector;

/// Bytes of a seed.
pub(crate) const SEED_BYTES: usize = 32;

/// The encoding of a ciphertext with all components.
pub const FULL: u8 = 0;
/// A seed stands for the last component.
const SEEDED: u8 = 1;

/// Bytes of the descriptor of a ciphertext.
pub(crate) const META_BYTES: usize = 32;

/// The descriptor of a ciphertext: level, exponent, form and encoding, depth, factor, noise bound.
///
/// # Errors
/// A level above 65535, an exponent above 255.
pub fn encode_meta(meta: &Meta, encoding: u8) -> Result<Vec<u8>, WireError> {
    let small = |what, x: usize, limit: u64| WireError::Limit { what, found: x as u64, limit };
    let level =
        u16::try_from(meta.level.0).map_err(|_| small("level", meta.level.0, u16::MAX.into()))?;
    let exponent = u8::try_from(meta.exponent)
        .map_err(|_| small("exponent", meta.exponent as usize, u8::MAX.into()))?;
    let mut out = Vec::with_capacity(META_BYTES);
    out.extend(level.to_le_bytes());
    out.extend([exponent, if meta.form == Form::Bfv { 1 } else { 0 }, encoding, 0, 0, 0]);
    out.extend(meta.depth.to_le_bytes());
    out.extend([0; 4]);
    out.extend(meta.factor.to_le_bytes());
    out.extend(meta.noise.to_bits().to_le_bytes());
    Ok(out)
}

/// The public data that a descriptor states, unchecked, and the encoding.
///
/// # Errors
/// Other than 32 bytes, an unknown form, reserved bytes other than 0.
pub fn decode_meta(descriptor: &[u8]) -> Result<(Meta, u8), WireError> {
    let mut fields = Reader::new(descriptor);
    let level = Level(fields.u16()?.into());
    let exponent = fields.u8()?.into();
    let form = match fields.u8()? {
        0 => Form::Bgv,
        1 => Form::Bfv,
        other => return Err(WireError::malformed("form", "0 or 1", other)),
    };
    let encoding = fields.u8()?;
    fields.zeros(3)?;
    let depth = fields.u32()?;
    fields.zeros(4)?;
    let factor = fields.u64()?;
    let noise = f64::from_bits(fields.u64()?);
    fields.finish()?;
    let (estimate, owner, set) = (noise, None, None);
    Ok((Meta { level, exponent, form, factor, depth, noise, estimate, owner, set }, encoding))
}

/// Ciphertexts as bytes. Fresh encryptions under the secret key take half the space, as a seed of
/// 32 bytes replaces their uniformly random component. Equal ciphertexts give equal bytes on every
/// machine.
///
/// # Errors
/// A ciphertext of other parameters, ciphertexts of two owners, metadata of 4 GiB or more.
pub fn to_bytes(
    params: &Params,
    ciphertexts: &[impl Borrow<Ciphertext> + Sync],
    metadata: &Metadata,
) -> Result<Vec<u8>, WireError> {
    vector::to_bytes::<Ciphertext>(params, ciphertexts, metadata)
}

/// Ciphertexts from bytes. Their noise bounds depend on what `options` trusts, which is nothing by
/// default: see [`BoundPolicy`](crate::BoundPolicy).
///
/// # Errors
/// Bytes that violate the format, ciphertexts of other parameters, or of an unknown owner unless
/// `options` allow it.
pub fn from_bytes(
    params: &Params,
    bytes: &[u8],
    options: &ReadOptions,
) -> Result<(Vec<Ciphertext>, Metadata), WireError> {
    vector::from_bytes(params, bytes, options)
}

impl Record for Ciphertext {
    const KIND: ObjectKind = ObjectKind::CIPHERTEXTS;
    const DESCRIPTOR_BYTES: usize = META_BYTES;

    fn record_owner(&self) -> Option<KeyId> {
        self.owner()
    }

    fn record_seed(&self) -> Option<&Seed> {
        self.seed()
    }

    fn planned(&self, params: &Params) -> Result<Planned, WireError> {
        let (ring, meta) = (params.ring(), *self.meta());
        Ciphertext::from_parts(params, meta, self.components().to_vec())?;
        let basis = params.chain().basis(meta.level);
        let (encoding, length) = match self.seed() {
            Some(_) => (SEEDED, SEED_BYTES + poly_len(ring, basis)),
            None => (FULL, params.components() * poly_len(ring, basis)),
        };
        Ok(Planned { descriptor: encode_meta(&meta, encoding)?, length })
    }

    fn fill(&self, params: &Params, out: &mut [u8]) {
        let (stored, out) = match self.seed() {
            Some(seed) => {
                let (head, rest) = out.split_at_mut(SEED_BYTES);
                head.copy_from_slice(seed);
                (&self.components()[..1], rest)
            }
            None => (self.components(), out),
        };
        write_polys(params, stored, out);
    }

    fn read_one(
        params: &Params,
        layout: &Layout,
        (i, descriptor): (usize, &[u8]),
        record: &[u8],
        belief: Belief<'_>,
    ) -> Result<Self, WireError> {
        let (stated, encoding) = decode_meta(descriptor)?;
        let meta = Meta { owner: layout.owners.owner, ..belief.meta(params, i, stated)? };
        let basis = params.chain().basis(meta.level);
        match encoding {
            FULL => {
                let components = read_polys(params, params.components(), basis, record)?;
                Ok(Ciphertext::from_parts(params, meta, components)?)
            }
            SEEDED if params.components() > 1 => {
                Ok(read_seeded(params, meta, record)?.expanded(params)?)
            }
            other => {
                let expected = "0, or over ring-LWE 1";
                Err(WireError::malformed("encoding of a ciphertext", expected, other))
            }
        }
    }
}

/// Reads a seed and the polynomial after it.
fn read_seeded(params: &Params, meta: Meta, record: &[u8]) -> Result<SeededCiphertext, WireError> {
    let (mut body, basis) = (Reader::new(record), params.chain().basis(meta.level));
    let seed = body.array()?;
    let first = read_poly(params.cpu(), basis, body.rest())?;
    Ok(SeededCiphertext::from_parts(params, meta, first, seed)?)
}

/// Files of ciphertexts that all have their seed.
impl Record for SeededCiphertext {
    const KIND: ObjectKind = ObjectKind::CIPHERTEXTS;
    const DESCRIPTOR_BYTES: usize = META_BYTES;

    fn record_owner(&self) -> Option<KeyId> {
        self.meta().owner
    }

    fn record_seed(&self) -> Option<&Seed> {
        Some(self.seed())
    }

    fn planned(&self, params: &Params) -> Result<Planned, WireError> {
        let meta = *self.meta();
        SeededCiphertext::from_parts(params, meta, self.body().clone(), *self.seed())?;
        let length = SEED_BYTES + poly_len(params.ring(), params.chain().basis(meta.level));
        Ok(Planned { descriptor: encode_meta(&meta, SEEDED)?, length })
    }

    fn fill(&self, params: &Params, out: &mut [u8]) {
        let (head, rest) = out.split_at_mut(SEED_BYTES);
        head.copy_from_slice(self.seed());
        write_poly(params.ring(), self.body(), rest);
    }

    fn read_one(
        params: &Params,
        layout: &Layout,
        (i, descriptor): (usize, &[u8]),
        record: &[u8],
        belief: Belief<'_>,
    ) -> Result<Self, WireError> {
        read_seeded(params, seeded_meta(params, layout, (i, descriptor), belief)?, record)
    }
}

/// The public data of a ciphertext that has its seed.
fn seeded_meta(
    params: &Params,
    layout: &Layout,
    (i, descriptor): (usize, &[u8]),
    belief: Belief<'_>,
) -> Result<Meta, WireError> {
    let (stated, encoding) = decode_meta(descriptor)?;
    let meta = Meta { owner: layout.owners.owner, ..belief.meta(params, i, stated)? };
    if encoding != SEEDED || params.components() == 1 {
        let what = "encoding of a ciphertext with its seed";
        return Err(WireError::malformed(what, "1, over ring-LWE", encoding));
    }
    Ok(meta)
}

/// Files of ciphertexts that all have their seed, whose bytes are checked when they are read, and
/// unpacked when they are used.
impl Record for StoredCiphertext {
    const KIND: ObjectKind = ObjectKind::CIPHERTEXTS;
    const DESCRIPTOR_BYTES: usize = META_BYTES;

    fn record_owner(&self) -> Option<KeyId> {
        self.meta().owner
    }

    fn record_seed(&self) -> Option<&Seed> {
        Some(self.seed())
    }

    fn planned(&self, params: &Params) -> Result<Planned, WireError> {
        self.check_params(params)?;
        let length = SEED_BYTES + self.body().bytes().len();
        Ok(Planned { descriptor: encode_meta(self.meta(), SEEDED)?, length })
    }

    fn fill(&self, _: &Params, out: &mut [u8]) {
        let (head, rest) = out.split_at_mut(SEED_BYTES);
        head.copy_from_slice(self.seed());
        rest.copy_from_slice(self.body().bytes());
    }

    fn read_one(
        params: &Params,
        layout: &Layout,
        place: (usize, &[u8]),
        record: &[u8],
        belief: Belief<'_>,
    ) -> Result<Self, WireError> {
        let bytes: SharedBytes = Arc::new(record.to_vec());
        Self::read_shared(params, layout, place, (&bytes, 0..record.len()), belief)
    }

    fn read_shared(
        params: &Params,
        layout: &Layout,
        place: (usize, &[u8]),
        (bytes, record): (&SharedBytes, Range<usize>),
        belief: Belief<'_>,
    ) -> Result<Self, WireError> {
        let meta = seeded_meta(params, layout, place, belief)?;
        let (start, mut body) = (record.start, Reader::new(&all_of(bytes)[record]));
        let seed = body.array()?;
        check_poly(params.cpu(), params.chain().basis(meta.level), body.rest())?;
        let body = (bytes.clone(), start + SEED_BYTES);
        Ok(StoredCiphertext::from_parts(params, meta, body, seed)?)
    }
}

/// Writes polynomials over one basis, which fill the bytes.
pub(crate) fn write_polys(params: &Params, polys: &[Poly<Eval>], out: &mut [u8]) {
    let each = out.len() / polys.len();
    out.chunks_mut(each).zip(polys).for_each(|(out, c)| write_poly(params.ring(), c, out));
}

/// Reads the polynomials over one basis that fill the bytes.
pub(crate) fn read_polys(
    params: &Params,
    count: usize,
    basis: Basis,
    bytes: &[u8],
) -> Result<Vec<Poly<Eval>>, WireError> {
    let each = poly_len(params.ring(), basis);
    if bytes.len() != count * each {
        return Err(WireError::malformed("bytes of the polynomials", count * each, bytes.len()));
    }
    bytes.chunks(each).map(|chunk| read_poly(params.cpu(), basis, chunk)).collect()
}
