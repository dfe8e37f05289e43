//! Moves of digits between slots, and public values that differ from slot to slot.

use everlevel_circuit::{CircuitError, rotate_by_keys, rotation_switches};
use everlevel_scheme::{ExactScheme, Plaintext};
use rayon::prelude::*;

use crate::carry::Next;
use crate::column::{Column, Digit};
use crate::context::{IntegerScheme, Integers};
use crate::encode::Encoded;
use crate::error::IntegersError;
use crate::interval::Interval;

/// The rotations of [`spread`], in order: the number of steps to the left, and whether the sum is
/// added to what it becomes, or the summand.
fn moves(step: i64, count: usize) -> Vec<(i64, bool)> {
    let (mut found, mut done) = (Vec::new(), 1i64);
    for bit in (0..count.max(1).ilog2()).rev() {
        found.push((done * step, true));
        done *= 2;
        if count >> bit & 1 == 1 {
            found.push((step, false));
            done += 1;
        }
    }
    found
}

/// Σ_b of `x` rotated to the left by b times `step`, over 0 <= b < `count`, by doubling.
fn spread<S: ExactScheme>(
    scheme: &S,
    x: &S::Ciphertext,
    step: i64,
    count: usize,
) -> Result<S::Ciphertext, CircuitError> {
    let mut sum = x.clone();
    for (steps, doubled) in moves(step, count) {
        let moved = rotate_by_keys(scheme, &sum, steps)?;
        sum = scheme.add(if doubled { &sum } else { x }, &moved)?;
    }
    Ok(sum)
}

/// The same in the direction that takes fewer key switches: in the other one the summands stand in
/// the reverse order, and the sum is rotated by all steps at its end. General keys are for
/// rotations to the left. Where there are keys for all steps, the direction is that of `step`.
fn gather<S: ExactScheme>(
    scheme: &S,
    x: &S::Ciphertext,
    step: i64,
    count: usize,
) -> Result<S::Ciphertext, CircuitError> {
    let level = scheme.level(x);
    let switches = |step: i64| -> usize {
        let steps = moves(step, count).into_iter();
        steps.map(|(steps, _)| rotation_switches(scheme, level, steps)).sum()
    };
    let (all, last) = (step * count as i64, step * (count as i64 - 1));
    // All the way round both directions give the same sum.
    let round = all % scheme.slot_shape().columns() as i64 == 0;
    let end = if round { 0 } else { rotation_switches(scheme, level, last) };
    if switches(step) <= switches(-step) + end {
        return spread(scheme, x, step, count);
    }
    let sum = spread(scheme, x, -step, count)?;
    if round { Ok(sum) } else { rotate_by_keys(scheme, &sum, last) }
}

/// The capacity in bits of ciphertexts that represent public digits.
const ROOM: f64 = 40.0;

/// Digit i of an integer that is not negative.
pub(crate) fn digit_of(value: i128, i: usize) -> i64 {
    (value >> (4 * i) & 15) as i64
}

