//! Truth values that pass from digit to digit: borrows of comparisons, and carries of sums.
//!
//! A digit sets the truth value that comes from the digits below it, clears it, or keeps it. One
//! table says which: half of a sign, whose square tells both truth values apart. Two digits are
//! one of the same kind, by a product for each of the two, so that log2 k levels join k digits,
//! where tables of signs take 5 levels for every four of them.

use std::iter;

use everlevel_circuit::{CircuitError, Value};
use everlevel_scheme::Level;
use rayon::prelude::*;

use crate::column::Digit;
use crate::context::{IntegerScheme, Integers};
use crate::error::IntegersError;
use crate::question::{Kept, Question};

/// The depth of a table of a digit, and of the square of what it gives.
const DIGIT: u32 = 6;
/// The depth of a table of a digit alone.
const TABLE: u32 = 5;
/// Signs that one table joins: Σ 2^j s_j of four lies in -15..=15.
pub(crate) const GROUP: usize = 4;
/// The bits of capacity that a sum of a digit and a truth value takes at most.
const SUM: f64 = 1.0;
/// The bits of a level as multiples of those of p: somewhat fewer than a product takes.
const LEVEL: f64 = 2.25;

/// What some adjacent digits make of the truth value from the digits below them.
pub(crate) struct Passing<C> {
    /// Whether they set it.
    pub(crate) set: Digit<C>,
    /// Whether they keep it; `None` if nothing is below them.
    pub(crate) kept: Option<Digit<C>>,
}

/// What comes out of digits one after the other.
pub(crate) struct Rippled<C> {
    /// The truth value that comes out of each digit.
    pub(crate) bits: Vec<Digit<C>>,
    /// Each digit with the truth value that came from below.
    pub(crate) sums: Vec<Digit<C>>,
}

impl<C> Clone for Passing<C> {
    fn clone(&self) -> Self {
        Passing { set: self.set.clone(), kept: self.kept.clone() }
    }
}

/// The depth at which truth values of `count` digits are joined by products, tables included.
fn depth(count: usize) -> u32 {
    DIGIT + count.next_power_of_two().trailing_zeros()
}

/// The numbers of signs that are joined, layer by layer, until one is left of `count`.
fn layers(count: usize) -> impl Iterator<Item = usize> {
    iter::successors(Some(count), |signs| Some(signs.div_ceil(GROUP)))
        .take_while(|signs| *signs > 1)
}

/// The depth at which tables of signs join those of `count` digits.
fn depth_of_tables(count: usize) -> u32 {
    // A table of 2^(k + 1) - 1 values of k signs.
    TABLE + layers(count).map(|signs| signs.min(GROUP) as u32 + 1).sum::<u32>()
}

/// The number of sums of up to four signs that tables join.
fn joined(count: usize) -> usize {
    layers(count).map(|signs| signs.div_ceil(GROUP)).sum()
}

