//! Comparisons of two integers whose digits are in unary.
//!
//! Let X_k say whether a digit x is at least k. A function f of the difference of two digits is
//!
//! f(x - y) = f(-y) + Σ_k X_k (f(k - y) - f(k - 1 - y)),
//!
//! where f(-y) and each factor are functions of y, and so linear combinations of its truth values.
//! So a table of a difference takes at most 15 products, which are added before they are
//! relinearized, once. A diagram over the differences of the digits decides whether the difference
//! of the integers lies in a range: x < y takes two relinearizations for each digit but the lowest,
//! and one for that, at a depth of as many products as there are digits. For dates of seven years
//! these are 5 relinearizations at depth 3, instead of 32 at depth 7.

use std::collections::BTreeSet;

use rayon::prelude::*;

use crate::column::{Column, Digit};
use crate::context::{IntegerScheme, Integers};
use crate::diagram::{Open, layers_within};
use crate::diagrams::{Diagram, Diagrams};
use crate::error::IntegersError;
use crate::interval::Interval;
use crate::ranges::apart;
use crate::unary::{DigitBit, Step, Unary, UnaryBits, bit_of, changes};

/// The digits of two integers a and b in unary, for conditions on a - b.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct UnaryPair {
    a: Unary,
    b: Unary,
}

/// A table of the difference x - y of two digits, by the truth values of x.
struct Bilinear {
    /// A table of y, which is added.
    rest: Vec<i64>,
    /// For each value of x, but for those where it is 0 throughout, the table of y by which the
    /// truth value of x is multiplied.
    factors: Vec<(i64, Vec<i64>)>,
}

impl Bilinear {
    /// That of a table with an entry for each difference, for digits up to `x` and `y`.
    fn new(table: &[i64], [x, y]: [i64; 2]) -> Self {
        // The least difference is -y.
        let row = |k: i64| (0..=y).map(move |v| table[(k - v + y) as usize]);
        let factor = |k: i64| -> (i64, Vec<i64>) {
            (k, row(k).zip(row(k - 1)).map(|(at, before)| at - before).collect())
        };
        let factors = (1..=x).map(factor).filter(|(_, of_y)| of_y.iter().any(|c| *c != 0));
        Bilinear { rest: row(0).collect(), factors: factors.collect() }
    }
}

impl UnaryPair {
    /// The digits of a and of b, which may be of different intervals.
    pub fn new(a: Unary, b: Unary) -> Self {
        UnaryPair { a, b }
    }

    /// The differences a - b that there may be.
    fn bounds(&self) -> (i128, i128) {
        let ((a, top_a), (b, top_b)) = (self.a.bounds(), self.b.bounds());
        (a.saturating_sub(top_b), top_a.saturating_sub(b))
    }

    /// The largest values of both digits, the lowest digits first; 0 where one integer has fewer.
    fn largest(&self) -> Vec<[i64; 2]> {
        let (a, b) = (self.a.windows(), self.b.windows());
        let at = |all: &[(i64, i64)], i: usize| all.get(i).map_or(0, |(_, most)| *most);
        (0..a.len().max(b.len())).map(|i| [at(&a, i), at(&b, i)]).collect()
    }

    /// The diagrams that decide whether a - b lies in these ranges, which are in order and do not
    /// touch, over differences of digits.
    fn diagrams(&self, ranges: &[(i128, i128)]) -> impl Iterator<Item = Diagram> {
        let (bounds, origin) = (self.bounds(), self.a.bounds().0.saturating_sub(self.b.bounds().0));
        let windows: Vec<(i64, i64)> = self.largest().into_iter().map(|[x, y]| (-y, x)).collect();
        // Digits may make up what no two integers of the intervals differ by: there it does not
        // matter.
        let end = move |v: i128, last: i128, beyond: i128| match v == last {
            true => beyond,
            false => v.saturating_sub(origin),
        };
        let range = move |(low, high): &(i128, i128)| {
            (end(*low, bounds.0, i128::MIN), end(*high, bounds.1, i128::MAX))
        };
        Diagrams::new(ranges, move |some: &[(i128, i128)], most: usize| {
            layers_within(&windows, &some.iter().map(&range).collect::<Vec<_>>(), most)
        })
    }

