//! Bitwise logic digit by digit, shifts, and casts that lose bits.

use crate::carry::DIGITS;
use crate::column::{BASE, Column, Digit, Operand};
use crate::context::{IntegerScheme, Integers};
use crate::encode::standard_form;
use crate::error::IntegersError;
use crate::interval::Interval;
use crate::types::Type;

macro_rules! bitwise {
    ($($(#[$doc:meta])* $name:ident: $f:expr, $bounds:ident;)*) => {
        $(
            $(#[$doc])*
            ///
            /// Negative integers have all upper bits set, as in two's complement. The cost is 33
            /// products for each digit of two columns, at depth 5, and 7 for each digit with a
            /// public integer, at depth 4. Carries are computed first.
            ///
            /// # Errors
            /// [`IntegersError::Length`], [`IntegersError::Width`] beyond 124 bits; those of
            /// carries.
            pub fn $name<'b>(
                &self,
                a: impl Into<Operand<'b, S::Ciphertext>>,
                b: impl Into<Operand<'b, S::Ciphertext>>,
            ) -> Result<Column<S::Ciphertext>, IntegersError>
            where
                S::Ciphertext: 'b,
            {
                self.bitwise(a.into(), b.into(), $f, Interval::$bounds)
            }
        )*
    };
}

impl<S: IntegerScheme> Integers<'_, S> {
    bitwise! {
        /// The bits that are 1 in both.
        bit_and: |a, b| a & b, bits_of_both;
        /// The bits that are 1 in at least one.
        bit_or: |a, b| a | b, bits_of_any;
        /// The bits that are 1 in exactly one.
        bit_xor: |a, b| a ^ b, bits_of_one;
    }

    fn bitwise(
        &self,
        a: Operand<'_, S::Ciphertext>,
        b: Operand<'_, S::Ciphertext>,
        f: fn(i64, i64) -> i64,
        bounds: fn(Interval, Interval) -> Interval,
    ) -> Result<Column<S::Ciphertext>, IntegersError> {
        let (a, b) = (self.column(a)?, self.column(b)?);
        let length = self.common_length(&[&a, &b])?;
        let (anchor, count) = standard_form(a.interval.union(b.interval));
        if count > DIGITS {
            let interval = a.interval.union(b.interval);
            return Err(IntegersError::Width { interval, digits: count, highest: DIGITS });
        }
        let digits = |x: &Column<S::Ciphertext>| match x.public_value() {
            None => Ok::<_, IntegersError>(self.normalized_to(x, (anchor, count))?.digits),
            Some(v) => {
                let digit = |i: usize| Digit::public(((v - anchor) >> (4 * i) & 15) as i64);
                Ok((0..count).map(digit).collect())
            }
        };
        let (x, y) = (digits(&a)?, digits(&b)?);
        let digit = |i: usize| {
            // Above the anchor of signed values the sign bit is the other way round.
            let flip = if anchor < 0 && i + 1 == count { BASE / 2 } else { 0 };
            let g = move |a: i64, b: i64| f(a ^ flip, b ^ flip) ^ flip;
            let (a, b) = match (x.get(i), y.get(i)) {
                (Some(a), Some(b)) => (a.clone(), b.clone()),
                (a, b) => {
                    let zero = Digit::public(0);
                    (a.unwrap_or(&zero).clone(), b.unwrap_or(&zero).clone())
                }
            };
            let found = match (&a.cipher, &b.cipher) {
                (Some(_), Some(_)) => {
                    let row = |a: i64| (b.low..=b.high).map(|b| g(a, b)).collect();
                    self.look_up_pair(&a, &b, &[(a.low..=a.high).map(row).collect()])?
                }
                (_, None) => self.map(&[a], |_, v| g(v, b.low))?,
                (None, _) => self.map(&[b], |_, v| g(a.low, v))?,
            };
            Ok::<_, IntegersError>(found)
        };
        let mut digits = Vec::with_capacity(count);
        for i in 0..count {
            digits.extend(digit(i)?);
        }
        let interval = bounds(a.interval, b.interval);
        Ok(Column { interval, anchor, digits, length }.narrowed())
    }

    /// x divided by 2^bits, rounded down. It is free for canonical columns and multiples of 4 bits,
    /// and otherwise takes a table for each digit, 7 products at depth 4.
    ///
    /// # Errors
    /// [`IntegersError::Width`] beyond 124 bits; those of carries.
    pub fn shift_right(
        &self,
        x: &Column<S::Ciphertext>,
        bits: u32,
    ) -> Result<Column<S::Ciphertext>, IntegersError> {
        let shifted = |v: i128| v >> bits.min(127);
        let interval = Interval::new(shifted(x.interval.low()), shifted(x.interval.high()))?;
        let (anchor, count) = standard_form(x.interval);
        if let Some(value) = x.public_value() {
            return Ok(Column::public(shifted(value), interval, x.length));
        }
        if interval.points() == 1 {
            return Ok(Column::public(interval.low(), interval, x.length));
        }
        if anchor < 0 && anchor.trailing_zeros() < bits {
            // Nothing is left but the sign.
            return Ok(Column { interval, ..self.neg(&self.lt(x, 0)?)? });
        }
        let x = self.normalized_to(x, (anchor, count))?;
        let (whole, rest) = ((bits / 4) as usize, i64::from(bits % 4));
        let mut digits = x.digits.into_iter().skip(whole).collect::<Vec<_>>();
        if rest > 0 {
            let upper = self.map(&digits, |_, v| v >> rest)?;
            let zero = Digit::public(0);
            let joined = upper.iter().enumerate().map(|(i, own)| {
                // The lower bits of the digit above, which follow from its upper ones.
                let above = digits.get(i + 1).unwrap_or(&zero);
                let over = upper.get(i + 1).unwrap_or(&zero);
                let lower = |v: i64| v << (4 - rest) & 15;
                let ends = (above.low..=above.high).map(lower);
                let (least, most) = ends.fold((BASE, 0), |(l, h), v| (l.min(v), h.max(v)));
                let sum = self.combine(&[(own, 1), (above, 1 << (4 - rest)), (over, -BASE)], 0)?;
                Ok(sum.within(own.low + least, (own.high + most).min(BASE - 1)))
            });
            digits = joined.collect::<Result<_, IntegersError>>()?;
        }
        Ok(Column { interval, anchor: shifted(anchor), digits, length: x.length }.narrowed())
    }

    /// The integer of a type that is congruent to x modulo 2^k, where k is the number of bits of
    /// the type: the only cast that loses bits. It is free if all values are of the type already;
    /// carries are computed first.
    ///
    /// # Errors
    /// [`IntegersError::Type`] for `bool` and ranges, which have no number of bits; those of
    /// carries.
    pub fn wrapped(
        &self,
        x: &Column<S::Ciphertext>,
        kind: Type,
    ) -> Result<Column<S::Ciphertext>, IntegersError> {
        let interval = kind.interval();
        if matches!(kind, Type::Bool | Type::Ranged(_)) {
            return Err(IntegersError::Type {
                operation: "wrapping",
                found: interval,
                expected: "u8 to u64 or i8 to i64: clip to a range, compare for a truth value",
            });
        }
        if interval.holds(x.interval) {
            return Ok(x.clone());
        }
        if let Some(value) = x.public_value() {
            let points = interval.points() as i128;
            let value = (value - interval.low()).rem_euclid(points) + interval.low();
            return Ok(Column::public(value, Interval::point(value)?, x.length));
        }
        let form = standard_form(interval);
        Ok(Column { interval, ..self.normalized_to(x, form)? })
    }
}
