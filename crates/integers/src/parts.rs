//! Columns and totals as parts that can be stored, and their validation when they are assembled
//! again.

use everlevel_circuit::Value;
use everlevel_ring::PrimePower;

use crate::column::{Column, Digit, POINTS};
use crate::error::IntegersError;
use crate::interval::{Interval, LIMIT};
use crate::total::{Part, Total};

/// The largest number of digits of parts.
const DIGITS: usize = 32;
/// The largest end of a window, in absolute value.
pub(crate) const WINDOW: i64 = 1 << 31;

/// The result of an operation: a column, or a sum that can only be decrypted.
pub enum Encrypted<C> {
    /// A column.
    Column(Column<C>),
    /// The sum of a column, or the quotient of one.
    Total(Total<C>),
}

impl<C> Clone for Encrypted<C> {
    fn clone(&self) -> Self {
        match self {
            Encrypted::Column(x) => Encrypted::Column(x.clone()),
            Encrypted::Total(x) => Encrypted::Total(x.clone()),
        }
    }
}

impl<C> From<Column<C>> for Encrypted<C> {
    fn from(x: Column<C>) -> Self {
        Encrypted::Column(x)
    }
}

impl<C> From<Total<C>> for Encrypted<C> {
    fn from(x: Total<C>) -> Self {
        Encrypted::Total(x)
    }
}

/// A column or a total, with all public data about it.
///
/// Entry i of a column is anchor + Σ 16^k d_k(i), where d_k(i) is slot i of the digit of power k.
/// The value of a total is ⌊(anchor + Σ 16^k Σ_j d_k(j)) / divisor⌋, with the sum over the slots j
/// that are multiples of the stride of a part. Slots hold integers of the window of their digit.
pub struct Parts<C> {
    /// The interval of the entries, or of the total.
    pub interval: Interval,
    /// The integer that is added to the digits.
    pub anchor: i128,
    /// The number of entries; `None` for totals, and for a public constant, which has any length.
    pub length: Option<usize>,
    /// For totals: the divisor of the sum.
    pub divisor: Option<u64>,
    /// The digits by ascending powers; a column has all powers from 0 on.
    pub digits: Vec<DigitPart<C>>,
}

/// A digit of a column, or a part of a total.
pub struct DigitPart<C> {
    /// Its weight is 16 to this power.
    pub power: u32,
    /// The least integer of the window.
    pub low: i64,
    /// The largest one.
    pub high: i64,
    /// For a column, the value of the slots behind it; 0 for a total.
    pub pad: i64,
    /// For a total, the slots at multiples of this number are added up; 0 for a column.
    pub stride: usize,
    /// The ciphertext; `None` for a public digit of a column, which is `low` in every slot.
    pub value: Option<Value<C>>,
}

pub(crate) fn wrong<T>(problem: impl Into<String>) -> Result<T, IntegersError> {
    Err(IntegersError::Parts { problem: problem.into() })
}

impl<C> Parts<C> {
    /// The values that anchor and windows allow, in `slots` slots.
    fn reach(&self, slots: usize) -> Result<Interval, IntegersError> {
        let far = || wrong("values that could exceed 2^126: clip them to fewer digits");
        let (mut low, mut high, mut most) = (self.anchor, self.anchor, self.anchor.abs());
        for digit in &self.digits {
            let terms = slots.checked_div(digit.stride).unwrap_or(1);
            let term = |v: i64| i128::from(v) * terms as i128 * (1i128 << (4 * digit.power));
            let widest = i128::from(digit.low.abs().max(digit.high.abs())) * terms as i128;
            if digit.power as usize >= DIGITS {
                return far();
            }
            let Some(added) = widest.checked_mul(1i128 << (4 * digit.power)) else { return far() };
            most = match most.checked_add(added) {
                Some(sum) if sum <= LIMIT => sum,
                _ => return far(),
            };
            (low, high) = (low + term(digit.low), high + term(digit.high));
        }
        let divisor = i128::from(self.divisor.unwrap_or(1));
        Interval::new(low.div_euclid(divisor), high.div_euclid(divisor))
    }

    /// Checks that operations on a set with `slots` slots and this modulus could have this result.
    fn check(&self, slots: usize, modulus: PrimePower) -> Result<(), IntegersError> {
        let (p, total) = (modulus.prime() as i64, self.divisor.is_some());
        if self.anchor.unsigned_abs() > LIMIT.unsigned_abs() {
            return wrong("an anchor beyond 2^126");
        }
        if self.divisor == Some(0) || total && self.length.is_some() {
            return wrong("a total has no length, and a divisor of at least 1");
        }
        if self.length.is_some_and(|n| n == 0 || n > slots) {
            return wrong(format!("a length other than 1 to {slots}, the number of slots"));
        }
        if self.digits.len() > DIGITS {
            return wrong(format!("{} digits, and {DIGITS} is the most", self.digits.len()));
        }
        let mut next = 0;
        for digit in &self.digits {
            let power = digit.power;
            if power < next || !total && power > next || power as usize >= DIGITS {
                return wrong(match power < next {
                    true => format!("digit {power} is double or not in its place"),
                    false => format!("digit {next} is missing"),
                });
            }
            next = power + 1;
            let (low, high) = (digit.low, digit.high);
            if low > high || low < -WINDOW || high > WINDOW {
                return wrong(format!("digit {power} has no window from {low} to {high}"));
            }
            let points = high - low + 1;
            let fits = if total {
                let whole = digit.stride > 0 && slots.is_multiple_of(digit.stride);
                whole && digit.pad == 0 && points <= p && digit.value.is_some()
            } else {
                let public = digit.value.is_none();
                let padded = (low..=high).contains(&digit.pad);
                digit.stride == 0 && padded && points <= POINTS.min(p) && (!public || low == high)
            };
            if !fits {
                return wrong(format!(
                    "the window from {low} to {high}, the padding {} or the stride {} of digit \
                     {power} cannot be",
                    digit.pad, digit.stride
                ));
            }
        }
        let reach = self.reach(slots)?;
        if !reach.holds(self.interval) {
            return wrong(format!(
                "the interval {} is not within {reach}, which is what the digits reach",
                self.interval
            ));
        }
        let pads = self.digits.iter().map(|d| i128::from(d.pad) << (4 * d.power)).sum::<i128>();
        if !total && !self.interval.contains(self.anchor + pads) {
            return wrong(format!(
                "the slots behind the column hold {}, outside of {}",
                self.anchor + pads,
                self.interval
            ));
        }
        Ok(())
    }
}

