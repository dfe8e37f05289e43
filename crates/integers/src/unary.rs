//! Membership in public ranges, decided from digits in unary.
//!
//! A digit in unary is a truth value for each of its values but the least: whether the digit is at
//! least this one. Every function of the digit is a linear combination of these, which takes no
//! product and no level, where a function of an encrypted digit is a polynomial of degree 15. So a
//! diagram over digits in unary takes the sums of its nodes and nothing else: a range of a year
//! among dates of seven years takes 3 relinearizations at depth 2, instead of 28 at depth 6.

use std::collections::BTreeSet;

use everlevel_circuit::CircuitError;

use crate::column::{BASE, Column, Digit};
use crate::context::{IntegerScheme, Integers};
use crate::diagram::{Layer, Open, layers_within};
use crate::diagrams::{Diagram, Diagrams};
use crate::encode::INDEX_DIGITS;
use crate::error::IntegersError;
use crate::interval::Interval;
use crate::ranges::apart;

/// A truth value of an integer in unary: whether a digit, by its index from the lowest one on, is
/// at least some value from 1 on.
pub type Step = (usize, i64);
/// Columns of truth values of integers in unary, each with its step.
pub type UnaryBits<C> = Vec<(Step, Column<C>)>;
/// A truth value as a digit, with its step.
pub(crate) type DigitBit<C> = (Step, Digit<C>);

/// The digits to the base 16 of integers from `low` to `high`, counted from `low`, in unary.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Unary {
    low: i128,
    high: i128,
}

impl Unary {
    /// The digits of integers of an interval, ends included; `None` for more than 2^32 integers,
    /// and for two or fewer, which are truth values already.
    pub fn new(low: i128, high: i128) -> Option<Self> {
        let last = high.checked_sub(low)?;
        (2..1 << (4 * INDEX_DIGITS)).contains(&last).then_some(Unary { low, high })
    }

    /// The least and the greatest integer.
    pub fn bounds(&self) -> (i128, i128) {
        (self.low, self.high)
    }

    /// The windows of the digits, the lowest first.
    pub(crate) fn windows(&self) -> Vec<(i64, i64)> {
        let mut rest = (self.high - self.low) as i64;
        let mut windows = Vec::new();
        while rest >= BASE {
            windows.push((0, BASE - 1));
            rest /= BASE;
        }
        windows.push((0, rest));
        windows
    }

    /// All truth values of an integer, the lowest digit first.
    pub fn steps(&self) -> Vec<Step> {
        let windows = self.windows().into_iter().enumerate();
        windows.flat_map(|(digit, (_, most))| (1..=most).map(move |k| (digit, k))).collect()
    }

    /// A truth value of an integer of the interval; that of another integer means nothing.
    pub fn holds(&self, value: i128, (digit, least): Step) -> bool {
        let digits = value.saturating_sub(self.low);
        (digits >> (4 * digit)) % i128::from(BASE) >= i128::from(least)
    }

    /// The truth values on which membership in these ranges, whose ends belong to them, depends;
    /// the same ones decide about the other integers of the interval, unless the list is so long
    /// that it is decided in parts.
    pub fn needed(&self, ranges: &[(i128, i128)]) -> Vec<Step> {
        let mut needed = BTreeSet::new();
        for Diagram { layers, .. } in self.diagrams(&apart(ranges, (self.low, self.high))) {
            for (digit, layer) in layers.iter().enumerate() {
                let tables = layer.tables.iter().flat_map(|table| changes(table));
                needed.extend(tables.map(|(k, _)| (digit, k)));
            }
        }
        needed.into_iter().collect()
    }

    /// The diagrams that decide about membership in these ranges, which are in order and do not
    /// touch.
    fn diagrams(&self, ranges: &[(i128, i128)]) -> impl Iterator<Item = Diagram> {
        let (low, high, windows) = (self.low, self.high, self.windows());
        // Digits may make up what no integer of the interval is: there it does not matter.
        let end = move |v: i128, last: i128, beyond: i128| match v == last {
            true => beyond,
            false => v - low,
        };
        let range =
            move |(a, b): &(i128, i128)| (end(*a, low, i128::MIN), end(*b, high, i128::MAX));
        Diagrams::new(ranges, move |some: &[(i128, i128)], most: usize| {
            layers_within(&windows, &some.iter().map(&range).collect::<Vec<_>>(), most)
        })
    }
}

