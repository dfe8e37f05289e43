//! The linear layers of AES as affine maps on the 128 bits of a state, composed before they meet a
//! ciphertext.

use everlevel_scheme::ExactScheme;
use rayon::prelude::*;

use crate::AesError;
use crate::field::{INVERSE_MIX, MIX, mul, shifted, unshifted};

/// An affine map over F_2 on states: 16 bytes, each with its most significant bit first, so that a
/// state is a big-endian integer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AffineMap {
    /// For each output bit, first to last, the input bits that it is the sum of.
    rows: Vec<u128>,
    constant: u128,
}

impl AffineMap {
    /// The map whose output bit i is the sum of the bits of `row(i)`.
    fn linear(row: impl Fn(usize) -> u128) -> Self {
        AffineMap { rows: (0..128).map(row).collect(), constant: 0 }
    }

    /// The same map on every byte: a matrix by its rows, most significant bits first, and a
    /// constant.
    pub fn bytewise(matrix: [u8; 8], constant: u8) -> Self {
        let linear = Self::linear(|i| u128::from(matrix[i % 8]) << (120 - i / 8 * 8));
        AffineMap { constant: u128::from_be_bytes([constant; 16]), ..linear }
    }

    /// The same map on every byte: the affine map that `f` is.
    pub(super) fn of_bytes(f: impl Fn(u8) -> u8) -> Self {
        let constant = f(0);
        let row =
            |i: usize| (0..8).fold(0, |row, j| row | ((f(1 << j) ^ constant) >> (7 - i) & 1) << j);
        Self::bytewise(std::array::from_fn(row), constant)
    }

    /// ShiftRows.
    pub fn shift_rows() -> Self {
        Self::moved(shifted)
    }

    /// InvShiftRows.
    pub fn inverse_shift_rows() -> Self {
        Self::moved(unshifted)
    }

    fn moved(source: fn(usize) -> usize) -> Self {
        Self::linear(|i| 1 << (127 - (8 * source(i / 8) + i % 8)))
    }

    /// MixColumns.
    pub fn mix_columns() -> Self {
        Self::mixed(MIX)
    }

    /// InvMixColumns.
    pub fn inverse_mix_columns() -> Self {
        Self::mixed(INVERSE_MIX)
    }

    fn mixed(factors: [u8; 4]) -> Self {
        Self::linear(|i| {
            let (row, column) = (i / 8 % 4, i / 32);
            // Bit `bit` of the products of all single-bit bytes with `factor`.
            let times = |factor: u8, bit: usize| {
                (0..8).fold(0, |row, j| {
                    row << 1 | u128::from(mul(factor, 0x80 >> j) >> (7 - bit) & 1)
                })
            };
            (0..4).fold(0, |sum, k| {
                sum | times(factors[(k + 4 - row) % 4], i % 8) << (120 - 8 * (k + 4 * column))
            })
        })
    }

    /// This map, followed by `next`.
    #[must_use]
    pub fn then(&self, next: &Self) -> Self {
        let bits = |row: u128| (0..128).filter(move |j| row << j >> 127 == 1);
        let rows =
            next.rows.iter().map(|&row| bits(row).fold(0, |sum, j| sum ^ self.rows[j])).collect();
        AffineMap { rows, constant: next.apply(self.constant) }
    }

    /// The image of a state.
    pub fn apply(&self, state: u128) -> u128 {
        let bit = |row: &u128| u128::from((row & state).count_ones() & 1);
        self.rows.iter().fold(0, |out, row| out << 1 | bit(row)) ^ self.constant
    }

    /// The image of an encrypted state of 128 bits, plus `key` if there is one: 128 linear
    /// combinations, no key switch.
    ///
    /// # Errors
    /// [`AesError::Width`] for another number of ciphertexts, and those of the scheme.
    pub fn evaluate<S: ExactScheme>(
        &self,
        scheme: &S,
        state: &[S::Ciphertext],
        key: Option<&[S::Ciphertext]>,
    ) -> Result<Vec<S::Ciphertext>, AesError> {
        AesError::check_width("the state", state.len(), 128)?;
        AesError::check_width("a round key", key.map_or(128, <[_]>::len), 128)?;
        let output = |(i, &row): (usize, &u128)| {
            let inputs =
                state.iter().enumerate().filter(|(j, _)| row << j >> 127 == 1).map(|(_, x)| x);
            let terms: Vec<_> = inputs.chain(key.map(|key| &key[i])).map(|x| (x, 1)).collect();
            Ok(scheme.linear_combination(&terms, (self.constant << i >> 127) as i64)?)
        };
        self.rows.par_iter().enumerate().map(output).collect()
    }
}
