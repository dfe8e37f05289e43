//! Evaluation keys: relinearization and automorphisms, always as digits. In which form they are
//! kept is the reader's choice.

use everlevel_ring::GaloisElement;
use everlevel_wire::container::{Planned, Reader, encode};
use everlevel_wire::{Metadata, ObjectKind, ReadOptions, WireError};

use super::layout;
use super::rows::{read_rows, rows_len, write_rows};
use crate::adic::AdicPoly;
use crate::gadget::KeyForm;
use crate::spec::LtvParams;
use crate::switching::LtvEvalKeys;

/// Evaluation keys as bytes, those of all levels.
///
/// # Errors
/// Keys that were reduced to a lower level, metadata of 4 GiB or more.
pub fn to_bytes(keys: &LtvEvalKeys, metadata: &Metadata) -> Result<Vec<u8>, WireError> {
    let params = keys.params();
    let rows = params.key_rows();
    let all: Vec<(GaloisElement, Vec<AdicPoly>)> =
        keys.switch_keys().map(|(g, key)| (g, key.polynomials(params))).collect();
    let count = params.digit_count(params.top());
    if all
        .iter()
        .any(|(_, digits)| digits.len() != count || digits.iter().any(|digit| digit.rows() != rows))
    {
        return Err(WireError::malformed("evaluation keys", "those of all levels", "reduced ones"));
    }
    let plan = |(g, digits): &(GaloisElement, Vec<AdicPoly>)| Planned {
        descriptor: g.exponent().to_le_bytes().to_vec(),
        length: digits.len() * rows_len(params, rows),
    };
    let records: Vec<Planned> = all.iter().map(plan).collect();
    encode(ObjectKind::LTV_EVAL_KEYS, params.id(), metadata, &records, |i, out| {
        out.chunks_mut(rows_len(params, rows))
            .zip(&all[i].1)
            .for_each(|(out, digit)| write_rows(params, digit, out));
    })
}

/// Evaluation keys from bytes, kept in this form.
///
/// # Errors
/// Whatever is not as the format says, keys of other parameters.
pub fn from_bytes(
    params: &LtvParams,
    form: KeyForm,
    bytes: &[u8],
    options: &ReadOptions,
) -> Result<(LtvEvalKeys, Metadata), WireError> {
    let layout = layout(bytes, ObjectKind::LTV_EVAL_KEYS, params, options)?;
    let (rows, count) = (params.key_rows(), params.digit_count(params.top()));
    let mut last = 0;
    let mut keys = Vec::with_capacity(layout.entries.len());
    for (i, (entry, _)) in layout.entries.iter().enumerate() {
        let mut fields = Reader::new(&entry.descriptor);
        let exponent = fields.u64()?;
        fields.finish()?;
        let g = GaloisElement::new(params.ring().ring().index(), exponent)
            .ok()
            .filter(|g| g.exponent() == exponent);
        let g = g.filter(|_| exponent > last).ok_or_else(|| {
            WireError::malformed(
                "automorphism of a key",
                "reduced units modulo the index, ascending from 1",
                exponent,
            )
        })?;
        last = exponent;
        let record = layout.record(bytes, i)?;
        if record.len() != count * rows_len(params, rows) {
            return Err(WireError::malformed(
                "bytes of a key",
                count * rows_len(params, rows),
                record.len(),
            ));
        }
        let digits =
            record.chunks(rows_len(params, rows)).map(|chunk| read_rows(params, rows, chunk));
        keys.push((g, digits.collect::<Result<Vec<_>, _>>()?));
    }
    Ok((LtvEvalKeys::from_parts(params, form, keys)?, layout.metadata))
}
