//! Sums over the slots of a column.

use everlevel_circuit::{CircuitError, Value, rotate_by_keys, sums::sum_by_keys};
use everlevel_ring::PrimePower;

use crate::column::{Column, Digit};
use crate::context::{IntegerScheme, Integers};
use crate::encode::{Findings, lift};
use crate::error::IntegersError;
use crate::interval::Interval;

/// The sum of a column, in parts that are added up after decryption.
///
/// A sum that could reach p is left in several slots; with two digits modulo 65537, 256 entries are
/// added up in one slot. A total can be decrypted, but not used in further computation.
pub struct Total<C> {
    pub(crate) interval: Interval,
    pub(crate) constant: i128,
    /// The divisor of the sum at decryption, with rounding down.
    pub(crate) divisor: i128,
    pub(crate) parts: Vec<Part<C>>,
}

/// Sums of `stride` slots of the digit of 16^power, in each slot whose position in the column is a
/// multiple of `stride`.
pub(crate) struct Part<C> {
    pub(crate) value: Value<C>,
    pub(crate) power: u32,
    pub(crate) window: (i64, i64),
    pub(crate) stride: usize,
}

impl<C> Clone for Total<C> {
    fn clone(&self) -> Self {
        Total { parts: self.parts.clone(), ..*self }
    }
}

impl<C> Clone for Part<C> {
    fn clone(&self) -> Self {
        Part { value: self.value.clone(), ..*self }
    }
}

impl<C> Total<C> {
    /// The interval of the sum.
    pub fn interval(&self) -> Interval {
        self.interval
    }

    /// The ciphertexts.
    pub fn values(&self) -> impl Iterator<Item = &Value<C>> {
        self.parts.iter().map(|part| &part.value)
    }

    /// The same total with what `convert` makes of its ciphertexts, as [`Column::try_map`].
    ///
    /// # Errors
    /// Those of `convert`.
    pub fn try_map<D, E>(
        &self,
        mut convert: impl FnMut(&Value<C>) -> Result<Value<D>, E>,
    ) -> Result<Total<D>, E> {
        let part = |part: &Part<C>| -> Result<Part<D>, E> {
            let value = convert(&part.value)?;
            Ok(Part { value, power: part.power, window: part.window, stride: part.stride })
        };
        let parts = self.parts.iter().map(part).collect::<Result<_, E>>()?;
        let Total { interval, constant, divisor, .. } = *self;
        Ok(Total { interval, constant, divisor, parts })
    }

    /// The sum; `decrypt` decrypts the slots of a ciphertext.
    ///
    /// # Errors
    /// `scheme.not-decryptable` for a part or a sum outside of its interval; those of `decrypt`.
    pub fn decrypt<E: From<IntegersError>>(
        &self,
        modulus: PrimePower,
        mut decrypt: impl FnMut(&C) -> Result<Vec<u64>, E>,
    ) -> Result<i128, E> {
        let mut sum = self.constant;
        let mut findings = Findings::new();
        for part in &self.parts {
            let slots = findings.slots(decrypt(&part.value.get()));
            for residue in slots.iter().step_by(part.stride) {
                let (value, possible) = lift(*residue, modulus, part.window);
                findings.note(possible);
                // Modulo 2^128, of which a sum of 127 bits is known.
                let added = i128::from(value).checked_shl(4 * part.power).unwrap_or(0);
                sum = sum.wrapping_add(added);
            }
        }
        // The time of a division depends on the sum; only means take one.
        let sum = if self.divisor == 1 { sum } else { sum.div_euclid(self.divisor) };
        findings.note(self.interval.contains(sum));
        findings.result()?;
        Ok(sum)
    }
}

/// A digit of a sum with the power of 16 that it counts.
type Limb<C> = (Digit<C>, u32);

/// The least number of slots that are added up in one sum when digits are joined; longer sums leave
/// fewer parts, but in more ciphertexts.
pub(crate) const SHORTEST_STRIDE: u64 = 128;

/// The largest number of digits that are joined, however few values each of them has.
const JOINED: u32 = 8;

