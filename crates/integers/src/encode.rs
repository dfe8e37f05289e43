//! Columns of integers as slot vectors of digits, and back.

use everlevel_circuit::Value;
use everlevel_ring::PrimePower;
use everlevel_scheme::{Level, SchemeError};
use zeroize::Zeroizing;

use crate::column::{BASE, Column, Digit};
use crate::error::IntegersError;
use crate::interval::Interval;
use crate::split::digits_of;
use crate::steps::Steps;
use crate::types::Type;

/// The most digits of columns with an index: a range takes a level for each digit but one.
pub(crate) const INDEX_DIGITS: usize = 8;

/// The anchor of values of an interval, and the number of digits above it. The anchor is 0 if no
/// value is negative, otherwise -2^(4k-1), so that all signed values with k digits have the same
/// anchor.
pub(crate) fn standard_form(interval: Interval) -> (i128, usize) {
    if interval.low() >= 0 {
        return (0, digits_of(interval.high().unsigned_abs()));
    }
    let k = (1..32).find(|k| {
        let half = 1i128 << (4 * k - 1);
        -half <= interval.low() && interval.high() < half
    });
    let k = k.unwrap_or(32);
    (-(1i128 << (4 * k - 1).min(126)), k as usize)
}

/// Whether columns of a type may have an index.
///
/// # Errors
/// [`IntegersError::Type`] for truth values and public integers, which need none, and for more than
/// eight digits, of which a function would take too many levels.
pub(crate) fn check_index(interval: Interval) -> Result<(), IntegersError> {
    let (_, digits) = standard_form(interval);
    if interval.points() > 2 && digits <= INDEX_DIGITS {
        return Ok(());
    }
    Err(IntegersError::Type {
        operation: "an index",
        found: interval,
        expected: "at least 3 values, of at most 8 hexadecimal digits: state narrower bounds, or \
                   encrypt without an index",
    })
}

/// The windows of the digits of values of an interval above an anchor that does not exceed it.
pub(crate) fn windows(interval: Interval, anchor: i128, digits: usize) -> Vec<(i64, i64)> {
    // At most 2^127.
    let [low, high] = [interval.low(), interval.high()].map(|v| v.wrapping_sub(anchor) as u128);
    let digit = |x: u128, i: usize| (x >> (4 * i) & 15) as i64;
    (0..digits)
        .map(|i| match (low >> (4 * i)) / 16 == (high >> (4 * i)) / 16 {
            true => (digit(low, i), digit(high, i)),
            false => (0, BASE - 1),
        })
        .collect()
}

/// A column as slot vectors, ready to be encrypted.
pub struct Encoded {
    interval: Interval,
    anchor: i128,
    length: usize,
    /// The entry of the slots behind the column.
    pad: i128,
    /// Lowest first.
    digits: Vec<EncodedDigit>,
}

/// A digit of all values.
struct EncodedDigit {
    low: i64,
    high: i64,
    /// `None` if the digit is the same for all values of the interval.
    slots: Option<Zeroizing<Vec<u64>>>,
}

impl Encoded {
    /// Encodes `values`, which are of the type `kind`, as digits in `slots` slots. Slots behind the
    /// column hold the least value of the type.
    ///
    /// # Errors
    /// [`IntegersError::Value`] for a value outside of the type, [`IntegersError::Length`] for no
    /// values, or more values than slots.
    pub fn new(values: &[i128], kind: Type, slots: usize) -> Result<Self, IntegersError> {
        Self::padded(values, kind, slots, kind.interval().low())
    }

    /// The same with a given value in the slots behind the column.
    ///
    /// # Errors
    /// As [`Encoded::new`].
    pub fn padded(
        values: &[i128],
        kind: Type,
        slots: usize,
        pad: i128,
    ) -> Result<Self, IntegersError> {
        if values.is_empty() || values.len() > slots {
            let expected = format!("1 to {slots}, the number of slots");
            return Err(IntegersError::Length { found: values.len(), expected });
        }
        let interval = kind.interval();
        let outside = |v: &i128| !interval.contains(*v);
        if let Some((position, value)) =
            values.iter().chain([&pad]).copied().enumerate().find(|(_, v)| outside(v))
        {
            let expected = format!("{kind}, from {} to {}", interval.low(), interval.high());
            return Err(IntegersError::Value { value, position, expected });
        }
        let (anchor, digits) = standard_form(interval);
        let digits = windows(interval, anchor, digits)
            .into_iter()
            .enumerate()
            .map(|(i, (low, high))| {
                let above = |v: i128| v.wrapping_sub(anchor) as u128;
                let digit = |v: i128| (above(v) >> (4 * i) & 15) as u64;
                let pads = std::iter::repeat_n(pad, slots - values.len());
                let slots = || values.iter().copied().chain(pads).map(digit).collect::<Vec<_>>();
                EncodedDigit { low, high, slots: (low < high).then(|| slots().into()) }
            })
            .collect();
        Ok(Encoded { interval, anchor, length: values.len(), pad, digits })
    }

