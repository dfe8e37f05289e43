//! Ranges of values: the integers that slots may represent.

use std::fmt;
use std::str::FromStr;

use everlevel_scheme::SchemeError;

use crate::error::CircuitError;

/// The integers from `low` to `high`, both included, one of which every slot of a value represents;
/// -2^100 <= low <= high <= 2^100.
///
/// Slots hold residues modulo p^e, and arithmetic on them wraps. A range states which integers they
/// represent: the encryptor states the range of a fresh value, operations determine that of their
/// result ([`Value::range`](crate::Value::range)), and if it has at most p^e integers, a residue
/// determines the integer. Ranges are public and never depend on data. A stated range is a claim:
/// if it is false, results computed from the value are unspecified, and decryption is refused or
/// wrong.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct ValueRange {
    low: i128,
    high: i128,
}

/// The largest absolute value of an end.
const LIMIT: i128 = 1 << 100;

impl ValueRange {
    /// The integers from `low` to `high`; none if there are none, or an end exceeds 2^100.
    pub fn new(low: i128, high: i128) -> Option<Self> {
        (-LIMIT <= low && low <= high && high <= LIMIT).then_some(ValueRange { low, high })
    }

    /// One integer.
    pub fn point(value: i64) -> Self {
        ValueRange { low: value.into(), high: value.into() }
    }

    /// The lower end.
    pub fn low(&self) -> i128 {
        self.low
    }

    /// The upper end.
    pub fn high(&self) -> i128 {
        self.high
    }

    /// Whether `value` is one of them.
    pub fn contains(&self, value: i128) -> bool {
        (self.low..=self.high).contains(&value)
    }

    /// Whether all of `other` are among them.
    pub fn holds(&self, other: ValueRange) -> bool {
        self.low <= other.low && other.high <= self.high
    }

    /// Whether its integers have different residues modulo `modulus`.
    pub fn fits(&self, modulus: impl Into<u128>) -> bool {
        self.high.abs_diff(self.low) < modulus.into()
    }

    /// The smallest range with all of these and `value`.
    #[must_use]
    pub fn with(self, value: i64) -> Self {
        let value = i128::from(value);
        ValueRange { low: self.low.min(value), high: self.high.max(value) }
    }

    /// The range of x + y; none beyond 2^100.
    pub fn plus(self, other: ValueRange) -> Option<Self> {
        Self::new(self.low + other.low, self.high + other.high)
    }

    /// The range of -x.
    #[must_use]
    pub fn negated(self) -> Self {
        ValueRange { low: -self.high, high: -self.low }
    }

    /// The range of x y; none beyond 2^100.
    pub fn times(self, other: ValueRange) -> Option<Self> {
        let ends = [
            self.low.checked_mul(other.low)?,
            self.low.checked_mul(other.high)?,
            self.high.checked_mul(other.low)?,
            self.high.checked_mul(other.high)?,
        ];
        Self::new(ends.into_iter().min()?, ends.into_iter().max()?)
    }

    /// The range of x^k for one x, so that even powers are not negative; none beyond 2^100.
    pub fn power(self, exponent: u64) -> Option<Self> {
        let exponent = match (self.low.abs().max(self.high.abs()), exponent) {
            // Their powers repeat, whatever the exponent.
            (0 | 1, 3..) => 2 + exponent % 2,
            (_, exponent) => exponent,
        };
        let exponent = u32::try_from(exponent).ok()?;
        let (a, b) = (self.low.checked_pow(exponent)?, self.high.checked_pow(exponent)?);
        let low = if exponent > 0 && exponent.is_multiple_of(2) && self.contains(0) {
            0
        } else {
            a.min(b)
        };
        Self::new(low, a.max(b))
    }

    /// A range of Σ c_i x^i, with each term bounded separately; none beyond 2^100.
    pub fn polynomial(self, coefficients: &[i64]) -> Option<Self> {
        coefficients.iter().zip(0..).try_fold(Self::point(0), |sum, (&c, i)| match c {
            0 => Some(sum),
            c => sum.plus(self.power(i)?.times(Self::point(c))?),
        })
    }

    /// The range of ⌊(x + `shift`) / `divisor`⌋, for a positive divisor.
    #[must_use]
    pub(crate) fn quotient(self, shift: i128, divisor: i128) -> Self {
        let each = |x: i128| (x + shift).div_euclid(divisor);
        ValueRange { low: each(self.low), high: each(self.high) }
    }

