//! Multiples by public integers.

use everlevel_circuit::CircuitError;

use crate::column::{BASE, Column, Digit, POINTS};
use crate::context::{IntegerScheme, Integers};
use crate::error::IntegersError;
use crate::interval::Interval;
use crate::slots::digit_of;
use crate::split::digits_of;

/// The least and the largest value of a digit.
type Window = (i64, i64);

/// What a multiple k d of a digit gives to the next one.
#[derive(Clone, Copy)]
enum Carry {
    /// The same whatever the digit is.
    Same(i64),
    /// ⌊(k d + this) / 16⌋.
    Table(i64),
}

/// Multiples k d_i of digits with the same sum Σ 16^i k d_i and at most 31 values each.
struct Multiples {
    /// Of each digit.
    carries: Vec<Carry>,
    /// What is left in each place.
    windows: Vec<Window>,
}

impl Multiples {
    /// Whether they take no table.
    fn is_free(&self) -> bool {
        self.carries.iter().all(|carry| matches!(carry, Carry::Same(_)))
    }
}

impl<S: IntegerScheme> Integers<'_, S> {
    /// x times a public integer.
    ///
    /// It is free if the windows of the digits allow it, as for powers of 16, sums and differences
    /// of two of them such as 15, 17 and 255, and truth values times up to 30. For integers below
    /// 16 a digit takes one table of one output, 7 products at depth 4 if it is canonical, where
    /// its multiple has more than 31 values; a product of two such integers takes two, at depth 9.
    /// For others all tables of a digit share its powers, and carries of the sums are computed.
    ///
    /// # Errors
    /// [`IntegersError::Range`] beyond 2^126, those of carries.
    pub fn mul_public(
        &self,
        x: &Column<S::Ciphertext>,
        factor: i128,
    ) -> Result<Column<S::Ciphertext>, IntegersError> {
        let interval = x.interval.checked_mul(Interval::point(factor)?)?;
        if factor == 0 {
            return Ok(Column::public(0, interval, x.length));
        }
        if factor < 0 {
            let positive = self.mul_public(x, -factor)?;
            return Ok(Column { interval, ..self.neg(&positive)? }.narrowed());
        }
        let mut out = self.times(x, factor >> (factor.trailing_zeros() / 4 * 4))?;
        for _ in 0..factor.trailing_zeros() / 4 {
            out = shifted(out)?;
        }
        Ok(Column { interval, ..out }.narrowed())
    }

    /// x times a positive integer.
    fn times(
        &self,
        x: &Column<S::Ciphertext>,
        factor: i128,
    ) -> Result<Column<S::Ciphertext>, IntegersError> {
        let interval = x.interval.checked_mul(Interval::point(factor)?)?;
        if let Some(value) = x.public_value() {
            return Ok(Column::public(value * factor, interval, x.length));
        }
        let anchored = |x: &Column<S::Ciphertext>| {
            interval.anchored("the product", x.anchor.checked_mul(factor))
        };
        let small = i64::try_from(factor).ok().filter(|k| *k < POINTS);
        let own = small.and_then(|k| Some((k, multiples(&windows(x), k)?)));
        if let Some((k, found)) = own.as_ref().filter(|(_, found)| found.is_free()) {
            let anchor = anchored(x)?;
            let digits = self.digits_times(&x.digits, *k, found)?;
            return Ok(Column { interval, anchor, digits, length: x.length });
        }
        if let Some(digits) = self.free_multiple(x, factor)? {
            return Ok(Column { interval, anchor: anchored(x)?, digits, length: x.length });
        }
        if factor < i128::from(BASE) {
            let k = factor as i64;
            let x = if own.is_some() { x.clone() } else { self.normalized(x)? };
            let anchor = anchored(&x)?;
            // Those of canonical digits fit.
            let found = own.map(|(_, found)| found).or_else(|| multiples(&windows(&x), k));
            let found = found.ok_or(CircuitError::Empty { what: "the digits of a multiple" })?;
            let digits = self.digits_times(&x.digits, k, &found)?;
            return Ok(Column { interval, anchor, digits, length: x.length });
        }
        // Columns of multiples that are linear take no powers.
        let widest = x.digits.iter().map(|d| d.points() - 1).max().unwrap_or(0);
        let count = digits_of(factor.unsigned_abs());
        let linear = (0..count).all(|i| widest * digit_of(factor, i) < POINTS);
        if let (false, Some((first, second))) = (linear, two_factors(&windows(x), factor)) {
            return self.times(&self.times(x, first)?, second);
        }
        let digits = self.times_long(x, factor)?;
        Ok(Column { interval, anchor: 0, digits, length: x.length })
    }

    /// The multiples by k: a table for each digit that gives something to the next one, from which
    /// what is left of it follows.
    fn digits_times(
        &self,
        digits: &[Digit<S::Ciphertext>],
        k: i64,
        Multiples { carries, windows }: &Multiples,
    ) -> Result<Vec<Digit<S::Ciphertext>>, IntegersError> {
        let tables = digits.iter().zip(carries).filter_map(|(d, carry)| match carry {
            Carry::Same(_) => None,
            Carry::Table(added) => Some((d.clone(), *added)),
        });
        let (given, added): (Vec<_>, Vec<_>) = tables.unzip();
        let found = self.map(&given, |i, v| (k * v + added[i]).div_euclid(BASE))?;
        let mut found = found.into_iter();
        let quotient = |carry: &Carry| match carry {
            Carry::Same(c) => Ok(Digit::public(*c)),
            Carry::Table(_) => {
                found.next().ok_or(CircuitError::Empty { what: "the list of quotients" })
            }
        };
        let quotients = carries.iter().map(quotient).collect::<Result<Vec<_>, CircuitError>>()?;
        let zero = Digit::public(0);
        let place = |(i, (low, high)): (usize, &Window)| {
            let own = digits.get(i).unwrap_or(&zero);
            let over = quotients.get(i).unwrap_or(&zero);
            let below = i.checked_sub(1).and_then(|i| quotients.get(i)).unwrap_or(&zero);
            let sum = self.combine(&[(own, k), (over, -BASE), (below, 1)], 0)?;
            Ok::<_, IntegersError>(sum.within(*low, *high))
        };
        windows.iter().enumerate().map(place).collect()
    }
}

