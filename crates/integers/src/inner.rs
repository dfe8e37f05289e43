//! Sums of the products of two columns, which are decrypted: products of digits without carries.

use std::collections::BTreeMap;

use everlevel_circuit::Value;
use everlevel_circuit::straight_line::{CircuitBuilder, NodeId};

use crate::align::fitted;
use crate::bilinear::Sum;
use crate::carry::DIGITS;
use crate::column::{BASE, Column, Digit};
use crate::context::{IntegerScheme, Integers};
use crate::error::IntegersError;
use crate::interval::Interval;
use crate::parts::WINDOW;
use crate::stage::Stage;
use crate::together::Sums;
use crate::total::{SHORTEST_STRIDE, Total};

/// The largest number of digits of a factor that are joined.
const JOINED: usize = 4;
/// The largest absolute value of a digit. Those of operations end below 64; in files windows may be
/// anywhere, and products of such digits could exceed 64 bits.
const FARTHEST: i64 = 1 << 10;

type Window = (i64, i64);

/// The sum that makes one place of the result.
#[derive(Default)]
struct Place {
    sum: Sum,
    window: Window,
    /// What the slots behind the columns hold.
    pad: i64,
}

impl<S: IntegerScheme> Integers<'_, S> {
    /// The scalar product Σ_i a_i b_i of two columns, exactly: the sum of [`Integers::mul`] without
    /// computing the products themselves.
    ///
    /// Digits are multiplied as they are, products of one place are added up before they are
    /// relinearized, and places are added up over the slots as by [`Integers::sum`]; nothing is
    /// carried. It takes k² products of depth 1 for factors of k digits, k (k + 1) / 2 for a column
    /// and itself, and 2 k - 1 relinearizations: 4, 16 and 64 products for 8, 16 and 32 bits, 3, 7
    /// and 15 of which are relinearized, where [`Integers::mul`] takes 164, 540 and 1,850. Digits
    /// of few values are joined before: a truth value and a byte take one product. Then come log2 n
    /// rotations for each place, where n of its values differ by less than p: 7 or 8 for 8 bits, 6
    /// to 8 for 16 and 5 to 8 for 32.
    ///
    /// Whoever decrypts the result sees these partial sums of products of digits, which tell more
    /// than the sum; that of [`Integers::normalized`] products shows partial sums of their digits.
    ///
    /// # Errors
    /// [`IntegersError::Range`] past 2^126; [`IntegersError::Length`]; a missing key; those of
    /// [`Integers::mul`] where p is too small for products of two digits.
    pub fn sum_of_products(
        &self,
        a: &Column<S::Ciphertext>,
        b: &Column<S::Ciphertext>,
    ) -> Result<Total<S::Ciphertext>, IntegersError> {
        let (x, y) = (self.column(a.into())?, self.column(b.into())?);
        let length = self.common_length(&[&x, &y])?.unwrap_or(1) as i128;
        let square = is_same(&x, &y);
        let entry = match square {
            true => squares(x.interval)?,
            false => x.interval.checked_mul(y.interval)?,
        };
        let interval = entry.checked_mul(Interval::point(length)?)?;
        if x.public_value().is_some() || y.public_value().is_some() {
            return self.sum(&self.mul(&x, &y)?);
        }
        let (x, y) = (self.above_zero(&x)?, self.above_zero(&y)?);
        let Some([g, h]) = self.groups(&x, &y, square) else {
            return self.sum(&self.mul(a, b)?);
        };
        let first = self.grouped(&x, g)?;
        let own = if square { Vec::new() } else { self.grouped(&y, h)? };
        let second = if square { &first } else { &own };

        let mut builder = CircuitBuilder::new();
        let (mut values, mut windows) = (Vec::new(), Vec::new());
        let left = inputs(&mut builder, &first, &mut values, &mut windows);
        let right = inputs(&mut builder, &own, &mut values, &mut windows);
        let right = if square { &left } else { &right };
        let mut doubled: BTreeMap<usize, NodeId> = BTreeMap::new();
        let mut places: BTreeMap<usize, Place> = BTreeMap::new();
        for (i, j, k) in pairs(first.len(), second.len(), square) {
            let (a, b) = (&first[i], &second[j]);
            let place = places.entry(g * i + h * j).or_default();
            let own = product((a.low, a.high), (b.low, b.high), k, square && i == j);
            place.window = (place.window.0 + own.0, place.window.1 + own.1);
            place.pad += k * a.pad * b.pad;
            match (left[i], right[j]) {
                (Some(x), Some(y)) if k == 1 => place.sum.pairs.push((x, y)),
                (Some(x), Some(y)) => {
                    let twice = match doubled.get(&i) {
                        Some(twice) => *twice,
                        None => builder.combine(vec![], vec![(x, k)], 0)?,
                    };
                    doubled.insert(i, twice);
                    place.sum.pairs.push((twice, y));
                }
                (Some(x), None) if b.low != 0 => place.sum.add_multiple(x, k * b.low),
                (None, Some(y)) if a.low != 0 => place.sum.add_multiple(y, k * a.low),
                (None, None) => place.sum.add_constant(k * a.low * b.low),
                _ => {}
            }
        }

        // Modulo 2^128, as it is decrypted.
        let mut constant = 0i128;
        let times = |count: i128, power: u32, v: i64| {
            let weight = 1i128.checked_shl(4 * power).unwrap_or(0);
            count.wrapping_mul(weight).wrapping_mul(v.into())
        };
        let (mut sums, mut varying) = (Vec::new(), Vec::new());
        for (power, Place { sum, window, pad }) in places {
            let power = power as u32;
            if sum.is_constant() {
                constant = constant.wrapping_add(times(length, power, sum.constant()));
            } else {
                // Before anything is computed.
                self.check_window(window.0, window.1)?;
                sums.push(sum);
                varying.push((power, window, pad));
            }
        }
        let sums = Sums::new(builder, self.modulus(), sums)?;
        let found = self.staged(&values, &Stage::Sums(&sums), &windows)?;
        let behind = self.slots() as i128 - length;
        let mut parts = Vec::with_capacity(varying.len());
        for ((power, (low, high), pad), cipher) in varying.into_iter().zip(found) {
            constant = constant.wrapping_sub(times(behind, power, pad));
            let cipher = cipher.map(|c| self.session().share(c));
            parts.push(self.summed(power, &Digit { cipher, low, high, pad, steps: None })?);
        }
        Ok(Total { interval, constant, divisor: 1, parts })
    }

    /// The mean of the products of two columns, rounded down: [`Integers::sum_of_products`], which
    /// is divided by the number of entries at decryption, so whoever decrypts sees the sum.
    ///
    /// # Errors
    /// As [`Integers::sum_of_products`].
    pub fn mean_of_products(
        &self,
        a: &Column<S::Ciphertext>,
        b: &Column<S::Ciphertext>,
    ) -> Result<Total<S::Ciphertext>, IntegersError> {
        let divisor = self.common_length(&[a, b])?.unwrap_or(1) as i128;
        let total = self.sum_of_products(a, b)?;
        let end = |v: i128| v.div_euclid(divisor);
        let interval = Interval::new(end(total.interval.low), end(total.interval.high))?;
        Ok(Total { divisor, interval, ..total })
    }

    /// Digits with x = Σ 16^i d_i, of as many values as those of x.
    fn above_zero(
        &self,
        x: &Column<S::Ciphertext>,
    ) -> Result<Vec<Digit<S::Ciphertext>>, IntegersError> {
        let free = (1 - BASE, BASE - 1);
        let constants = fitted(x.anchor, vec![free; x.digits.len()], free);
        let constants = constants.ok_or(IntegersError::Width {
            interval: x.interval,
            digits: x.digits.len(),
            highest: DIGITS,
        })?;
        self.pairwise((&x.digits, 1), (&[], 0), &constants)
    }

    /// How many digits of each factor are joined: as many as take the fewest products and places,
    /// while sums of [`SHORTEST_STRIDE`] values of a place differ by less than p; otherwise none
    /// are. None where not even products of single digits can be told apart modulo p, for more
    /// places than totals have, and for windows that are too far from 0 for these.
    fn groups(
        &self,
        x: &[Digit<S::Ciphertext>],
        y: &[Digit<S::Ciphertext>],
        square: bool,
    ) -> Option<[usize; 2]> {
        let is_far = |d: &Digit<S::Ciphertext>| d.low < -FARTHEST || d.high > FARTHEST;
        if x.len() + y.len() > DIGITS || x.iter().chain(y).any(is_far) {
            return None;
        }
        let (residues, slots) = (self.modulus().prime() - 1, self.slots() as u64);
        // Sums of as many slots as differ by less than p, as totals can be stored.
        let fits = |(low, high): &Window| {
            let added = slots.min(residues / ((high - low) as u64).max(1));
            low.unsigned_abs().max(high.unsigned_abs()) * added <= WINDOW as u64
        };
        let mut best: Option<((usize, usize), [usize; 2])> = None;
        for (g, h) in (1..=JOINED).flat_map(|g| (1..=JOINED).map(move |h| (g, h))) {
            if square && g != h {
                continue;
            }
            let (a, b) = (spans(x, g), spans(y, h));
            let (mut places, mut products) = (BTreeMap::<usize, Window>::new(), 0);
            for (i, j, k) in pairs(a.len(), b.len(), square) {
                let own = product(a[i].0, b[j].0, k, square && i == j);
                let place = places.entry(g * i + h * j).or_default();
                *place = (place.0 + own.0, place.1 + own.1);
                products += usize::from(a[i].1 && b[j].1);
            }
            let most = places.values().map(|(low, high)| high - low).max().unwrap_or(0) as u64;
            let limit = match (g, h) {
                (1, 1) => residues,
                _ => residues / SHORTEST_STRIDE,
            };
            let cost = (products, places.len());
            let possible = most <= limit && places.values().all(fits);
            if possible && best.is_none_or(|(least, _)| cost < least) {
                best = Some((cost, [g, h]));
            }
        }
        best.map(|(_, groups)| groups)
    }

    /// Digits to the base 16^group.
    fn grouped(
        &self,
        digits: &[Digit<S::Ciphertext>],
        group: usize,
    ) -> Result<Vec<Digit<S::Ciphertext>>, IntegersError> {
        let join = |chunk: &[Digit<S::Ciphertext>]| {
            let terms: Vec<_> = chunk.iter().enumerate().map(|(i, d)| (d, 1 << (4 * i))).collect();
            self.combine(&terms, 0)
        };
        digits.chunks(group).map(join).collect()
    }
}

