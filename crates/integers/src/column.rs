//! Encrypted columns: digits, their windows, the content of unused slots.

use everlevel_circuit::Value;

use crate::interval::Interval;
use crate::steps::Steps;

/// The base of digits.
pub(crate) const BASE: i64 = 16;
/// The largest number of possible values of a digit, so that its tables have depth at most 5.
pub(crate) const POINTS: i64 = 31;

/// One digit of every entry of a column: a ciphertext, or a public integer.
///
/// All slots, unused ones included, hold integers of the *window* `low..=high`.
pub(crate) struct Digit<C> {
    /// None: `low` in every slot.
    pub(crate) cipher: Option<Value<C>>,
    pub(crate) low: i64,
    pub(crate) high: i64,
    /// What the slots behind the column hold.
    pub(crate) pad: i64,
    /// The same digit in unary, if its owner encrypted that, too. Results have none.
    pub(crate) steps: Option<Steps<C>>,
}

impl<C> Clone for Digit<C> {
    fn clone(&self) -> Self {
        Digit { cipher: self.cipher.clone(), steps: self.steps.clone(), ..*self }
    }
}

impl<C> Digit<C> {
    pub(crate) fn public(value: i64) -> Self {
        Digit { cipher: None, low: value, high: value, pad: value, steps: None }
    }

    /// The digit with a narrower window than the windows of its terms imply.
    pub(crate) fn within(self, low: i64, high: i64) -> Self {
        if self.cipher.is_some() { Digit { low, high, ..self } } else { self }
    }

    pub(crate) fn points(&self) -> i64 {
        self.high - self.low + 1
    }
}

/// An encrypted column of integers: entry i in slot i of each of its digits.
///
/// Its values are anchor + Σ 16^i d_i. Anchor and windows of the digits are public, and so is the
/// [`Interval`] of the values, which follows from the types of the inputs and the operations alone.
/// A digit is *canonical* if its window has at most 16 integers; sums have wider windows, of up to
/// 31 integers, and carries are computed only if an operation needs them.
///
/// Clones share their ciphertexts, which the server may replace by refreshed ones.
pub struct Column<C> {
    pub(crate) interval: Interval,
    pub(crate) anchor: i128,
    /// Lowest first.
    pub(crate) digits: Vec<Digit<C>>,
    /// None for a public constant, which has any length.
    pub(crate) length: Option<usize>,
}

impl<C> Clone for Column<C> {
    fn clone(&self) -> Self {
        Column { digits: self.digits.clone(), ..*self }
    }
}

impl<C> Column<C> {
    /// A public integer in every slot.
    pub(crate) fn public(value: i128, interval: Interval, length: Option<usize>) -> Self {
        Column { interval, anchor: value, digits: Vec::new(), length }
    }

    /// The interval of the entries.
    pub fn interval(&self) -> Interval {
        self.interval
    }

    /// The number of entries; none for a result of public integers only.
    pub fn length(&self) -> Option<usize> {
        self.length
    }

    /// The same column with what `convert` makes of its ciphertexts, for example copies elsewhere.
    ///
    /// # Errors
    /// Those of `convert`.
    pub fn try_map<D, E>(
        &self,
        mut convert: impl FnMut(&Value<C>) -> Result<Value<D>, E>,
    ) -> Result<Column<D>, E> {
        let digit = |d: &Digit<C>| -> Result<Digit<D>, E> {
            let cipher = d.cipher.as_ref().map(&mut convert).transpose()?;
            let steps = d.steps.as_ref().map(|s| s.try_map(&mut convert)).transpose()?;
            Ok(Digit { cipher, steps, low: d.low, high: d.high, pad: d.pad })
        };
        let digits = self.digits.iter().map(digit).collect::<Result<_, E>>()?;
        let Column { interval, anchor, length, .. } = *self;
        Ok(Column { interval, anchor, digits, length })
    }

    /// Whether operations do the same on both: they have the same interval, digits with the same
    /// windows, and the same index, and `same` holds for their ciphertexts. Lengths may differ.
    pub fn is_like<D>(&self, other: &Column<D>, same: impl Fn(&C, &D) -> bool) -> bool {
        let value = |x: &Value<C>, y: &Value<D>| same(&x.get(), &y.get());
        let digit = |(x, y): (&Digit<C>, &Digit<D>)| {
            let ciphers = match (&x.cipher, &y.cipher) {
                (Some(x), Some(y)) => value(x, y),
                (None, None) => true,
                _ => false,
            };
            let steps = match (&x.steps, &y.steps) {
                (Some(x), Some(y)) => x.is_like(y, value),
                (None, None) => true,
                _ => false,
            };
            (x.low, x.high, x.pad) == (y.low, y.high, y.pad) && ciphers && steps
        };
        (self.interval, self.anchor) == (other.interval, other.anchor)
            && self.digits.len() == other.digits.len()
            && self.digits.iter().zip(&other.digits).all(digit)
    }

    /// The number of ciphertexts, without those of an index.
    pub fn ciphertexts(&self) -> usize {
        self.digits.iter().filter(|d| d.cipher.is_some()).count()
    }

    /// The ciphertexts, lowest digit first, without those of an index.
    pub fn values(&self) -> impl Iterator<Item = &Value<C>> {
        self.digits.iter().filter_map(|d| d.cipher.as_ref())
    }

    /// The value, if it is a public integer: an interval of one integer, or a comparison that the
    /// intervals decide.
    pub fn public_value(&self) -> Option<i128> {
        let public = self.digits.iter().all(|d| d.cipher.is_none());
        public.then(|| self.anchor + value(self.digits.iter().map(|d| d.low)))
    }

    /// What the slots behind the column hold.
    pub(crate) fn pad(&self) -> i128 {
        self.anchor + value(self.digits.iter().map(|d| d.pad))
    }

    /// Whether every digit is canonical: it has at most 16 possible values.
    pub(crate) fn is_canonical(&self) -> bool {
        self.digits.iter().all(|d| d.points() <= BASE)
    }

    pub(crate) fn digit(&self, i: usize) -> Digit<C> {
        self.digits.get(i).cloned().unwrap_or_else(|| Digit::public(0))
    }
}

/// Σ 16^i d_i.
pub(crate) fn value(digits: impl DoubleEndedIterator<Item = i64>) -> i128 {
    digits.rev().fold(0, |v, d| i128::from(BASE) * v + i128::from(d))
}

/// An operand: a column, or a public integer, which stands for a column with this value in every
/// slot.
pub enum Operand<'a, C> {
    /// A column.
    Column(&'a Column<C>),
    /// A public integer.
    Public(i128),
}

impl<C> Clone for Operand<'_, C> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<C> Copy for Operand<'_, C> {}

impl<'a, C> From<&'a Column<C>> for Operand<'a, C> {
    fn from(x: &'a Column<C>) -> Self {
        Operand::Column(x)
    }
}

macro_rules! public_operands {
    ($($integer:ty)*) => {
        $(impl<C> From<$integer> for Operand<'_, C> {
            fn from(x: $integer) -> Self {
                Operand::Public(i128::from(x))
            }
        })*
    };
}

public_operands!(i8 i16 i32 i64 i128 u8 u16 u32 u64);
