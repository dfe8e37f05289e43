//! Counts of the entries that have each value.
//!
//! For few values, one table gives a truth value for each of them, which is added up over all
//! slots. For more values, slot s counts the entries with the value s modulo a period P: if slot t
//! holds v, a truth value moves from slot t to slot t - k with k = t - v modulo P. For each of the
//! P values of k, the truth values of the two digits of k are multiplied; these products are
//! rotated by k and added up, and then the slots that are P apart are added up. So all values
//! together take about as many rotations as one value, and P more.

use everlevel_circuit::straight_line::{Circuit, CircuitBuilder};
use everlevel_circuit::{CircuitError, Session, Value};
use everlevel_scheme::NoOp;
use rayon::prelude::*;

use crate::column::{BASE, Column, Digit, POINTS, value};
use crate::context::{IntegerScheme, Integers};
use crate::error::IntegersError;
use crate::interval::Interval;
use crate::rehearsal::Rehearsal;
use crate::slots::digit_of;
use crate::stage::Stage;
use crate::total::{Part, Total};
use crate::types::Type;

/// The largest number of values that are counted by one table.
const FEW: u128 = POINTS as u128;
/// Digits of the values that are counted at once.
const DIGITS: usize = 2;
/// These values.
const BINS: u128 = 1 << (4 * DIGITS);

