//! Products of matrices with vectors in a part of the slots, with the available rotation keys.
//!
//! Entry i of a vector is in slot i, where slots are counted in row-major order over their
//! dimensions.

use std::collections::BTreeMap;

use everlevel_bgv::Ciphertext;
use everlevel_circuit::{CircuitError, rotate_by_keys};
use everlevel_scheme::{Arithmetic, Params, Plaintext, SchemeError};

use crate::error::Error;
use crate::keys::ServerEvaluator;
use crate::server::{Server, Value};

impl Server {
    /// The product of a matrix with the vector in the first slots: `out[i] = Σ_j matrix[i][j]
    /// a[j]`; other slots become 0. The entries of the matrix are reduced modulo p^e.
    ///
    /// The method is by diagonals with baby steps and giant steps (Halevi–Shoup 2018,
    /// ia.cr/2018/244): giant steps rotate by a power of two, baby steps by one. For k nonzero
    /// diagonals it takes k products with plaintexts and about 2 √k rotations
    /// ([`Server::rotate_columns`], one key switch each with general keys). It consumes one level.
    ///
    /// # Errors
    /// A matrix with more rows or columns than a row of slots has, or with rows of different
    /// lengths; missing keys, a ciphertext of other parameters.
    pub fn mul_matrix(&self, a: &Value, matrix: &[Vec<i64>]) -> Result<Value, Error> {
        let width = self.params().slot_shape().columns();
        let columns = matrix.first().map_or(0, Vec::len);
        let ragged = matrix.iter().any(|row| row.len() != columns);
        if ragged || columns == 0 || columns > width || matrix.len() > width {
            let found = format!(
                "{} rows of {columns}{}",
                matrix.len(),
                if ragged { " and other numbers" } else { "" }
            );
            let expected = format!("1 to {width} rows of as many columns each, 1 to {width}");
            return Err(SchemeError::BadArgument { what: "matrix", expected, found }.into());
        }
        Ok(self.session.apply(a, |s, a| matrix_product(s, a, matrix, columns))?)
    }
}

/// The diagonals that are not 0: number d - lowest of those with `out[i] += diagonal[i] a[i + d]`,
/// as values of a row of slots.
fn diagonals(
    params: &Params,
    matrix: &[Vec<i64>],
    lowest: i64,
    exponent: u32,
) -> BTreeMap<usize, Vec<u64>> {
    let (width, t) = (params.slot_shape().columns(), params.plaintext_ring().modulus(exponent));
    let mut out = BTreeMap::new();
    for (i, row) in matrix.iter().enumerate() {
        for (j, &value) in row.iter().enumerate() {
            let value = t.reduce_i64(value);
            if value > 0 {
                let d = (j as i64 - i as i64 - lowest).rem_euclid(width as i64) as usize;
                out.entry(d).or_insert_with(|| vec![0; width])[i] = value;
            }
        }
    }
    out
}

fn matrix_product(
    s: &ServerEvaluator,
    a: &Ciphertext,
    matrix: &[Vec<i64>],
    columns: usize,
) -> Result<Ciphertext, CircuitError> {
    let (params, exponent) = (s.params(), a.meta().exponent);
    let width = params.slot_shape().columns();
    let lowest = 1 - matrix.len() as i64;
    let diagonals = diagonals(params, matrix, lowest, exponent);
    let count = (columns + matrix.len() - 1).min(width);
    let babies = 1 << count.ilog2().div_ceil(2);
    // a rotated by lowest, lowest + 1, ..
    let mut rotated = vec![if lowest == 0 { a.clone() } else { rotate_by_keys(s, a, lowest)? }];
    while rotated.len() < babies.min(count) {
        rotated.push(rotate_by_keys(s, &rotated[rotated.len() - 1], 1)?);
    }
    // Horner's rule over the giant steps.
    let mut sum: Option<Ciphertext> = None;
    for giant in (0..count.div_ceil(babies)).rev() {
        let first = giant * babies;
        sum = sum.map(|sum| rotate_by_keys(s, &sum, babies as i64)).transpose()?;
        for (d, diagonal) in diagonals.range(first..first + babies) {
            // Moved back by what the giant steps move it on.
            let mut values = diagonal.clone();
            values.rotate_right(first % width);
            let part = s.mul_plain(
                &rotated[d - first],
                &Plaintext::encode_modulo(params, &values, exponent)?,
            )?;
            sum = Some(sum.map_or(Ok(part.clone()), |sum| s.add(&sum, &part))?);
        }
    }
    match sum {
        Some(sum) => Ok(sum),
        None => Ok(s.mul_scalar(a, 0)?),
    }
}