/// Whether two columns are one, that is the same ciphertexts with the same public data.
fn is_same<C>(a: &Column<C>, b: &Column<C>) -> bool {
    let address = |d: &Digit<C>| d.cipher.as_ref().map(Value::address);
    let digit = |(x, y): (&Digit<C>, &Digit<C>)| {
        (x.low, x.high, x.pad, address(x)) == (y.low, y.high, y.pad, address(y))
    };
    (a.interval, a.anchor, a.digits.len()) == (b.interval, b.anchor, b.digits.len())
        && a.digits.iter().zip(&b.digits).all(digit)
}

/// The interval of x².
fn squares(x: Interval) -> Result<Interval, IntegersError> {
    let ends = x.checked_mul(x)?;
    let least = if x.contains(0) { 0 } else { ends.low.max(0) };
    Interval::new(least, ends.high)
}

/// The inputs of a circuit that are digits; `None` for public ones.
fn inputs<'a, C>(
    builder: &mut CircuitBuilder,
    digits: &'a [Digit<C>],
    values: &mut Vec<&'a Value<C>>,
    windows: &mut Vec<Window>,
) -> Vec<Option<NodeId>> {
    let input = |digit: &'a Digit<C>| {
        values.push(digit.cipher.as_ref()?);
        windows.push((digit.low, digit.high));
        Some(builder.input(1))
    };
    digits.iter().map(input).collect()
}