    /// The truth values of a and of b on which it depends whether a - b lies in these ranges, whose
    /// ends belong to them.
    pub fn needed(&self, ranges: &[(i128, i128)]) -> [Vec<Step>; 2] {
        let mut needed = [BTreeSet::new(), BTreeSet::new()];
        let largest = self.largest();
        for Diagram { layers, .. } in self.diagrams(&apart(ranges, self.bounds())) {
            let tables = layers.iter().enumerate();
            let tables = tables.flat_map(|(i, layer)| layer.tables.iter().map(move |t| (i, t)));
            for (digit, table) in tables {
                let Bilinear { rest, factors } = Bilinear::new(table, largest[digit]);
                needed[0].extend(factors.iter().map(|(k, _)| (digit, *k)));
                let of_y = factors.iter().map(|(_, of_y)| of_y).chain([&rest]);
                needed[1].extend(of_y.flat_map(|table| changes(table)).map(|(k, _)| (digit, k)));
            }
        }
        needed.map(|steps| steps.into_iter().collect())
    }
}

impl<S: IntegerScheme> Integers<'_, S> {
    /// Whether a - b lies in one of these public ranges, whose ends belong to them, as 0 or 1: for
    /// a < b these are all negative integers. `bits` gives those of [`UnaryPair::needed`] of a (0)
    /// or of b (1) and of a digit, as for [`Integers::in_ranges_of`].
    ///
    /// If the least values of a and b are equal, a comparison takes two relinearizations for each
    /// digit but one, and one more, with at most 15 products for each table of a digit: two for
    /// all digits but the lowest, which has one. Otherwise, and for other ranges, it takes some
    /// more of both.
    ///
    /// # Errors
    /// As [`Integers::in_ranges_of`].
    pub fn differences_in_ranges_of<E: From<IntegersError>>(
        &self,
        pair: &UnaryPair,
        length: Option<usize>,
        bits: impl Fn(usize, usize) -> Result<UnaryBits<S::Ciphertext>, E>,
        ranges: &[(i128, i128)],
    ) -> Result<Column<S::Ciphertext>, E> {
        let (largest, mut found) = (pair.largest(), Digit::public(0));
        for Diagram { layers, alone } in pair.diagrams(&apart(ranges, pair.bounds())) {
            let tables = |digit: usize| -> Result<Vec<_>, E> {
                let tables = &layers[digit].tables;
                if tables.is_empty() {
                    return Ok(Vec::new());
                }
                let [x, y] = [bits(0, digit)?, bits(1, digit)?];
                let (x, y) = (self.digit_bits(length, &x)?, self.digit_bits(length, &y)?);
                let bilinear = tables.par_iter().map(|table| Bilinear::new(table, largest[digit]));
                let tables = bilinear.map(|table| self.of_difference(digit, &table, [&x, &y]));
                Ok(tables.collect::<Result<_, IntegersError>>()?)
            };
            let part = match alone && layers.iter().all(|layer| layer.tables.len() == 1) {
                // Each digit decides, and so they are joined as a tree.
                true => {
                    let truths =
                        (0..layers.len()).map(|digit| Ok(self.closed(&tables(digit)?[0])?));
                    self.all(truths.collect::<Result<Vec<_>, E>>()?)?
                }
                false => self.decided_by(&layers, tables)?,
            };
            found = self.either_part(&found, &part)?;
        }
        let digits = vec![found];
        Ok(Column { interval: Interval::BOOL, anchor: 0, digits, length }.narrowed())
    }

    /// A table of the difference of two digits in unary, before it is relinearized.
    fn of_difference(
        &self,
        digit: usize,
        table: &Bilinear,
        [x, y]: [&[DigitBit<S::Ciphertext>]; 2],
    ) -> Result<Open<S::Ciphertext>, IntegersError> {
        let pair = |(k, of_y): &(i64, Vec<i64>)| -> Result<[Digit<_>; 2], IntegersError> {
            Ok([bit_of(x, (digit, *k))?.clone(), self.linear(digit, of_y, y)?])
        };
        let pairs = table.factors.iter().map(pair).collect::<Result<_, IntegersError>>()?;
        // A truth value, too, and all there is where x has no such digit.
        let rest = self.linear(digit, &table.rest, y)?.within(0, 1);
        Ok(Open { pairs, rest })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::diagram::{Layer, decides};

    /// The diagram of ranges that one decides about.
    fn layers(pair: &UnaryPair, ranges: &[(i128, i128)]) -> Vec<Layer> {
        let mut found: Vec<Diagram> = pair.diagrams(&apart(ranges, pair.bounds())).collect();
        assert_eq!(found.len(), 1);
        found.remove(0).layers
    }

    /// Ranges of a difference, with what decides about them.
    struct Decider<'a> {
        pair: &'a UnaryPair,
        needed: [Vec<Step>; 2],
        layers: Vec<Layer>,
        tables: Vec<Vec<Bilinear>>,
    }

    impl<'a> Decider<'a> {
        fn new(pair: &'a UnaryPair, ranges: &[(i128, i128)]) -> Self {
            let (needed, layers) = (pair.needed(ranges), layers(pair, ranges));
            let tables = layers.iter().zip(pair.largest()).map(|(layer, largest)| {
                layer.tables.iter().map(|table| Bilinear::new(table, largest)).collect()
            });
            let tables = tables.collect();
            Decider { pair, needed, layers, tables }
        }

        /// Whether a - b is in the ranges, by the truth values that are needed.
        fn contains(&self, a: i128, b: i128) -> bool {
            let bit = |of: usize, step: Step| {
                assert!(self.needed[of].binary_search(&step).is_ok(), "{step:?}");
                let (unary, value) = [(&self.pair.a, a), (&self.pair.b, b)][of];
                i64::from(unary.holds(value, step))
            };
            let entry = |digit: usize, table: usize| {
                let of_y = |table: &[i64]| {
                    let changes = changes(table).map(|(k, change)| change * bit(1, (digit, k)));
                    table[0] + changes.sum::<i64>()
                };
                let Bilinear { rest, factors } = &self.tables[digit][table];
                let products = factors.iter().map(|(k, table)| bit(0, (digit, *k)) * of_y(table));
                of_y(rest) + products.sum::<i64>()
            };
            decides(&self.layers, &entry)
        }
    }

    /// All pairs of integers of some intervals, of equal digits and of others.
    #[test]
    fn digits_in_unary_decide_about_all_differences() {
        let intervals = [(0, 15), (0, 40), (-3, 40), (5, 21), (0, 300)];
        for (a, b) in intervals.into_iter().flat_map(|a| intervals.map(|b| (a, b))) {
            let of = |(low, high): (i128, i128)| Unary::new(low, high).unwrap();
            let pair = UnaryPair::new(of(a), of(b));
            let sets: [&[(i128, i128)]; 7] = [
                &[(i128::MIN, -1)],
                &[(i128::MIN, 0)],
                &[(0, 0)],
                &[(7, i128::MAX)],
                &[(-17, -17)],
                &[(-20, 3), (9, 16)],
                &[(i128::MIN, i128::MAX)],
            ];
            for ranges in sets {
                let decider = Decider::new(&pair, ranges);
                // Ends and neighbors of digits, and some of the others.
                let some = |(low, high): (i128, i128)| {
                    (low..=high).filter(move |v| {
                        let near = (v - low) % 16;
                        high - low < 50 || !(2..=13).contains(&near) || v % 7 == 0
                    })
                };
                for (x, y) in some(a).flat_map(|x| some(b).map(move |y| (x, y))) {
                    let expected = ranges.iter().any(|(a, b)| (*a..=*b).contains(&(x - y)));
                    let found = decider.contains(x, y);
                    assert_eq!(found, expected, "{x} - {y} of {a:?} and {b:?} in {ranges:?}");
                }
            }
        }
    }

    #[test]
    fn comparisons_have_as_few_tables_as_digits() {
        let dates = Unary::new(8036, 10_592).unwrap();
        let pair = UnaryPair::new(dates.clone(), dates.clone());
        let tables = |ranges: &[(i128, i128)]| {
            layers(&pair, ranges).iter().map(|layer| layer.tables.len()).collect::<Vec<_>>()
        };
        assert_eq!(tables(&[(i128::MIN, -1)]), [1, 2, 2]);
        assert_eq!(tables(&[(i128::MIN, 0)]), [1, 2, 2]);
        assert_eq!(tables(&[(0, 0)]), [1, 1, 1]);
        let needed = pair.needed(&[(i128::MIN, -1)]);
        assert_eq!(needed, [dates.steps(), dates.steps()]);
        // All differences or none depend on nothing.
        for ranges in [&[(i128::MIN, i128::MAX)][..], &[], &[(2557, 9999)]] {
            assert!(pair.needed(ranges).iter().all(Vec::is_empty), "{ranges:?}");
        }
    }
}
