//! Comparisons of two entries, where public values decide between equal ones.
//!
//! The lowest digit of the difference is less by 1 where the second entry comes first of two equal
//! ones. It is negative, then, if the second entry comes first, and otherwise not, if the digits
//! above it are all 0. So its sign is never 0, and no other table decides between equal entries.

use rayon::prelude::*;

use crate::column::Digit;
use crate::context::{IntegerScheme, Integers};
use crate::error::IntegersError;
use crate::order::Order;
use crate::passing::GROUP;
use crate::question::Question;

/// The depth of the tables of a difference of digits.
pub(crate) const TABLE: u32 = 5;

/// The sign of some digits, and whether they are all 0; `None` where they never are.
type Part<C> = (Digit<C>, Option<Digit<C>>);

impl<S: IntegerScheme> Integers<'_, S> {
    /// -1 where the second entry comes before the first, and 1 elsewhere, slot by slot. `ties` is
    /// -1 where the second one comes first of two equal entries, and 0 elsewhere.
    pub(crate) fn precedence(
        &self,
        first: &[Digit<S::Ciphertext>],
        second: &[Digit<S::Ciphertext>],
        order: Order,
        ties: &[i64],
    ) -> Result<Digit<S::Ciphertext>, IntegersError> {
        let factor = if order == Order::Ascending { 1 } else { -1 };
        let differences = first.iter().zip(second).map(|(first, second)| {
            let difference = self.combine(&[(second, factor), (first, -factor)], 0)?;
            Ok::<_, IntegersError>(Digit { pad: 0, ..difference })
        });
        let mut digits = differences.collect::<Result<Vec<_>, _>>()?;
        if let Some(lowest) = digits.first_mut() {
            *lowest = self.raised(lowest, ties, (lowest.low - 1, lowest.high), 0)?;
        }
        let sign = |i: usize, x: i64| if i == 0 && x == 0 { 1 } else { x.signum() };
        let depth = TABLE + digits.len().next_power_of_two().trailing_zeros();
        if !self.have_depth(&digits, depth) {
            let signs = self.map(&digits, sign)?;
            let joined = signs.chunks(GROUP).map(|s| self.weighted(s));
            return self.tree(joined.collect::<Result<_, _>>()?, Question::Sign);
        }
        // Of the upper digits also whether they are 0.
        let requests = digits.into_iter().enumerate().map(|(i, digit)| {
            let points = digit.low..=digit.high;
            let mut tables: Vec<Vec<i64>> = vec![points.clone().map(|x| sign(i, x)).collect()];
            if i > 0 {
                tables.push(points.map(|x| i64::from(x == 0)).collect());
            }
            let plan = self.plan(digit.low, digit.high, tables)?;
            Ok((digit, plan))
        });
        let found = self.tables(requests.collect::<Result<Vec<_>, IntegersError>>()?)?;
        let part = |found: Vec<Digit<S::Ciphertext>>| {
            let mut found = found.into_iter();
            Some((found.next()?, found.next()))
        };
        self.joined_by_products(found.into_iter().filter_map(part).collect())
    }

    /// The sign of Σ 16^i d_i from the signs of the digits, of which the lowest is never 0: the
    /// sign of the upper half, or that of the lower half where the upper one is 0. For k digits it
    /// takes log2 k levels, instead of 5 for every four signs that a table joins.
    fn joined_by_products(
        &self,
        mut parts: Vec<Part<S::Ciphertext>>,
    ) -> Result<Digit<S::Ciphertext>, IntegersError> {
        while parts.len() > 1 {
            let joined = parts.par_chunks(2).map(|pair| {
                let [(low, below), (high, Some(zero))] = pair else { return Ok(pair[0].clone()) };
                let lower = self.product(zero, low)?;
                let sign = self.combine(&[(high, 1), (&lower, 1)], 0)?.within(-1, 1);
                let both = below.as_ref().map(|below| self.product(zero, below)).transpose()?;
                Ok::<Part<S::Ciphertext>, IntegersError>((sign, both))
            });
            parts = joined.collect::<Result<Vec<_>, IntegersError>>()?;
        }
        Ok(parts.pop().map_or_else(|| Digit::public(1), |(sign, _)| sign))
    }
}