    /// The integer of the range that is `residue` modulo `modulus`; none if there is none, or more
    /// than one. No branch and no division depends on a residue below the modulus, as it may be a
    /// message.
    fn integer(&self, residue: u64, modulus: u128) -> Option<i128> {
        let (t, residue) = (modulus as i128, i128::from(residue));
        // Larger ones do not occur within the library.
        let residue = if residue < t { residue } else { residue % t };
        let above = residue - self.low.rem_euclid(t);
        let value = self.low + above + (t & (above >> 127));
        let only = (value <= self.high) & (value + t > self.high);
        only.then_some(value)
    }

    /// Checks, before anything is decrypted, that residues modulo `modulus` determine the integers
    /// of this range, and that these have 64 bits.
    ///
    /// # Errors
    /// [`CircuitError::Range`] for a range of more than `modulus` integers, or beyond 64 bits.
    pub fn check_decryption(&self, modulus: impl Into<u128>) -> Result<(), CircuitError> {
        let modulus: u128 = modulus.into();
        let narrow = i64::try_from(self.low).is_ok() && i64::try_from(self.high).is_ok();
        if narrow {
            return self.check_residues(modulus);
        }
        Err(self.beyond(format!("at most {modulus} integers, of 64 bits with a sign")))
    }

    /// Checks that residues modulo `modulus` determine the integers of this range.
    fn check_residues(&self, modulus: u128) -> Result<(), CircuitError> {
        if self.fits(modulus) {
            return Ok(());
        }
        Err(self.beyond(format!("at most {modulus} integers")))
    }

    fn beyond(&self, allowed: String) -> CircuitError {
        CircuitError::Range { operation: "decryption", found: self.to_string(), allowed }
    }

    /// The integers of the range that decrypted residues modulo `modulus` represent. All residues
    /// are examined in any case.
    ///
    /// # Errors
    /// Those of [`ValueRange::check_decryption`]; [`SchemeError::NotDecryptable`] for a residue
    /// that no integer of the range has, which shows that the range was false.
    pub fn integers(
        &self,
        residues: &[u64],
        modulus: impl Into<u128>,
    ) -> Result<Vec<i64>, CircuitError> {
        let modulus: u128 = modulus.into();
        self.check_decryption(modulus)?;
        // The ends are within 64 bits.
        self.represented(residues, modulus, |value| value as i64)
    }

    /// [`ValueRange::integers`] of 64 bits with or without a sign.
    ///
    /// # Errors
    /// [`CircuitError::Range`] for a range of more than `modulus` integers, or beyond these;
    /// [`SchemeError::NotDecryptable`] as there.
    pub fn wide_integers(
        &self,
        residues: &[u64],
        modulus: impl Into<u128>,
    ) -> Result<Vec<i128>, CircuitError> {
        let modulus: u128 = modulus.into();
        self.check_residues(modulus)?;
        if i64::try_from(self.low).is_err() || u64::try_from(self.high.max(0)).is_err() {
            return Err(self.beyond("integers of 64 bits, with or without a sign".into()));
        }
        self.represented(residues, modulus, |value| value)
    }

    /// The integers that residues represent, each as `of` makes it.
    fn represented<T>(
        &self,
        residues: &[u64],
        modulus: u128,
        of: impl Fn(i128) -> T,
    ) -> Result<Vec<T>, CircuitError> {
        let mut outside = false;
        let integer = |residue: &u64| {
            let value = self.integer(*residue, modulus);
            outside |= value.is_none();
            of(value.unwrap_or(self.low))
        };
        let values = residues.iter().map(integer).collect();
        if outside { Err(SchemeError::NotDecryptable.into()) } else { Ok(values) }
    }
}

/// `LOW..HIGH`, both included.
impl fmt::Display for ValueRange {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}..{}", self.low, self.high)
    }
}

/// What [`ValueRange`] displays.
impl FromStr for ValueRange {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let wrong = || format!("expected LOW..HIGH with integers LOW <= HIGH, found {text:?}");
        let (low, high) = text.split_once("..").ok_or_else(wrong)?;
        let [low, high] = [low, high].map(|end| end.trim().parse::<i128>().ok());
        low.zip(high).and_then(|(low, high)| Self::new(low, high)).ok_or_else(wrong)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn range(low: i128, high: i128) -> ValueRange {
        ValueRange::new(low, high).unwrap()
    }