impl<S: IntegerScheme> Integers<'_, S> {
    /// Whether integers with these truth values lie in one of these public ranges, whose ends
    /// belong to them, as 0 or 1. `bits` gives those of [`Unary::needed`] of a digit, in columns of
    /// this length; it is asked once for each digit that decides, for a list that is decided in
    /// parts once for each part, and no more than the truth values of one digit are held at a time.
    ///
    /// A range takes at most two products and a level for each digit but one, and less where an end
    /// is a multiple of a power of 16. A single integer takes a product for each digit but one, at
    /// the depth of their tree. A list that would take many ciphertexts at the same time is decided
    /// one part after the other, at the depth of a range.
    ///
    /// # Errors
    /// [`IntegersError::Type`] for columns that are not truth values; [`IntegersError::Length`] for
    /// columns of another length; `circuit.empty` if a truth value is missing;
    /// [`IntegersError::Depth`]; those of the scheme and of `bits`.
    pub fn in_ranges_of<E: From<IntegersError>>(
        &self,
        unary: &Unary,
        length: Option<usize>,
        bits: impl Fn(usize) -> Result<UnaryBits<S::Ciphertext>, E>,
        ranges: &[(i128, i128)],
    ) -> Result<Column<S::Ciphertext>, E> {
        let bits = |digit: usize| -> Result<_, E> { Ok(self.digit_bits(length, &bits(digit)?)?) };
        let mut found = Digit::public(0);
        for Diagram { layers, alone } in unary.diagrams(&apart(ranges, (unary.low, unary.high))) {
            let part = self.decided_in_unary(&layers, alone, bits)?;
            found = self.either_part(&found, &part)?;
        }
        let digits = vec![found];
        Ok(Column { interval: Interval::BOOL, anchor: 0, digits, length }.narrowed())
    }

    /// Columns of truth values as digits.
    pub(crate) fn digit_bits(
        &self,
        length: Option<usize>,
        bits: &[(Step, Column<S::Ciphertext>)],
    ) -> Result<Vec<DigitBit<S::Ciphertext>>, IntegersError> {
        let digit = |(step, x): &(Step, Column<S::Ciphertext>)| match x.length == length {
            true => Ok((*step, self.bit("a digit in unary", x)?)),
            false => Err(IntegersError::Length {
                found: x.length.unwrap_or(0),
                expected: format!("{}, as many as the others have", length.unwrap_or(0)),
            }),
        };
        bits.iter().map(digit).collect()
    }

    /// What layers decide about digits in unary, of which `bits` gives the truth values; `alone`
    /// says whether about a single integer.
    pub(crate) fn decided_in_unary<E: From<IntegersError>>(
        &self,
        layers: &[Layer],
        alone: bool,
        bits: impl Fn(usize) -> Result<Vec<DigitBit<S::Ciphertext>>, E>,
    ) -> Result<Digit<S::Ciphertext>, E> {
        let truths = |i: usize| -> Result<Vec<Digit<S::Ciphertext>>, E> {
            let tables = &layers[i].tables;
            if tables.is_empty() {
                return Ok(Vec::new());
            }
            let bits = bits(i)?;
            let truths = tables.iter().map(|table| self.of_unary(i, table, &bits));
            Ok(truths.collect::<Result<_, IntegersError>>()?)
        };
        match alone && layers.iter().all(|layer| layer.tables.len() == 1) {
            // Each digit decides, and so they are joined as a tree.
            true => {
                let all = (0..layers.len()).map(truths).collect::<Result<Vec<_>, E>>()?;
                Ok(self.all(all.into_iter().flatten().collect())?)
            }
            false => {
                self.decided_by(layers, |i| Ok(truths(i)?.into_iter().map(Open::from).collect()))
            }
        }
    }

    /// A function of a digit in unary with values 0 and 1.
    fn of_unary(
        &self,
        digit: usize,
        table: &[i64],
        bits: &[DigitBit<S::Ciphertext>],
    ) -> Result<Digit<S::Ciphertext>, IntegersError> {
        Ok(self.linear(digit, table, bits)?.within(0, 1))
    }

    /// A function of a digit in unary.
    pub(crate) fn linear(
        &self,
        digit: usize,
        table: &[i64],
        bits: &[DigitBit<S::Ciphertext>],
    ) -> Result<Digit<S::Ciphertext>, IntegersError> {
        let terms = changes(table).map(|(k, change)| Ok((bit_of(bits, (digit, k))?, change)));
        let terms = terms.collect::<Result<Vec<_>, IntegersError>>()?;
        self.combine(&terms, first(table))
    }
}

