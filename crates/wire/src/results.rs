//! Vectors of results: ciphertexts cut to what decryption needs.

use everlevel_bgv::CompactCiphertext;
use everlevel_scheme::Params;

use crate::error::WireError;
use crate::format::{Layout, Owners, Planned, encode_owned};
use crate::id::ParamsId;
use crate::kind::ObjectKind;
use crate::options::ReadOptions;
use crate::pack::{pack, packed_len, unpack};
use crate::reader::Reader;
use crate::summary::Metadata;

/// Bytes of a descriptor.
pub(crate) const RESULT_BYTES: usize = 20;

/// The bound of results in version 1, which do not state one, in units of 2^-32: the widths were
/// chosen to stay below 0.499.
const VERSION_1_DISTANCE: u32 = (0.499 * (1u64 << 32) as f64) as u32 + 1;

/// Compact ciphertexts as bytes.
///
/// # Errors
/// A ciphertext of other parameters, or a product; ciphertexts of two owners, metadata of 4 GiB or
/// more.
pub fn to_bytes(
    params: &Params,
    results: &[CompactCiphertext],
    metadata: &Metadata,
) -> Result<Vec<u8>, WireError> {
    let records = results.iter().map(|x| plan(params, x, 1)).collect::<Result<Vec<_>, _>>()?;
    let owners = Owners::common(results.iter().map(CompactCiphertext::owner))?;
    let id = ParamsId::of(params);
    encode_owned(ObjectKind::RESULTS, id, &owners, metadata, &records, |i, out| {
        write(&results[i], out);
    })
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
    let one = |i: usize| {
        let record = layout.record(bytes, i)?;
        read(params, &layout, &layout.entries[i].0.descriptor, record, 1)
    };
    let results = (0..layout.entries.len()).map(one).collect::<Result<_, WireError>>()?;
    Ok((results, layout.metadata))
}

/// The record of a compact ciphertext of a degree, after the checks that a reader makes.
pub(crate) fn plan(
    params: &Params,
    x: &CompactCiphertext,
    degree: u32,
) -> Result<Planned, WireError> {
    x.check(params)?;
    if x.degree() != degree {
        return Err(WireError::malformed("degree of a result", degree, x.degree()));
    }
    let mut descriptor = Vec::with_capacity(RESULT_BYTES);
    descriptor.extend(x.exponent().to_le_bytes());
    let width = |k: usize| x.widths().get(k).map_or(0, |w| *w as u8);
    descriptor.extend([width(0), width(1), width(2), 0]);
    descriptor.extend(x.unit().to_le_bytes());
    descriptor.extend(x.distance().to_le_bytes());
    let length = x.widths().iter().map(|&w| packed_len(params.degree(), w)).sum();
    Ok(Planned { descriptor, length })
}

/// Writes the record that was planned.
pub(crate) fn write(x: &CompactCiphertext, mut out: &mut [u8]) {
    for (c, &width) in x.components().iter().zip(x.widths()) {
        let (slice, rest) = out.split_at_mut(packed_len(c.len(), width));
        pack(c, width, slice);
        out = rest;
    }
}

/// A compact ciphertext of a degree from its descriptor and its record, whose bytes are there
/// before anything is allocated.
pub(crate) fn read(
    params: &Params,
    layout: &Layout,
    descriptor: &[u8],
    record: &[u8],
    degree: u32,
) -> Result<CompactCiphertext, WireError> {
    let mut fields = Reader::new(descriptor);
    let exponent = fields.u32()?;
    let widths = fields.array::<3>()?.map(u32::from);
    fields.zeros(1)?;
    let unit = fields.u64()?;
    let distance = if layout.version > 1 { fields.u32()? } else { VERSION_1_DISTANCE };
    fields.finish()?;
    let count = if params.components() > 1 { degree as usize + 1 } else { 1 };
    let (used, unused) = widths.split_at(count);
    if used.iter().any(|w| !(1..=62).contains(w)) || unused.iter().any(|w| *w != 0) {
        let expected = format!("{count} from 1 to 62, the others 0");
        return Err(WireError::malformed("widths of a result", expected, format!("{widths:?}")));
    }
    let n = params.degree();
    let needed = used.iter().map(|&w| packed_len(n, w)).sum::<usize>();
    if record.len() != needed {
        return Err(WireError::malformed("bytes of a result", needed, record.len()));
    }
    let mut body = Reader::new(record);
    let component = |&width: &u32| {
        let mut out = vec![0; n];
        let largest = unpack(body.take(packed_len(n, width))?, width, &mut out);
        largest
            .ok_or_else(|| WireError::malformed("last bits of a result", 0, "something else"))?;
        Ok::<_, WireError>(out)
    };
    let components = used.iter().map(component).collect::<Result<_, _>>()?;
    let x = match degree {
        1 => CompactCiphertext::from_parts(params, exponent, unit, used.to_vec(), components)?,
        _ => {
            let widths = used.to_vec();
            CompactCiphertext::product_from_parts(params, exponent, unit, widths, components)?
        }
    };
    Ok(x.owned_by(layout.owners.owner).within(distance)?)
}
