//! Sums over the slots of a column.

use everlevel_circuit::{Value, rotate_by_keys, sums::sum_by_keys};
use everlevel_ring::PrimePower;
use zeroize::Zeroizing;

use crate::column::{BASE, Column};
use crate::context::{IntegerScheme, Integers};
use crate::encode::lift;
use crate::error::IntegersError;
use crate::interval::Interval;

/// The sum of a column, in parts that whoever decrypts adds up.
///
/// A sum of so many digits that it could reach p is left in several slots: of a digit 0..=15 modulo
/// 65537, 4096 are added in one. A total can be decrypted, not computed on.
pub struct Total<C> {
    interval: Interval,
    constant: i128,
    parts: Vec<Part<C>>,
}

/// Sums of `stride` slots of one digit, in each slot whose place in the column is a multiple of it.
struct Part<C> {
    value: Value<C>,
    weight: i128,
    window: (i64, i64),
    stride: usize,
}

impl<C> Total<C> {
    /// Which values the sum can have.
    pub fn interval(&self) -> Interval {
        self.interval
    }

    /// The ciphertexts.
    pub fn values(&self) -> impl Iterator<Item = &Value<C>> {
        self.parts.iter().map(|part| &part.value)
    }

    /// The sum, its slots decrypted by `decrypt`.
    ///
    /// # Errors
    /// [`IntegersError::Value`] for a part or a sum that cannot be; those of `decrypt`.
    pub fn decrypt<E: From<IntegersError>>(
        &self,
        modulus: PrimePower,
        mut decrypt: impl FnMut(&C) -> Result<Vec<u64>, E>,
    ) -> Result<i128, E> {
        let mut sum = self.constant;
        for part in &self.parts {
            let slots = Zeroizing::new(decrypt(&part.value.get())?);
            for (position, residue) in slots.iter().enumerate().step_by(part.stride) {
                let value = lift(*residue, modulus, part.window, position)?;
                sum += part.weight * i128::from(value);
            }
        }
        if self.interval.contains(sum) {
            return Ok(sum);
        }
        let expected = format!("a sum of {}", self.interval);
        Err(IntegersError::Value { value: sum, position: 0, expected }.into())
    }
}

impl<S: IntegerScheme> Integers<'_, S> {
    /// The sum of all entries; of truth values, how many are 1. No level; log2 of the slots
    /// rotations for each digit, keys for which the server has to have.
    ///
    /// # Errors
    /// [`IntegersError::Range`] past 2^126; a missing key; those of the scheme.
    pub fn sum(&self, x: &Column<S::Ciphertext>) -> Result<Total<S::Ciphertext>, IntegersError> {
        let (slots, length) = (self.slots() as i128, x.length().unwrap_or(1) as i128);
        let interval = x.interval.checked_mul(Interval::point(length)?)?;
        let columns = self.session().scheme().slot_shape().columns();
        let p = self.modulus().prime();
        let (mut constant, mut weight) = (length * x.anchor, 1i128);
        let mut parts = Vec::new();
        for (i, digit) in x.digits.iter().enumerate() {
            if i > 0 {
                weight *= i128::from(BASE);
            }
            let Some(value) = &digit.cipher else {
                constant += length * weight * i128::from(digit.low);
                continue;
            };
            constant -= (slots - length) * weight * i128::from(digit.pad);
            // Sums of so many differ by less than p.
            let most = ((p - 1) / (digit.points() as u64 - 1)) as usize;
            let stride = if most >= self.slots() {
                self.slots()
            } else {
                (1usize << most.ilog2()).min(1 << columns.trailing_zeros())
            };
            let sum = self.apply(&[value], |s, x| {
                if stride == s.slot_shape().slots() {
                    return sum_by_keys(s, x[0]);
                }
                let mut sum = x[0].clone();
                let mut step = 1;
                while step < stride {
                    sum = s.add(&sum, &rotate_by_keys(s, &sum, step as i64)?)?;
                    step *= 2;
                }
                Ok(sum)
            })?;
            let window = (digit.low * stride as i64, digit.high * stride as i64);
            parts.push(Part { value: sum, weight, window, stride });
        }
        Ok(Total { interval, constant, parts })
    }
}