    /// Every range of small integers, every value in it, every operation: the result is in the
    /// range of the result, whose ends are reached.
    #[test]
    fn results_are_in_the_ranges_of_results() {
        let ranges: Vec<ValueRange> =
            (-4..=4).flat_map(|low| (low..=4).map(move |high| range(low, high))).collect();
        let exact = |found: ValueRange, values: &mut dyn Iterator<Item = i128>| {
            let values: Vec<i128> = values.collect();
            let ends = (*values.iter().min().unwrap(), *values.iter().max().unwrap());
            assert_eq!((found.low(), found.high()), ends);
        };
        for a in &ranges {
            let xs = || a.low()..=a.high();
            for b in &ranges {
                let pairs = || xs().flat_map(|x| (b.low()..=b.high()).map(move |y| (x, y)));
                exact(a.plus(*b).unwrap(), &mut pairs().map(|(x, y)| x + y));
                exact(a.times(*b).unwrap(), &mut pairs().map(|(x, y)| x * y));
            }
            exact(a.negated(), &mut xs().map(|x| -x));
            for k in 0..5u32 {
                exact(a.power(k.into()).unwrap(), &mut xs().map(|x| x.pow(k)));
            }
            let all = a.polynomial(&[1, -2, 3]).unwrap();
            assert!(xs().all(|x| all.contains(1 - 2 * x + 3 * x * x)));
            exact(a.quotient(1, 3), &mut xs().map(|x| (x + 1).div_euclid(3)));
            for t in 1..12u64 {
                let told = |x: i128| a.integer(x.rem_euclid(t.into()) as u64, t.into());
                if a.fits(t) {
                    assert!(xs().all(|x| told(x) == Some(x)), "{a} modulo {t}");
                } else {
                    assert!(xs().all(|x| told(x).is_none_or(|y| y == x)), "{a} modulo {t}");
                    assert_eq!(told(a.low()), None, "two integers of {a} modulo {t}");
                }
            }
        }
        for base in [-1, 0, 1] {
            let expected = i128::from(base).pow(3);
            assert_eq!(
                ValueRange::point(base).power(u64::MAX),
                ValueRange::new(expected, expected)
            );
        }
    }

    #[test]
    fn what_is_too_large_is_unknown() {
        let large = range(-(1 << 99), 1 << 100);
        assert_eq!(large.plus(large), None);
        assert_eq!(large.times(large), None);
        assert_eq!(range(2, 3).power(200), None);
        assert_eq!(range(0, 2).polynomial(&[i64::MAX; 200]), None);
        assert_eq!(ValueRange::new(3, 2), None);
    }

    #[test]
    fn texts() {
        for text in ["0..256", "-5..-5", "-128..127"] {
            assert_eq!(text.parse::<ValueRange>().unwrap().to_string(), text);
        }
        for text in [
            "",
            "3",
            "5..4",
            "a..b",
            "0..=3",
            "0..1e3",
            "..",
            "0..99999999999999999999999999999999",
        ] {
            assert!(text.parse::<ValueRange>().is_err(), "{text}");
        }
    }

    /// -3 is 254 and 511 modulo 257; three, and 253, are beside the range.
    #[test]
    fn residues_are_integers_of_the_range() {
        let small = range(-3, 2);
        for (residue, expected) in [
            (0, Some(0)),
            (2, Some(2)),
            (3, None),
            (253, None),
            (254, Some(-3)),
            (256, Some(-1)),
            (511, Some(-3)),
        ] {
            assert_eq!(small.integer(residue, 257), expected, "{residue}");
        }
        // 600 is 86 modulo 257, and 610 is 96.
        assert_eq!(range(600, 610).integer(86, 257), Some(600));
        assert_eq!(range(600, 610).integer(96, 257), Some(610));
        assert_eq!(range(600, 610).integer(97, 257), None);
    }

    #[test]
    fn residues_that_the_range_does_not_have_are_refused() {
        assert_eq!(range(-3, 10).integers(&[254, 10], 257u64).unwrap(), [-3, 10]);
        for (range, residues, code) in [
            (range(-3, 10), [11], "scheme.not-decryptable"),
            (range(0, 257), [5], "circuit.range"),
            (range(1 << 70, 1 << 70), [0], "circuit.range"),
        ] {
            assert_eq!(range.integers(&residues, 257u64).unwrap_err().code(), code);
        }
    }

    #[test]
    fn words_are_residues_modulo_2_to_the_64() {
        let (all, t) = (u64::MAX, 1u128 << 64);
        let [unsigned, signed] = [range(0, all.into()), range(i64::MIN.into(), i64::MAX.into())];
        let residues = [0, 1 << 63, all];
        assert_eq!(unsigned.wide_integers(&residues, t).unwrap(), residues.map(i128::from));
        assert_eq!(unsigned.integers(&residues, t).unwrap_err().code(), "circuit.range");
        assert_eq!(signed.integers(&residues, t).unwrap(), [0, i64::MIN, -1]);
        assert!(!range(0, 1 << 64).fits(t) && !unsigned.fits(all));
        assert_eq!(
            range(0, 1 << 64).wide_integers(&residues, t).unwrap_err().code(),
            "circuit.range"
        );
    }
}
