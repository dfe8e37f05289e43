//! Sorts of long columns by Batcher's bitonic network, in which a layer is one comparison of all
//! pairs at the same distance.
//!
//! Of the slots i and i + d of a pair, the lower one gets a truth value c that says whether the two
//! entries have to be exchanged. If x is the column and h the column rotated by d, the exchanged
//! column, rotated by d, is h + rotated(c (h - x)) - c (h - x). So a layer takes two rotations to
//! the left for each digit, by powers of two. The distance by which the entries have moved is
//! public.
//!
//! If only the first k of n entries are requested, lists of k entries are sorted. Of two lists in
//! opposite orders, one layer selects the k entries that come first, and further layers sort them:
//! log2 k + 1 layers for each doubling, or one for a maximum.

use everlevel_circuit::CircuitError;
use rayon::prelude::*;

use crate::column::{Column, Digit};
use crate::context::{IntegerScheme, Integers};
use crate::error::IntegersError;
use crate::interval::Interval;
use crate::layers::{Layer, layers};
use crate::order::{Of, Order};
use crate::question::Question;
use crate::slots::digit_of;

/// The length of the longest column that can be sorted, a power of two.
pub(crate) fn longest(columns: usize, slots: usize) -> usize {
    if slots.is_power_of_two() && slots <= 2 * columns { slots } else { 1 << columns.ilog2() }
}

/// The digits of a column that is being sorted: the entry of position i is in slot i - `moved`,
/// cyclically.
pub(crate) struct Moving<C> {
    pub(crate) digits: Vec<Digit<C>>,
    pub(crate) moved: usize,
}

impl<C> Moving<C> {
    pub(crate) fn new(digits: Vec<Digit<C>>) -> Self {
        Moving { digits, moved: 0 }
    }
}

impl<S: IntegerScheme> Integers<'_, S> {
    /// The first `take` entries of at least two, or their positions. Each of the [`layers`] takes a
    /// comparison, and a product for each digit.
    pub(crate) fn sorted_by_network(
        &self,
        x: &Column<S::Ciphertext>,
        n: usize,
        order: Order,
        (take, of): (usize, Of),
    ) -> Result<Column<S::Ciphertext>, IntegersError> {
        let layers = layers(n.next_power_of_two(), take.next_power_of_two());
        self.taken_by_network(x, n, (order, order), of, &layers, 0..take)
    }

    /// The number of entries that come before each of at least two entries: the positions of the
    /// sorted positions.
    pub(crate) fn ranked_by_network(
        &self,
        x: &Column<S::Ciphertext>,
        n: usize,
        order: Order,
    ) -> Result<Column<S::Ciphertext>, IntegersError> {
        let all = (n, Of::Places);
        let places = self.normalized(&self.sorted_by_network(x, n, order, all)?)?;
        self.sorted_by_network(&places, n, Order::Ascending, all)
    }

    /// The entry of a rank, or its position, from the nearer end.
    pub(crate) fn nth_by_network(
        &self,
        x: &Column<S::Ciphertext>,
        n: usize,
        order: Order,
        (rank, of): (usize, Of),
    ) -> Result<Column<S::Ciphertext>, IntegersError> {
        let (from, rank) = nearer(n, order, rank);
        let layers = layers(n.next_power_of_two(), (rank + 1).next_power_of_two());
        self.taken_by_network(x, n, (order, from), of, &layers, rank..rank + 1)
    }

    /// The entries of these ranks, or their positions, in the order `from`; equal entries are in
    /// the order of `order`.
    fn taken_by_network(
        &self,
        x: &Column<S::Ciphertext>,
        n: usize,
        (order, from): (Order, Order),
        of: Of,
        layers: &[Layer],
        ranks: std::ops::Range<usize>,
    ) -> Result<Column<S::Ciphertext>, IntegersError> {
        let (keys, ties) = (self.keys(x, n, from)?, Ties::new(n, order, from));
        let places = match of {
            Of::Entries => Vec::new(),
            Of::Places => self.listed(n.next_power_of_two(), |i| ties.value(i), x.length)?.digits,
        };
        let count = places.len();
        let both = places.into_iter().chain(keys).collect();
        let found = self.exchanges(Moving::new(both), from, layers)?;
        let length = Some(ranks.len());
        let steps = ranks.start as i64 - found.moved as i64;
        let taken = |d: &Digit<S::Ciphertext>, pad: i64| {
            let steps = steps.rem_euclid(self.columns() as i64);
            self.placed(&self.rotated(d, steps)?, ranks.len(), pad)
        };
        if of == Of::Entries {
            let digits = found.digits.iter().zip(&x.digits).map(|(d, own)| taken(d, own.pad));
            let digits = digits.collect::<Result<_, IntegersError>>()?;
            return Ok(Column { digits, length, ..x.clone() });
        }
        let first = ties.value(0);
        let digits = (0..).zip(&found.digits[..count]).map(|(k, d)| taken(d, digit_of(first, k)));
        let digits = digits.collect::<Result<_, IntegersError>>()?;
        let interval = Interval::new(0, n as i128 - 1)?;
        let column = |interval| Column { interval, anchor: -first, digits, length };
        match order {
            Order::Ascending => Ok(column(interval)),
            // Ties fall from the first place on.
            Order::Descending => self.neg(&column(interval.negated())),
        }
    }

    /// The digits of a canonical column; the slots behind it hold a value that comes last.
    fn keys(
        &self,
        x: &Column<S::Ciphertext>,
        n: usize,
        from: Order,
    ) -> Result<Vec<Digit<S::Ciphertext>>, IntegersError> {
        let last = |d: &Digit<S::Ciphertext>| if from == Order::Ascending { d.high } else { d.low };
        let padded = |d: &Digit<S::Ciphertext>| match n.is_power_of_two() {
            true => Ok(d.clone()),
            false => self.placed(d, n, last(d)),
        };
        x.digits.iter().map(padded).collect()
    }

    /// Some layers of exchanges.
    pub(crate) fn exchanges(
        &self,
        x: Moving<S::Ciphertext>,
        from: Order,
        layers: &[Layer],
    ) -> Result<Moving<S::Ciphertext>, IntegersError> {
        layers.iter().try_fold(x, |x, layer| self.exchange(&x, from, layer))
    }

    fn exchange(
        &self,
        x: &Moving<S::Ciphertext>,
        from: Order,
        layer: &Layer,
    ) -> Result<Moving<S::Ciphertext>, IntegersError> {
        self.readied(&x.digits)?;
        // Entries as far apart as a row is long are in the other row, and do not move.
        let rows = layer.distance >= self.columns();
        let ahead = |d: &Digit<S::Ciphertext>| match rows {
            true => self.swapped(d),
            false => self.rotated(d, layer.distance as i64),
        };
        let upper = x.digits.par_iter().map(ahead).collect::<Result<Vec<_>, _>>()?;
        let encrypted = || x.digits.iter().zip(&upper).filter(|(d, _)| d.cipher.is_some());
        let differences = encrypted().map(|(d, upper)| self.combine(&[(upper, 1), (d, -1)], 0));
        let differences = differences.collect::<Result<Vec<_>, _>>()?;
        let question = match from {
            Order::Ascending => Question::Less,
            Order::Descending => Question::Greater,
        };
        let first = self.tree(differences.clone(), question)?;
        let swap = self.swaps(&first, layer, x.moved)?;
        self.readied_factor(&swap)?;

        let moved = |((d, upper), difference): ((&Digit<_>, &Digit<_>), &Digit<_>)| {
            let change = self.product(&swap, difference)?;
            let (own, back) = (if rows { d } else { upper }, ahead(&change)?);
            let sign = if rows { -1 } else { 1 };
            let sum = self.combine(&[(own, 1), (&change, -sign), (&back, sign)], 0)?;
            Ok::<_, IntegersError>(Digit { pad: d.pad, ..sum.within(d.low, d.high) })
        };
        let pairs: Vec<_> = encrypted().zip(&differences).collect();
        let mut found =
            pairs.into_par_iter().map(moved).collect::<Result<Vec<_>, _>>()?.into_iter();
        let digits = x.digits.iter().map(|d| match &d.cipher {
            None => Ok(d.clone()),
            Some(_) => found.next().ok_or(CircuitError::Empty { what: "the list of digits" }),
        });
        let digits = digits.collect::<Result<_, _>>()?;
        let moved = if rows { x.moved } else { (x.moved + layer.distance) % self.columns() };
        Ok(Moving { digits, moved })
    }

    /// Whether a pair is exchanged, in the slot of its lower position; 0 in other slots.
    fn swaps(
        &self,
        first: &Digit<S::Ciphertext>,
        layer: &Layer,
        moved: usize,
    ) -> Result<Digit<S::Ciphertext>, IntegersError> {
        let factors = layer.factors((self.slots(), self.columns()), moved);
        let swap = self.weighed(first, &factors)?;
        if !factors.contains(&-1) {
            return Ok(swap.within(0, 1));
        }
        let others: Vec<i64> = factors.iter().map(|f| i64::from(*f < 0)).collect();
        self.raised(&swap, &others, (0, 1), 0)
    }
}