impl<S: IntegerScheme> Integers<'_, S> {
    /// Whether digits have the capacity for work of this depth.
    pub(crate) fn have_depth(&self, digits: &[Digit<S::Ciphertext>], depth: u32) -> bool {
        let needed = self.session().minimum_capacity() + self.level_bits() * f64::from(depth);
        let scheme = self.session().scheme();
        let mut values = digits.iter().filter_map(|d| d.cipher.as_ref());
        values.all(|v| scheme.capacity_bits(&v.get()) >= needed)
    }

    /// What each of several digits makes of the truth value that comes from below, the lowest
    /// first, of which `lowest` is the truth value. `None` if they lack the capacity to be joined
    /// by products.
    ///
    /// With `lower`, digits that tables could join begin lower, by the levels that products save:
    /// what is joined then has the capacity that tables leave, and key switches take less time.
    pub(crate) fn passing(
        &self,
        digits: &[Digit<S::Ciphertext>],
        lowest: impl Fn(i64) -> i64,
        kept: Kept,
        lower: bool,
    ) -> Result<Option<Vec<Passing<S::Ciphertext>>>, IntegersError> {
        let (by_products, by_tables) = (depth(digits.len()), depth_of_tables(digits.len()));
        if !self.have_depth(digits, by_products) {
            return Ok(None);
        }
        let digits = match lower && by_tables > by_products && self.have_depth(digits, by_tables) {
            true => self.begun_lower(digits, by_tables - by_products)?,
            false => digits.to_vec(),
        };
        let t = self.modulus();
        let half = t.centered(t.inv(2).map_err(CircuitError::from)?);
        let requests = digits.iter().enumerate().map(|(i, digit)| {
            let entry = |x: i64| match i {
                0 => lowest(x),
                _ if kept.does_both(digit) => half * kept.sign(x),
                _ => i64::from(x == kept.at),
            };
            let table = (digit.low..=digit.high).map(entry).collect();
            Ok((digit.clone(), self.plan(digit.low, digit.high, vec![table])?))
        });
        let found = self.tables(requests.collect::<Result<Vec<_>, IntegersError>>()?)?;
        let found: Vec<_> = found.into_iter().flatten().collect();
        let part = |(i, (digit, found)): (usize, (&Digit<_>, &Digit<_>))| match i {
            0 => Ok(Passing { set: found.clone(), kept: None }),
            _ => self.passing_of(digit, found, kept),
        };
        let parts = digits.par_iter().zip(&found).enumerate().map(part);
        Ok(Some(parts.collect::<Result<Vec<_>, IntegersError>>()?))
    }

    /// What a digit does, from its table.
    fn passing_of(
        &self,
        digit: &Digit<S::Ciphertext>,
        found: &Digit<S::Ciphertext>,
        kept: Kept,
    ) -> Result<Passing<S::Ciphertext>, IntegersError> {
        if !kept.does_both(digit) {
            // Whether it keeps the truth value; if not, it always does the same.
            let sets = kept.sign(digit.low) > 0 || kept.sign(digit.high) > 0;
            let set = match sets {
                true => self.combine(&[(found, -1)], 1)?,
                false => Digit::public(0),
            };
            return Ok(Passing { set, kept: Some(found.clone()) });
        }
        // Of s / 2: s (s + 1) / 2 and 1 - s^2, without large factors. The window of s / 2 is as
        // wide as p, whose square a word does not hold for all p; those of both results are known.
        let found = &Digit { low: -1, high: 1, pad: 0, ..found.clone() };
        let square = self.product(found, found)?;
        let bit = |x: Digit<_>, pad: bool| Digit { low: 0, high: 1, pad: i64::from(pad), ..x };
        let sign = kept.sign(digit.pad);
        let set = bit(self.combine(&[(&square, 2), (found, 1)], 0)?, sign > 0);
        let same = bit(self.combine(&[(&square, -4)], 1)?, sign == 0);
        Ok(Passing { set, kept: Some(same) })
    }

    /// Whether digits that are decided one after the other take fewer bootstrappings than a table
    /// of each of them, `table(i, x)` of digit i, and of `joined` sums of what these tables give.
    ///
    /// What a table gives has no capacity for another one, so each of the sums is bootstrapped, and
    /// so is each digit to which a truth value from below was added. Digits that were bootstrapped
    /// before, as operands without the capacity for a difference are, have it for their own table.
    pub(crate) fn ripple_is_shorter(
        &self,
        digits: &[Digit<S::Ciphertext>],
        joined: usize,
        table: impl Fn(usize, i64) -> i64,
    ) -> Result<bool, IntegersError> {
        if !self.session().can_bootstrap() {
            return Ok(false);
        }
        let is_exhausted = |(i, digit): (usize, &Digit<_>)| {
            let entries = (digit.low..=digit.high).map(|x| table(i, x)).collect();
            self.is_exhausted(digit, &*self.plan(digit.low, digit.high, vec![entries])?)
        };
        let exhausted = digits.iter().enumerate().map(is_exhausted);
        let exhausted = exhausted.collect::<Result<Vec<bool>, IntegersError>>()?;
        let rippled = digits.len() - usize::from(exhausted.first() == Some(&false));
        Ok(exhausted.into_iter().filter(|exhausted| *exhausted).count() + joined > rippled)
    }

    /// The truth values that come out of each digit, one after the other: what comes from below is
    /// added to the next digit, on the side on which it sets its own, before that is bootstrapped,
    /// so that k exhausted digits take k bootstrappings and as many tables of 32 values. `None`
    /// where a table does not fit, not even after bootstrapping, and where digits have not even the
    /// capacity for such a sum, and would be bootstrapped before and after it.
    pub(crate) fn rippled(
        &self,
        digits: &[Digit<S::Ciphertext>],
        lowest: impl Fn(i64) -> i64,
        kept: Kept,
    ) -> Result<Option<Rippled<S::Ciphertext>>, IntegersError> {
        let (scheme, needed) = (self.session().scheme(), self.session().minimum_capacity() + SUM);
        let mut ciphers = digits.iter().filter_map(|d| d.cipher.as_ref());
        if ciphers.any(|v| scheme.capacity_bits(&v.get()) < needed) {
            return Ok(None);
        }
        let mut found = Rippled { bits: Vec::new(), sums: Vec::new() };
        for digit in digits {
            let (sum, bit) = match found.bits.last() {
                None => (digit.clone(), self.mapped_if_it_fits(digit, &lowest)?),
                Some(below) => {
                    let sum = self.combine(&[(digit, 1), (below, kept.side)], 0)?;
                    let bit = self.mapped_if_it_fits(&sum, |x| i64::from(kept.sign(x) > 0))?;
                    (sum, bit)
                }
            };
            let Some(bit) = bit else { return Ok(None) };
            found.bits.push(bit);
            found.sums.push(sum);
        }
        Ok(Some(found))
    }

    /// The answer for Σ 16^i d_i, |d_i| <= 15 but for the highest, by truth values that pass from
    /// digit to digit; `None` for three answers, a single digit, and where the capacity does not
    /// suffice. With `lower`, digits begin lower where results have what a tree leaves all the
    /// same.
    pub(crate) fn by_passing(
        &self,
        digits: &[Digit<S::Ciphertext>],
        question: Question,
        lower: bool,
    ) -> Result<Option<Digit<S::Ciphertext>>, IntegersError> {
        let Some(kept) = question.kept().filter(|_| digits.len() > 1) else { return Ok(None) };
        let parts = self.passing(digits, |x| question.answer(x), kept, lower)?;
        parts.map(|parts| self.passed(parts)).transpose()
    }

    /// The same digit by digit, where that takes fewer bootstrappings than a tree. `None` also if
    /// the digits of a difference are used once more, and have to be bootstrapped as they are.
    pub(crate) fn by_ripple(
        &self,
        digits: &[Digit<S::Ciphertext>],
        question: Question,
        difference: &[Digit<S::Ciphertext>],
    ) -> Result<Option<Digit<S::Ciphertext>>, IntegersError> {
        let Some(kept) = question.kept().filter(|_| difference.is_empty()) else { return Ok(None) };
        if !self.ripple_is_shorter(digits, joined(digits.len()), |_, x| x.signum())? {
            return Ok(None);
        }
        let found = self.rippled(digits, |x| question.answer(x), kept)?;
        Ok(found.and_then(|mut found| found.bits.pop()))
    }

    /// What digits do above others.
    fn over(
        &self,
        upper: &Passing<S::Ciphertext>,
        lower: &Passing<S::Ciphertext>,
    ) -> Result<Passing<S::Ciphertext>, IntegersError> {
        let Some(kept) = &upper.kept else { return Ok(upper.clone()) };
        let passed = self.product(kept, &lower.set)?;
        let set = self.combine(&[(&upper.set, 1), (&passed, 1)], 0)?.within(0, 1);
        let below = lower.kept.as_ref().map(|below| self.product(kept, below)).transpose()?;
        Ok(Passing { set, kept: below })
    }

    /// The truth value that comes out of all digits.
    pub(crate) fn passed(
        &self,
        mut parts: Vec<Passing<S::Ciphertext>>,
    ) -> Result<Digit<S::Ciphertext>, IntegersError> {
        while parts.len() > 1 {
            let joined = parts.par_chunks(2).map(|pair| match pair {
                [lower, upper] => self.over(upper, lower),
                rest => Ok(rest[0].clone()),
            });
            parts = joined.collect::<Result<Vec<_>, IntegersError>>()?;
        }
        Ok(parts.pop().map_or_else(|| Digit::public(0), |all| all.set))
    }

    /// The truth values that come out of each digit: for 2^k digits, k times half of them are
    /// joined with all below them in a block (Sklansky 1960).
    pub(crate) fn passed_each(
        &self,
        mut parts: Vec<Passing<S::Ciphertext>>,
    ) -> Result<Vec<Digit<S::Ciphertext>>, IntegersError> {
        let mut step = 1;
        while step < parts.len() {
            let one = |(i, part): (usize, &Passing<S::Ciphertext>)| match i & step {
                0 => Ok(part.clone()),
                _ => self.over(part, &parts[i / step * step - 1]),
            };
            let joined = parts.par_iter().enumerate().map(one);
            parts = joined.collect::<Result<Vec<_>, IntegersError>>()?;
            step *= 2;
        }
        Ok(parts.into_iter().map(|part| part.set).collect())
    }

    /// The digits at a level at which a key switch takes less time, up to this number of products
    /// lower.
    pub(crate) fn begun_lower(
        &self,
        digits: &[Digit<S::Ciphertext>],
        products: u32,
    ) -> Result<Vec<Digit<S::Ciphertext>>, IntegersError> {
        let bits = f64::from(products) * LEVEL * (self.modulus().prime() as f64).log2();
        let (params, scheme) = (self.params(), self.session().scheme());
        let cheaper = params.chain().cheaper_levels();
        let lowest = |now: Level| {
            let least = params.modulus_bits(now) - bits;
            // The highest is the first of them.
            let mut levels = cheaper.iter().rev().copied();
            levels.find(|level| params.modulus_bits(*level) >= least).map_or(now, |x| x.min(now))
        };
        let lower = |value: &Value<S::Ciphertext>| -> Result<_, IntegersError> {
            let now = self.operand(value)?;
            let level = lowest(scheme.level(&now));
            Ok(self.session().share(scheme.mod_switch_to(&now, level)?))
        };
        let digit = |d: &Digit<S::Ciphertext>| -> Result<_, IntegersError> {
            Ok(Digit { cipher: d.cipher.as_ref().map(lower).transpose()?, ..d.clone() })
        };
        digits.par_iter().map(digit).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// As documented for comparisons of 8, 16, 32 and 64 bits.
    #[test]
    fn products_take_fewer_levels_than_tables() {
        let depths = [2, 3, 4, 8, 16].map(|count| (depth(count), depth_of_tables(count)));
        assert_eq!(depths, [(7, 8), (8, 9), (8, 10), (9, 13), (10, 15)]);
    }

    /// Groups of four signs, then of four of these groups.
    #[test]
    fn signs_are_joined_layer_by_layer() {
        let sums = [0, 1, 2, 4, 5, 8, 16, 17].map(joined);
        assert_eq!(sums, [0, 0, 1, 1, 3, 3, 5, 8]);
    }
}