    /// The encrypted column; `encrypt` encrypts each slot vector.
    ///
    /// # Errors
    /// Those of `encrypt`.
    pub fn encrypt<C, E>(
        &self,
        mut encrypt: impl FnMut(&[u64]) -> Result<C, E>,
    ) -> Result<Column<C>, E> {
        let digits =
            self.digits.iter().enumerate().map(|(i, EncodedDigit { low, high, slots })| {
                let cipher =
                    slots.as_ref().map(|slots| encrypt(slots)).transpose()?.map(Value::from);
                let pad = (self.pad.wrapping_sub(self.anchor) as u128 >> (4 * i) & 15) as i64;
                Ok(Digit { cipher, low: *low, high: *high, pad, steps: None })
            });
        Ok(Column {
            interval: self.interval,
            anchor: self.anchor,
            digits: digits.collect::<Result<_, E>>()?,
            length: Some(self.length),
        })
    }
}

impl Encoded {
    /// Encrypts the column with an index: its digits in unary, too, at a level of their own, which
    /// [`index_level`](crate::index_level) gives. `encrypt` encrypts each slot vector, at the level
    /// that it is given, or at the top for a digit itself.
    ///
    /// # Errors
    /// [`IntegersError::Type`] for a type without an index; those of `encrypt`.
    pub fn encrypt_indexed<C, E: From<IntegersError>>(
        &self,
        level: Level,
        mut encrypt: impl FnMut(&[u64], Option<Level>) -> Result<C, E>,
    ) -> Result<Column<C>, E> {
        check_index(self.interval)?;
        let mut column = self.encrypt(|slots| encrypt(slots, None))?;
        for (digit, encoded) in column.digits.iter_mut().zip(&self.digits) {
            let EncodedDigit { low, high, slots: Some(slots) } = encoded else { continue };
            let mut bits = Vec::with_capacity((high - low) as usize);
            for value in low + 1..=*high {
                let truth = slots.iter().map(|d| u64::from(*d >= value as u64));
                let truth = Zeroizing::new(truth.collect::<Vec<_>>());
                bits.push(Value::from(encrypt(&truth, Some(level))?));
            }
            digit.steps = Some(Steps::new(*low, bits));
        }
        Ok(column)
    }
}

/// The integer of `low..=high` that a residue represents, and whether there is one; `low` if there
/// is none.
pub(crate) fn lift(residue: u64, modulus: PrimePower, (low, high): (i64, i64)) -> (i64, bool) {
    let above = modulus.sub(residue, modulus.reduce_i64(low));
    let value = i128::from(low) + i128::from(above);
    if value <= i128::from(high) { (value as i64, true) } else { (low, false) }
}

/// The result of the checks of a decryption, which is reported after all checks, so that the time
/// reveals neither what was wrong nor where.
pub(crate) struct Findings<E> {
    failed: Option<E>,
    possible: bool,
}

impl<E: From<IntegersError>> Findings<E> {
    /// Nothing is wrong yet.
    pub(crate) fn new() -> Self {
        Findings { failed: None, possible: true }
    }

    /// The slots of a ciphertext; none if it is refused.
    pub(crate) fn slots(&mut self, found: Result<Vec<u64>, E>) -> Zeroizing<Vec<u64>> {
        found.map_or_else(
            |e| {
                self.failed.get_or_insert(e);
                Zeroizing::default()
            },
            Zeroizing::new,
        )
    }

    /// Something is as it has to be, or not.
    pub(crate) fn note(&mut self, possible: bool) {
        self.possible &= possible;
    }

    /// The first ciphertext that was refused, or what cannot have been encrypted.
    pub(crate) fn result(self) -> Result<(), E> {
        match self.failed {
            Some(e) => Err(e),
            None if self.possible => Ok(()),
            None => Err(IntegersError::from(SchemeError::NotDecryptable).into()),
        }
    }
}

impl<C> Column<C> {
    /// The entries; `decrypt` decrypts the slots of a ciphertext. A public constant has one entry.
    /// Every digit must be in its window and every value in its interval.
    ///
    /// # Errors
    /// [`SchemeError::NotDecryptable`] for a digit outside of its window or a value outside of its
    /// interval; those of `decrypt`.
    pub fn decrypt<E: From<IntegersError>>(
        &self,
        modulus: PrimePower,
        mut decrypt: impl FnMut(&C) -> Result<Vec<u64>, E>,
    ) -> Result<Zeroizing<Vec<i128>>, E> {
        let mut out = Zeroizing::new(vec![self.anchor; self.length.unwrap_or(1)]);
        let mut findings = Findings::new();
        let mut weight = 1i128;
        for (i, digit) in self.digits.iter().enumerate() {
            if i > 0 {
                // Modulo 2^128, of which a value of 127 bits is known.
                weight = weight.wrapping_mul(i128::from(BASE));
            }
            let Some(cipher) = &digit.cipher else {
                let added = weight.wrapping_mul(digit.low.into());
                out.iter_mut().for_each(|v| *v = v.wrapping_add(added));
                continue;
            };
            let slots = findings.slots(decrypt(&cipher.get()));
            let window = (digit.low, digit.high);
            for (position, v) in out.iter_mut().enumerate() {
                let residue = slots.get(position).copied().unwrap_or(0);
                let (value, possible) = lift(residue, modulus, window);
                findings.note(possible);
                *v = v.wrapping_add(weight.wrapping_mul(value.into()));
            }
        }
        out.iter().for_each(|v| findings.note(self.interval.contains(*v)));
        findings.result()?;
        Ok(out)
    }
}