impl<C> Encrypted<C> {
    /// The interval of the entries, or of the total.
    pub fn interval(&self) -> Interval {
        match self {
            Encrypted::Column(x) => x.interval(),
            Encrypted::Total(x) => x.interval(),
        }
    }

    /// The ciphertexts.
    pub fn values(&self) -> impl Iterator<Item = &Value<C>> {
        let (column, total) = match self {
            Encrypted::Column(x) => (Some(x.values()), None),
            Encrypted::Total(x) => (None, Some(x.values())),
        };
        column.into_iter().flatten().chain(total.into_iter().flatten())
    }

    /// The same result with what `convert` makes of its ciphertexts, as [`Column::try_map`].
    ///
    /// # Errors
    /// Those of `convert`.
    pub fn try_map<D, E>(
        &self,
        convert: impl FnMut(&Value<C>) -> Result<Value<D>, E>,
    ) -> Result<Encrypted<D>, E> {
        Ok(match self {
            Encrypted::Column(x) => x.try_map(convert)?.into(),
            Encrypted::Total(x) => x.try_map(convert)?.into(),
        })
    }

    /// The parts, on a set with `slots` slots and this modulus; the interval is narrowed to the
    /// values that the digits can represent.
    ///
    /// # Errors
    /// [`IntegersError::Parts`] for more digits than can be stored, that is for values beyond about
    /// 2^122.
    pub fn to_parts(&self, slots: usize, modulus: PrimePower) -> Result<Parts<C>, IntegersError> {
        let mut parts = match self {
            Encrypted::Column(x) => {
                let part = |(power, d): (u32, &Digit<C>)| DigitPart {
                    power,
                    low: d.low,
                    high: d.high,
                    pad: d.pad,
                    stride: 0,
                    value: d.cipher.clone(),
                };
                let digits = (0..).zip(&x.digits).map(part).collect();
                let (interval, anchor, length) = (x.interval, x.anchor, x.length);
                Parts { interval, anchor, length, divisor: None, digits }
            }
            Encrypted::Total(x) => {
                let part = |part: &Part<C>| DigitPart {
                    power: part.power,
                    low: part.window.0,
                    high: part.window.1,
                    pad: 0,
                    stride: part.stride,
                    value: Some(part.value.clone()),
                };
                let digits = x.parts.iter().map(part).collect();
                let divisor = Some(x.divisor as u64);
                let (interval, anchor) = (x.interval, x.constant);
                Parts { interval, anchor, length: None, divisor, digits }
            }
        };
        let reach = parts.reach(slots)?;
        let (low, high) = (parts.interval.low, parts.interval.high);
        parts.interval = Interval::new(low.max(reach.low), high.min(reach.high))?;
        parts.check(slots, modulus)?;
        Ok(parts)
    }

    /// Assembles these parts, on a set with `slots` slots and this modulus.
    ///
    /// Interval and windows are a claim of their author, like a noise bound: if slots hold other
    /// values, results are unspecified, or refused at decryption. Contradictory parts are refused
    /// here, so that later operations never see them.
    ///
    /// # Errors
    /// [`IntegersError::Parts`] for parts that no operation returns: missing or duplicate digits,
    /// more than 31 integers in a window, unused slots outside of it, or an interval that the
    /// digits cannot represent.
    pub fn from_parts(
        parts: Parts<C>,
        slots: usize,
        modulus: PrimePower,
    ) -> Result<Self, IntegersError> {
        parts.check(slots, modulus)?;
        let Parts { interval, anchor, length, divisor, digits } = parts;
        let Some(divisor) = divisor else {
            let digit = |d: DigitPart<C>| Digit {
                cipher: d.value,
                low: d.low,
                high: d.high,
                pad: d.pad,
                steps: None,
            };
            let digits = digits.into_iter().map(digit).collect();
            return Ok(Column { interval, anchor, digits, length }.into());
        };
        let part = |d: DigitPart<C>| {
            let (power, window, stride) = (d.power, (d.low, d.high), d.stride);
            d.value.map(|value| Part { value, power, window, stride })
        };
        let parts = digits.into_iter().filter_map(part).collect();
        let divisor = i128::from(divisor);
        Ok(Total { interval, constant: anchor, divisor, parts }.into())
    }
}