impl<S: IntegerScheme> Integers<'_, S> {
    /// The number of columns of slots, which is the length of a rotation.
    pub(crate) fn columns(&self) -> usize {
        self.session().scheme().slot_shape().columns()
    }

    /// Returns the length of a column, and refuses it if it does not fit one row of `most` slots.
    pub(crate) fn within_row(
        &self,
        x: &Column<S::Ciphertext>,
        most: usize,
    ) -> Result<usize, IntegersError> {
        match x.length() {
            Some(n) if n <= most => Ok(n),
            found => Err(IntegersError::Length {
                found: found.unwrap_or(0),
                expected: format!("1 to {most} for this operation on this set"),
            }),
        }
    }

    /// Slot values as a plaintext; missing ones are 0.
    pub(crate) fn encoded(&self, values: &[i64]) -> Result<Plaintext, IntegersError> {
        let t = self.modulus();
        let residues: Vec<u64> = values.iter().map(|v| t.reduce_i64(*v)).collect();
        Ok(Plaintext::encode(self.params(), &residues)?)
    }

    /// A column that the server knows, as ciphertexts modulo p^`exponent` that hide nothing, so
    /// that it can be used like an encrypted column.
    ///
    /// # Errors
    /// Those of the scheme.
    pub fn transparent(
        &self,
        x: &Encoded,
        exponent: u32,
    ) -> Result<Column<S::Ciphertext>, IntegersError> {
        let scheme = self.session().scheme();
        x.encrypt(|slots| {
            let plain = Plaintext::encode_modulo(self.params(), slots, exponent)?;
            Ok(scheme.transparent(&plain)?)
        })
    }

    /// d times a public integer in each slot, and times 0 in slots after the last one: a product by
    /// a plaintext.
    pub(crate) fn weighed(
        &self,
        d: &Digit<S::Ciphertext>,
        weights: &[i64],
    ) -> Result<Digit<S::Ciphertext>, IntegersError> {
        let ends = |w: i64| [w * d.low, w * d.high];
        let (mut low, mut high) = (0, 0);
        for w in weights {
            let [a, b] = ends(*w);
            (low, high) = (low.min(a).min(b), high.max(a).max(b));
        }
        let plain = self.encoded(weights)?;
        let cipher = match &d.cipher {
            Some(x) => self.apply(&[x], |s, x| Ok(s.mul_plain(x[0], &plain)?))?,
            None => {
                let capacity = self.session().minimum_capacity() + ROOM;
                let zero = self.session().scheme().encrypt_zero_at(capacity)?;
                let zero = self.session().share(zero);
                let values: Vec<i64> = weights.iter().map(|w| w * d.low).collect();
                let plain = self.encoded(&values)?;
                self.apply(&[&zero], |s, x| Ok(s.add_plain(x[0], &plain)?))?
            }
        };
        Ok(Digit { cipher: Some(cipher), low, high, pad: 0, steps: None })
    }

    /// The integers 0 .. n - 1, public, but different in each slot.
    pub(crate) fn places(
        &self,
        n: usize,
        length: Option<usize>,
    ) -> Result<Column<S::Ciphertext>, IntegersError> {
        self.listed(n, |i| i as i128, length)
    }

    /// Public integers that differ from entry to entry.
    pub(crate) fn listed(
        &self,
        n: usize,
        value: impl Fn(usize) -> i128,
        length: Option<usize>,
    ) -> Result<Column<S::Ciphertext>, IntegersError> {
        let least = (0..n).map(&value).min().unwrap_or(0);
        let interval = Interval::new(least, (0..n).map(&value).max().unwrap_or(least))?;
        let digit = |k: usize| {
            let values: Vec<i64> = (0..n).map(|i| digit_of(value(i) - least, k)).collect();
            self.weighed(&Digit::public(1), &values)
        };
        let count = crate::split::digits_of((interval.high() - least).unsigned_abs());
        let digits = (0..count).map(digit).collect::<Result<_, IntegersError>>()?;
        Ok(Column { interval, anchor: least, digits, length })
    }

    /// d plus a public integer in each slot, and plus 0 in slots after the last one. All sums lie
    /// in `window`.
    pub(crate) fn raised(
        &self,
        d: &Digit<S::Ciphertext>,
        added: &[i64],
        (low, high): (i64, i64),
        pad: i64,
    ) -> Result<Digit<S::Ciphertext>, IntegersError> {
        let Some(x) = &d.cipher else { return Ok(d.clone()) };
        let plain = self.encoded(added)?;
        let cipher = Some(self.apply(&[x], |s, x| Ok(s.add_plain(x[0], &plain)?))?);
        Ok(Digit { cipher, low, high, pad, steps: None })
    }

    /// d rotated to the left by `steps`.
    pub(crate) fn rotated(
        &self,
        d: &Digit<S::Ciphertext>,
        steps: i64,
    ) -> Result<Digit<S::Ciphertext>, IntegersError> {
        let Some(x) = &d.cipher else { return Ok(d.clone()) };
        let cipher = Some(self.apply(&[x], |s, x| rotate_by_keys(s, x[0], steps))?);
        Ok(Digit { cipher, steps: None, ..*d })
    }

    /// Refuses sets whose slots lie in several rows that no automorphism exchanges, such as those
    /// of odd index, for which the row swap of the slot shape is the identity.
    pub(crate) fn check_rows(&self) -> Result<(), IntegersError> {
        let shape = self.session().scheme().slot_shape();
        if shape.rows() > 1 && shape.swap_rows() == shape.identity() {
            return Err(IntegersError::Set {
                name: self.params().name().into(),
                problem: "its slots lie in rows that are not exchanged, so what takes all entries \
                          of a column cannot be computed on: take bgv-65537-n15",
            });
        }
        Ok(())
    }

    /// x with its rows exchanged; `None` if there is only one row.
    pub(crate) fn exchanged(
        &self,
        x: &Column<S::Ciphertext>,
    ) -> Result<Option<Column<S::Ciphertext>>, IntegersError> {
        if self.columns() == self.slots() {
            return Ok(None);
        }
        let digits = x.digits.iter().map(|d| self.swapped(d)).collect::<Result<_, _>>()?;
        Ok(Some(Column { digits, ..x.clone() }))
    }

    /// d with its rows exchanged, of which there are two.
    pub(crate) fn swapped(
        &self,
        d: &Digit<S::Ciphertext>,
    ) -> Result<Digit<S::Ciphertext>, IntegersError> {
        let Some(x) = &d.cipher else { return Ok(d.clone()) };
        self.check_rows()?;
        let rows = self.session().scheme().slot_shape().swap_rows();
        let cipher = self.apply(&[x], |s, x| {
            let level = s.galois_level(rows, s.level(x[0])).unwrap_or(s.level(x[0]));
            Ok(s.swap_rows(&s.mod_switch_to(x[0], level)?)?)
        })?;
        Ok(Digit { cipher: Some(cipher), steps: None, ..*d })
    }

    /// Σ_b d(slot + b step) over 0 <= b < `count`, where at most one of these is not 0.
    pub(crate) fn gathered(
        &self,
        d: &Digit<S::Ciphertext>,
        step: i64,
        count: usize,
    ) -> Result<Digit<S::Ciphertext>, IntegersError> {
        let Some(x) = &d.cipher else { return Ok(d.clone()) };
        let cipher = Some(self.apply(&[x], |s, x| gather(s, x[0], step, count))?);
        Ok(Digit { cipher, low: d.low.min(0), high: d.high.max(0), pad: 0, steps: None })
    }

    /// The first `n` slots of d, and `pad` in all others.
    pub(crate) fn placed(
        &self,
        d: &Digit<S::Ciphertext>,
        n: usize,
        pad: i64,
    ) -> Result<Digit<S::Ciphertext>, IntegersError> {
        if d.cipher.is_none() {
            return Ok(d.clone());
        }
        let kept = self.weighed(d, &vec![1; n])?;
        let mut others = vec![pad; self.slots()];
        others[..n].fill(0);
        if pad == 0 {
            return Ok(kept);
        }
        self.raised(&kept, &others, (d.low.min(pad), d.high.max(pad)), pad)
    }

    /// A digit of a column of `n` entries with 0 in the slots behind them. Unlike a product by a
    /// plaintext ([`Integers::placed`]), which serves where these slots hold anything, this
    /// subtracts what they are known to hold, and takes no capacity.
    pub(crate) fn cleared(
        &self,
        d: &Digit<S::Ciphertext>,
        n: usize,
    ) -> Result<Digit<S::Ciphertext>, IntegersError> {
        let (low, high) = (d.low.min(0), d.high.max(0));
        if d.pad == 0 {
            return Ok(Digit { low, high, ..d.clone() });
        }
        let mut behind = vec![-d.pad; self.slots()];
        behind[..n].fill(0);
        self.raised(d, &behind, (low, high), 0)
    }

    /// The first `n` entries of a column. The slots behind them hold the least value of its
    /// interval, as in a freshly encrypted column. It costs a product by a plaintext for each
    /// digit, unless the column has exactly `n` entries.
    ///
    /// # Errors
    /// [`IntegersError::Length`] for no entries, or more than there are.
    pub fn shortened(
        &self,
        x: &Column<S::Ciphertext>,
        n: usize,
    ) -> Result<Column<S::Ciphertext>, IntegersError> {
        let length = x.length.unwrap_or(self.slots());
        if n == length {
            return Ok(Column { length: Some(n), ..x.clone() });
        }
        if n == 0 || n > length {
            return Err(IntegersError::Length { found: n, expected: format!("1 to {length}") });
        }
        let x = self.normalized(x)?;
        let least = x.interval.low() - x.anchor;
        let digit = |(k, d): (usize, &Digit<S::Ciphertext>)| self.placed(d, n, digit_of(least, k));
        let digits = x.digits.iter().enumerate().map(digit).collect::<Result<_, _>>()?;
        Ok(Column { digits, length: Some(n), ..x })
    }

    /// Σ_b x(slot + b step) over 0 <= b < `count`, for a column without anchor that holds values
    /// from 0 to `most` in every slot; carries are computed as they become necessary.
    pub(crate) fn folded(
        &self,
        x: &Column<S::Ciphertext>,
        step: i64,
        count: usize,
    ) -> Result<Column<S::Ciphertext>, IntegersError> {
        let turned = |x: &Column<S::Ciphertext>, steps: i64| {
            let digits = x.digits.par_iter().map(|d| self.rotated(d, steps));
            let digits = digits.collect::<Result<Vec<_>, IntegersError>>()?;
            Ok::<_, IntegersError>(Column { digits, ..x.clone() })
        };
        let (mut sum, mut done) = (x.clone(), 1i64);
        for bit in (0..count.max(1).ilog2()).rev() {
            sum = self.addable(sum, Next::Any)?;
            sum = self.add(&sum, &turned(&sum, done * step)?)?;
            done *= 2;
            if count >> bit & 1 == 1 {
                sum = self.add(x, &turned(&sum, step)?)?;
                done += 1;
            }
        }
        Ok(sum)
    }
}