impl<S: IntegerScheme> Integers<'_, S> {
    /// The number of entries that have each value of the interval of x, the least value first, as
    /// one total for each value.
    ///
    /// For up to 31 values, it costs one table, depth 5, and a sum over all slots for each value.
    /// For up to 256 values, and for fewer where this takes less time by the model, it costs the
    /// following, where P is the next power of two: a difference modulo P and its carries, two
    /// tables of depth 4, P products, of which P / 16 are relinearized, about P + P / 16 + log2 N
    /// rotations, and a product by a plaintext for each value. For fresh bytes on `bgv-65537-n15`
    /// these are 322 products and 357 key switches.
    ///
    /// # Errors
    /// [`IntegersError::Table`] for more than 256 values; [`IntegersError::Set`] for more than 31
    /// on a set whose rows of slots are no multiples of P; those of [`Integers::sum`].
    pub fn bincount(
        &self,
        x: &Column<S::Ciphertext>,
    ) -> Result<Vec<Total<S::Ciphertext>>, IntegersError> {
        let points = x.interval.points();
        if points > BINS {
            let expected =
                format!("values of at most {BINS} integers: shift or look them up first");
            return Err(IntegersError::Table { entries: 0, interval: x.interval, expected });
        }
        if let Some(value) = x.public_value() {
            let interval = Interval::new(0, x.length.unwrap_or(1) as i128)?;
            let constant = |bin| if bin == value { interval.high() } else { 0 };
            let bins = (x.interval.low()..=x.interval.high()).map(|bin| Total {
                interval,
                constant: constant(bin),
                divisor: 1,
                parts: Vec::new(),
            });
            return Ok(bins.collect());
        }
        match points > FEW || self.moving_takes_less(x) {
            true => self.many_bins(x),
            false => self.few_bins(x),
        }
    }

    /// Whether few values are counted in less time, by the model, by the method for many values:
    /// both methods are rehearsed.
    fn moving_takes_less(&self, x: &Column<S::Ciphertext>) -> bool {
        let pretended = |d: &Digit<S::Ciphertext>, session: &Session<NoOp>| {
            let cipher = match &d.cipher {
                Some(x) => {
                    let x = self.pretended(&*self.operand(x)?);
                    let x = x.ok_or(CircuitError::Empty { what: "what is rehearsed" })?;
                    Some(session.share(x))
                }
                None => None,
            };
            Ok::<_, IntegersError>(Digit {
                cipher,
                low: d.low,
                high: d.high,
                pad: d.pad,
                steps: None,
            })
        };
        let seconds = |many: bool| {
            let rehearsal = Rehearsal::alike(self)?;
            let digits = x.digits.iter().map(|d| pretended(d, rehearsal.session()));
            let x = Column {
                interval: x.interval,
                anchor: x.anchor,
                digits: digits.collect::<Result<_, _>>()?,
                length: x.length,
            };
            let ints = rehearsal.integers()?;
            let work = || if many { ints.many_bins(&x) } else { ints.few_bins(&x) };
            Ok::<_, IntegersError>(rehearsal.counted(work)?.1.seconds)
        };
        let [few, many] = [false, true].map(seconds);
        many.is_ok_and(|many| few.is_ok_and(|few| many < few))
    }

    /// All of them from one set of powers.
    fn few_bins(
        &self,
        x: &Column<S::Ciphertext>,
    ) -> Result<Vec<Total<S::Ciphertext>>, IntegersError> {
        let digit = self.residue(x, x.interval.low())?;
        let table =
            |bin: i64| (digit.low..=digit.high).map(|v| i64::from(v == bin)).collect::<Vec<_>>();
        let tables = (0..x.interval.points() as i64).map(table).collect();
        let plan = self.plan(digit.low, digit.high, tables)?;
        let bins = self.tables(vec![(digit, plan)])?.pop();
        let bins = bins.ok_or(CircuitError::Empty { what: "the list of bins" })?;
        let total = |bin: Digit<S::Ciphertext>| {
            let (interval, anchor, length) = (Interval::BOOL, 0, x.length);
            self.sum(&Column { interval, anchor, digits: vec![bin], length })
        };
        bins.into_iter().map(total).collect()
    }

    fn many_bins(
        &self,
        x: &Column<S::Ciphertext>,
    ) -> Result<Vec<Total<S::Ciphertext>>, IntegersError> {
        let (slots, columns) = (self.slots(), self.columns());
        // Before the interval is narrowed: there is a bin for each value that was promised.
        let bins = x.interval.points() as usize;
        let period = bins.next_power_of_two().max(BASE as usize);
        let whole = columns.is_power_of_two() && columns >= period;
        if !whole || slots as u64 >= self.modulus().prime() {
            return Err(IntegersError::Set {
                name: self.params().name().into(),
                problem: "counts of more than 31 values need rows of 2^k slots, at least as many \
                          as there are values and fewer than p: use bgv-65537-n15",
            });
        }
        // What slots behind the column hold is counted, too, and subtracted.
        let x = self.normalized_to(&x.clone().narrowed(), (x.interval.low(), DIGITS))?;
        let behind = slots - x.length.unwrap_or(1);
        let pad = value(x.digits.iter().map(|d| d.pad));
        let counts = self.counted_by_slots(&x, period)?;
        let total = |bin: usize| {
            let mut one = vec![0; bin + 1];
            one[bin] = 1;
            let Digit { cipher: Some(value), low, high, .. } = self.weighed(&counts, &one)? else {
                return Err(IntegersError::from(CircuitError::Empty { what: "a bin" }));
            };
            let constant = if bin as i128 == pad { -(behind as i128) } else { 0 };
            Ok::<_, IntegersError>(Total {
                interval: Interval::new(0, (slots - behind) as i128)?,
                constant,
                divisor: 1,
                parts: vec![Part { value, power: 0, window: (low, high), stride: 1 }],
            })
        };
        // The first one by itself, so that the counts are bootstrapped once, if they have to be.
        let first = total(0)?;
        let others = (1..bins).into_par_iter().map(total);
        let others = others.collect::<Result<Vec<_>, IntegersError>>()?;
        Ok(std::iter::once(first).chain(others).collect())
    }

    /// In slot t the digits of t - v modulo the period P, where v is the value there above the
    /// anchor of a canonical column: a lower digit, of up to 31 values if there is no other one,
    /// and an upper digit modulo P / 16.
    fn steps(
        &self,
        x: &Column<S::Ciphertext>,
        period: usize,
    ) -> Result<Column<S::Ciphertext>, IntegersError> {
        let count = if period > BASE as usize { DIGITS } else { 1 };
        // t - v modulo 16^count is t + 1 and the complement of v.
        let digit = |k: usize| {
            let place = |t: usize| digit_of(((t + 1) % period) as i128, k);
            let places: Vec<i64> = (0..self.slots()).map(place).collect();
            let most = places.iter().copied().max().unwrap_or(0);
            let complement = self.combine(&[(&x.digit(k), -1)], BASE - 1)?;
            let (low, high) = (complement.low, complement.high + most);
            // All slots are entries: there is none behind the column.
            self.raised(&self.encrypted(&complement)?, &places, (low, high), low)
        };
        let digits: Vec<_> = (0..count).map(digit).collect::<Result<_, IntegersError>>()?;
        let most = value(digits.iter().map(|d| d.high));
        let interval = Interval::new(0, most)?;
        let sum = Column { interval, anchor: 0, digits, length: Some(self.slots()) };
        if count == 1 { Ok(sum) } else { self.wrapped(&sum, Type::U8) }
    }

    /// In slot s, the number of slots that hold s modulo the period, above the anchor of a
    /// canonical column.
    fn counted_by_slots(
        &self,
        x: &Column<S::Ciphertext>,
        period: usize,
    ) -> Result<Digit<S::Ciphertext>, IntegersError> {
        let base = BASE as usize;
        let steps = self.steps(x, period)?;
        let truths = |(k, d): (usize, &Digit<S::Ciphertext>)| {
            let count = if k == 0 { base } else { period / base } as i64;
            let is = |v: i64| {
                (d.low..=d.high).map(move |x| i64::from(x.rem_euclid(count) == v)).collect()
            };
            Ok((d.clone(), self.plan(d.low, d.high, (0..count).map(is).collect())?))
        };
        let truths = steps.digits.iter().enumerate().map(truths);
        let truths = truths.collect::<Result<Vec<_>, IntegersError>>()?;
        let mut found = self.tables(truths)?.into_iter();
        let (lower, upper) = (found.next().unwrap_or_default(), found.next());
        let sum = match upper {
            None => self.moved_and_summed(&lower, 1)?,
            Some(upper) => {
                self.moved_and_summed(&self.products_of_digits(&lower, &upper)?, BASE)?
            }
        };
        self.added_up(sum, period)
    }

    /// Σ_k of x_k rotated by k `step`.
    fn moved_and_summed(
        &self,
        x: &[Digit<S::Ciphertext>],
        step: i64,
    ) -> Result<Digit<S::Ciphertext>, IntegersError> {
        let mut sum = Digit::public(0);
        for own in x.iter().rev() {
            sum = self.combine(&[(&self.rotated(&sum, step)?, 1), (own, 1)], 0)?;
        }
        Ok(sum)
    }

    /// For each of the upper truth values its products with the lower ones, each rotated by its
    /// place among these, and added up.
    fn products_of_digits(
        &self,
        lower: &[Digit<S::Ciphertext>],
        upper: &[Digit<S::Ciphertext>],
    ) -> Result<Vec<Digit<S::Ciphertext>>, IntegersError> {
        let circuit = products(lower.len())?;
        self.readied_for(&circuit, lower, upper)?;
        let rotated = |(k, d): (usize, &Digit<S::Ciphertext>)| self.rotated(d, k as i64);
        let lower = lower.par_iter().enumerate().map(rotated).collect::<Result<Vec<_>, _>>()?;
        let row = |d: &Digit<S::Ciphertext>| {
            let mut turned = vec![d.clone()];
            while turned.len() < lower.len() {
                turned.push(self.rotated(&turned[turned.len() - 1], 1)?);
            }
            self.summed_products(&circuit, &lower, &turned)
        };
        upper.par_iter().map(row).collect()
    }

    /// The sums of all slots that are a multiple of the period apart, in each of them.
    fn added_up(
        &self,
        x: Digit<S::Ciphertext>,
        period: usize,
    ) -> Result<Digit<S::Ciphertext>, IntegersError> {
        let (mut sum, mut step) = (x, period);
        while step < self.columns() {
            sum = self.combine(&[(&sum, 1), (&self.rotated(&sum, step as i64)?, 1)], 0)?;
            step *= 2;
        }
        match self.columns() < self.slots() {
            true => self.combine(&[(&sum, 1), (&self.swapped(&sum)?, 1)], 0),
            false => Ok(sum),
        }
    }

    /// Bootstraps truth values before they are rotated, if their products would not fit otherwise.
    fn readied_for(
        &self,
        circuit: &Circuit,
        a: &[Digit<S::Ciphertext>],
        b: &[Digit<S::Ciphertext>],
    ) -> Result<(), IntegersError> {
        let all = encrypted(a.iter().chain(b))?;
        let first = b.iter().cycle().take(a.len());
        let inputs = encrypted(a.iter().chain(first))?;
        let now = inputs.iter().map(|x| self.operand(x)).collect::<Result<Vec<_>, _>>()?;
        let now: Vec<&S::Ciphertext> = now.iter().map(AsRef::as_ref).collect();
        if self.session().can_bootstrap() && !self.fits(&Stage::Circuit(circuit), &now) {
            self.refresh_all(&all)?;
        }
        Ok(())
    }

    /// Σ_k a_k b_k of truth values, by such a circuit.
    fn summed_products(
        &self,
        circuit: &Circuit,
        a: &[Digit<S::Ciphertext>],
        b: &[Digit<S::Ciphertext>],
    ) -> Result<Digit<S::Ciphertext>, IntegersError> {
        let values = encrypted(a.iter().chain(b))?;
        let windows = vec![(0, 1); values.len()];
        let found = self.staged(&values, &Stage::Circuit(circuit), &windows)?.pop().flatten();
        let cipher = found.map(|c| self.session().share(c));
        Ok(Digit { cipher, low: 0, high: a.len() as i64, pad: 0, steps: None })
    }
}

/// The ciphertexts of truth values that are not the same everywhere.
fn encrypted<'a, C: 'a>(
    digits: impl Iterator<Item = &'a Digit<C>>,
) -> Result<Vec<&'a Value<C>>, CircuitError> {
    let cipher = |d: &'a Digit<C>| {
        d.cipher.as_ref().ok_or(CircuitError::Empty { what: "the list of truth values" })
    };
    digits.map(cipher).collect()
}

/// Σ_k a_k b_k, relinearized once, of a_0, .., b_0, ...
fn products(count: usize) -> Result<Circuit, CircuitError> {
    let mut builder = CircuitBuilder::new();
    let inputs: Vec<_> = (0..2 * count).map(|_| builder.input(1)).collect();
    let pairs = (0..count).map(|k| (inputs[k], inputs[count + k])).collect();
    let sum = builder.combine(pairs, Vec::new(), 0)?;
    builder.finish(&[sum])
}
