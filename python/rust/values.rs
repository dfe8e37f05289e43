//! What crosses to Python and back: integers of NumPy, ids, choices.

use everlevel::{KeyId, Params, ValueRange};
use everlevel_wire::file::Existing;
use numpy::PyReadonlyArray1;

use crate::errors::{Result, refusal};

/// What becomes of a file that is there.
pub fn existing(overwrite: bool) -> Existing {
    if overwrite { Existing::Replace } else { Existing::Keep }
}

/// An id in full.
pub fn shown(id: Option<KeyId>) -> Option<String> {
    id.map(|id| format!("{id:#}"))
}

/// A vector of 64-bit integers in one piece, without a copy.
pub fn slice<'a>(values: &'a PyReadonlyArray1<'_, i64>) -> Result<&'a [i64]> {
    values.as_slice().map_err(|e| {
        refusal(
            "ShapeError",
            "python.not-contiguous",
            &format!("expected an array in one piece: {e}"),
        )
    })
}

/// The bytes of a buffer in one piece, without a copy.
pub fn octets<'a>(data: &'a PyReadonlyArray1<'_, u8>) -> Result<&'a [u8]> {
    data.as_slice()
        .map_err(|_| refusal("FormatError", "python.not-contiguous", "expected bytes in one piece"))
}

/// Residues modulo p^exponent of integers between -(p^e) and p^e.
pub fn residues(params: &Params, values: &[i64], exponent: u32) -> Result<Vec<u64>> {
    let modulus = params.plaintext_ring().modulus(exponent);
    let t = modulus.wide();
    let outside = |v: &i64| u128::from(v.unsigned_abs()) >= t;
    if let Some((i, v)) = values.iter().enumerate().find(|(_, v)| outside(v)) {
        let found = format!(
            "{v} at position {i}: expected integers above -{t} and below {t}, the plaintext \
             modulus"
        );
        return Err(refusal("RangeError", "python.value-range", &found));
    }
    // A division would take a time that depends on them.
    Ok(values.iter().map(|&v| modulus.reduce_i64(v)).collect())
}

/// The smallest range that has all of these integers; none of none.
pub fn range_of(mut values: impl Iterator<Item = i64>) -> Option<ValueRange> {
    let first = ValueRange::point(values.next()?);
    Some(values.fold(first, ValueRange::with))
}

/// The range of the product of a matrix with a vector of integers of a range, and of the 0 that
/// slots without a row hold.
pub fn range_of_products(range: ValueRange, rows: &[Vec<i64>]) -> Option<ValueRange> {
    let zero = ValueRange::point(0);
    rows.iter().try_fold(zero, |all, row| {
        let product = row
            .iter()
            .try_fold(zero, |sum, &entry| sum.plus(range.times(ValueRange::point(entry))?))?;
        ValueRange::new(all.low().min(product.low()), all.high().max(product.high()))
    })
}
