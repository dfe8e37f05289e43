//! Polynomials modulo p^k: k rows of digits in natural order, the lowest first, each packed to the
//! width of p - 1.

use everlevel_scheme::SchemeError;
use everlevel_wire::WireError;
use everlevel_wire::container::{pack, packed_len, unpack, width_below};
use rayon::prelude::*;

use crate::adic::AdicPoly;
use crate::spec::LtvParams;

fn row_len(params: &LtvParams) -> usize {
    packed_len(params.degree(), width_below(params.ring().prime()))
}

/// The bytes of a polynomial of `rows` rows.
pub(super) fn rows_len(params: &LtvParams, rows: usize) -> usize {
    rows * row_len(params)
}

/// Writes a polynomial into exactly [`rows_len`] bytes.
pub(super) fn write_rows(params: &LtvParams, poly: &AdicPoly, out: &mut [u8]) {
    let rows: Vec<&[u32]> = poly.digits().collect();
    out.par_chunks_mut(row_len(params)).zip(rows).for_each(|(out, row)| {
        let digits: Vec<u64> =
            params.ring().ring().natural_order(row).into_iter().map(u64::from).collect();
        pack(&digits, width_below(params.ring().prime()), out);
    });
}

/// Reads a polynomial of `rows` rows, digits below p.
pub(super) fn read_rows(
    params: &LtvParams,
    rows: usize,
    bytes: &[u8],
) -> Result<AdicPoly, WireError> {
    if bytes.len() != rows_len(params, rows) {
        return Err(WireError::malformed(
            "bytes of a polynomial",
            rows_len(params, rows),
            bytes.len(),
        ));
    }
    let p = params.ring().prime();
    let row = |bytes: &[u8]| {
        let mut digits = vec![0u64; params.degree()];
        let largest = unpack(bytes, width_below(p), &mut digits);
        let found = largest
            .ok_or_else(|| WireError::malformed("last bits of a row", 0, "something else"))?;
        if found >= p {
            return Err(WireError::OutOfRange { what: "digits of a polynomial", found, bound: p });
        }
        // p is below 2^31.
        Ok(digits.into_iter().map(|digit| digit as u32).collect())
    };
    let digits: Vec<Vec<u32>> =
        bytes.par_chunks(row_len(params)).map(row).collect::<Result<_, WireError>>()?;
    Ok(params.ring().from_digits(&digits).map_err(SchemeError::from)?)
}
