//! Shifts, also by encrypted amounts, and lossless casts.

use crate::column::{BASE, Column, Digit};
use crate::context::{IntegerScheme, Integers};
use crate::error::IntegersError;
use crate::interval::Interval;
use crate::split::{digits_of, public_digits};
use crate::types::Type;

/// The direction of a shift.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Direction {
    Left,
    Right,
}

impl<S: IntegerScheme> Integers<'_, S> {
    /// x times 2^bits, as [`Integers::mul_public`]. It is free for multiples of 4 bits, and
    /// otherwise takes a table for each digit.
    ///
    /// # Errors
    /// [`IntegersError::Range`] past 2^126; those of carries.
    pub fn shift_left(
        &self,
        x: &Column<S::Ciphertext>,
        bits: u32,
    ) -> Result<Column<S::Ciphertext>, IntegersError> {
        if bits > 126 {
            return Err(too_far(x.interval, i128::from(bits)));
        }
        self.mul_public(x, 1i128 << bits)
    }

    /// x times 2^amount for encrypted amounts. The cost for each digit is a product for each bit of
    /// the amount from the third on, and a table of two digits for the lower two bits, at depth 5;
    /// if x may be negative, there is one more comparison.
    ///
    /// # Errors
    /// [`IntegersError::Range`] past 2^126; [`IntegersError::Type`] for amounts that may be
    /// negative; [`IntegersError::Length`]; those of carries.
    pub fn shift_left_by(
        &self,
        x: &Column<S::Ciphertext>,
        amount: &Column<S::Ciphertext>,
    ) -> Result<Column<S::Ciphertext>, IntegersError> {
        self.shifted_by(x, amount, Direction::Left)
    }

    /// x divided by 2^amount, rounded down, for encrypted amounts. Cost as
    /// [`Integers::shift_left_by`].
    ///
    /// # Errors
    /// As [`Integers::shift_left_by`].
    pub fn shift_right_by(
        &self,
        x: &Column<S::Ciphertext>,
        amount: &Column<S::Ciphertext>,
    ) -> Result<Column<S::Ciphertext>, IntegersError> {
        self.shifted_by(x, amount, Direction::Right)
    }

    /// x as a value of a type that contains its interval: the lossless cast. [`Integers::wrapped`]
    /// is the cast that loses bits.
    ///
    /// # Errors
    /// [`IntegersError::Type`] for values outside of the type.
    pub fn cast(
        &self,
        x: &Column<S::Ciphertext>,
        kind: Type,
    ) -> Result<Column<S::Ciphertext>, IntegersError> {
        if kind.interval().holds(x.interval) {
            return Ok(x.clone());
        }
        Err(IntegersError::Type {
            operation: "a cast",
            found: x.interval,
            expected: "an interval inside of the type: clip first, or take wrapped, which loses \
                       bits",
        })
    }

    fn shifted_by(
        &self,
        x: &Column<S::Ciphertext>,
        amount: &Column<S::Ciphertext>,
        direction: Direction,
    ) -> Result<Column<S::Ciphertext>, IntegersError> {
        let length = self.common_length(&[x, amount])?;
        if amount.interval.low() < 0 {
            return Err(IntegersError::Type {
                operation: "a shift",
                found: amount.interval,
                expected: "an amount that is not negative",
            });
        }
        let ends = [x.interval.low(), x.interval.high()];
        let amounts = [amount.interval.low(), amount.interval.high()];
        let mut all = Vec::with_capacity(4);
        for (x, n) in ends.into_iter().flat_map(|x| amounts.map(|n| (x, n))) {
            let found = match direction {
                Direction::Right => Some(x >> n.min(127)),
                Direction::Left if n > 126 && x != 0 => None,
                Direction::Left => x.checked_mul(1i128 << n.min(126)),
            };
            all.push(found.ok_or_else(|| too_far(amount.interval, n))?);
        }
        let end = |f: fn(i128, i128) -> i128| all.iter().copied().reduce(f).unwrap_or(0);
        let interval = Interval::new(end(i128::min), end(i128::max))?;
        if let Some(n) = amount.public_value() {
            let n = n.min(127) as u32;
            let shifted = match direction {
                Direction::Left => self.shift_left(x, n)?,
                Direction::Right => self.shift_right(x, n)?,
            };
            return Ok(Column { interval, length, ..shifted }.narrowed());
        }
        if x.interval.low() >= 0 {
            let moved = self.moved(x, amount, direction)?;
            return Ok(Column { interval, length, ..moved }.narrowed());
        }
        // Of -1 - x and of -x it is the same, without a sign.
        let mirror = if direction == Direction::Right { -1 } else { 0 };
        let negative = self.lt(x, 0)?;
        let mirrored = self.select(&negative, &self.sub(mirror, x)?, x)?;
        let high = x.interval.high().max(mirror - x.interval.low());
        let positive = Column { interval: Interval::new(0, high)?, ..mirrored };
        let moved = self.moved(&positive, amount, direction)?;
        let back = self.select(&negative, &self.sub(mirror, &moved)?, &moved)?;
        Ok(Column { interval, length, ..back }.narrowed())
    }

    /// A shift of values that are not negative.
    fn moved(
        &self,
        x: &Column<S::Ciphertext>,
        amount: &Column<S::Ciphertext>,
        direction: Direction,
    ) -> Result<Column<S::Ciphertext>, IntegersError> {
        let (least, most) = (amount.interval.low(), amount.interval.high());
        let highest = match direction {
            Direction::Left => x.interval.high() << most.min(126),
            Direction::Right => x.interval.high() >> least.min(127),
        };
        let limit = digits_of(highest.unsigned_abs());
        let x = self.normalized_to(x, (0, digits_of(x.interval.high().unsigned_abs())))?;
        let amount = self.normalized_to(amount, (0, digits_of(most.unsigned_abs())))?;
        let x = match x.public_value() {
            None => x,
            Some(v) => {
                Column { anchor: 0, digits: public_digits(v, digits_of(v.unsigned_abs())), ..x }
            }
        };
        let low = self.map(&amount.digits[..1], |_, v| v & 3)?;
        let low = low.into_iter().next().unwrap_or_else(|| Digit::public(0));
        let zero = Digit::public(0);
        // By up to three bits, to the left or to the right, within a digit and to its neighbor.
        let (mut own, mut over) = (Vec::new(), Vec::new());
        for digit in &x.digits {
            let parts: [fn(i64, i64) -> i64; 2] = match direction {
                Direction::Left => [|v, n| v << n & 15, |v, n| v << n >> 4],
                Direction::Right => [|v, n| v >> n, |v, n| v << (4 - n) & 15],
            };
            let mut found = self.of_two(digit, &low, &parts)?.into_iter();
            own.extend(found.next());
            over.extend(found.next());
        }
        let count = own.len() + usize::from(direction == Direction::Left);
        let mut digits = Vec::with_capacity(count);
        for i in 0..count {
            let neighbor = match direction {
                Direction::Left => i.checked_sub(1).and_then(|i| over.get(i)),
                Direction::Right => over.get(i + 1),
            };
            let terms = [(own.get(i).unwrap_or(&zero), 1), (neighbor.unwrap_or(&zero), 1)];
            let sum = self.combine(&terms, 0)?;
            let (low, high) = (sum.low, sum.high.min(BASE - 1));
            digits.push(sum.within(low, high));
        }
        // By whole digits, for each further bit of the amount.
        let bits = self.bits_of(&amount.digits)?;
        for (j, bit) in bits.iter().enumerate().skip(2) {
            if bit.cipher.is_none() && bit.low == 0 {
                continue;
            }
            let far = 1usize << (j - 2).min(16);
            let most = match direction {
                Direction::Left => (digits.len() + far).min(limit),
                Direction::Right => digits.len(),
            };
            let next = (0..most).map(|i| {
                let from = match direction {
                    Direction::Left => i.checked_sub(far),
                    Direction::Right => Some(i + far),
                };
                let other = from.and_then(|i| digits.get(i)).unwrap_or(&zero);
                let same = digits.get(i).unwrap_or(&zero);
                let change = self.combine(&[(other, 1), (same, -1)], 0)?;
                let chosen = self.combine(&[(&self.product(bit, &change)?, 1), (same, 1)], 0)?;
                Ok(chosen.within(same.low.min(other.low), same.high.max(other.high)))
            });
            digits = next.collect::<Result<_, IntegersError>>()?;
        }
        digits.truncate(limit);
        let interval = Interval::new(0, highest)?;
        Ok(Column { interval, anchor: 0, digits, length: x.length }.narrowed())
    }

    /// Functions of two digits of which either may be public.
    fn of_two(
        &self,
        a: &Digit<S::Ciphertext>,
        b: &Digit<S::Ciphertext>,
        functions: &[fn(i64, i64) -> i64],
    ) -> Result<Vec<Digit<S::Ciphertext>>, IntegersError> {
        let mut out = Vec::with_capacity(functions.len());
        match (&a.cipher, &b.cipher) {
            (Some(_), Some(_)) => {
                let row =
                    |f: fn(i64, i64) -> i64, a: i64| (b.low..=b.high).map(|b| f(a, b)).collect();
                let table =
                    |f: &fn(i64, i64) -> i64| (a.low..=a.high).map(|a| row(*f, a)).collect();
                let tables: Vec<Vec<Vec<i64>>> = functions.iter().map(table).collect();
                return self.look_up_pair(a, b, &tables);
            }
            (_, None) => {
                for f in functions {
                    out.extend(self.map(std::slice::from_ref(a), |_, v| f(v, b.low))?);
                }
            }
            (None, _) => {
                for f in functions {
                    out.extend(self.map(std::slice::from_ref(b), |_, v| f(a.low, v))?);
                }
            }
        }
        Ok(out)
    }
}

fn too_far(operand: Interval, bits: i128) -> IntegersError {
    IntegersError::Range {
        operation: "a shift to the left",
        operands: format!("{operand} by {bits} bits"),
        allowed: Interval::WIDEST,
    }
}
