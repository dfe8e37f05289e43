//! Vectors of plaintexts: their coefficients modulo p^e in natural order.

use everlevel_scheme::{Params, Plaintext};

use crate::error::WireError;
use crate::format::{Layout, Planned, encode};
use crate::id::ParamsId;
use crate::kind::ObjectKind;
use crate::options::ReadOptions;
use crate::pack::{pack, packed_len, unpack, width_up_to};
use crate::reader::Reader;
use crate::summary::Metadata;

/// Plaintexts as bytes.
///
/// # Errors
/// A plaintext of other parameters, metadata of 4 GiB or more.
pub fn to_bytes(
    params: &Params,
    plaintexts: &[Plaintext],
    metadata: &Metadata,
) -> Result<Vec<u8>, WireError> {
    let width = |x: &Plaintext| width_of(params, x.exponent());
    let plan = |x: &Plaintext| {
        // The same checks as for a reader.
        Plaintext::from_coefficients(params, x.coefficients().to_vec(), x.exponent())?;
        Ok(Planned {
            descriptor: x.exponent().to_le_bytes().to_vec(),
            length: packed_len(params.degree(), width(x)),
        })
    };
    let records = plaintexts.iter().map(plan).collect::<Result<Vec<_>, WireError>>()?;
    encode(ObjectKind::PLAINTEXTS, ParamsId::of(params), metadata, &records, |i, out| {
        pack(plaintexts[i].coefficients(), width(&plaintexts[i]), out);
    })
}

/// Plaintexts from bytes.
///
/// # Errors
/// Bytes that violate the format, plaintexts of other parameters.
pub fn from_bytes(
    params: &Params,
    bytes: &[u8],
    options: &ReadOptions,
) -> Result<(Vec<Plaintext>, Metadata), WireError> {
    let layout = Layout::of(bytes, ObjectKind::PLAINTEXTS, params, options)?;
    let read = |i: usize| {
        let mut fields = Reader::new(&layout.entries[i].0.descriptor);
        let exponent = fields.u32()?;
        fields.finish()?;
        let highest = params.slot_shape().max_exponent();
        if !(1..=highest).contains(&exponent) {
            return Err(WireError::malformed(
                "plaintext exponent",
                format!("1 to {highest}"),
                exponent,
            ));
        }
        let t = params.plaintext_ring().modulus(exponent);
        let (record, n) = (layout.record(bytes, i)?, params.degree());
        let width = width_of(params, exponent);
        if record.len() != packed_len(n, width) {
            return Err(WireError::malformed(
                "bytes of a plaintext",
                packed_len(n, width),
                record.len(),
            ));
        }
        let mut coefficients = vec![0; n];
        let largest = unpack(record, width, &mut coefficients);
        let found = largest
            .ok_or_else(|| WireError::malformed("last bits of a plaintext", 0, "something else"))?;
        // Every word is below 2^64.
        if found > t.last() {
            return Err(WireError::OutOfRange {
                what: "coefficients of a plaintext",
                found,
                bound: t.value(),
            });
        }
        Ok(Plaintext::from_coefficients(params, coefficients, exponent)?)
    };
    let plaintexts = (0..layout.entries.len()).map(read).collect::<Result<_, WireError>>()?;
    Ok((plaintexts, layout.metadata))
}

/// The width of residues modulo p^exponent, for an exponent of the set.
///
/// # Panics
/// If the set does not have it.
fn width_of(params: &Params, exponent: u32) -> u32 {
    width_up_to(params.plaintext_ring().modulus(exponent).last())
}