fn windows<C>(x: &Column<C>) -> Vec<Window> {
    x.digits.iter().map(|d| (d.low, d.high)).collect()
}

/// What multiples by a small k of digits with these windows leave and carry; none if a place would
/// still have more than 31 values, which does not happen to digits of 16 where k is below 16. What
/// is left is near 0.
fn multiples(windows: &[Window], k: i64) -> Option<Multiples> {
    let mut found = Multiples { carries: Vec::new(), windows: Vec::new() };
    // What comes from the digit below.
    let mut below = (0, 0);
    for (low, high) in windows.iter().copied() {
        let (added, spread) = (below.0, below.1 - below.0);
        let (carry, window) = if k * (high - low) + spread < POINTS {
            let (least, most) = (k * low + below.0, k * high + below.1);
            // The multiple of 16 near the middle.
            let same = (least + most) / (2 * BASE);
            below = (same, same);
            (Carry::Same(same), (least - BASE * same, most - BASE * same))
        } else {
            let rests = (low..=high).map(|v| (k * v + added).rem_euclid(BASE));
            let (least, most) = rests.fold((BASE, 0), |(l, h), v| (l.min(v), h.max(v)));
            below = ((k * low + added).div_euclid(BASE), (k * high + added).div_euclid(BASE));
            (Carry::Table(added), (least, most + spread))
        };
        if window.1 - window.0 >= POINTS {
            return None;
        }
        found.windows.push(window);
        found.carries.push(carry);
    }
    if below != (0, 0) {
        found.windows.push(below);
    }
    Some(found)
}

/// Two integers below 16 whose product is `factor`, if digits have multiples by the first of them
/// and these by the second one without further carries: those that leave the fewest values of a
/// digit in between.
fn two_factors(windows: &[Window], factor: i128) -> Option<(i128, i128)> {
    let base = i128::from(BASE);
    let pairs = (2..base).filter(|k| factor % k == 0 && factor / k < base);
    let fitting = pairs.filter_map(|k| {
        let first = multiples(windows, k as i64)?.windows;
        multiples(&first, (factor / k) as i64)?;
        let widest = first.iter().map(|(low, high)| high - low).max()?;
        Some((widest, k))
    });
    fitting.min().map(|(_, k)| (k, factor / k))
}

/// 16 x.
fn shifted<C>(mut x: Column<C>) -> Result<Column<C>, IntegersError> {
    x.interval = x.interval.checked_mul(Interval::point(16)?)?;
    x.anchor = x.interval.anchored("the product", x.anchor.checked_mul(16))?;
    x.digits.insert(0, Digit::public(0));
    Ok(x)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What is left of digits and carried adds up, is within the windows, and these are small
    /// enough; canonical digits have all multiples.
    #[test]
    fn multiples_add_up() {
        let cases = [
            [(0, 15), (0, 15)],
            [(-8, 7), (3, 3)],
            [(0, 30), (0, 1)],
            [(-15, 15), (2, 9)],
            [(70, 79), (-140, -139)],
        ];
        for (windows, k) in cases.iter().flat_map(|w| (1..BASE).map(move |k| (w, k))) {
            let canonical = windows.iter().all(|(low, high)| high - low < BASE);
            let Some(found) = multiples(windows, k) else {
                assert!(!canonical, "{windows:?} by {k}");
                continue;
            };
            assert!(found.windows.iter().all(|(low, high)| high - low < POINTS));
            let near = |(low, high): &(i64, i64)| -2 * BASE < *low && *high < 3 * BASE;
            let places = &found.windows[..2];
            assert!(places.iter().all(near), "{windows:?} by {k}: {places:?}");
            for a in windows[0].0..=windows[0].1 {
                for b in windows[1].0..=windows[1].1 {
                    let (mut below, mut sum, mut weight) = (0, 0, 1);
                    for (i, (low, high)) in found.windows.iter().enumerate() {
                        let digit = [a, b].get(i).copied().unwrap_or(0);
                        let over = match found.carries.get(i) {
                            Some(Carry::Same(c)) => *c,
                            Some(Carry::Table(added)) => (k * digit + added).div_euclid(BASE),
                            None => 0,
                        };
                        let left = k * digit - BASE * over + below;
                        assert!((*low..=*high).contains(&left), "{windows:?} by {k}");
                        (sum, weight, below) = (sum + weight * left, BASE * weight, over);
                    }
                    assert_eq!(sum, k * (a + BASE * b), "{windows:?} by {k}");
                }
            }
        }
    }

    #[test]
    fn products_of_two_small_integers() {
        let nibbles = [(0, 15); 4];
        for (factor, expected) in [
            (20, Some((4, 5))),
            (60, Some((4, 15))),
            (100, Some((10, 10))),
            (91, Some((13, 7))),
            (144, Some((12, 12))),
            (225, None),
            (17, None),
            (1000, None),
        ] {
            assert_eq!(two_factors(&nibbles, factor), expected, "{factor}");
        }
        // Of wide digits there is nothing left for a second one.
        assert_eq!(two_factors(&[(0, 30); 4], 100), None);
    }
}