#[cfg(test)]
mod tests {
    use everlevel_scheme::{KeyPlan, NoOp, OptIn, Params};

    use super::*;

    /// With keys for powers of two to the left only, sums to the right are made to the left where
    /// that takes fewer key switches. With keys for all rotations nothing is turned round.
    #[test]
    fn both_directions_give_the_same_sums() {
        let params = Params::named("insecure_bgv-257-n8", OptIn::InsecureResearch).unwrap();
        let columns = params.slot_shape().columns();
        assert_eq!(columns, 64);
        let left = KeyPlan::column_rotations(&params, (0..6).map(|i| 1i64 << i));
        let values: Vec<u64> = (0..params.slots() as u64).map(|i| i * i % 257).collect();
        let plain = Plaintext::encode(&params, &values).unwrap();
        // The number of key switches with all keys, and with those to the left.
        for (step, count, all, few) in [
            (-5i64, 4usize, 2, 7),
            (-8, 8, 3, 3),
            (-3, 7, 4, 12),
            (3, 5, 3, 6),
            (-1, 64, 6, 6),
            (7, 1, 0, 0),
        ] {
            let moved = |slot: usize, by: i64| {
                let column = (slot % columns) as i64 + by * step;
                values[slot / columns * columns + column.rem_euclid(columns as i64) as usize]
            };
            let sum = |slot: usize| (0..count as i64).map(|by| moved(slot, by)).sum::<u64>() % 257;
            let expected: Vec<u64> = (0..values.len()).map(sum).collect();
            let with_all = NoOp::new(&params, 1);
            let with_few = NoOp::new(&params, 1).holding(left.clone());
            for (scheme, switches) in [(with_all, all), (with_few, few)] {
                let x = scheme.encrypt(&plain).unwrap();
                let found = gather(&scheme, &x, step, count).unwrap();
                let found = scheme.decrypt(&found).unwrap().decode(&params).unwrap();
                assert_eq!(found, expected, "{count} steps of {step}");
                assert_eq!(scheme.cost().key_switches, switches, "{count} steps of {step}");
            }
        }
    }
}
