//! Arrays of the same length in a column, and one number for each of them in the first slots.
//!
//! The number of array i is found in slot i n of a row, n being the length of the arrays, and
//! belongs to slot i: it moves by i (n - 1), by one digit of i after the other, the lowest first.
//! After the digits below 4^k it is in slot i n - (n - 1) r with r = i mod 4^k, which is
//! (i - r) n + r: so no two numbers meet.

use rayon::prelude::*;

use crate::column::{Column, Digit};
use crate::context::{IntegerScheme, Integers};
use crate::error::IntegersError;
use crate::slots::digit_of;

/// The base of the digits by which results move. A round is three rotations and a product by a
/// plaintext in depth; with base 2 there would be twice as many rounds of one rotation, and more
/// bootstrappings.
const RADIX: usize = 4;

/// Arrays of the same length, of which each is in one row of slots.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Arrays {
    /// The entries of each.
    pub(crate) n: usize,
    pub(crate) count: usize,
    /// The number of them that a row has room for.
    per_row: usize,
}

impl Arrays {
    /// The number of entries of all of them.
    pub(crate) fn entries(self) -> usize {
        self.n * self.count
    }

    /// 1 in the slots of results that move next by a digit of the numbers of their arrays, that of
    /// the place of `unit`, a power of the base, after they have moved by all lower digits; 0 in
    /// other slots.
    fn moving(self, columns: usize, unit: usize, digit: usize) -> Vec<i64> {
        let mut marks = vec![0; self.entries()];
        for array in 0..self.count {
            let (row, i) = (array / self.per_row, array % self.per_row);
            if i / unit % RADIX == digit {
                marks[row * columns + i * self.n - i % unit * (self.n - 1)] = 1;
            }
        }
        marks
    }
}

impl<S: IntegerScheme> Integers<'_, S> {
    /// The arrays of a column, if they are whole.
    pub(crate) fn arrays(
        &self,
        x: &Column<S::Ciphertext>,
        n: usize,
    ) -> Result<Arrays, IntegersError> {
        let (found, columns) = (self.within_row(x, self.slots())?, self.columns());
        if n == 0 || !found.is_multiple_of(n) {
            let expected = format!("arrays of {n} entries each, which are all whole");
            return Err(IntegersError::Length { found, expected });
        }
        if n > columns {
            let expected = format!(
                "arrays of at most {columns}, as each array is in one row of {columns} slots: \
                 compute on all entries of one array as a column, which in Python is x.ravel(), or \
                 put entry j of all arrays in column j, which in Python is row j with rows=True, \
                 and take axis=0"
            );
            return Err(IntegersError::Length { found: n, expected });
        }
        let per_row = columns / n;
        if found > columns {
            if !columns.is_multiple_of(n) {
                let expected = format!(
                    "at most {} in arrays of {n} entries, as each array is in one row of {columns} \
                     slots: compute on fewer arrays at a time, or put entry j of all arrays in \
                     column j, which in Python is row j with rows=True, and take axis=0",
                    per_row * n
                );
                return Err(IntegersError::Length { found, expected });
            }
            self.check_rows()?;
        }
        Ok(Arrays { n, count: found / n, per_row })
    }

    /// What a canonical column holds in the slot of the first entry of each array, as a column.
    pub(crate) fn first_entries(
        &self,
        x: &Column<S::Ciphertext>,
        arrays: Arrays,
    ) -> Result<Column<S::Ciphertext>, IntegersError> {
        let least = x.interval.low() - x.anchor;
        let digit = |(k, d): (usize, &Digit<S::Ciphertext>)| {
            self.first_slots(d, arrays, (d.low, d.high), digit_of(least, k))
        };
        let digits = x.digits.par_iter().enumerate().map(digit);
        let digits = digits.collect::<Result<Vec<_>, IntegersError>>()?;
        Ok(Column { digits, length: Some(arrays.count), ..x.clone() })
    }

    /// What a digit is in the slots of the first entries, which lies in a window, one after the
    /// other in the first slots, and `pad` behind them.
    pub(crate) fn first_slots(
        &self,
        d: &Digit<S::Ciphertext>,
        arrays: Arrays,
        (low, high): (i64, i64),
        pad: i64,
    ) -> Result<Digit<S::Ciphertext>, IntegersError> {
        if d.cipher.is_none() {
            return Ok(d.clone());
        }
        let Arrays { n, count, per_row } = arrays;
        let (columns, all) = (self.columns(), (low.min(0), high.max(0)));
        let (mut found, mut unit) = (d.clone(), 1);
        loop {
            let mut sum: Option<Digit<S::Ciphertext>> = None;
            for digit in (0..RADIX).rev() {
                let marks = arrays.moving(columns, unit, digit);
                if !marks.contains(&1) {
                    continue;
                }
                let own = self.weighed(&found, &marks)?;
                sum = Some(match sum {
                    None => own.within(all.0, all.1),
                    Some(sum) => {
                        let moved = self.rotated(&sum, (unit * (n - 1)) as i64)?;
                        self.combine(&[(&moved, 1), (&own, 1)], 0)?.within(all.0, all.1)
                    }
                });
            }
            found = sum.unwrap_or(found);
            unit *= RADIX;
            if unit >= count.min(per_row) {
                break;
            }
        }
        if count > per_row {
            // Those of the second row stand in its first slots, and follow the others.
            let second = self.rotated(&self.swapped(&found)?, -(per_row as i64))?;
            let both = self.combine(&[(&found, 1), (&second, 1)], 0)?.within(all.0, all.1);
            found = self.weighed(&both, &vec![1; count])?;
        }
        let window = (low.min(pad), high.max(pad));
        if pad == 0 {
            return Ok(found.within(window.0, window.1));
        }
        let mut behind = vec![pad; self.slots()];
        behind[..count].fill(0);
        self.raised(&found, &behind, window, pad)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// With slots that move as they do in ciphertexts.
    #[test]
    fn numbers_of_arrays_follow_each_other() {
        for (columns, n, count) in
            [(64usize, 2, 32), (64, 3, 21), (64, 8, 8), (60, 5, 7), (64, 64, 1)]
        {
            for rows in [1, 2] {
                let (per_row, count) = (columns / n, rows * count);
                if rows == 2 && !columns.is_multiple_of(n) {
                    continue;
                }
                let arrays = Arrays { n, count, per_row };
                // All slots hold something, those of first entries 1 more than the number of the
                // array.
                let number = |slot: usize| if slot.is_multiple_of(n) { slot / n + 1 } else { 1000 };
                let mut slots: Vec<usize> = (0..rows * columns).map(number).collect();
                let mut unit = 1;
                while unit == 1 || unit < count.min(per_row) {
                    let mut next = vec![0; slots.len()];
                    for digit in 0..RADIX {
                        let marks = arrays.moving(columns, unit, digit);
                        for (slot, _) in marks.iter().enumerate().filter(|(_, mark)| **mark == 1) {
                            let to = slot - digit * unit * (n - 1);
                            assert_eq!(to / columns, slot / columns);
                            assert_eq!(std::mem::replace(&mut next[to], slots[slot]), 0);
                        }
                    }
                    slots = next;
                    unit *= RADIX;
                }
                for (row, found) in slots.chunks(columns).enumerate() {
                    let own = count.saturating_sub(row * per_row).min(per_row);
                    let expected = (0..own).map(|i| row * per_row + i + 1);
                    assert_eq!(found[..own], expected.collect::<Vec<_>>(), "{n} of {columns}");
                    assert!(found[own..].iter().all(|x| *x == 0));
                }
            }
        }
    }
}