/// The end from which a rank is nearer, and the rank counted from there.
pub(crate) fn nearer(n: usize, order: Order, rank: usize) -> (Order, usize) {
    if rank < n - rank { (order, rank) } else { (order.reversed(), n - 1 - rank) }
}

/// Integers that distinguish equal entries, in the order `from`: they ascend with the positions, or
/// descend if the column is put in descending order. Those behind the column come last.
struct Ties {
    n: usize,
    from: Order,
    /// The integer of the first position.
    first: i128,
    step: i128,
}

impl Ties {
    fn new(n: usize, order: Order, from: Order) -> Self {
        let behind = match from {
            Order::Ascending => 0,
            Order::Descending => n.next_power_of_two() - n,
        };
        let (first, step) = match order {
            Order::Ascending => (behind, 1),
            Order::Descending => (behind + n - 1, -1),
        };
        Ties { n, from, first: first as i128, step }
    }

    fn value(&self, place: usize) -> i128 {
        match self.from {
            _ if place < self.n => self.first + self.step * place as i128,
            Order::Ascending => place as i128,
            Order::Descending => (place - self.n) as i128,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ties_are_distinct_and_what_is_behind_comes_last() {
        let orders = [Order::Ascending, Order::Descending];
        for (n, order, from) in
            (1..20).flat_map(|n| orders.map(|order| orders.map(|from| (n, order, from)))).flatten()
        {
            let (ties, count) = (Ties::new(n, order, from), n.next_power_of_two());
            let own: Vec<i128> = (0..count).map(|i| ties.value(i)).collect();
            let mut all = own.clone();
            all.sort_unstable();
            assert_eq!(all, (0..count as i128).collect::<Vec<_>>());
            for (place, tie) in own[..n].iter().enumerate() {
                let found = if order == Order::Ascending { tie - own[0] } else { own[0] - tie };
                assert_eq!(found, place as i128);
                assert!(own[n..].iter().all(|other| match from {
                    Order::Ascending => other > tie,
                    Order::Descending => other < tie,
                }));
            }
        }
    }
}