impl<S: IntegerScheme> Integers<'_, S> {
    /// The sum of all entries; for truth values, the number of those that are 1. It takes no level,
    /// and modulo 65537 eight rotations for each two digits, for which the server must have keys.
    /// Of products of two columns [`Integers::sum_of_products`] takes far less.
    ///
    /// # Errors
    /// [`IntegersError::Range`] past 2^126; a missing key; those of the scheme.
    pub fn sum(&self, x: &Column<S::Ciphertext>) -> Result<Total<S::Ciphertext>, IntegersError> {
        self.total(None, x)
    }

    /// The sum of the entries where the truth value `condition` is 1. It takes a product for each
    /// two digits, one more if the least possible entry is not 0, and then as much as
    /// [`Integers::sum`].
    ///
    /// # Errors
    /// [`IntegersError::Type`] if the condition is no truth value; [`IntegersError::Length`]; those
    /// of [`Integers::sum`].
    pub fn sum_where(
        &self,
        condition: &Column<S::Ciphertext>,
        x: &Column<S::Ciphertext>,
    ) -> Result<Total<S::Ciphertext>, IntegersError> {
        self.total(Some(condition), x)
    }

    fn total(
        &self,
        condition: Option<&Column<S::Ciphertext>>,
        x: &Column<S::Ciphertext>,
    ) -> Result<Total<S::Ciphertext>, IntegersError> {
        let common = self.common_length(&[&[x], condition.as_slice()].concat())?;
        let (slots, length) = (self.slots() as i128, common.unwrap_or(1) as i128);
        let bit = condition.map(|c| self.bit("a sum", c)).transpose()?;
        let entry = match bit {
            Some(_) => x.interval.union(Interval::point(0)?),
            None => x.interval,
        };
        let interval = entry.checked_mul(Interval::point(length)?)?;
        // Where rows are chosen, an anchor is chosen with them, as digits.
        let (mut constant, anchor) = match bit {
            Some(_) => (0, x.anchor),
            None => (length.wrapping_mul(x.anchor), 0),
        };
        let mut parts = Vec::new();
        for (limb, power) in self.limbs(&x.digits, anchor)? {
            // Modulo 2^128, as it is decrypted.
            let weight = 1i128.checked_shl(4 * power).unwrap_or(0);
            let times = |count: i128, v: i64| count.wrapping_mul(weight).wrapping_mul(v.into());
            let term = match &bit {
                Some(bit) => self.product(bit, &limb)?,
                None => limb,
            };
            if term.cipher.is_none() {
                constant = constant.wrapping_add(times(length, term.low));
                continue;
            }
            constant = constant.wrapping_sub(times(slots - length, term.pad));
            parts.push(self.summed(power, &term)?);
        }
        Ok(Total { interval, constant, divisor: 1, parts })
    }

    /// `anchor` + Σ 16^i d_i as Σ 16^power limb, with as few limbs as possible: digits are joined
    /// as long as sums of [`SHORTEST_STRIDE`] of them differ by less than p.
    fn limbs(
        &self,
        digits: &[Digit<S::Ciphertext>],
        mut anchor: i128,
    ) -> Result<Vec<Limb<S::Ciphertext>>, IntegersError> {
        let widest = (self.modulus().prime() - 1) / SHORTEST_STRIDE;
        let (mut limbs, mut rest, mut power) = (Vec::new(), digits, 0);
        loop {
            let (mut points, mut count) = (0, 0);
            for digit in rest {
                // Where rows are chosen, others have 0, and a digit of the anchor is chosen too.
                let reach = digit.high.max(0) - digit.low.min(0);
                points += (if anchor == 0 { reach } else { reach.max(15) }) << (4 * count);
                if count == JOINED || (count > 0 && widest < points as u64) {
                    break;
                }
                count += 1;
            }
            let (joined, left) = rest.split_at(count as usize);
            let terms: Vec<_> = joined.iter().enumerate().map(|(i, d)| (d, 1 << (4 * i))).collect();
            // Above the digits, limbs of the anchor alone have two digits.
            let step = if left.is_empty() { count.max(2) } else { count };
            // The last limb takes what is left of the anchor, if that is little.
            let last = left.is_empty() && anchor.unsigned_abs() <= 1 << (4 * step);
            let here = if last { anchor } else { anchor & ((1 << (4 * step)) - 1) };
            limbs.push((self.combine(&terms, here as i64)?, power));
            if last {
                return Ok(limbs);
            }
            anchor = (anchor - here) >> (4 * step);
            (rest, power) = (left, power + step);
        }
    }

    /// The sum of all slots of a digit, as a part of a total.
    pub(crate) fn summed(
        &self,
        power: u32,
        digit: &Digit<S::Ciphertext>,
    ) -> Result<Part<S::Ciphertext>, IntegersError> {
        let Some(value) = &digit.cipher else {
            return Err(CircuitError::Empty { what: "a digit that is summed" }.into());
        };
        // Joined with an anchor, a digit could exceed a small p by itself.
        self.check_window(digit.low, digit.high)?;
        let p = self.modulus().prime();
        // Sums of that many digits differ by less than p.
        let most = ((p - 1) / (digit.points() as u64 - 1).max(1)) as usize;
        let stride = if most >= self.slots() {
            self.slots()
        } else {
            (1usize << most.max(1).ilog2()).min(1 << self.columns().trailing_zeros())
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
        Ok(Part { value: sum, power, window, stride })
    }
}