/// The windows of digits to the base 16^group, and whether these are encrypted.
fn spans<C>(digits: &[Digit<C>], group: usize) -> Vec<(Window, bool)> {
    let span = |chunk: &[Digit<C>]| {
        let end = |f: fn(&Digit<C>) -> i64| {
            chunk.iter().enumerate().map(|(i, d)| f(d) << (4 * i)).sum::<i64>()
        };
        ((end(|d| d.low), end(|d| d.high)), chunk.iter().any(|d| d.cipher.is_some()))
    };
    digits.chunks(group).map(span).collect()
}

/// The pairs of digits of two factors whose products are added up, each with the number of times;
/// of a factor and itself one of (i, j) and (j, i), twice.
fn pairs(a: usize, b: usize, square: bool) -> impl Iterator<Item = (usize, usize, i64)> {
    (0..a).flat_map(move |i| {
        let first = if square { i } else { 0 };
        (first..b).map(move |j| (i, j, if square && i != j { 2 } else { 1 }))
    })
}

/// The least and the largest of k x y for integers of two windows and a positive k; of k x² if
/// `square`.
fn product(a: Window, b: Window, k: i64, square: bool) -> Window {
    let ends = [a.0 * b.0, a.0 * b.1, a.1 * b.0, a.1 * b.1];
    let low = ends.into_iter().fold(i64::MAX, i64::min);
    let high = ends.into_iter().fold(i64::MIN, i64::max);
    (k * if square { low.max(0) } else { low }, k * high)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Against all pairs of integers of two windows.
    #[test]
    fn windows_hold_all_products() {
        let windows = || (-5..5i64).flat_map(|low| (low..6).map(move |high| (low, high)));
        for (a, b) in windows().flat_map(|a| windows().map(move |b| (a, b))) {
            let all = || (a.0..=a.1).flat_map(|x| (b.0..=b.1).map(move |y| 3 * x * y));
            let ends = (all().min().unwrap(), all().max().unwrap());
            assert_eq!(product(a, b, 3, false), ends, "{a:?} {b:?}");
        }
        for a in windows() {
            let all = || (a.0..=a.1).map(|x| x * x);
            let (low, high) = product(a, a, 1, true);
            assert!(low <= all().min().unwrap() && high == all().max().unwrap(), "{a:?}");
        }
    }

    #[test]
    fn pairs_of_a_factor_and_itself_are_counted_twice() {
        assert_eq!(pairs(2, 2, true).collect::<Vec<_>>(), [(0, 0, 1), (0, 1, 2), (1, 1, 1)]);
        let all: Vec<_> = pairs(2, 3, false).collect();
        assert_eq!(all, [(0, 0, 1), (0, 1, 1), (0, 2, 1), (1, 0, 1), (1, 1, 1), (1, 2, 1)]);
    }
}
