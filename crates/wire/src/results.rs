//! Vectors of results: ciphertexts cut to what decryption needs.

use everlevel_bgv::CompactCiphertext;
use everlevel_scheme::{KeyId, Params};

use crate::error::WireError;
use crate::format::{Layout, Planned};
use crate::kind::ObjectKind;
use crate::options::{Belief, ReadOptions};
use crate::pack::{pack, packed_len, unpack};
use crate::reader::Reader;
use crate::record::Record;
use crate::summary::Metadata;
use crate::vector;

/// The bound of results in version 1, which do not state one, in units of 2^-32: the widths were
/// chosen to stay below 0.499.
const VERSION_1_DISTANCE: u32 = (0.499 * (1u64 << 32) as f64) as u32 + 1;

/// Bytes of the descriptor of a result.
pub(crate) const DESCRIPTOR_BYTES: usize = 20;

/// Compact ciphertexts as bytes.
///
/// # Errors
/// A ciphertext of other parameters, ciphertexts of two owners, metadata of 4 GiB or more.
pub fn to_bytes(
    params: &Params,
    results: &[CompactCiphertext],
    metadata: &Metadata,
) -> Result<Vec<u8>, WireError> {
    vector::to_bytes::<CompactCiphertext>(params, results, metadata)
}

/// Compact ciphertexts from bytes.
///
/// # Errors
/// Whatever is not as the format says, ciphertexts of other parameters, or of an unknown owner
/// unless `options` allow it.
pub fn from_bytes(
    params: &Params,
    bytes: &[u8],
    options: &ReadOptions,
) -> Result<(Vec<CompactCiphertext>, Metadata), WireError> {
    let layout = Layout::of(bytes, ObjectKind::RESULTS, params, options)?;
    let read = |i: usize| {
        let (record, descriptor) =
            (layout.record(bytes, i, options)?, &layout.entries[i].0.descriptor[..]);
        // Results have no noise bound that could be trusted or not.
        let place = (i, descriptor);
        CompactCiphertext::read_one(params, &layout, place, record, Belief::Largest, options)
    };
    let results = (0..layout.entries.len()).map(read).collect::<Result<_, WireError>>()?;
    Ok((results, layout.metadata))
}

impl Record for CompactCiphertext {
    const KIND: ObjectKind = ObjectKind::RESULTS;

    fn record_owner(&self) -> Option<KeyId> {
        self.owner()
    }

    fn planned(&self, params: &Params) -> Result<Planned, WireError> {
        // The same checks as for a reader.
        CompactCiphertext::from_parts(
            params,
            self.exponent(),
            self.unit(),
            self.widths().to_vec(),
            self.components().to_vec(),
        )?;
        let mut descriptor = Vec::with_capacity(DESCRIPTOR_BYTES);
        descriptor.extend(self.exponent().to_le_bytes());
        let width = |k: usize| self.widths().get(k).map_or(0, |w| *w as u8);
        descriptor.extend([width(0), width(1), 0, 0]);
        descriptor.extend(self.unit().to_le_bytes());
        descriptor.extend(self.distance().to_le_bytes());
        let length = self.widths().iter().map(|&w| packed_len(params.degree(), w)).sum();
        Ok(Planned { descriptor, length })
    }

    fn fill(&self, _: &Params, mut out: &mut [u8]) {
        for (c, &width) in self.components().iter().zip(self.widths()) {
            let (slice, rest) = out.split_at_mut(packed_len(c.len(), width));
            pack(c, width, slice);
            out = rest;
        }
    }

    fn read_one(
        params: &Params,
        layout: &Layout,
        (_, descriptor): (usize, &[u8]),
        record: &[u8],
        _: Belief<'_>,
        _: &ReadOptions,
    ) -> Result<Self, WireError> {
        let mut fields = Reader::new(descriptor);
        let exponent = fields.u32()?;
        let widths = [u32::from(fields.u8()?), u32::from(fields.u8()?)];
        fields.zeros(2)?;
        let unit = fields.u64()?;
        let distance = if layout.version > 1 { fields.u32()? } else { VERSION_1_DISTANCE };
        fields.finish()?;
        let (used, unused) = widths.split_at(params.components());
        if used.iter().any(|w| !(1..=62).contains(w)) || unused.iter().any(|w| *w != 0) {
            let expected = format!("{} from 1 to 62, the others 0", params.components());
            return Err(WireError::malformed(
                "widths of a result",
                expected,
                format!("{widths:?}"),
            ));
        }
        let n = params.degree();
        let needed = used.iter().map(|&w| packed_len(n, w)).sum::<usize>();
        if record.len() != needed {
            return Err(WireError::malformed("bytes of a result", needed, record.len()));
        }
        let mut body = Reader::new(record);
        let mut component = |width: u32| {
            let mut out = vec![0; n];
            let largest = unpack(body.take(packed_len(n, width))?, width, &mut out);
            largest.ok_or_else(|| {
                WireError::malformed("last bits of a result", 0, "something else")
            })?;
            Ok::<_, WireError>(out)
        };
        let components = used.iter().map(|&width| component(width)).collect::<Result<_, _>>()?;
        let x = CompactCiphertext::from_parts(params, exponent, unit, used.to_vec(), components)?;
        Ok(x.owned_by(layout.owners.owner).within(distance)?)
    }
}