/// The truth value of a step.
pub(crate) fn bit_of<C>(bits: &[DigitBit<C>], step: Step) -> Result<&Digit<C>, IntegersError> {
    let found = bits.iter().find(|(other, _)| *other == step);
    let (_, bit) = found.ok_or(CircuitError::Empty { what: "a digit in unary" })?;
    Ok(bit)
}

/// The entry of the least value, 0, of a table.
pub(crate) fn first(table: &[i64]) -> i64 {
    table.first().copied().unwrap_or(0)
}

/// The values of a digit at which a table differs from its entry before, and by how much.
pub(crate) fn changes(table: &[i64]) -> impl Iterator<Item = (i64, i64)> {
    let pairs = table.windows(2).zip(1i64..);
    pairs.map(|(pair, k)| (k, pair[1] - pair[0])).filter(|(_, change)| *change != 0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::diagram::decides;

    /// Whether an integer with these truth values is in the ranges.
    fn contains(unary: &Unary, ranges: &[(i128, i128)], bit: &dyn Fn(Step) -> bool) -> bool {
        let holds = |Diagram { layers, .. }: Diagram| {
            let entry = |digit: usize, table: usize| {
                let table = &layers[digit].tables[table];
                let terms = changes(table).map(|(k, change)| change * i64::from(bit((digit, k))));
                first(table) + terms.sum::<i64>()
            };
            decides(&layers, &entry)
        };
        unary.diagrams(&apart(ranges, unary.bounds())).any(holds)
    }

    /// Every integer of some intervals, with its needed truth values only.
    #[test]
    fn digits_in_unary_decide_about_all_ranges() {
        for (low, high) in [(-3, 40), (0, 15), (7, 262), (100, 102), (-500, 3700)] {
            let unary = Unary::new(low, high).unwrap();
            let count = unary.steps().len();
            let sets: [&[(i128, i128)]; 7] = [
                &[(low, high)],
                &[(low, low + 1)],
                &[(high, high)],
                &[(low + 1, high - 1)],
                &[(low, low), (high - 1, high)],
                &[(low + 2, low + 17), (low + 30, high + 9)],
                &[],
            ];
            for ranges in sets {
                let needed = unary.needed(ranges);
                assert!(needed.iter().all(|step| unary.steps().contains(step)));
                assert!(needed.len() <= count);
                let rest = apart(ranges, (low, high));
                let others: Vec<_> = (low..=high)
                    .filter(|v| !rest.iter().any(|(a, b)| (a..=b).contains(&v)))
                    .map(|v| (v, v))
                    .collect();
                assert_eq!(needed, unary.needed(&apart(&others, (low, high))), "{ranges:?}");
                for value in low..=high {
                    let expected = ranges.iter().any(|(a, b)| (*a..=*b).contains(&value));
                    let bit = |step| {
                        assert!(needed.contains(&step));
                        unary.holds(value, step)
                    };
                    let found = contains(&unary, ranges, &bit);
                    assert_eq!(found, expected, "{value} in {ranges:?}");
                }
            }
        }
    }

    #[test]
    fn sizes() {
        assert_eq!(Unary::new(0, 1), None);
        assert_eq!(Unary::new(0, 1 << 32), None);
        assert_eq!(Unary::new(i128::MIN, i128::MAX), None);
        assert_eq!(Unary::new(5, 4), None);
        // Dates of seven years: a digit of 10 values and two of 16.
        assert_eq!(Unary::new(8036, 8036 + 2556).unwrap().steps().len(), 9 + 15 + 15);
        let few = Unary::new(0, 2).unwrap();
        assert_eq!(few.steps(), [(0, 1), (0, 2)]);
        // Others than those of the interval overflow nothing.
        for far in [Unary::new(5, 90).unwrap(), Unary::new(-5, 90).unwrap()] {
            assert!(far.steps().iter().all(|step| !far.holds(i128::MIN, *step)));
            assert!(far.steps().iter().any(|step| far.holds(i128::MAX, *step)));
        }
    }
}
