//! Comparisons of two entries, where public values decide between equal ones.
//!
//! The lowest digit of the difference is less by 1 where the second entry comes first of two equal
//! ones. It is negative, then, if the second entry comes first, and otherwise not, if the digits
//! above it are all 0. So its sign is never 0, and no other table decides between equal entries.

use rayon::prelude::*;

use crate::column::Digit;
use crate::compare::Question;
use crate::context::{IntegerScheme, Integers};
use crate::error::IntegersError;
use crate::order::Order;

/// Signs that one table joins: Σ 2^j s_j of four lies in -15..=15.
const GROUP: usize = 4;

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
        let sign = if order == Order::Ascending { 1 } else { -1 };
        let differences = first.iter().zip(second).map(|(first, second)| {
            let difference = self.combine(&[(second, sign), (first, -sign)], 0)?;
            Ok::<_, IntegersError>(Digit { pad: 0, ..difference })
        });
        let mut digits = differences.collect::<Result<Vec<_>, _>>()?;
        if let Some(lowest) = digits.first_mut() {
            *lowest = self.raised(lowest, ties, (lowest.low - 1, lowest.high), 0)?;
        }
        let signs = self.map(&digits, |i, x| if i == 0 && x == 0 { 1 } else { x.signum() })?;
        if self.have_room_for_products(&signs) {
            return self.joined_by_products(&signs);
        }
        let joined = signs.chunks(GROUP).map(|s| self.weighted(s));
        self.tree(joined.collect::<Result<_, _>>()?, Question::Sign)
    }

    /// Whether signs have the capacity that [`Integers::joined_by_products`] takes.
    fn have_room_for_products(&self, signs: &[Digit<S::Ciphertext>]) -> bool {
        // A square, and a product for each round.
        let depth = signs.len().next_power_of_two().trailing_zeros() + 1;
        let needed = self.session().minimum_capacity() + self.level_bits() * f64::from(depth);
        let scheme = self.session().scheme();
        let mut values = signs.iter().filter_map(|s| s.cipher.as_ref());
        values.all(|v| scheme.capacity_bits(&v.get()) >= needed)
    }

    /// The sign of Σ 16^i d_i from the signs of the digits, of which the lowest is never 0: the
    /// sign of the upper half, or that of the lower half where the upper one is 0. For k digits it
    /// takes log2 k + 1 levels, instead of 5 for every four signs that a table joins.
    fn joined_by_products(
        &self,
        signs: &[Digit<S::Ciphertext>],
    ) -> Result<Digit<S::Ciphertext>, IntegersError> {
        let part = |(i, sign): (usize, &Digit<S::Ciphertext>)| {
            let zero = match i {
                0 => None,
                _ => {
                    let square = self.product(sign, sign)?;
                    Some(self.combine(&[(&square, -1)], 1)?.within(0, 1))
                }
            };
            Ok::<Part<S::Ciphertext>, IntegersError>((sign.clone(), zero))
        };
        let parts = signs.par_iter().enumerate().map(part);
        let mut parts = parts.collect::<Result<Vec<_>, IntegersError>>()?;
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
